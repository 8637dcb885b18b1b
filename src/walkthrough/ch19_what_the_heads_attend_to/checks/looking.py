"""Checks on how often a head finds an answer, and how often a fixed distance does (Figs. 3–4)."""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from walkthrough.checking import Arguments, Case, Check, Mistake, Symptom, arguments, fixed

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


def _first_of_all(weights: Tensor, query: int, answers: tuple[int, ...]) -> bool:
    return int(weights.argmax()) % weights.shape[-1] in answers


def _beside_itself(weights: Tensor, query: int, answers: tuple[int, ...]) -> bool:
    row = weights[query].clone()
    row[query] = -1
    return int(row.argmax()) in answers


def _one_of_two(weights: Tensor, query: int, answers: tuple[int, ...]) -> bool:
    return any(place in answers for place in weights[query].topk(2).indices.tolist())


def _of_every_map(maps: Sequence[Tensor], asked: Asked) -> float | None:
    share = _share(_found)(maps, asked)
    if share is None:
        return None
    return share * sum(bool(answers) for _, answers in asked) / len(asked)


def _of_answer_words(maps: Sequence[Tensor], asked: Asked) -> float | None:
    share = _share(_found)(maps, asked)
    if share is None:
        return None
    n_words = sum(len(answers) for _, answers in asked)
    return share * sum(bool(answers) for _, answers in asked) / n_words


def _number_found(maps: Sequence[Tensor], asked: Asked) -> float | None:
    share = _share(_found)(maps, asked)
    return None if share is None else share * sum(bool(answers) for _, answers in asked)


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


def _maps_case(label: str, asked: Asked, length: int = 7) -> Case:
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
        _maps_case(
            "five sentences with an answer of one word",
            [(3, (1,)), (5, (0,)), (2, (6,)), (4, (2,)), (6, (1,))],
        ),
        _maps_case(
            "answers of two words",
            [(1, (4, 5)), (0, (3, 4)), (2, (5, 6)), (1, (3, 4)), (0, (5, 6))],
        ),
        _maps_case("two sentences without an answer", [(1, (5,)), (2, ()), (3, (0,)), (4, ())]),
        _maps_case("no sentence with an answer", [(1, ()), (2, ())]),
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
            "sentences without an answer count as misses, or as hits. There is nothing to find in "
            "them: leave them out of both numbers.",
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
        Mistake(
            "the smallest weight",
            _share(lambda weights, query, answers: int(weights[query].argmin()) in answers),
            "you take the smallest weight of the row; a head looks where it is largest.",
        ),
        Mistake(
            "more than half",
            _share(lambda weights, query, answers: weights[query, list(answers)].sum() > 0.5),
            "you ask whether more than half of the weight lies on the answer. The largest weight "
            "of a row may be less.",
        ),
        Mistake(
            "the whole map",
            _share(_first_of_all),
            "you take the largest weight of the whole map. Look at the query's row.",
        ),
        Mistake(
            "every word of the answer",
            _share(
                lambda weights, query, answers: all(
                    int(weights[query].argmax()) == a for a in answers
                )
            ),
            "you ask for all words of the answer at once. The largest weight lies on one place: "
            "any of them counts.",
        ),
        Mistake(
            "beside itself",
            _share(_beside_itself),
            "you leave the word's own place out. A head that looks at the word itself has not "
            "found the answer.",
        ),
        Mistake(
            "one of the two largest",
            _share(_one_of_two),
            "you accept the second largest weight as well. Only the largest counts.",
        ),
        Mistake(
            "sentences without an answer below the line",
            _of_every_map,
            "you divide by all sentences. Those without an answer do not count: leave them out of "
            "both numbers.",
        ),
        Mistake(
            "words below the line",
            _of_answer_words,
            "you divide by the number of answer words. A sentence counts once.",
        ),
        Mistake(
            "a number of sentences",
            _number_found,
            "that is how many sentences. Divide by how many have an answer.",
        ),
    ],
)

# Exercise: the best fixed distance --------------------------------------------------------------


