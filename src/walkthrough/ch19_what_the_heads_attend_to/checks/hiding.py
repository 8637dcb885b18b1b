"""Check of an exercise: hide one edge of attention, and nothing else."""

import torch
from torch import Tensor

from walkthrough.checking import Arguments, Case, Check, Mistake, arguments

CLOSED = float("-inf")


def _hide(scores: Tensor, query: int, keys: list[int]) -> Tensor:
    scores = scores.clone()
    scores[..., query, keys] = CLOSED
    return scores.softmax(-1)


def _for_every_query(scores: Tensor, query: int, keys: list[int]) -> Tensor:
    scores = scores.clone()
    scores[..., keys] = CLOSED
    return scores.softmax(-1)


def _after_the_softmax(scores: Tensor, query: int, keys: list[int]) -> Tensor:
    weights = scores.softmax(-1)
    weights[..., query, keys] = 0.0
    return weights


def _transposed(scores: Tensor, query: int, keys: list[int]) -> Tensor:
    scores = scores.clone()
    scores[..., keys, query] = CLOSED
    return scores.softmax(-1)


def _score_zero(scores: Tensor, query: int, keys: list[int]) -> Tensor:
    scores = scores.clone()
    scores[..., query, keys] = 0.0
    return scores.softmax(-1)


def _first_key(scores: Tensor, query: int, keys: list[int]) -> Tensor:
    return _hide(scores, query, keys[:1])


def _only_the_keys(scores: Tensor, query: int, keys: list[int]) -> Tensor:
    others = [key for key in range(scores.shape[-1]) if key not in keys]
    return _hide(scores, query, others)


def _over_the_queries(scores: Tensor, query: int, keys: list[int]) -> Tensor:
    scores = scores.clone()
    scores[..., query, keys] = CLOSED
    return scores.softmax(-2)


def _scores_case(label: str, *shape: int, query: int, keys: list[int]) -> Case:
    def make(generator: torch.Generator) -> Arguments:
        return arguments(torch.randn(*shape, generator=generator), query, keys)

    return Case(label, make)


hide = Check(
    name="one edge hidden",
    reference=_hide,
    cases=[
        _scores_case("five words, one key", 5, 5, query=1, keys=[3]),
        _scores_case("two keys", 7, 7, query=2, keys=[5, 6]),
        _scores_case("four heads", 4, 6, 6, query=4, keys=[0, 2]),
    ],
    mistakes=[
        Mistake(
            "for every query",
            _for_every_query,
            "you hide the keys from every word. Then a change in the output may come from any of "
            "them. Close the edge from `query` alone.",
        ),
        Mistake(
            "after the softmax",
            _after_the_softmax,
            "you set the weight to 0 after the softmax, so the row no longer sums to 1: the word "
            "also gets a smaller vector. Close the score before the softmax.",
        ),
        Mistake(
            "the other way round",
            _transposed,
            "you hide the query from the keys. Rows are queries: `scores[..., query, keys]`.",
        ),
        Mistake(
            "a score of 0",
            _score_zero,
            "a score of 0 still gets the weight exp(0) = 1 before normalising. −∞ gets none.",
        ),
        Mistake("the first key only", _first_key, "you hide the first of the keys only."),
        Mistake(
            "all but the keys",
            _only_the_keys,
            "you hide everything but these keys. They are the ones to close.",
        ),
        Mistake(
            "over the queries",
            _over_the_queries,
            "your softmax runs over the queries. Each query shares out 1 over the keys: the last "
            "dimension.",
        ),
    ],
)
