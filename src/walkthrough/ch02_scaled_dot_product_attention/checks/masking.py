"""The check of chapter 02 on attention with a mask (§3.2.1, §3.2.3)."""

import math
from collections.abc import Callable

import torch
from torch import Tensor

from transformer.attention import scaled_dot_product_attention
from walkthrough.checking.base import Arguments, Case, Check, Mistake, Symptom, arguments


def _masked(query: Tensor, key: Tensor, value: Tensor, attend_mask: Tensor) -> Tensor:
    output, _ = scaled_dot_product_attention(query, key, value, attend_mask, need_weights=True)
    return output


def _masked_by(
    change: Callable[[Tensor, Tensor], Tensor], *, weights: bool = False, guard: bool = False
) -> Callable[..., Tensor]:
    """Return attention in which `change` applies the mask to the scores, or to the weights."""

    def attend(query: Tensor, key: Tensor, value: Tensor, attend_mask: Tensor) -> Tensor:
        scores = query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])
        scores = scores if weights else change(scores, attend_mask)
        attention = scores.softmax(-1)
        attention = change(attention, attend_mask) if weights else attention
        return (attention.nan_to_num(0.0) if guard else attention) @ value

    return attend


def _filled_with(number: float) -> Callable[[Tensor, Tensor], Tensor]:
    return lambda scores, attend_mask: scores.masked_fill(~attend_mask, number)


_LAST_CLOSED = torch.tensor([[True, True, False]])


def _masked_case(
    attend_mask: list[list[int]], dtype: torch.dtype
) -> Callable[[torch.Generator], Arguments]:
    def make(generator: torch.Generator) -> Arguments:
        allowed = torch.tensor(attend_mask, dtype=torch.bool)
        query_len, key_len = allowed.shape
        # all sizes differ, so that a wrong one under the root is told from the others
        query = torch.randn(2, query_len, 6, generator=generator).to(dtype)
        key = torch.randn(2, key_len, 6, generator=generator).to(dtype)
        value = torch.randn(2, key_len, 5, generator=generator).to(dtype)
        return arguments(query, key, value, allowed)

    return make


def _far_away(generator: torch.Generator) -> Arguments:
    """Return a key that nobody may see, with a value so large that any weight on it shows."""
    query, key, value, _ = _masked_case([[1, 1, 0]], torch.float32)(generator).positional
    return arguments(query, key, value * torch.tensor([[1.0], [1.0], [1e5]]), _LAST_CLOSED)


def _all_low(generator: torch.Generator) -> Arguments:
    """Return scores of −2e10, all alike: whatever number stands for −∞ is larger than they are."""
    value = torch.randn(2, 4, 5, generator=generator)
    query, key = torch.full((2, 2, 6), 1e5), torch.full((2, 4, 6), -1e5)
    return arguments(query, key, value, torch.tensor([[1, 1, 0, 0], [0, 1, 0, 1]]).bool())


def _filled_and_cleared(number: float) -> Callable[..., Tensor]:
    """Return attention with a number for −∞ that gives queries without an open key zeros."""
    attend = _masked_by(_filled_with(number))

    def cleared(query: Tensor, key: Tensor, value: Tensor, attend_mask: Tensor) -> Tensor:
        return attend(query, key, value, attend_mask) * attend_mask.any(-1, keepdim=True)

    return cleared


def _empty_rows_uniform(query: Tensor, key: Tensor, value: Tensor, attend_mask: Tensor) -> Tensor:
    return _masked(query, key, value, attend_mask | ~attend_mask.any(-1, keepdim=True))


def _axis(dim: int) -> Callable[..., Tensor]:
    def attend(query: Tensor, key: Tensor, value: Tensor, attend_mask: Tensor) -> Tensor:
        scores = query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])
        scores = scores.masked_fill(~attend_mask, -math.inf)
        return scores.softmax(dim).nan_to_num(0.0) @ value

    return attend


def _as_written(
    *,
    scale: Callable[[Tensor, Tensor, Tensor], float] = lambda q, k, v: math.sqrt(q.shape[-1]),
    fill: float = -math.inf,
    inverted: bool = False,
    dim: int = -1,
) -> Callable[..., Tensor]:
    """Return attention that clears the rows of queries without an open key, as one writes it."""

    def attend(query: Tensor, key: Tensor, value: Tensor, attend_mask: Tensor) -> Tensor:
        scores = query @ key.transpose(-2, -1) / scale(query, key, value)
        scores = scores.masked_fill(attend_mask if inverted else ~attend_mask, fill)
        empty = ~attend_mask.any(-1, keepdim=True)
        return scores.softmax(dim).masked_fill(empty, 0.0) @ value

    return attend


