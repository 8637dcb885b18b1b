"""The check of chapter 02 on attention with a mask (§3.2.1, §3.2.3)."""

import math
from collections.abc import Callable

import torch
from torch import Tensor

from transformer.attention import scaled_dot_product_attention
from walkthrough.checking import Arguments, Case, Check, Mistake, arguments

Change = Callable[[Tensor, Tensor], Tensor]


def _masked(query: Tensor, key: Tensor, value: Tensor, attend_mask: Tensor) -> Tensor:
    output, _ = scaled_dot_product_attention(query, key, value, attend_mask, need_weights=True)
    return output


def _by_hand(
    change: Change = lambda scores, attend_mask: scores.masked_fill(~attend_mask, -math.inf),
    *,
    dim: int = -1,
    scale: Callable[[int], float] = math.sqrt,
    after: Change = lambda weights, attend_mask: weights,
) -> Callable[..., Tensor]:
    """Attention in which `change` applies the mask to the scores, and `after` to the weights."""

    def attend(query: Tensor, key: Tensor, value: Tensor, attend_mask: Tensor) -> Tensor:
        scores = change(query @ key.mT / scale(query.shape[-1]), attend_mask)
        return after(scores.softmax(dim), attend_mask) @ value

    return attend


def _unmasked(scores: Tensor, attend_mask: Tensor) -> Tensor:
    return scores


def _zeroed(scores: Tensor, attend_mask: Tensor) -> Tensor:
    return scores * attend_mask


def _inverted(scores: Tensor, attend_mask: Tensor) -> Tensor:
    return scores.masked_fill(attend_mask, -math.inf)


def _empty_cleared(weights: Tensor, attend_mask: Tensor) -> Tensor:
    return weights.masked_fill(~attend_mask.any(-1, keepdim=True), 0.0)


def _nan_cleared(weights: Tensor, attend_mask: Tensor) -> Tensor:
    return weights.nan_to_num(0.0)


def _case(
    label: str,
    attend_mask: list[list[int]],
    special: str = "",
    *,
    dtype: torch.dtype = torch.float32,
    scores: Callable[[Tensor], Tensor] | None = None,
    values: float = 1.0,
) -> Case:
    """A case with this mask; with these scores, if given; values of closed keys times `values`."""
    allowed = torch.tensor(attend_mask, dtype=torch.bool)
    query_len, key_len = allowed.shape

    def make(generator: torch.Generator) -> Arguments:
        # all sizes differ, so that a wrong one under the root is told from the others
        query = torch.randn(2, query_len, 6, generator=generator)
        key = torch.randn(2, key_len, 6, generator=generator)
        value = torch.randn(2, key_len, 5, generator=generator)
        if scores is not None:
            query = torch.ones_like(query)
            key = scores(allowed[0])[:, None].expand(2, -1, 6) / math.sqrt(6)
        value[:, ~allowed[0]] *= values
        return arguments(query.to(dtype), key.to(dtype), value.to(dtype), allowed)

    return Case(label, make, special)


_INVERTED = (
    "the mask is inverted: True means *may* attend here, so the scores to close are those where "
    "`attend_mask` is False."
)

masked_attention = Check(
    name="masked_attention",
    reference=_masked,
    cases=[
        _case(
            "one query that sees all keys, two that do not",
            [[1, 1, 1, 1], [1, 1, 1, 0], [1, 0, 1, 0]],
        ),
        _case("one query, and all keys open", [[1, 1, 1]]),
        _case(
            "a query that may attend to nothing",
            [[1, 1, 0, 0], [0, 0, 0, 0], [1, 0, 1, 1]],
            "It gets zeros. Softmax over a row of −∞ is 0/0, and over a row of equal numbers the "
            "mean of all values: set the weights of such a row to 0.",
        ),
        _case(
            "open scores near −60, closed ones near +60",
            [[0, 1, 1, 0]],
            "Where closed keys take part in softmax, or in the maximum that it subtracts, nothing "
            "is left for the open ones: exp(−120) is 0 in float32. Put −∞ into the scores first.",
            scores=lambda allowed: torch.where(allowed, -60.0, 60.0) + torch.arange(4),
        ),
        _case(
            "scores far below any number that could stand for −∞",
            [[1, 1, 0, 0]],
            "A closed key then gets weight, if its score is not −∞: every other number may be "
            "larger than the open scores.",
            scores=lambda allowed: torch.full((4,), -2e10),
        ),
        _case("a closed key with a very large value", [[1, 1, 0]], values=1e5),
        _case("as many queries as keys", [[1, 0, 0], [1, 1, 0], [0, 1, 1]]),
        _case("float16", [[1, 0, 0, 0], [1, 1, 0, 0], [1, 1, 1, 0]], dtype=torch.float16),
    ],
    tolerance=4e-3,  # float16 keeps about three digits
    mistakes=[
        Mistake(
            "mask ignored",
            _by_hand(_unmasked),
            "the mask has no effect: every query attends to every key.",
        ),
        Mistake(
            "mask inverted",
            _by_hand(_inverted),
            _INVERTED,
            also=(
                _by_hand(_inverted, after=_nan_cleared),
                _by_hand(_inverted, after=_empty_cleared),
            ),
        ),
        Mistake(
            "zeros in the scores",
            _by_hand(_zeroed),
            "closed scores are set to 0, and exp(0) = 1: those keys still get weight. "
            "A score of −∞ gives weight 0.",
            where="A zero in the scores",
            also=(_by_hand(_zeroed, after=_empty_cleared),),
        ),
        Mistake(
            "weights not normalised again",
            _by_hand(_unmasked, after=lambda weights, attend_mask: weights * attend_mask),
            "the mask acts after softmax: closed keys have weight 0, but the other weights no "
            "longer sum to 1. Put −∞ into the scores before softmax.",
            where="A zero in the scores",
        ),
        Mistake(
            "−1e9",
            _by_hand(lambda scores, attend_mask: scores.masked_fill(~attend_mask, -1e9)),
            "−1e9 in the scores. A query that may attend to nothing gets the mean of all values "
            "and not zeros, and float16 cannot hold −1e9 at all. Use −∞.",
        ),
        Mistake(
            "softmax over queries",
            _by_hand(dim=-2, after=_nan_cleared),
            "softmax runs over the queries, so they compete for each key. The keys of one query "
            "stand in the last dimension, `dim=-1`.",
            where="Softmax over the wrong axis",
            also=(_by_hand(dim=-2), _by_hand(dim=-2, after=_empty_cleared)),
        ),
        Mistake(
            "softmax over sentences",
            _by_hand(dim=0, after=_nan_cleared),
            "softmax runs over dimension 0, so the sentences of the batch compete. The keys of one "
            "query stand in the last dimension, `dim=-1`.",
            where="Softmax over the wrong axis",
            also=(_by_hand(dim=0), _by_hand(dim=0, after=_empty_cleared)),
        ),
        Mistake(
            "no scale",
            _by_hand(scale=lambda d_k: 1.0, after=_empty_cleared),
            "the mask works, but the scores are not divided by √d_k.",
        ),
    ],
    right="`masked_attention` is right, also for a query that may attend to nothing and in float16",
)
