"""The checks of chapter 11 on byte-pair encoding: the next merge, and spelling a word (§5.1).

Each mistake is a whole wrong implementation: the check runs it on the same inputs as the reader's
function and names it when the results agree.
"""

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

from transformer.data.bpe import Merge, join_pair, learn_merges, merge_ranks, segment
from walkthrough.checking.base import Arguments, Case, Check, Mistake, Symptom, fixed

Words = dict[tuple[str, ...], int]
"""Words, spelled in symbols, and how often each occurs."""


# Exercise: the next merge ------------------------------------------------------------------------


def _pair_counts(words: Words) -> Counter[Merge]:
    counts: Counter[Merge] = Counter()
    for symbols, times in words.items():
        for pair in pairwise(symbols):
            counts[pair] += times
    return counts


def _next_merge(words: Words) -> Merge:
    return _pair_counts(words).most_common(1)[0][0]


def _each_word_once(words: Words) -> Merge:
    return _next_merge(dict.fromkeys(words, 1))


def _pair_once_a_word(words: Words) -> Merge:
    counts: Counter[Merge] = Counter()
    for symbols, times in words.items():
        for pair in set(pairwise(symbols)):
            counts[pair] += times
    return max(sorted(counts), key=lambda pair: counts[pair])


def _across_words(words: Words) -> Merge:
    text = [symbol for symbols, times in words.items() for _ in range(times) for symbol in symbols]
    return Counter(pairwise(text)).most_common(1)[0][0]


def _characters(words: Words) -> Merge:
    return _next_merge({tuple("".join(symbols)): times for symbols, times in words.items()})


def _two_symbols(words: Words) -> Merge:
    counts: Counter[str] = Counter()
    for symbols, times in words.items():
        for symbol in symbols:
            counts[symbol] += times
    (one, _), (other, _) = counts.most_common(2)
    return one, other


def _words_case(label: str, text: str) -> Case:
    """A text of words and counts, such as "v-i-s:3"; symbols are parted by hyphens."""
    words: Words = {}
    for word in text.split():
        symbols, times = word.split(":")
        words[tuple(symbols.split("-"))] = int(times)
    return fixed(label, words)


next_merge = Check(
    name="next_merge",
    reference=_next_merge,
    cases=[
        _words_case("one frequent word and three rare ones", "a-b:5 c-d:1 c-d-e:1 f-c-d:1"),
        _words_case("a pair that occurs twice in a word", "x-a-b-a-b:2 c-d:3 d-c:1"),
        _words_case("words that begin and end alike", "a-b-c:3 a-e-c:2 a-f-c:2 b-c:1"),
        _words_case(
            "symbols of several characters", "vis-it-s:4 vis-it:2 vis-i-t:1 i-t-s:2 w-a-it:3"
        ),
        _words_case("a frequent pair of letters and a longer pair", "a-b:4 vis-its:3"),
    ],
    mistakes=[
        Mistake(
            "each word counted once",
            _each_word_once,
            "every different word counts once here, however often it occurs. Multiply by the "
            "number that stands beside the word.",
        ),
        Mistake(
            "each pair once a word",
            _pair_once_a_word,
            "a pair that stands twice in a word counts once here. Count every place where it "
            "stands.",
        ),
        Mistake(
            "across words",
            _across_words,
            "pairs across the border of two words are counted too: the last symbol of one with "
            "the first of the next. Take each word on its own.",
        ),
        Mistake(
            "characters",
            _characters,
            "this counts pairs of *characters*. Symbols that earlier merges have made stay whole.",
        ),
        Mistake(
            "the two most frequent symbols",
            _two_symbols,
            "these are the two most frequent symbols, each counted alone. They need not stand "
            "side by side.",
        ),
        Mistake(
            "the rarest pair",
            lambda words: min(sorted(_pair_counts(words)), key=_pair_counts(words).__getitem__),
            "this is the rarest pair. A merge should save as many symbols as it can.",
        ),
        Mistake(
            "the joined symbol",
            lambda words: "".join(_next_merge(words)),
            "the right pair, but joined to one string. Return the two symbols as a tuple: the "
            "same string can come from several pairs.",
        ),
        Mistake(
            "the count as well",
            lambda words: _pair_counts(words).most_common(1)[0],
            "you return the pair *and* its count, as `most_common` does. Return the pair alone.",
        ),
    ],
)


# Exercise: spell a word --------------------------------------------------------------------------

TEXT = [
    *["low lower lowest slow slower slowest"] * 3,
    *["new newer newest renew sewer west"] * 2,
    "banana bananas bandana",
]
MERGES = learn_merges(TEXT, 24)


def _spell(word: str, merges: Sequence[Merge]) -> list[str]:
    return segment(word, merge_ranks(merges))


def _longest_first(word: str, merges: Sequence[Merge]) -> list[str]:
    known = {left + right for left, right in merges}
    parts = []
    while word:
        length = next((n for n in range(len(word), 1, -1) if word[:n] in known), 1)
        parts.append(word[:length])
        word = word[length:]
    return parts


def _from_the_left(word: str, merges: Sequence[Merge]) -> list[str]:
    parts, known = list(word), set(merges)
    while True:
        places = [at for at, pair in enumerate(pairwise(parts)) if pair in known]
        if not places:
            return parts
        parts[places[0] : places[0] + 2] = ["".join(parts[places[0] : places[0] + 2])]


