"""Check of an exercise: the output of multi-head attention without one of its heads."""

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor

from transformer.attention import MultiHeadAttention, scaled_dot_product_attention
from walkthrough.checking import Arguments, Case, Check, Mistake, arguments

Change = Callable[[Tensor, int], Tensor]


def _unchanged(heads: Tensor, head: int) -> Tensor:
    return heads


def _merged(
    attention: MultiHeadAttention,
    x: Tensor,
    change: Change,
    head: int,
    queries: Change = _unchanged,
) -> Tensor:
    """The heads' results side by side, after `change(results, head)`."""
    q, k, v = (
        attention.split_heads(project(x))
        for project in (attention.query_proj, attention.key_proj, attention.value_proj)
    )
    results, _ = scaled_dot_product_attention(queries(q, head), k, v)
    return attention.merge_heads(change(results, head))


def _ablated(change: Change, **before: Change) -> Callable[..., Tensor]:
    def without_head(attention: MultiHeadAttention, x: Tensor, head: int) -> Tensor:
        mixed: Tensor = attention.output_proj(_merged(attention, x, change, head, **before))
        return mixed

    return without_head


def _silent(results: Tensor, head: int) -> Tensor:
    results = results.clone()
    results[:, head] = 0.0
    return results


def _interleaved(attention: MultiHeadAttention, x: Tensor, head: int) -> Tensor:
    merged = _merged(attention, x, _unchanged, head)
    merged[..., head :: attention.n_heads] = 0.0
    mixed: Tensor = attention.output_proj(merged)
    return mixed


def _after_mixing(attention: MultiHeadAttention, x: Tensor, head: int) -> Tensor:
    mixed = _ablated(_unchanged)(attention, x, head)
    mixed[..., head * attention.d_v : (head + 1) * attention.d_v] = 0.0
    return mixed


def _without_bias(attention: MultiHeadAttention, x: Tensor, head: int) -> Tensor:
    return F.linear(_merged(attention, x, _silent, head), attention.output_proj.weight)


def _attention(label: str, *, n_heads: int, d_model: int, length: int, head: int) -> Case:
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
        _attention("4 heads, without head 2", n_heads=4, d_model=16, length=5, head=2),
        _attention("2 heads, without head 0", n_heads=2, d_model=12, length=3, head=0),
        _attention("3 heads, without head 1", n_heads=3, d_model=12, length=6, head=1),
        _attention("one head, without it", n_heads=1, d_model=4, length=2, head=0),
    ],
    mistakes=[
        Mistake(
            "counted from 1",
            _ablated(lambda results, head: _silent(results, head - 1)),
            "you silence the head before it: heads are counted from 0 here.",
        ),
        Mistake(
            "equal weights",
            _ablated(_unchanged, queries=_silent),
            "the head's scores are 0. That is no silence: softmax gives each word the same weight, "
            "and the head returns the mean of its values.",
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
            "the bias of W^O is missing. It belongs to no head: it stays, whichever you cut.",
        ),
    ],
)