_INVERTED = (
    "the mask is inverted: True means *may* attend here, so the scores to close are those where "
    "`attend_mask` is False."
)
_WRONG_SCALES: tuple[tuple[str, str, Callable[[Tensor, Tensor, Tensor], float]], ...] = (
    ("the number of queries", "√query_len", lambda q, k, v: math.sqrt(q.shape[-2])),
    ("the number of keys", "√key_len", lambda q, k, v: math.sqrt(k.shape[-2])),
    ("the paper's size whatever was given", "√64", lambda q, k, v: 8.0),
    ("the paper's width whatever was given", "√512", lambda q, k, v: math.sqrt(512)),
)


def _has_nan(result: Tensor, expected: Tensor, given: Arguments) -> bool:
    return bool(result.isnan().any())


masked_attention = Check(
    name="masked_attention",
    reference=_masked,
    cases=[
        Case(
            "one query that sees all keys, two that do not",
            _masked_case([[1, 1, 1, 1], [1, 1, 1, 0], [1, 0, 1, 0]], torch.float32),
        ),
        Case(
            "a query that may attend to nothing",
            _masked_case([[1, 1, 0, 0], [0, 0, 0, 0], [1, 0, 1, 1]], torch.float32),
        ),
        Case("a closed key with a very large value", _far_away),
        Case("scores far below any number that could stand for −∞", _all_low),
        Case(
            "as many queries as keys",
            _masked_case([[1, 0, 0], [1, 1, 0], [0, 1, 1]], torch.float32),
        ),
        Case("float16", _masked_case([[1, 0, 0, 0], [1, 1, 0, 0], [1, 1, 1, 0]], torch.float16)),
    ],
    tolerance=4e-3,  # float16 keeps about three digits
    mistakes=[
        Mistake(
            "mask ignored",
            _masked_by(lambda scores, attend_mask: scores),
            "the mask has no effect: every query attends to every key.",
        ),
        Mistake(
            "mask inverted",
            _masked_by(lambda scores, attend_mask: scores.masked_fill(attend_mask, -math.inf)),
            "the mask is inverted: True means *may* attend here, so the scores to close are those "
            "where `attend_mask` is False.",
        ),
        Mistake(
            "mask inverted, empty rows cared for",
            _masked_by(
                lambda scores, attend_mask: scores.masked_fill(attend_mask, -math.inf), guard=True
            ),
            "empty rows are right, but the mask is inverted: True means *may* attend here, so the "
            "scores to close are those where `attend_mask` is False.",
        ),
        Mistake(
            "zeros in the scores",
            _masked_by(lambda scores, attend_mask: scores * attend_mask),
            "closed scores are set to 0, and exp(0) = 1: those keys still get weight. "
            "A score of −∞ gives weight 0.",
        ),
        Mistake(
            "weights not normalised again",
            _masked_by(lambda weights, attend_mask: weights * attend_mask, weights=True),
            "the mask acts after softmax: closed keys have weight 0, but the other weights no "
            "longer sum to 1. Put −∞ into the scores before softmax.",
        ),
        Mistake(
            "−1e9",
            _masked_by(_filled_with(-1e9)),
            "−1e9 in the scores. A query that may attend to nothing gets the mean of all values "
            "and not zeros, and float16 cannot hold −1e9 at all. Use −∞.",
        ),
        Mistake(
            "−1e4",
            _masked_by(_filled_with(-1e4)),
            "a large negative number stands for −∞. A query that may attend to nothing then gets "
            "the mean of all values: its scores are all equal. Use −∞ and set the weights of such "
            "a row to 0.",
        ),
        Mistake(
            "a number for −∞, empty rows cared for",
            _filled_and_cleared(-1e4),
            "empty rows are right, but a negative number stands for −∞. Where the open scores are "
            "lower than it, the closed keys get all the weight. Use −∞, which is lower than "
            "every score.",
        ),
        Mistake(
            "the lowest number",
            _masked_by(
                lambda scores, attend_mask: scores.masked_fill(
                    ~attend_mask, torch.finfo(scores.dtype).min
                )
            ),
            "the lowest number of the type stands for −∞. A query that may attend to nothing then "
            "gets the mean of all values: its scores are all equal. Use −∞ and set the weights of "
            "such a row to 0.",
        ),
        Mistake(
            "mask transposed where it fits",
            lambda query, key, value, attend_mask: _masked(
                query,
                key,
                value,
                attend_mask.T if attend_mask.shape[0] == attend_mask.shape[1] else attend_mask,
            ),
            "the mask is transposed: its rows belong to the queries, its columns to the keys.",
        ),
        Mistake(
            "causal mask whatever was given",
            lambda query, key, value, attend_mask: _masked(
                query, key, value, torch.ones_like(attend_mask).tril()
            ),
            "a causal mask is used, and `attend_mask` is not looked at.",
        ),
        Mistake(
            "empty rows open",
            _empty_rows_uniform,
            "a query that may attend to nothing attends to everything. It gets zeros.",
        ),
        Mistake(
            "softmax over queries",
            _axis(-2),
            "softmax runs over the queries, so they compete for each key. The keys of one query "
            "stand in the last dimension, `dim=-1`.",
        ),
        Mistake(
            "softmax over the batch",
            _axis(0),
            "softmax runs over the batch. The keys of one query stand in the last dimension, "
            "`dim=-1`.",
        ),
        Mistake(
            "√d_v",
            lambda query, key, value, attend_mask: _masked(
                query * math.sqrt(query.shape[-1] / value.shape[-1]), key, value, attend_mask
            ),
            "the mask works. The scores are divided by √d_v, the size of a value, and not by √d_k.",
        ),
        Mistake(
            "divided by d_k",
            lambda query, key, value, attend_mask: _masked(
                query / math.sqrt(query.shape[-1]), key, value, attend_mask
            ),
            "the mask works. The scores are divided by d_k: the square root is missing.",
        ),
        Mistake(
            "inverted and no scale",
            lambda query, key, value, attend_mask: _masked(
                query * math.sqrt(query.shape[-1]), key, value, ~attend_mask
            ),
            "two things: the mask is inverted (True means *may* attend here), and the scores are "
            "not divided by √d_k.",
        ),
        Mistake(
            "NaN in empty rows",
            _masked_by(_filled_with(-math.inf)),
            "a query that may attend to nothing gives NaN: all its powers are 0, and 0/0 is NaN. "
            "Set the weights of such a row to 0. The rest is right.",
        ),
        Mistake(
            "mask added",
            _masked_by(lambda scores, attend_mask: scores + attend_mask),
            "the boolean mask is added to the scores: True counts as 1, so open keys gain a "
            "little and closed keys lose nothing.",
        ),
        Mistake(
            "no scale",
            lambda query, key, value, attend_mask: _masked(
                query * math.sqrt(query.shape[-1]), key, value, attend_mask
            ),
            "the mask works. The scores are not divided by √d_k.",
        ),
        *(
            Mistake(
                name,
                _as_written(scale=scale),
                f"the mask works. The scores are divided by {root}, and not by √d_k. Take the size "
                "from `query.shape[-1]`.",
            )
            for name, root, scale in _WRONG_SCALES
        ),
        Mistake(
            "multiplied by √d_k",
            _as_written(scale=lambda q, k, v: 1 / math.sqrt(q.shape[-1])),
            "the mask works. The scores are multiplied by √d_k. They are divided by it.",
        ),
        Mistake(
            "inverted, rows cleared",
            _as_written(inverted=True),
            _INVERTED,
        ),
        Mistake(
            "inverted, rows cleared, no scale",
            _as_written(inverted=True, scale=lambda q, k, v: 1.0),
            f"two things: {_INVERTED} And the scores are not divided by √d_k.",
        ),
        *(
            Mistake(
                f"softmax over {name}, rows cleared",
                _as_written(dim=dim),
                f"softmax runs over {name}. The keys of one query stand in the last dimension, "
                "`dim=-1`.",
            )
            for name, dim in (("the queries", -2), ("the sentences", 0))
        ),
        Mistake(
            "+∞",
            _as_written(fill=math.inf),
            "closed scores are set to +∞, and ∞ − ∞ is NaN. A closed key has the score −∞.",
        ),
        Mistake(
            "scale after softmax",
            lambda query, key, value, attend_mask: (
                _as_written(scale=lambda q, k, v: 1.0)(query, key, value, attend_mask)
                / math.sqrt(query.shape[-1])
            ),
            "the weights are divided by √d_k, not the scores. The scale acts before softmax.",
        ),
        Mistake(
            "no softmax",
            lambda query, key, value, attend_mask: (
                (query @ key.mT / math.sqrt(query.shape[-1])).masked_fill(~attend_mask, 0.0) @ value
            ),
            "softmax is missing: the scores themselves are used as weights.",
        ),
        Mistake(
            "rows with any closed key cleared",
            lambda query, key, value, attend_mask: _masked(
                query, key, value, attend_mask & attend_mask.all(-1, keepdim=True)
            ),
            "every query that has one closed key gets zeros. Zeros are for a query *all* of whose "
            "keys are closed: `~attend_mask.any(dim=-1)`.",
        ),
        Mistake(
            "rows cleared and nothing else",
            lambda query, key, value, attend_mask: _masked(
                query, key, value, attend_mask.any(-1, keepdim=True).expand_as(attend_mask)
            ),
            "queries that may attend to nothing get zeros, and for all others the mask has no "
            "effect.",
        ),
    ],
    symptoms=[
        Symptom(
            "NaN",
            _has_nan,
            "the result holds NaN: softmax over a row of −∞ is 0/0. Set the weights of a query "
            "that may attend to nothing to 0; something else differs as well.",
        ),
    ],
    right="`masked_attention` is right, also for a query that may attend to nothing and in float16",
)
