"""The check of chapter 11 on spelling a word with merges (§5.1)."""

from collections.abc import Sequence
from itertools import pairwise

from transformer.data.bpe import Merge, join_pair, learn_merges, merge_ranks, segment
from walkthrough.checking import Case, Check, Mistake, fixed

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


def _from_the_right(word: str, merges: Sequence[Merge]) -> list[str]:
    parts = list(word[::-1])
    for left, right in merges:
        parts = join_pair(parts, (right[::-1], left[::-1]))
    return [part[::-1] for part in parts[::-1]]


def _one_sweep(word: str, merges: Sequence[Merge]) -> list[str]:
    parts, known, at = list(word), set(merges), 0
    while at < len(parts) - 1:
        if (parts[at], parts[at + 1]) in known:
            parts[at : at + 2] = ["".join(parts[at : at + 2])]
        else:
            at += 1
    return parts


def _in_one_string(word: str, merges: Sequence[Merge]) -> list[str]:
    border = "\0"
    spelled = border.join(word)
    for left, right in merges:
        spelled = spelled.replace(left + border + right, left + right)
    return spelled.split(border)


def _word_case(label: str, *words: str) -> list[Case]:
    return [fixed(label.format(word=word), word, MERGES) for word in words]


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
        fixed("'abc', whose last merge counts", "abc", [("a", "b"), ("ab", "c")]),
    ],
    mistakes=[
        Mistake(
            "longest piece first",
            _longest_first,
            "this takes the longest known subword from the left, again and again. It is another "
            "method (WordPiece reads words so). BPE repeats its merges in the order in which they "
            "were learned, and a long subword is out of reach when an earlier merge took one of "
            "its letters.",
            "The longest piece first",
        ),
        Mistake(
            "from the left",
            _from_the_left,
            "this joins whatever pair comes first in the word. The merge that was learned first "
            "goes first, wherever in the word it stands.",
        ),
        Mistake(
            "newest merge first",
            _newest_first,
            "this goes through the merges from the last to the first. Late merges join symbols "
            "that early merges have to make first.",
        ),
        Mistake(
            "from the right",
            _from_the_right,
            "a merge is joined from the end of the word. It goes from left to right: `aaa` with "
            "the pair (`a`, `a`) is `aa`, `a`.",
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
            "one sweep",
            _one_sweep,
            "this walks through the word once and joins what it can on the way. A merge that was "
            "learned earlier goes first, wherever it stands.",
        ),
    ],
)
