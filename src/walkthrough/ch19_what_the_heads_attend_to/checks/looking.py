"""Check of an exercise: how often the best fixed distance finds an answer (Figures 3–4)."""

from collections import Counter

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


fixed_distance = Check(
    name="the best fixed distance",
    reference=_best,
    cases=[
        fixed(
            "answers that stand before",
            [(5, (2,)), (6, (3,)), (7, (1,)), (4, (1,)), (9, (2,))],
        ),
        fixed(
            "answers of several words, some of them far or at place 0",
            [
                (0, (4, 5)),
                *[(10, (1, 2)), (9, (1, 2, 3)), (8, (0, 1)), (12, (3, 4))],
                *[(1, (6,)), (7, (0,))],
            ],
        ),
        fixed(
            "sentences without an answer",
            [(3, (5,)), (4, ()), (2, (4,)), (6, (4,)), (5, ()), (7, (1,)), (1, (3,)), (8, (6,))],
        ),
        fixed("words that look at themselves, but for one", [(4, (4,)), (2, (2,)), (5, (4,))]),
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
            lambda asked: _best([(query, answers[:1]) for query, answers in asked]),
            "you count the first word of an answer only. A distance that falls on the second "
            "finds it, too.",
        ),
    ],
)
