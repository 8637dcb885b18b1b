"""Check of an exercise: how often the best fixed distance finds an answer (Figures 3–4)."""

from collections import Counter
from collections.abc import Callable

from walkthrough.checking import Check, Mistake, fixed

Asked = list[tuple[int, tuple[int, ...]]]


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
