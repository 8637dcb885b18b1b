"""The checks of chapter 18: rules for the next symbol, and a decoder that keeps them (§6.3)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from walkthrough.checking import Check, Mistake, Symptom, fixed

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
    loose_words: bool = False,
    more_words: bool = False,
    second_tree: bool = False,
    early_end: bool = False,
    no_end: bool = False,
    one_label_deep: bool = False,
) -> set[str]:
    """Return what may come next; each switch leaves one rule out."""
    open_ones: list[str] = []
    words = 0
    for symbol in written:
        if symbol.startswith("("):
            open_ones.append(symbol[1:])
        elif symbol.startswith(")"):
            open_ones.pop()
        else:
            words += 1
    is_done = bool(written) and not open_ones
    if is_done:
        found = set() if no_end else {END}
        return found | ({f"({label}" for label in labels} if second_tree else set())
    left = n_words - words
    found = set()
    if left > 0 or useless:
        found |= {f"({label}" for label in labels}
    if (open_ones or loose_words) and (left > 0 or more_words):
        found.add(WORD)
    has_child = bool(written) and not written[-1].startswith("(")
    if (
        open_ones
        and (has_child or empty)
        and (len(open_ones) > 1 or left == 0 or early)
        and not (one_label_deep and len(open_ones) > 1 and left > 0)
    ):
        found |= {f"){label}" for label in (labels if any_label else open_ones[-1:])}
    if early_end and left == 0:
        found.add(END)
    return found


def _without(**switch: bool) -> Allowed:
    return lambda written, n_words, labels: rules(written, n_words, labels, **switch)


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
        fixed("a whole tree", ["(S", "XX", "XX", ")S"], 2, LABELS),
        fixed("two brackets have opened", ["(S", "(VP"], 1, ("VP", "S")),
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
            "words outside",
            _without(loose_words=True),
            "a word may come before any bracket has opened. All words stand inside the tree.",
        ),
        Mistake(
            "too many words",
            _without(more_words=True),
            "words may come when all are written. Count them: a sentence of n words has n leaves.",
        ),
        Mistake(
            "a second tree",
            _without(second_tree=True),
            "after a whole tree another may begin. One sentence has one tree: only the end may "
            "follow.",
        ),
        Mistake(
            "an early end",
            _without(early_end=True),
            "the end may come while brackets are open. They would never close.",
        ),
        Mistake(
            "no end",
            _without(no_end=True),
            "after a whole tree nothing may come in your rules. The end must: without it the "
            "decoder never stops.",
        ),
        Mistake(
            "phrases never close before the last word",
            _without(one_label_deep=True),
            "an inner bracket may not close while words are left. Only the *outermost* one has to "
            "wait for the last word.",
        ),
    ],
    symptoms=[
        Symptom(
            "a list",
            lambda result, _expected, _given: isinstance(result, (list, tuple)),
            "a set of symbols is asked for, yours is a list: their order means nothing.",
        ),
        Symptom(
            "labels without brackets",
            lambda result, _expected, _given: any(label in result for label in LABELS),
            "your set holds bare labels. The symbols are `(NP` and `)NP`.",
        ),
    ],
    right="`allowed` is right: every tree can be written, and nothing else",
)


# The loop ----------------------------------------------------------------------------------------


def scripted(wishes: Sequence[Mapping[str, float]]) -> Callable[[Sequence[str]], dict[str, float]]:
    """Return a model that gives these scores to the symbols, step by step, whatever is written."""

    def scores(written: Sequence[str]) -> dict[str, float]:
        base = {f"{b}{label}": -5.0 for b in "()" for label in LABELS} | {WORD: -6.0, END: -7.0}
        base[")S"], base["(S"] = -4.0, -4.5
        step = min(len(written), len(wishes) - 1)
        return base | dict(wishes[step])

    return scores


def decode(
    scores: Callable[[Sequence[str]], Mapping[str, float]],
    may: Allowed,
    n_words: int,
    *,
    free: bool = False,
    keep_end: bool = False,
    worst: bool = False,
    first: bool = False,
    drop: bool = False,
    only_wish: bool = False,
) -> list[str]:
    """Return what greedy decoding under rules writes; each switch is a mistake."""
    written: list[str] = []
    while len(written) < 40:
        found = dict(scores(written))
        open_ones: Collection[str] = may(written, n_words, LABELS)
        if drop:
            found = {symbol: s for symbol, s in found.items() if s > -4.9} or found
        if not free:
            found = {symbol: s for symbol, s in found.items() if symbol in open_ones} or found
        chosen = min(found, key=found.__getitem__) if worst else max(found, key=found.__getitem__)
        if first:
            chosen = sorted(open_ones)[0]
        if only_wish and chosen not in open_ones:
            break
        if chosen == END:
            return [*written, END] if keep_end else written
        written.append(chosen)
    return written


def _case(label: str, wishes: Sequence[Mapping[str, float]], n_words: int) -> Any:
    return fixed(label, scripted(wishes), rules, n_words)


def _of(**switch: bool) -> Callable[..., list[str]]:
    return lambda scores, may, n_words: decode(scores, may, n_words, **switch)


decoder = Check(
    name="decoder",
    reference=decode,
    cases=[
        _case(
            "a model that is right",
            [
                {"(S": 0.0},
                {"(NP": 0.0},
                {"XX": 0.0},
                {")NP": 0.0},
                {"XX": 0.0},
                {")S": 0.0},
                {"</s>": 0.0},
            ],
            2,
        ),
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
            _of(keep_end=True),
            "the end symbol is part of your result. It ends the loop and is no part of the tree.",
        ),
        Mistake(
            "the lowest score",
            _of(worst=True),
            "you choose the symbol with the *lowest* score among those allowed.",
        ),
        Mistake(
            "the first allowed",
            _of(first=True),
            "you take an allowed symbol without a look at the scores. The model chooses, the rules "
            "only close what is impossible.",
        ),
        Mistake(
            "given up",
            _of(free=True, only_wish=True),
            "your decoder stops where the likeliest symbol is not allowed. Take the likeliest of "
            "those that are.",
        ),
    ],
    right="the decoder is right: the model chooses, the rules close",
)
