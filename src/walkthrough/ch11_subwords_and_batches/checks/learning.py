"""The check of chapter 11 on learning merges, by any count (§5.1)."""

from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from typing import Any

from transformer.data.bpe import Merge, join_pair
from walkthrough.checking.base import Check, Mistake, Symptom, fixed

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


def _joined_and_kept(parts: list[str], pair: Merge) -> list[str]:
    """The right symbol of a pair stays as well."""
    neighbours = [*pairwise(parts), None]
    return [
        "".join(pair) if after == pair else part
        for part, after in zip(parts, neighbours, strict=True)
    ]


def _joined_without_the_end(parts: list[str], pair: Merge) -> list[str]:
    """A loop to the last symbol but one forgets the last, unless it is joined."""
    joined = join_pair(parts, pair)
    ends_in_pair = len(joined) < len(parts) and joined[-1] == "".join(pair)
    return joined if ends_in_pair else joined[:-1]


Join = Callable[[list[str], Merge], list[str]]


def _learner(
    *,
    weigh_pairs: bool = True,
    weigh_symbols: bool = True,
    tie: str = "first",
    sign: int = 1,
    swapped: bool = False,
    plain: bool = False,
    renew: str = "both",
    join: Join = join_pair,
    least: int = 1,
    more: int = 0,
    symbols_in_pairs: bool = False,
) -> Callable[[Words, int, Score], list[Merge]]:
    """Learn merges, with one thing changed."""

    def learn(words: Words, n_merges: int, score: Score) -> list[Merge]:
        once = dict.fromkeys(words, 1)
        spelled = {word: list(word) for word in words}
        at_first = _counts(spelled, words)
        so_far: tuple[Counter[Merge], Counter[str]] = Counter(), Counter()
        merges: list[Merge] = []
        while len(merges) < n_merges + more:
            pairs = _counts(spelled, words if weigh_pairs else once)[0]
            symbols = _counts(spelled, words if weigh_symbols else once)[1]
            if symbols_in_pairs:
                symbols = Counter()
                for (one, other), times in pairs.items():
                    symbols[one] += times
                    symbols[other] += times
            if renew == "added up":
                so_far[0].update(pairs)
                so_far[1].update(symbols)
                pairs, symbols = so_far
            symbols = at_first[1] if renew == "pairs" else symbols
            if not pairs or max(pairs.values()) < least:
                break

            value = {}
            for pair, times in pairs.items():
                sides = (symbols[pair[0]], symbols[pair[1]])
                left, right = sides[::-1] if swapped else sides
                value[pair] = sign * (times if plain else score(times, left, right))
            orders = {"first": sorted(pairs), "last": sorted(pairs)[::-1], "seen": list(pairs)}
            merges.append(max(orders[tie], key=value.__getitem__))
            spelled = {word: join(parts, merges[-1]) for word, parts in spelled.items()}
        return merges

    return learn


def _with(name: str, say: str, **changes: Any) -> Mistake:
    return Mistake(name, _learner(**changes), say)


def _one_round(words: Words, n_merges: int, score: Score) -> list[Merge]:
    return _learner()(words, 1, score)


def _best_of_one_count(words: Words, n_merges: int, score: Score) -> list[Merge]:
    pairs, symbols = _counts({word: list(word) for word in words}, words)
    ranked = sorted(
        pairs, key=lambda pair: (-score(pairs[pair], symbols[pair[0]], symbols[pair[1]]), pair)
    )
    return ranked[:n_merges]


def _across_words(words: Words, n_merges: int, score: Score) -> list[Merge]:
    return _learner()({"".join(word * times for word, times in words.items()): 1}, n_merges, score)


def by_count(pair: int, left: int, right: int) -> int:
    """Byte-pair encoding."""
    return pair


def by_share(pair: int, left: int, right: int) -> float:
    """The short form of word-pieces: how much more often than by chance."""
    return pair / (left * right)


