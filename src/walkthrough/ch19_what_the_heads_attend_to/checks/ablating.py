"""Check of an exercise: the output of multi-head attention without one of its heads."""

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor

from transformer.attention import MultiHeadAttention, scaled_dot_product_attention
from walkthrough.checking import Arguments, Case, Check, Mistake, arguments


def _heads(attention: MultiHeadAttention, x: Tensor) -> Tensor:
    """The result of every head, (batch, heads, length, d_v)."""
    q, k, v = (
        attention.split_heads(project(x))
        for project in (attention.query_proj, attention.key_proj, attention.value_proj)
    )
    return scaled_dot_product_attention(q, k, v)[0]


def _ablated(change: Callable[[Tensor, int], Tensor]) -> Callable[..., Tensor]:
    def without_head(attention: MultiHeadAttention, x: Tensor, head: int) -> Tensor:
        with torch.no_grad():
            mixed: Tensor = attention.output_proj(
                attention.merge_heads(change(_heads(attention, x), head))
            )
        return mixed

    return without_head


def _silent(results: Tensor, head: int) -> Tensor:
    results = results.clone()
    results[:, head] = 0.0
    return results


def _from_one(results: Tensor, head: int) -> Tensor:
    return _silent(results, head - 1)


def _only(results: Tensor, head: int) -> Tensor:
    return results - _silent(results, head)


def _stronger(results: Tensor, head: int) -> Tensor:
    return _silent(results, head) * results.shape[1] / (results.shape[1] - 1)


def _mean(results: Tensor, head: int) -> Tensor:
    results = results.clone()
    results[:, head] = results[:, head].mean(dim=1, keepdim=True)
    return results


def _interleaved(attention: MultiHeadAttention, x: Tensor, head: int) -> Tensor:
    with torch.no_grad():
        merged = attention.merge_heads(_heads(attention, x))
        merged[..., head :: attention.n_heads] = 0.0
        mixed: Tensor = attention.output_proj(merged)
    return mixed


def _after_mixing(attention: MultiHeadAttention, x: Tensor, head: int) -> Tensor:
    with torch.no_grad():
        mixed: Tensor = attention.output_proj(attention.merge_heads(_heads(attention, x)))
        d_v = attention.d_v
        mixed[..., head * d_v : (head + 1) * d_v] = 0.0
    return mixed


def _without_bias(attention: MultiHeadAttention, x: Tensor, head: int) -> Tensor:
    with torch.no_grad():
        merged = attention.merge_heads(_silent(_heads(attention, x), head))
        return F.linear(merged, attention.output_proj.weight)


def _queries_zero(attention: MultiHeadAttention, x: Tensor, head: int) -> Tensor:
    with torch.no_grad():
        q, k, v = (
            attention.split_heads(project(x)).clone()
            for project in (attention.query_proj, attention.key_proj, attention.value_proj)
        )
        q[:, head] = 0.0
        results = scaled_dot_product_attention(q, k, v)[0]
        mixed: Tensor = attention.output_proj(attention.merge_heads(results))
    return mixed


def _projected(attention: MultiHeadAttention, x: Tensor) -> tuple[Tensor, ...]:
    return tuple(
        attention.split_heads(project(x))
        for project in (attention.query_proj, attention.key_proj, attention.value_proj)
    )


def _scaled_by(size: Callable[[int, int], float]) -> Callable[..., Tensor]:
    def without_head(attention: MultiHeadAttention, x: Tensor, head: int) -> Tensor:
        with torch.no_grad():
            q, k, v = _projected(attention, x)
            weights = (q @ k.transpose(-1, -2) / size(q.shape[-1], x.shape[-1])).softmax(-1)
            mixed: Tensor = attention.output_proj(attention.merge_heads(_silent(weights @ v, head)))
        return mixed

    return without_head


def _cut_from_input(attention: MultiHeadAttention, x: Tensor, head: int) -> Tensor:
    d_v = attention.d_v
    x = x.clone()
    x[..., head * d_v : (head + 1) * d_v] = 0.0
    with torch.no_grad():
        result: Tensor = attention(x, x, x)[0]
    return result


def _not_merged(attention: MultiHeadAttention, x: Tensor, head: int) -> Tensor:
    with torch.no_grad():
        results = _silent(_heads(attention, x), head)
        mixed: Tensor = attention.output_proj(results.reshape(*x.shape[:2], -1))
    return mixed


