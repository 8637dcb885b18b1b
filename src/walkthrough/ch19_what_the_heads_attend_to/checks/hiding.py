"""Check of an exercise: hide one edge of attention, and nothing else."""

import torch
from torch import Tensor

from walkthrough.checking import Arguments, Case, Check, Mistake, Symptom, arguments

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


def _one_head(scores: Tensor, query: int, keys: list[int]) -> Tensor:
    scores = scores.clone()
    (scores[0] if scores.dim() == 3 else scores)[query, keys] = CLOSED
    return scores.softmax(-1)


def _both_ways(scores: Tensor, query: int, keys: list[int]) -> Tensor:
    scores = scores.clone()
    scores[..., query, keys] = CLOSED
    scores[..., keys, query] = CLOSED
    return scores.softmax(-1)


def _over_the_map(scores: Tensor, query: int, keys: list[int]) -> Tensor:
    scores = scores.clone()
    scores[..., query, keys] = CLOSED
    return scores.flatten(-2).softmax(-1).view_as(scores)


def _softmax_twice(scores: Tensor, query: int, keys: list[int]) -> Tensor:
    return _after_the_softmax(scores, query, keys).softmax(-1)


def _before_the_last(scores: Tensor, query: int, keys: list[int]) -> Tensor:
    return _hide(scores, query, list(range(min(keys), max(keys))))


def _all_between(scores: Tensor, query: int, keys: list[int]) -> Tensor:
    return _hide(scores, query, list(range(min(keys), max(keys) + 1)))


def _is_weakened(result: Tensor, _expected: Tensor, given: Arguments) -> bool:
    """Whether the keys have less weight than unhidden, and still some."""
    scores, query, keys = given.positional
    left, whole = (one[..., query, keys] for one in (result, scores.softmax(-1)))
    return bool(((left > 0) & (left < 0.9 * whole)).all())


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
        Mistake(
            "in one head",
            _one_head,
            "the edge is hidden in the first head only. Close it in all of them: "
            "`scores[..., query, keys]`.",
        ),
        Mistake(
            "both ways",
            _both_ways,
            "you also hide the query from the keys. One direction is asked: from `query`.",
        ),
        Mistake(
            "over the whole map",
            _over_the_map,
            "your softmax runs over the whole map. Every row sums to 1: take it over the last "
            "dimension.",
        ),
        Mistake(
            "softmax twice",
            _softmax_twice,
            "you take softmax twice. What is left of a row is shared out by dividing by its sum.",
        ),
        Mistake(
            "up to the last key",
            _before_the_last,
            "a slice ends before its last place, so the last key stays. And `keys` is a list of "
            "places: index with it.",
        ),
        Mistake(
            "all between",
            _all_between,
            "you hide all places from the first key to the last. `keys` is a list of places: "
            "index with it.",
        ),
    ],
    symptoms=[
        Symptom(
            "weakened",
            _is_weakened,
            "the keys still have some weight: the edge is weaker and not gone. Only −∞ leaves "
            "nothing.",
        ),
    ],
)
