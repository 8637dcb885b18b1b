"""The check of chapter 16 on matches that are used up (§6.1).

Each mistake is a whole wrong implementation: the check runs it on the same inputs as the reader's
function and names it when the results agree.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from itertools import combinations

from transformer.analysis.bleu import clipped_matches, ngram_counts
from walkthrough.checking.base import Case, Check, Mistake, Symptom, fixed

Tokens = Sequence[str]
Count = Callable[[Tokens, Tokens, int], float]


def unclipped(hypothesis: Tokens, reference: Tokens, n: int) -> int:
    """Count matches as often as the hypothesis has them."""
    known = ngram_counts(reference, n)
    return sum(count for gram, count in ngram_counts(hypothesis, n).items() if gram in known)


def _of_one_word(function: Count) -> Count:
    return lambda hypothesis, reference, _n: function(hypothesis, reference, 1)


def _in_any_order(hypothesis: Tokens, reference: Tokens, n: int) -> int:
    def bags(tokens: Tokens) -> Counter[tuple[str, ...]]:
        return Counter(tuple(sorted(tokens[i : i + n])) for i in range(len(tokens) - n + 1))

    return (bags(hypothesis) & bags(reference)).total()


def _one_short(hypothesis: Tokens, reference: Tokens, n: int) -> int:
    def counts(tokens: Tokens) -> Counter[tuple[str, ...]]:
        return Counter(tuple(tokens[i : i + n]) for i in range(len(tokens) - n))

    return (counts(hypothesis) & counts(reference)).total()


def _at_the_same_place(hypothesis: Tokens, reference: Tokens, n: int) -> int:
    length = min(len(hypothesis), len(reference))
    return sum(hypothesis[i : i + n] == reference[i : i + n] for i in range(length - n + 1))


def lowered(tokens: Tokens) -> list[str]:
    """Return the words in small letters."""
    return [token.lower() for token in tokens]


def joined_runs(hypothesis: Tokens, reference: Tokens, n: int) -> int:
    """Count runs of words that read alike when joined."""

    def counts(tokens: Tokens) -> Counter[str]:
        return Counter("".join(tokens[i : i + n]) for i in range(len(tokens) - n + 1))

    return (counts(hypothesis) & counts(reference)).total()


def runs_of(start: Callable[[Tokens, int], range]) -> Count:
    """Count with runs that begin elsewhere; those at the end may be shorter than n."""

    def counts(tokens: Tokens, n: int) -> Counter[tuple[str, ...]]:
        return Counter(tuple(tokens[i : i + n]) for i in start(tokens, n))

    return lambda hypothesis, reference, n: (counts(hypothesis, n) & counts(reference, n)).total()


def _with_gaps(hypothesis: Tokens, reference: Tokens, n: int) -> int:
    return (Counter(combinations(hypothesis, n)) & Counter(combinations(reference, n))).total()


def _up_to(hypothesis: Tokens, reference: Tokens, n: int) -> int:
    return sum(clipped_matches(hypothesis, reference, k) for k in range(1, n + 1))


def letters(hypothesis: Tokens, reference: Tokens, n: int) -> int:
    """Count runs of n letters."""
    return clipped_matches(list(" ".join(hypothesis)), list(" ".join(reference)), n)


def _one_by_one(hypothesis: Tokens, reference: Tokens, n: int, *, first_only: bool) -> int:
    left = [list(reference[i : i + n]) for i in range(len(reference) - n + 1)]
    hits = 0
    for i in range(len(hypothesis) - n + 1):
        run = list(hypothesis[i : i + n])
        if run in left:
            left.remove(run)
            hits += 1
        elif not first_only:
            return hits
        if first_only:
            return hits
    return hits


def _left_over(hypothesis: Tokens, reference: Tokens, n: int) -> int:
    return (ngram_counts(hypothesis, n) - ngram_counts(reference, n)).total()


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
        _matches_case("a word that the other repeats", "the cat .", "the cat sees the dog .", 1),
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
            "always single words",
            _of_one_word(clipped_matches),
            "your count does not depend on n: it counts single words.",
        ),
        Mistake(
            "in any order",
            _in_any_order,
            "the words inside a run may stand in any order in your count. They must not: order is "
            "what the longer runs are for.",
        ),
        Mistake(
            "the last run left out",
            _one_short,
            "the last run of each sentence is missing. A sentence of m words has m − n + 1 runs "
            "of n words.",
        ),
        Mistake(
            "lower-cased",
            lambda hypothesis, reference, n: clipped_matches(
                lowered(hypothesis), lowered(reference), n
            ),
            "capital letters make no difference in your count. `The` and `the` are two words.",
        ),
        Mistake(
            "runs joined to one text",
            joined_runs,
            "you join the words of a run to one text, so that `no` + `where` and `now` + `here` "
            "are the same. Keep the run as a tuple of words.",
        ),
        Mistake(
            "runs of either side",
            lambda hypothesis, reference, n: (
                ngram_counts(hypothesis, n) | ngram_counts(reference, n)
            ).total(),
            "you count runs that *either* side has (`|`, the larger count). A match is in both: "
            "`&`, the smaller count.",
        ),
        Mistake(
            "the precision",
            lambda hypothesis, reference, n: (
                clipped_matches(hypothesis, reference, n) / max(len(hypothesis) - n + 1, 1)
            ),
            "this is the share of runs that match, the precision. The number of matches is asked.",
        ),
        Mistake(
            "at the same place",
            _at_the_same_place,
            "a run counts only where both sentences have it at the same place. One word more in "
            "front, and nothing matches. Places do not matter.",
        ),
        Mistake(
            "shorter runs at the end",
            runs_of(lambda tokens, _n: range(len(tokens))),
            "the last runs of your sentences are shorter than n: a slice stops at the end without "
            "a word. A sentence of m words has m − n + 1 runs.",
        ),
        Mistake(
            "runs side by side",
            runs_of(lambda tokens, n: range(0, len(tokens) - n + 1, n)),
            "your runs stand side by side, each begins where the one before has ended. They "
            "overlap: a run begins at every word.",
        ),
        Mistake(
            "gaps inside a run",
            _with_gaps,
            "you count words that need not be neighbours, only in the same order. A run has no "
            "gaps.",
        ),
        Mistake(
            "shorter runs as well",
            _up_to,
            "you add up the runs of 1, 2, … up to n words. Only those of n words count.",
        ),
        Mistake(
            "runs of letters",
            letters,
            "you count runs of letters. The sentences are lists of words; do not join them.",
        ),
        Mistake(
            "stopped at the first that fails",
            partial(_one_by_one, first_only=False),
            "your count ends at the first run that the reference does not have. Go on with the "
            "next one.",
        ),
        Mistake(
            "the first run only",
            partial(_one_by_one, first_only=True),
            "your count ends after the first run. Does a `return` stand inside the loop?",
        ),
        Mistake(
            "what is left over",
            _left_over,
            "you count the runs that the reference does *not* have, or not so often (`-`). The "
            "matches are those that both have: `&`.",
        ),
    ],
    symptoms=[
        Symptom(
            "a table of counts",
            lambda result, _expected, _given: isinstance(result, (dict, set, list)),
            "the runs that match are there; how many are they? Add up their counts.",
        ),
    ],
    right="`matches` is right: clipped, in order, for any n",
)