def _no_key_left(attention: MultiHeadAttention, x: Tensor, head: int) -> Tensor:
    with torch.no_grad():
        q, k, v = _projected(attention, x)
        scores = q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5
        scores[:, head] = float("-inf")
        mixed: Tensor = attention.output_proj(attention.merge_heads(scores.softmax(-1) @ v))
    return mixed


def _position(results: Tensor, place: int) -> Tensor:
    results = results.clone()
    results[:, :, place] = 0.0
    return results


def _one_mean(results: Tensor, head: int) -> Tensor:
    results = results.clone()
    results[:, head] = results[:, head].mean()
    return results


def _not_mixed(attention: MultiHeadAttention, x: Tensor, head: int) -> Tensor:
    with torch.no_grad():
        return attention.merge_heads(_silent(_heads(attention, x), head))


def _attention_case(label: str, *, n_heads: int, d_model: int, length: int, head: int) -> Case:
    def make(generator: torch.Generator) -> Arguments:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(int(torch.randint(1000, (), generator=generator)))
            attention = MultiHeadAttention(d_model=d_model, n_heads=n_heads).eval()
        x = torch.randn(2, length, d_model, generator=generator)
        return arguments(attention.requires_grad_(False), x, head)

    return Case(label, make)


without_head = Check(
    name="attention without a head",
    reference=_ablated(_silent),
    cases=[
        _attention_case("4 heads, without head 2", n_heads=4, d_model=16, length=5, head=2),
        _attention_case("2 heads, without head 0", n_heads=2, d_model=12, length=3, head=0),
        _attention_case("3 heads, without head 1", n_heads=3, d_model=12, length=6, head=1),
    ],
    mistakes=[
        Mistake(
            "counted from 1",
            _ablated(_from_one),
            "you silence the head before it: heads are counted from 0 here.",
        ),
        Mistake(
            "that head alone",
            _ablated(_only),
            "you keep the one head and silence the others. It is to be the other way round.",
        ),
        Mistake(
            "the others made stronger",
            _ablated(_stronger),
            "you make up for the lost head, as dropout would. Then two things have changed.",
        ),
        Mistake(
            "the mean of the head",
            _ablated(_mean),
            "you put the head's mean in its place. That is a fair ablation too, and some papers "
            "prefer it; this exercise sets the head to zero.",
        ),
        Mistake(
            "every h-th component",
            _interleaved,
            "you take every h-th component. The heads stand side by side: head i has the "
            "components from i·d_v to (i + 1)·d_v.",
        ),
        Mistake(
            "after W^O",
            _after_mixing,
            "you cut after W^O has mixed the heads. There, each component holds something of every "
            "head. Cut before.",
        ),
        Mistake(
            "no bias",
            _without_bias,
            "the bias of W^O is missing. It belongs to no head.",
        ),
        Mistake(
            "queries of zero",
            _queries_zero,
            "with queries or keys of zero the head is not silent: all its weights are equal, and "
            "it gives the mean of the values.",
        ),
        Mistake(
            "no scale",
            _scaled_by(lambda d_k, d_model: 1.0),
            "the scores are not divided by √d_k.",
        ),
        Mistake(
            "the model's scale",
            _scaled_by(lambda d_k, d_model: d_model**0.5),
            "you divide the scores by √d_model. A head's queries and keys have d_k components.",
        ),
        Mistake(
            "a position",
            _ablated(_position),
            "you silence a *position*. After `split_heads` the shape is (batch, heads, length, "
            "d_v): heads are dimension 1.",
        ),
        Mistake(
            "cut from the input",
            _cut_from_input,
            "you cut components out of `x`. Every head reads all of them: cut the head's result.",
        ),
        Mistake(
            "not merged",
            _not_merged,
            "the heads' results are reshaped with the heads before the words, so words are mixed "
            "up. `merge_heads` turns them first.",
        ),
        Mistake(
            "no key left",
            _no_key_left,
            "you close all keys of the head, and softmax has nothing to share out: NaN. Set the "
            "head's result to zero.",
        ),
        Mistake(
            "one mean for the head",
            _ablated(_one_mean),
            "you put the head's mean in its place; this exercise sets the head to zero.",
        ),
        Mistake(
            "no W^O",
            _not_mixed,
            "W^O is missing: the heads stand side by side, and nothing has mixed them.",
        ),
    ],
)
