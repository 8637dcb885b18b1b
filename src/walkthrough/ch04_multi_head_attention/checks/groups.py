"""The check of chapter 04 on heads that share keys and values: grouped queries, a later idea."""

import math
from collections.abc import Callable

from torch import Tensor

from transformer.attention import scaled_dot_product_attention
from walkthrough.checking import Check, Mistake, drawn


def _attend(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return scaled_dot_product_attention(q, k, v)[0]


def _shared(q: Tensor, x: Tensor) -> Tensor:
    return x.repeat_interleave(q.shape[1] // x.shape[1], dim=1)


def _grouped(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return _attend(q, _shared(q, k), _shared(q, v))


def _weighted(weigh: Callable[[Tensor, int], Tensor]) -> Callable[..., Tensor]:
    def attend(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        scores = q @ _shared(q, k).transpose(-2, -1)
        return weigh(scores, q.shape[-1]) @ _shared(q, v)

    return attend


def _weights(q: Tensor, k: Tensor) -> Tensor:
    return (q @ _shared(q, k).mT / math.sqrt(q.shape[-1])).softmax(-1)


def _by_turns(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    times = q.shape[1] // k.shape[1]
    return _attend(q, k.repeat(1, times, 1, 1), v.repeat(1, times, 1, 1))


grouped_attention = Check(
    name="grouped_attention",
    reference=_grouped,
    cases=[
        drawn("4 heads, 4 groups: multi-head", (2, 4, 5, 6), (2, 4, 7, 6), (2, 4, 7, 3)),
        drawn("4 heads, 1 group: multi-query", (2, 4, 5, 6), (2, 1, 7, 6), (2, 1, 7, 3)),
        drawn("6 heads, 2 groups", (2, 6, 5, 6), (2, 2, 7, 6), (2, 2, 7, 3)),
        drawn("6 heads, 3 groups, d_v as large as d_k", (1, 6, 3, 4), (1, 3, 4, 4), (1, 3, 4, 4)),
        drawn("8 heads, 4 groups, one query", (3, 8, 1, 5), (3, 4, 6, 5), (3, 4, 6, 2)),
    ],
    mistakes=[
        Mistake(
            "groups by turns",
            _by_turns,
            "the groups take turns: heads 1, 2, 3, … use groups 1, 2, 1, … Neighbouring heads "
            "belong to one group: 1, 1, 1, 2, 2, 2. (`repeat` gives the one, `repeat_interleave` "
            "the other.)",
        ),
        Mistake(
            "first group for all",
            lambda q, k, v: _attend(q, k[:, :1], v[:, :1]),
            "all heads use the first group. Neighbouring heads share one: head i has number "
            "i · n_groups // n_heads.",
        ),
        Mistake(
            "one map for all heads",
            lambda q, k, v: _weights(q, k).mean(1, keepdim=True) @ _shared(q, v),
            "all heads attend with one map, the mean of theirs. Heads share keys and values here, "
            "and each has weights of its own.",
            where="One map for all heads",
        ),
        Mistake(
            "no scale",
            _weighted(lambda scores, d_k: scores.softmax(-1)),
            "the scores are not divided by √d_k.",
        ),
        Mistake(
            "softmax over queries",
            _weighted(lambda scores, d_k: (scores / math.sqrt(d_k)).softmax(-2)),
            "softmax ran over the queries, so they compete for each key. The keys of one query "
            "stand in the last dimension, `dim=-1`.",
        ),
    ],
    right="`grouped_attention` is right, from one group to as many as heads",
)
