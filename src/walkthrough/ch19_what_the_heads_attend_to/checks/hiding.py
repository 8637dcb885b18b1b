"""Check of an exercise: hide one edge of attention, and nothing else."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from walkthrough.checking import Arguments, Case, Check, Mistake, arguments

CLOSED = float("-inf")


def _hide(scores: Tensor, query: int, keys: list[int]) -> Tensor:
    return _set(lambda query, keys: (..., query, keys))(scores, query, keys)


def _set(where: Callable[[int, list[int]], Any], value: float = CLOSED) -> Callable[..., Tensor]:
    """Softmax of scores in which `value` stands at the index `where(query, keys)`."""

    def hide(scores: Tensor, query: int, keys: list[int]) -> Tensor:
        scores = scores.clone()
        scores[where(query, keys)] = value
        return scores.softmax(-1)

    return hide


def _after_the_softmax(scores: Tensor, query: int, keys: list[int]) -> Tensor:
    weights = scores.softmax(-1)
    weights[..., query, keys] = 0.0
    return weights


def _others(scores: Tensor, query: int, keys: list[int]) -> Tensor:
    return _hide(scores, query, [key for key in range(scores.shape[-1]) if key not in keys])


def _in_one_head(scores: Tensor, query: int, keys: list[int]) -> Tensor:
    scores = scores.clone()
    (scores[0] if scores.dim() == 3 else scores)[query, keys] = CLOSED
    return scores.softmax(-1)


def _scores(label: str, *shape: int, query: int, keys: list[int]) -> Case:
    def make(generator: torch.Generator) -> Arguments:
        return arguments(torch.randn(*shape, generator=generator), query, keys)

    return Case(label, make)


def _low(generator: torch.Generator) -> Arguments:
    scores = torch.randn(5, 5, generator=generator) - 300
    scores[3, 1] += 200
    return arguments(scores, 3, [1])


hide = Check(
    name="one edge hidden",
    reference=_hide,
    cases=[
        _scores("five words, one key", 5, 5, query=1, keys=[3]),
        _scores("two keys", 7, 7, query=2, keys=[5, 6]),
        _scores("four heads", 4, 6, 6, query=4, keys=[0, 2]),
        _scores("more keys than queries", 2, 3, 5, query=0, keys=[2]),
        Case(
            "scores near −300",
            _low,
            "The score to be hidden is near −100 here, all others near −300: its weight is 1.",
        ),
    ],
    mistakes=[
        Mistake(
            "for every query",
            _set(lambda query, keys: (..., keys)),
            "you hide the keys from every word. Then a change in the output may come from any of "
            "them. Close the edge from `query` alone.",
        ),
        Mistake(
            "all others hidden",
            _others,
            "you hide every other key and keep these: the mask is the wrong way round. −∞ stands "
            "at the edges that are closed.",
        ),
        Mistake(
            "after the softmax",
            _after_the_softmax,
            "you set the weight to 0 after the softmax, so the row no longer sums to 1: the word "
            "also gets a smaller vector. Close the score before the softmax.",
        ),
        Mistake(
            "the other way round",
            _set(lambda query, keys: (..., keys, query)),
            "you hide the query from the keys. Rows are queries: `scores[..., query, keys]`.",
        ),
        Mistake(
            "a score of 0",
            _set(lambda query, keys: (..., query, keys), value=0.0),
            "a score of 0 still gets the weight exp(0) = 1 before normalising. −∞ gets none.",
        ),
        Mistake(
            "in one head",
            _in_one_head,
            "the edge is hidden in the first head only. Close it in all of them: "
            "`scores[..., query, keys]`.",
        ),
    ],
)
