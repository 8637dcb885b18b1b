"""The checks of chapter 18: rules for the next symbol, and a decoder that keeps them (§6.3)."""

from collections.abc import Callable, Mapping, Sequence

from walkthrough.checking import Case, Check, Mistake, fixed

END, WORD = "</s>", "XX"
LABELS = ("NP", "S", "VP")
Allowed = Callable[[Sequence[str], int, Sequence[str]], set[str]]
Scores = Callable[[Sequence[str]], Mapping[str, float]]


def rules(
    written: Sequence[str],
    n_words: int,
    labels: Sequence[str],
    *,
    empty: bool = False,
    early: bool = False,
    any_label: bool = False,
    useless: bool = False,
) -> set[str]:
    """Return what may come next; each switch leaves one rule out."""
    open_ones: list[str] = []
    for symbol in written:
        if symbol.startswith("("):
            open_ones.append(symbol[1:])
        elif symbol.startswith(")"):
            open_ones.pop()
    if written and not open_ones:
        return {END}
    left = n_words - sum(symbol == WORD for symbol in written)
    found = {f"({label}" for label in labels} if left or useless else set()
    if open_ones and left:
        found.add(WORD)
    has_child = bool(written) and not written[-1].startswith("(")
    if open_ones and (has_child or empty) and (len(open_ones) > 1 or not left or early):
        found |= {f"){label}" for label in (labels if any_label else open_ones[-1:])}
    return found


def _without(**switch: bool) -> Allowed:
    return lambda written, n_words, labels: rules(written, n_words, labels, **switch)


def _never(closed: Callable[[str, Sequence[str], int], bool]) -> Allowed:
    """Return rules that close some symbols besides: `closed(symbol, written, n_words)`."""
    return lambda written, n_words, labels: {
        one for one in rules(written, n_words, labels) if not closed(one, written, n_words)
    }


def _second_tree(written: Sequence[str], n_words: int, labels: Sequence[str]) -> set[str]:
    found = rules(written, n_words, labels)
    return found | {f"({label}" for label in labels} if END in found else found


allowed = Check(
    name="allowed",
    reference=rules,
    cases=[
        fixed("nothing written, two words", [], 2, LABELS),
        fixed("a bracket has opened", ["(S"], 2, LABELS),
        fixed("a phrase with a word, one word left", ["(S", "(NP", "XX"], 2, LABELS),
        fixed("the root with a word, one word left", ["(S", "(NP", "XX", ")NP"], 2, LABELS),
        fixed(
            "no word left, two brackets open", ["(S", "(NP", "XX", ")NP", "(VP", "XX"], 2, LABELS
        ),
        fixed("no word left, one bracket open", ["(S", "XX", "XX"], 2, LABELS),
        fixed("no word left, a phrase has closed", ["(S", "(NP", "XX", "XX", ")NP"], 2, LABELS),
        fixed("a whole tree", ["(S", "XX", "XX", ")S"], 2, LABELS),
        fixed("two brackets have opened, other labels", ["(S", "(VP"], 1, ("VP", "S")),
        fixed(
            "a phrase has closed inside another, one word left",
            ["(S", "(VP", "XX", "(NP", "XX", ")NP"],
            3,
            LABELS,
        ),
        fixed("three brackets open, one word left", ["(S", "(VP", "(NP", "XX"], 2, LABELS),
        Case(
            "twelve brackets open",
            fixed("", ["(S", *["(NP"] * 11], 2, LABELS).make,
            "Constituents stand inside each other as deep as a tree wants: there is no limit.",
        ),
    ],
    mistakes=[
        Mistake(
            "empty constituents",
            _without(empty=True),
            "a bracket may close right after it has opened in your rules. A constituent without a "
            "word is none.",
        ),
        Mistake(
            "the root closes early",
            _without(early=True),
            "the outermost bracket may close while words are left. They would stand outside the "
            "tree.",
        ),
        Mistake(
            "any label closes",
            _without(any_label=True),
            "any label may close in your rules. Only the bracket that opened last can: its label "
            "is on top of the stack.",
        ),
        Mistake(
            "brackets without words",
            _without(useless=True),
            "a bracket may open when no word is left. It could never close, because it would stay "
            "empty.",
        ),
        Mistake(
            "a second tree",
            _second_tree,
            "after a whole tree another may begin. One sentence has one tree: only the end may "
            "follow.",
        ),
        Mistake(
            "phrases never close before the last word",
            _never(lambda one, written, n: one[0] == ")" and written.count(WORD) < n),
            "an inner bracket may not close while words are left. Only the *outermost* one has to "
            "wait for the last word.",
        ),
    ],
    right="`allowed` is right: every tree can be written, and nothing else",
)


# The loop ----------------------------------------------------------------------------------------

MOST_SYMBOLS = 60


def _stop_endless(written: Sequence[str]) -> None:
    if len(written) > MOST_SYMBOLS:
        raise RuntimeError(
            f"{MOST_SYMBOLS} symbols, and no end. Does your decoder ask the model and the rules at "
            "every step, choose the allowed symbol with the highest score, and stop at `</s>`?"
        )


