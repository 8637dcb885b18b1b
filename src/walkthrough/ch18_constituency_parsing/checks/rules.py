"""The check of chapter 18 on the rules for the next symbol (§6.3)."""

from collections.abc import Callable, Sequence

from walkthrough.checking import Case, Check, Mistake, fixed

END, WORD = "</s>", "XX"
LABELS = ("NP", "S", "VP")
Allowed = Callable[[Sequence[str], int, Sequence[str]], set[str]]


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
        fixed("two brackets have opened, other labels", ["(X", "(VP"], 1, ("VP", "X")),
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
