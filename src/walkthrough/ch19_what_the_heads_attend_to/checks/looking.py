"""Checks on how often a head finds an answer, and how often a fixed distance does (Figs. 3–4)."""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from walkthrough.checking import Arguments, Case, Check, Mistake, arguments, fixed

Asked = list[tuple[int, tuple[int, ...]]]

# Exercise: how often a head finds the answer ----------------------------------------------------

Hit = Callable[[Tensor, int, tuple[int, ...]], Any]


def _share(hit: Hit, *, all_count: bool = False) -> Callable[..., float | None]:
    def share(maps: Sequence[Tensor], asked: Asked) -> float | None:
        pairs = [
            (weights, query, answers)
            for weights, (query, answers) in zip(maps, asked, strict=True)
            if answers or all_count
        ]
        if not pairs:
            return None
        return sum(float(hit(*pair)) for pair in pairs) / len(pairs)

    return share


def _found(weights: Tensor, query: int, answers: tuple[int, ...]) -> bool:
    return int(weights[query].argmax()) in answers


def _largest_then_second(label: str, rows: list[tuple[int, tuple[int, ...], int, int]]) -> Case:
    """A case in which each asked row has its largest and its second weight at given places."""

    def make(generator: torch.Generator) -> Arguments:
        maps, asked = [], []
        for query, answers, largest, second in rows:
            scores = torch.randn(6, 6, generator=generator)
            scores[query, largest], scores[query, second] = 4.0, 3.5
            maps.append(scores.softmax(-1))
            asked.append((query, answers))
        return arguments(maps, asked)

    return Case(label, make)


def _maps(label: str, asked: Asked, length: int = 7) -> Case:
    def make(generator: torch.Generator) -> Arguments:
        maps = []
        for number, (query, answers) in enumerate(asked):
            scores = torch.randn(length, length, generator=generator)
            if answers and number % 2 == 0:  # half of them are found, at the last of the answers
                scores[query, answers[-1]] += 4
            maps.append(scores.softmax(-1))
        return arguments(maps, asked)

    return Case(label, make)


share_found = Check(
    name="how often a head finds the answer",
    reference=_share(_found),
    cases=[
        _maps(
            "five sentences with an answer of one word",
            [(3, (1,)), (5, (0,)), (2, (6,)), (4, (2,)), (6, (1,))],
        ),
        _maps(
            "answers of two words",
            [(1, (4, 5)), (0, (3, 4)), (2, (5, 6)), (1, (3, 4)), (0, (5, 6))],
        ),
        _maps("two sentences without an answer", [(1, (5,)), (2, ()), (3, (0,)), (4, ())]),
        _maps("no sentence with an answer", [(1, ()), (2, ())]),
        _largest_then_second(
            "a word that looks at itself first, an answer that comes second",
            [(2, (4,), 2, 4), (1, (3, 4), 3, 4), (3, (0,), 1, 0), (0, (2,), 2, 5), (4, (1,), 1, 3)],
        ),
    ],
    mistakes=[
        Mistake(
            "the column",
            _share(lambda weights, query, answers: int(weights[:, query].argmax()) in answers),
            "you read a column: who looks at the word. The row of the word says what *it* looks "
            "at: `weights[query]`.",
        ),
        Mistake(
            "sentences without an answer count",
            _share(_found, all_count=True),
            "sentences without an answer count as misses. There is nothing to find in them: leave "
            "them out of both numbers.",
        ),
        Mistake(
            "the first answer only",
            _share(lambda weights, query, answers: int(weights[query].argmax()) == answers[0]),
            "you accept the first word of the answer only. Where the answer is *more difficult*, "
            "looking at either word finds it.",
        ),
        Mistake(
            "the weight on the answer",
            _share(lambda weights, query, answers: weights[query, list(answers)].sum()),
            "this is the mean weight on the answer, a good figure too, but another: the exercise "
            "asks how often the *largest* weight lies there.",
        ),
    ],
)

# Exercise: the best fixed distance --------------------------------------------------------------


def _best(asked: Asked, *, n: int | None = None) -> tuple[int, float]:
    """Return the distance that occurs most often, and its share of n, or of the answered."""
    found = Counter(answer - query for query, answers in asked for answer in answers)
    (distance, hits), *_ = found.most_common(1)
    return distance, hits / (n or sum(bool(answers) for _, answers in asked))


def _turned(asked: Asked) -> tuple[int, float]:
    distance, share = _best(asked)
    return -distance, share


def _without_sign(asked: Asked) -> tuple[int, float]:
    return _best([(0, tuple(abs(a - query) for a in answers)) for query, answers in asked])


def _mean(asked: Asked) -> tuple[int, float]:
    found = [answer - query for query, answers in asked for answer in answers]
    distance = round(sum(found) / len(found))
    return distance, found.count(distance) / sum(bool(answers) for _, answers in asked)


def _one_answer(place: int) -> Callable[[Asked], tuple[int, float]]:
    return lambda asked: _best([(query, (a[place],) if a else ()) for query, a in asked])


fixed_distance = Check(
    name="the best fixed distance",
    reference=_best,
    cases=[
        fixed(
            "pronouns: the answer stands before",
            [(5, (2,)), (6, (3,)), (7, (1,)), (4, (1,)), (9, (2,))],
        ),
        fixed(
            "`makes`: the answer stands behind, two words",
            [(1, (4, 5)), (2, (6, 7)), (1, (5, 6)), (1, (9, 10)), (3, (7, 8))],
        ),
        fixed(
            "sentences without an answer, and both directions",
            [(3, (5,)), (4, ()), (2, (4,)), (6, (4,)), (5, ()), (7, (1,)), (1, (3,)), (8, (6,))],
        ),
        fixed("one sentence, in which a word looks at itself", [(4, (4,))]),
    ],
    mistakes=[
        Mistake(
            "the sign",
            _turned,
            "your distance runs from the answer to the word. Take answer − query, so that a word "
            "to the left is negative.",
        ),
        Mistake(
            "no sign",
            _without_sign,
            "you dropped the sign: two words before and two words behind are different places, and "
            "a head that looks at a distance looks at one of them.",
        ),
        Mistake(
            "sentences without an answer count",
            lambda asked: _best(asked, n=len(asked)),
            "you divide by all sentences. Those without an answer can be neither found nor missed.",
        ),
        Mistake(
            "words in place of sentences",
            lambda asked: _best(asked, n=sum(len(answers) for _, answers in asked)),
            "you divide by the number of answer words. A sentence is found once, however many "
            "words its answer has: divide by the sentences that have one.",
        ),
        Mistake(
            "the first word of the answer",
            _one_answer(0),
            "you count the first word of an answer only. A distance that falls on the second "
            "finds it, too.",
        ),
    ],
)