def _may(written: Sequence[str], n_words: int, labels: Sequence[str]) -> set[str]:
    _stop_endless(written)
    return rules(written, n_words, labels)


def _with_more_after(written: Sequence[str], _n_words: int, _labels: Sequence[str]) -> set[str]:
    """Rules of one tree of one word, which let another word follow it."""
    _stop_endless(written)
    return [{"(S"}, {WORD}, {")S"}, {END, WORD}, {END}][min(len(written), 4)]


def scripted(wishes: Sequence[Mapping[str, float]], scale: float = 1.0) -> Scores:
    """Return a model that gives these scores to the symbols, step by step, whatever is written."""

    def scores(written: Sequence[str]) -> dict[str, float]:
        _stop_endless(written)
        base = {f"{b}{label}": -5.0 for b in "()" for label in LABELS} | {WORD: -6.0, END: -7.0}
        found = base | {")S": -4.0, "(S": -4.5} | dict(wishes[min(len(written), len(wishes) - 1)])
        return {symbol: scale * score for symbol, score in found.items()}

    return scores


def _wishes(symbols: str) -> list[dict[str, float]]:
    """Return what a model wishes that is sure of each of these symbols."""
    return [{symbol: 0.0} for symbol in symbols.split()]


def decode(
    scores: Scores,
    may: Allowed,
    n_words: int,
    *,
    free: bool = False,
    given_up: bool = False,
    end_as_wished: bool = False,
) -> list[str]:
    """Return what greedy decoding under rules writes; each switch is a mistake."""
    written: list[str] = []
    while True:
        found = scores(written)
        wished = max(found, key=found.__getitem__)
        possible = may(written, n_words, LABELS)
        if (end_as_wished and wished == END) or (given_up and wished not in possible):
            return written
        chosen = wished if free else max(possible, key=found.__getitem__)
        if chosen == END:
            return written
        written.append(chosen)


def _of(**switch: bool) -> Callable[..., list[str]]:
    return lambda scores, may, n_words: decode(scores, may, n_words, **switch)


def _up_to_the_last_word(scores: Scores, may: Allowed, n_words: int) -> list[str]:
    written = decode(scores, may, n_words)
    return written[: len(written) - written[::-1].index(WORD)]


def _case(
    label: str,
    wishes: Sequence[Mapping[str, float]],
    n_words: int,
    special: str = "",
    *,
    scale: float = 1.0,
    may: Allowed = _may,
) -> Case:
    return Case(label, fixed("", scripted(wishes, scale), may, n_words).make, special)


decoder = Check(
    name="decoder",
    reference=decode,
    cases=[
        _case("a model that is right", _wishes("(S (NP XX )NP XX )S </s>"), 2),
        _case(
            "a model that closes too early",
            [{"(S": 0.0}, {"XX": 0.0}, {")S": 0.0, "XX": -1.0}, {"</s>": 0.0, ")S": -1.0}],
            2,
        ),
        _case(
            "a model that counts to three where there are two",
            [{"(S": 0.0}, {"XX": 0.0}, {"XX": 0.0}, {"XX": 0.0, ")S": -2.0}, {"</s>": 0.0}],
            2,
        ),
        _case(
            "a model that closes with another label",
            [{"(VP": 0.0}, {"XX": 0.0}, {")NP": 0.0, ")VP": -3.0}, {"</s>": 0.0}],
            1,
        ),
        _case("a model that would stop at once", [{"</s>": 0.0, "(NP": -1.0}, {"XX": -1.0}], 1),
        _case(
            "twelve words",
            _wishes("(S " + "(NP XX )NP " * 12 + ")S </s>"),
            12,
            "The tree takes 38 symbols: a decoder stops at `</s>`, however long that takes.",
        ),
        _case(
            "scores that lie near each other",
            _wishes("(VP XX (NP XX )NP )VP </s>"),
            2,
            "The best is ahead by some hundredths: it is chosen all the same, not drawn.",
            scale=0.01,
        ),
        _case(
            "rules that let a word follow the tree",
            _wishes("(S XX )S XX </s>"),
            1,
            "The brackets are closed, and the end is not yet chosen: the rules say when to stop.",
            may=_with_more_after,
        ),
    ],
    mistakes=[
        Mistake(
            "free",
            _of(free=True),
            "the rules make no difference in your decoder. Choose among the symbols that `may` "
            "allows.",
        ),
        Mistake(
            "the end kept",
            lambda scores, may, n_words: [*decode(scores, may, n_words), END],
            "the end symbol is part of your result. It ends the loop and is no part of the tree.",
        ),
        Mistake(
            "given up",
            _of(given_up=True),
            "your decoder stops where the likeliest symbol is not allowed. Take the likeliest of "
            "those that are.",
        ),
        Mistake(
            "the end as the model wishes",
            _of(end_as_wished=True),
            "you stop where the model's likeliest symbol is the end, even if the rules close it. "
            "Ask `may` first.",
        ),
        Mistake(
            "up to the last word",
            _up_to_the_last_word,
            "you stop after the last word. Brackets are still open: go on until the end symbol is "
            "chosen.",
        ),
    ],
    right="the decoder is right: the model chooses, the rules close",
)
