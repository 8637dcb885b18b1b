"""The check of chapter 16 on matches that are used up (§6.1).

Each mistake is a whole wrong implementation: the check runs it on the same inputs as the reader's
function and names it when the results agree.
"""

from collections import Counter
from collections.abc import Callable, Sequence

from transformer.analysis.bleu import clipped_matches, ngram_counts
from walkthrough.checking import Case, Check, Mistake, fixed

Tokens = Sequence[str]
Count = Callable[[Tokens, Tokens, int], float]


def unclipped(hypothesis: Tokens, reference: Tokens, n: int) -> int:
    """Count matches as often as the hypothesis has them."""
    known = ngram_counts(reference, n)
    return sum(count for gram, count in ngram_counts(hypothesis, n).items() if gram in known)


def _one_short(hypothesis: Tokens, reference: Tokens, n: int) -> int:
    def counts(tokens: Tokens) -> Counter[tuple[str, ...]]:
        return Counter(tuple(tokens[i : i + n]) for i in range(len(tokens) - n))

    return (counts(hypothesis) & counts(reference)).total()


def _matches_case(label: str, hypothesis: str, reference: str, n: int) -> Case:
    return fixed(label, hypothesis.split(), reference.split(), n)


matches = Check(
    name="matches",
    reference=clipped_matches,
    tolerance=0.0,
    cases=[
        _matches_case(
            "single words, one of them repeated", "the the the cat .", "the cat sees the dog .", 1
        ),
        _matches_case(
            "pairs, two of them repeated",
            "a cat and a cat and a dog .",
            "and a cat and a dog runs .",
            2,
        ),
        _matches_case("the words in another order", "Africa visits Jane", "Jane visits Africa", 2),
        _matches_case("runs of three, a word in front", "so Jane sees a dog", "Jane sees a dog", 3),
        _matches_case("a sentence shorter than n", "Jane sleeps", "Jane sleeps", 4),
        _matches_case("a pair that overlaps itself", "no no no .", "no no no no !", 2),
        _matches_case("a capital letter that differs", "the cat sees Rose", "The cat sees rose", 1),
        _matches_case("pairs that read alike when joined", "he is no where", "he is now here", 2),
    ],
    mistakes=[
        Mistake(
            "unclipped",
            unclipped,
            "a run of words counts as often as the translation has it. The reference has it fewer "
            "times: count the smaller of the two numbers.",
        ),
        Mistake(
            "counted in the reference",
            lambda hypothesis, reference, n: unclipped(reference, hypothesis, n),
            "a run of words counts as often as the reference has it. The translation has it fewer "
            "times: count the smaller of the two numbers.",
        ),
        Mistake(
            "different runs",
            lambda hypothesis, reference, n: len(
                set(ngram_counts(hypothesis, n)) & set(ngram_counts(reference, n))
            ),
            "every run counts once, however often both sides have it. If both have it twice, it "
            "counts twice: a set forgets this, a `Counter` does not.",
        ),
        Mistake(
            "the last run left out",
            _one_short,
            "the last run of each sentence is missing. A sentence of m words has m − n + 1 runs "
            "of n words.",
        ),
    ],
    right="`matches` is right: clipped, in order, for any n",
)
