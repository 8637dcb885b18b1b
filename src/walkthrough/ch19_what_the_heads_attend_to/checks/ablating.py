"""Check of an exercise: the output of multi-head attention without one of its heads."""

from collections.abc import Callable
from typing import Any

import torch
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


def _zeroed_at(index: Callable[[int], Any]) -> Callable[..., Tensor]:
    """Zero the heads' results side by side at an index that cuts no head."""

    def without_head(attention: MultiHeadAttention, x: Tensor, head: int) -> Tensor:
        merged = _merged(attention, x, _unchanged, head)
        merged[index(head)] = 0.0
        mixed: Tensor = attention.output_proj(merged)
        return mixed

    return without_head


def _after_mixing(attention: MultiHeadAttention, x: Tensor, head: int) -> Tensor:
    mixed = _ablated(_unchanged)(attention, x, head)
    mixed[..., head * attention.d_v : (head + 1) * attention.d_v] = 0.0
    return mixed


def _attention(
    label: str, *, n_heads: int, d_model: int, length: int, head: int, bias: float = 1.0
) -> Case:
    def make(generator: torch.Generator) -> Arguments:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(int(torch.randint(1000, (), generator=generator)))
            attention = MultiHeadAttention(d_model=d_model, n_heads=n_heads).eval()
        attention.output_proj.bias.data.fill_(bias)
        x = torch.randn(2, length, d_model, generator=generator)
        return arguments(attention.requires_grad_(False), x, head)

    return Case(label, make)


without_head = Check(
    name="attention without a head",
    reference=_ablated(_silent),
    cases=[
        _attention("4 heads, without head 2", n_heads=4, d_model=16, length=5, head=2),
        _attention("W^O without a bias", n_heads=2, d_model=12, length=3, head=0, bias=0.0),
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
            "the head gives each word the same weight, as where its scores are 0. That is no "
            "silence: it returns the mean of its values.",
        ),
        Mistake(
            "nothing silenced",
            _ablated(_unchanged),
            "every head speaks: this is attention as it was. Set the head's result to 0.",
        ),
        Mistake(
            "that head alone",
            _ablated(lambda results, head: results - _silent(results, head)),
            "you keep this head and silence all others. It is the one to go.",
        ),
        Mistake(
            "one component",
            _zeroed_at(lambda head: (..., head)),
            "you set a single component to 0. A head has d_v of them, from head · d_v to "
            "(head + 1) · d_v: a slice.",
        ),
        Mistake(
            "a position",
            _zeroed_at(lambda head: (slice(None), head)),
            "you set a word to 0, in all heads. Heads are the dimension that `split_heads` makes.",
        ),
        Mistake(
            "after W^O",
            _after_mixing,
            "you cut after W^O has mixed the heads. There, each component holds something of every "
            "head. Cut before.",
        ),
        Mistake(
            "not mixed",
            lambda attention, x, head: _merged(attention, x, _silent, head),
            "W^O is missing: the heads stand side by side, not mixed. Call `output_proj` last.",
        ),
    ],
)