def by_left(pair: int, left: int, right: int) -> float:
    """How surely the right symbol follows the left one."""
    return pair / (left + 1)


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
        fixed("a score that looks at the left symbol", {"xa": 4, "xb": 3, "yb": 2}, 1, by_left),
        fixed("a pair that overlaps itself", {"aaaab": 3, "aab": 2, "cab": 1}, 4, by_count),
        fixed("pairs with equal scores", {"zy": 2, "ab": 2, "ba": 2}, 2, by_count),
        fixed("a pair that ends in a longer symbol", {"banx": 1, "nx": 3, "an": 5}, 4, by_count),
        fixed("more merges than there are pairs", {"ab": 2, "ac": 1}, 9, by_count),
    ],
    mistakes=[
        _with(
            "words counted once",
            "every different word counts once, however often it occurs. Add `words[word]`, for "
            "pairs and for symbols.",
            weigh_pairs=False,
            weigh_symbols=False,
        ),
        _with(
            "pairs counted once",
            "a pair counts once for every different word. Add `words[word]`, as for the symbols.",
            weigh_pairs=False,
        ),
        _with(
            "symbols counted once",
            "a *symbol* counts once for every different word that has it. Add `words[word]`, as "
            "for the pairs.",
            weigh_symbols=False,
        ),
        _with(
            "symbols counted in pairs",
            "the symbols are counted by the pairs that they stand in: one in the middle of a word "
            "counts twice, and one that is alone not at all. Count where the symbol stands.",
            symbols_in_pairs=True,
        ),
        _with(
            "ties to the last",
            "of pairs with equal scores this takes the one that comes last in the alphabet. The "
            "exercise asks for the first.",
            tie="last",
        ),
        _with(
            "ties to the first seen",
            "of pairs with equal scores this takes the one that was met first. The exercise asks "
            "for the first in the alphabet.",
            tie="seen",
        ),
        _with(
            "the score not used",
            "the most frequent pair is taken, whatever `score` says. Ask `score` with the three "
            "counts.",
            plain=True,
        ),
        _with("the lowest score", "the pair with the *lowest* score is taken.", sign=-1),
        _with(
            "left and right exchanged",
            "`score` gets the count of the right symbol in the place of the left one's.",
            swapped=True,
        ),
        _with(
            "counts added up",
            "the counts of all rounds are added up. Begin each round with empty counters.",
            renew="added up",
        ),
        _with(
            "symbols never counted again",
            "the symbols are counted once, at the start. A merge uses some up and makes a new "
            "one: count again in every round.",
            renew="pairs",
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
        _with(
            "right symbol kept",
            "after a join the right symbol is still there: `a` `b` becomes `ab` `b`. Move on by "
            "two places.",
            join=_joined_and_kept,
        ),
        _with(
            "last symbol lost",
            "joining loses the last symbol of the words: the loop ends one too early, and what is "
            "left over is not taken along.",
            join=_joined_without_the_end,
        ),
        _with(
            "pairs seen once left out",
            "this stops where every pair occurs once. The exercise asks to go on as long as there "
            "are pairs.",
            least=2,
        ),
        _with("one merge too many", "this learns one merge more than `n_merges`.", more=1),
        Mistake(
            "one round",
            _one_round,
            "this stops after the first merge. Has a `return` slipped into the loop?",
        ),
        Mistake(
            "across words",
            _across_words,
            "pairs across the border of two words are counted too: the last symbol of one with "
            "the first of the next. Take each word on its own.",
        ),
        Mistake(
            "joined symbols",
            lambda *given: ["".join(pair) for pair in _learner()(*given)],
            "the right pairs, but joined. Return tuples of two symbols: the same string can come "
            "from several pairs.",
        ),
    ],
    symptoms=[
        Symptom(
            "later merges",
            lambda result, expected, given: (
                len(result) > 1
                and all(len(pair) == 2 for pair in result)
                and tuple(result[0]) == tuple(expected[0])
                and list(map(tuple, result)) != list(map(tuple, expected))
                and len(result) == len(expected)
            ),
            "the first merge is right, and a later one is not. Print the words as they are spelled "
            "after each round, and the counts.",
        ),
    ],
    right="`learn` is right, for byte-pair encoding and for the quotient",
)