def _distances(asked: Asked, *, sign: int = 1, size: bool = False) -> Counter[int]:
    found = Counter(sign * (answer - query) for query, answers in asked for answer in answers)
    if size:
        found = Counter(abs(d) for d in found.elements())
    return found


def _best(asked: Asked) -> tuple[int, float]:
    (distance, hits), *_ = _distances(asked).most_common(1)
    return distance, hits / sum(bool(answers) for _, answers in asked)


def _backwards(asked: Asked) -> tuple[int, float]:
    (distance, hits), *_ = _distances(asked, sign=-1).most_common(1)
    return distance, hits / sum(bool(answers) for _, answers in asked)


def _without_sign(asked: Asked) -> tuple[int, float]:
    (distance, hits), *_ = _distances(asked, size=True).most_common(1)
    return distance, hits / sum(bool(answers) for _, answers in asked)


def _of_all(asked: Asked) -> tuple[int, float]:
    (distance, hits), *_ = _distances(asked).most_common(1)
    return distance, hits / len(asked)


def _of_words(asked: Asked) -> tuple[int, float]:
    (distance, hits), *_ = _distances(asked).most_common(1)
    return distance, hits / _distances(asked).total()


def _mean(asked: Asked) -> tuple[int, float]:
    found = _distances(asked)
    distance = round(sum(d * n for d, n in found.items()) / found.total())
    return distance, found[distance] / sum(bool(answers) for _, answers in asked)


def _number_at_best(asked: Asked) -> tuple[int, float]:
    distance, share = _best(asked)
    return distance, share * sum(bool(answers) for _, answers in asked)


def _one_answer(pick: Callable[[tuple[int, ...]], float]) -> Callable[[Asked], tuple[float, float]]:
    """Count one place of each answer."""

    def best(asked: Asked) -> tuple[float, float]:
        found = Counter(pick(answers) - query for query, answers in asked if answers)
        (distance, hits), *_ = found.most_common(1)
        return distance, hits / found.total()

    return best


def _place(asked: Asked) -> tuple[int, float]:
    found = Counter(answer for _, answers in asked for answer in answers)
    (place, hits), *_ = found.most_common(1)
    return place, hits / sum(bool(answers) for _, answers in asked)


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
    ],
    mistakes=[
        Mistake(
            "the sign",
            _backwards,
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
            _of_all,
            "you divide by all sentences. Those without an answer can be neither found nor missed.",
        ),
        Mistake(
            "words in place of sentences",
            _of_words,
            "you divide by the number of answer words. A sentence is found once, however many "
            "words its answer has: divide by the sentences that have one.",
        ),
        Mistake(
            "the mean distance",
            _mean,
            "the mean of the distances need not be where any answer stands. Take the distance "
            "that occurs most often.",
        ),
        Mistake(
            "the first word of the answer",
            _one_answer(lambda answers: answers[0]),
            "you count the first word of an answer only. A distance that falls on the second "
            "finds it, too.",
        ),
        Mistake(
            "the last word of the answer",
            _one_answer(lambda answers: answers[-1]),
            "you count the last word of an answer only. A distance that falls on the first finds "
            "it, too.",
        ),
        Mistake(
            "the middle of the answer",
            _one_answer(lambda answers: sum(answers) / len(answers)),
            "you measure to the middle of the answer. Each of its words stands at a distance.",
        ),
        Mistake(
            "a place",
            _place,
            "that is the place where answers stand most often. A distance is answer − query.",
        ),
        Mistake(
            "a number of sentences",
            _number_at_best,
            "your second value is how many sentences. Divide by how many have an answer.",
        ),
        Mistake(
            "in per cent",
            lambda asked: (_best(asked)[0], 100 * _best(asked)[1]),
            "your share is in per cent. A share lies between 0 and 1.",
        ),
    ],
    symptoms=[
        Symptom(
            "one value",
            lambda result, _expected, _given: isinstance(result, (int, float)),
            "you return one value. Two are asked: the distance, and the share that it finds.",
        ),
    ],
)