def _right_to_left(word: str, merges: Sequence[Merge]) -> list[str]:
    mirrored = _spell(word[::-1], [(right[::-1], left[::-1]) for left, right in merges])
    return [part[::-1] for part in reversed(mirrored)]


def _by_joined_text(word: str, merges: Sequence[Merge]) -> list[str]:
    ranks = {left + right: rank for rank, (left, right) in reversed(list(enumerate(merges)))}
    parts = list(word)
    while True:
        known = [one + other for one, other in pairwise(parts) if one + other in ranks]
        if not known:
            return parts
        first, joined, at = min(known, key=ranks.__getitem__), [], 0
        while at < len(parts):
            width = 2 if "".join(parts[at : at + 2]) == first and at + 1 < len(parts) else 1
            joined.append("".join(parts[at : at + width]))
            at += width
        parts = joined


def _newest_first(word: str, merges: Sequence[Merge]) -> list[str]:
    return _in_turn(word, merges[::-1])


def _in_turn(word: str, merges: Sequence[Merge]) -> list[str]:
    parts = list(word)
    for merge in merges:
        parts = join_pair(parts, merge)
    return parts


def _first_place_only(word: str, merges: Sequence[Merge]) -> list[str]:
    parts = list(word)
    for merge in merges:
        places = [at for at, pair in enumerate(pairwise(parts)) if pair == merge]
        if places:
            parts[places[0] : places[0] + 2] = ["".join(merge)]
    return parts


def _first_merge_only(word: str, merges: Sequence[Merge]) -> list[str]:
    for merge in merges:
        joined = join_pair(list(word), merge)
        if len(joined) < len(word):
            return joined
    return list(word)


def _in_one_string(word: str, merges: Sequence[Merge]) -> list[str]:
    border = "\0"
    spelled = border.join(word)
    for left, right in merges:
        spelled = spelled.replace(left + border + right, left + right)
    return spelled.split(border)


def _word_case(label: str, *words: str) -> list[Case]:
    return [fixed(label.format(word=word), word, MERGES) for word in words]


def _loses_letters(result: list[str], expected: list[str], given: Arguments) -> bool:
    return not isinstance(result, str) and "".join(result) != given.positional[0]


spell = Check(
    name="spell",
    reference=_spell,
    cases=[
        *_word_case("the known word {word!r}", " lowest", " sewer"),
        *_word_case("the unknown word {word!r}", " slowness", " bananana", " sewest", " eastern"),
        *_word_case("{word!r}, which has unknown letters", " Žižek"),
        *_word_case("the one letter {word!r}", "w"),
        fixed("'aaaaa', where the pair overlaps itself", "aaaaa", [("a", "a"), ("aa", "b")]),
        fixed(
            "'abcab' with three merges, two of which join to the same letters",
            "abcab",
            [("b", "c"), ("a", "b"), ("ab", "c")],
        ),
    ],
    mistakes=[
        Mistake(
            "longest piece first",
            _longest_first,
            "this takes the longest known subword from the left, again and again. It is another "
            "method (WordPiece reads words so). BPE repeats its merges in the order in which they "
            "were learned, and a long subword is out of reach when an earlier merge took one of "
            "its letters.",
        ),
        Mistake(
            "from the left",
            _from_the_left,
            "this joins whatever pair comes first in the word. The merge that was learned first "
            "goes first, wherever in the word it stands.",
        ),
        Mistake(
            "from the right",
            _right_to_left,
            "nearly: where a pair overlaps itself, as in `aaa`, you join from the right. BPE reads "
            "the word from the left: `aa`, `a`.",
        ),
        Mistake(
            "the joined text compared",
            _by_joined_text,
            "nearly: you look for the joined text of a merge and not for its pair. `ab` + `c` and "
            "`a` + `bc` read alike, and only one of them was learned. Compare pairs.",
        ),
        Mistake(
            "newest merge first",
            _newest_first,
            "this goes through the merges from the last to the first. Late merges join symbols "
            "that early merges have to make first.",
        ),
        Mistake(
            "only the first place",
            _first_place_only,
            "each merge is applied at one place only. A pair that stands in the word twice is "
            "joined twice.",
        ),
        Mistake(
            "replaced in one string",
            _in_one_string,
            "nearly: `replace` on a string also finds a pair at the *end* of a longer symbol, the "
            "`n` of `an` for instance. A merge joins whole symbols only.",
        ),
        Mistake(
            "without the space",
            lambda word, merges: _spell(word.strip(), merges),
            "the space in front of the word is lost. It is a character like any other, and merges "
            "such as `(' ', 's')` need it.",
        ),
        Mistake(
            "one merge",
            _first_merge_only,
            "this stops after the first merge that fits. Go on with the rest of the list.",
        ),
        Mistake(
            "no merge",
            lambda word, merges: list(word),
            "these are the characters: no merge has been applied. If you used `zip` or `replace` "
            "on strings, remember that strings do not change in place.",
        ),
        Mistake(
            "one string",
            lambda word, merges: " ".join(_spell(word, merges)),
            "the subwords are right, but you return one string. Return them as a list.",
        ),
    ],
    symptoms=[
        Symptom(
            "letters lost",
            _loses_letters,
            "the subwords, joined, do not spell the word any more. A merge replaces two "
            "neighbours by their concatenation and leaves everything else where it is.",
        ),
    ],
)
