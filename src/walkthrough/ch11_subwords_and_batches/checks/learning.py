"""The check of chapter 11 on learning merges, by any count (§5.1)."""

from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from typing import Any

from transformer.data.bpe import Merge, join_pair
from walkthrough.checking import Case, Check, Mistake, arguments, fixed

Words = dict[str, int]
"""Words and how often each occurs."""
Score = Callable[[int, int, int], int | float]
"""How good a pair is, from how often it, its left and its right symbol occur."""


def _counts(spelled: dict[str, list[str]], words: Words) -> tuple[Counter[Merge], Counter[str]]:
    pairs: Counter[Merge] = Counter()
    symbols: Counter[str] = Counter()
    for word, parts in spelled.items():
        for pair in pairwise(parts):
            pairs[pair] += words[word]
        for part in parts:
            symbols[part] += words[word]
    return pairs, symbols


def _first_place_joined(parts: list[str], pair: Merge) -> list[str]:
    places = [at for at, found in enumerate(pairwise(parts)) if found == pair]
    return [*parts[: places[0]], "".join(pair), *parts[places[0] + 2 :]] if places else parts


def _joined_in_a_string(parts: list[str], pair: Merge) -> list[str]:
    border = "\0"
    return border.join(parts).replace(border.join(pair), "".join(pair)).split(border)


Join = Callable[[list[str], Merge], list[str]]


def _learner(
    *,
    weighed: bool = True,
    first_seen: bool = False,
    plain: bool = False,
    renew_symbols: bool = True,
    join: Join = join_pair,
) -> Callable[[Words, int, Score], list[Merge]]:
    """Learn merges, with one thing changed."""

    def learn(words: Words, n_merges: int, score: Score) -> list[Merge]:
        counted = words if weighed else dict.fromkeys(words, 1)
        spelled = {word: list(word) for word in words}
        at_first = _counts(spelled, counted)[1]
        merges: list[Merge] = []
        while len(merges) < n_merges:
            pairs, symbols = _counts(spelled, counted)
            symbols = symbols if renew_symbols else at_first
            if not pairs:
                break
            value = {
                pair: times if plain else score(times, symbols[pair[0]], symbols[pair[1]])
                for pair, times in pairs.items()
            }
            order = list(pairs) if first_seen else sorted(pairs)
            merges.append(max(order, key=value.__getitem__))
            spelled = {word: join(parts, merges[-1]) for word, parts in spelled.items()}
        return merges

    return learn


def _with(name: str, say: str, **changes: Any) -> Mistake:
    return Mistake(name, _learner(**changes), say)


def _best_of_one_count(words: Words, n_merges: int, score: Score) -> list[Merge]:
    pairs, symbols = _counts({word: list(word) for word in words}, words)
    ranked = sorted(
        pairs, key=lambda pair: (-score(pairs[pair], symbols[pair[0]], symbols[pair[1]]), pair)
    )
    return ranked[:n_merges]


def by_count(pair: int, left: int, right: int) -> int:
    """Byte-pair encoding."""
    return pair


def by_share(pair: int, left: int, right: int) -> float:
    """The short form of word-pieces: how much more often than by chance."""
    return pair / (left * right)


def by_left(pair: int, left: int, right: int) -> int:
    """How seldom the left symbol has another neighbour; never above 0."""
    return pair - left


VISITS = {
    **{" Jane": 3, " visits": 2, " Africa": 1, " visited": 1, " Peru": 2},
    **{" Paul": 2, " waits": 1, " waited": 1},
}

learn = Check(
    name="learn",
    reference=_learner(),
    cases=[
        fixed("the page's words, byte-pair encoding", VISITS, 8, by_count),
        fixed("the page's words, the quotient", VISITS, 8, by_share),
        fixed("one frequent word", {"ab": 5, "cd": 1, "cde": 1, "fcd": 1}, 1, by_count),
        fixed("the score pair − left", {"xa": 4, "xb": 3, "yb": 2}, 1, by_left),
        fixed("a pair that overlaps itself", {"aaaab": 3, "aab": 2, "cab": 1}, 4, by_count),
        Case(
            "a word of three equal letters",
            lambda _: arguments({"aaa": 2, "bc": 3}, 1, by_count),
            "In `aaa` the pair (`a`, `a`) stands at two places, which overlap: count both.",
        ),
        fixed("pairs with equal scores", {"zy": 2, "ab": 2, "ba": 2}, 2, by_count),
        fixed("a pair that ends in a longer symbol", {"banx": 1, "nx": 3, "an": 5}, 4, by_count),
        fixed("more merges than there are pairs", {"ab": 2, "ac": 1}, 9, by_count),
    ],
    mistakes=[
        _with(
            "words counted once",
            "every different word counts once, however often it occurs. Add `words[word]`, for "
            "pairs and for symbols.",
            weighed=False,
        ),
        _with(
            "ties to the first seen",
            "of pairs with equal scores this takes the one that was met first. The exercise asks "
            "for the first in Python's order of tuples.",
            first_seen=True,
        ),
        _with(
            "the score not used",
            "the most frequent pair is taken, whatever `score` says. Ask `score` with the three "
            "counts.",
            plain=True,
        ),
        _with(
            "symbols never counted again",
            "the symbols are counted once, at the start. A merge uses some up and makes a new "
            "one: count again in every round.",
            renew_symbols=False,
        ),
        Mistake(
            "all merges of one count",
            _best_of_one_count,
            "these are the best pairs of the *first* count. Join the best one, then count again.",
        ),
        _with(
            "never joined",
            "the same pair comes again and again. Either it is never joined in the words (a list "
            "that you have made must be put back into the table), or the counting stands before "
            "the loop: count again in every round.",
            join=lambda parts, pair: parts,
        ),
        _with(
            "the first place only",
            "a pair is joined at one place of a word only. One that stands there twice is joined "
            "twice.",
            join=_first_place_joined,
        ),
        _with(
            "replaced in a string",
            "a pair is also found at the *end* of a longer symbol: `replace` on a text does not "
            "see where symbols begin. Compare whole symbols.",
            join=_joined_in_a_string,
        ),
    ],
    right="`learn` is right, for byte-pair encoding and for the quotient",
)
