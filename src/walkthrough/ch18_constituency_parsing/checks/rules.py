"""The checks of chapter 18: rules for the next symbol, and a decoder that keeps them (§6.3)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from walkthrough.checking import Arguments, Check, Mistake, Symptom, fixed

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


def _never(closed: Callable[[str, Sequence[str], int], bool]) -> Allowed:
    """Return rules that close some symbols besides: `closed(symbol, written, n_words)`."""
    return lambda written, n_words, labels: {
        one for one in rules(written, n_words, labels) if not closed(one, written, n_words)
    }


def _no_symbol(result: Collection[str], labels: Sequence[str]) -> bool:
    return bool(set(result) - {f"{b}{label}" for label in labels for b in "()"} - {WORD, END})


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
        fixed("two brackets have opened", ["(S", "(VP"], 1, ("VP", "S")),
        fixed("two brackets have opened, two words left", ["(S", "(VP"], 2, LABELS),
        fixed(
            "a phrase has closed inside another, one word left",
            ["(S", "(VP", "XX", "(NP", "XX", ")NP"],
            3,
            LABELS,
        ),
        fixed("three brackets open, one word left", ["(S", "(VP", "(NP", "XX"], 2, LABELS),
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
        Mistake(
            "closes after a word alone",
            _never(lambda one, written, _n: one[0] == ")" and written[-1] != WORD),
            "a bracket closes only after a word in your rules. It may close after a phrase, too.",
        ),
        Mistake(
            "closes after a word alone while words are left",
            _never(
                lambda one, written, n: (
                    one[0] == ")" and written[-1] != WORD and written.count(WORD) < n
                )
            ),
            "while words are left, a bracket closes only after a word in your rules. An inner one "
            "may close after a phrase, too: `(S (VP XX (NP XX )NP )VP XX )S` is a tree.",
        ),
        Mistake(
            "closes when two are open alone",
            _never(
                lambda one, written, n: (
                    one[0] == ")"
                    and written.count(WORD) < n
                    and sum({"(": 1, ")": -1}.get(symbol[0], 0) for symbol in written) > 2
                )
            ),
            "while words are left, an inner bracket may not close in your rules when more than "
            "two are open. Only the outermost one has to wait for the last word.",
        ),
        Mistake(
            "words after a bracket alone",
            _never(lambda one, written, _n: one == WORD and written[-1][0] != "("),
            "a word comes only after an opening bracket in your rules. A constituent may hold "
            "several words, and words beside phrases.",
        ),
        Mistake(
            "S alone at the root",
            _never(lambda one, written, _n: not written and one != "(S"),
            "only `(S` may come first in your rules. Any label may be the outermost.",
        ),
        Mistake(
            "a label in itself",
            _never(lambda one, written, _n: bool(written) and one[0] == "(" and one == written[-1]),
            "a bracket may not open inside another of its label in your rules. It may: "
            "`(NP (NP XX )NP )NP` is a tree.",
        ),
        Mistake(
            "no bracket before the last word",
            _never(
                lambda one, written, n: (
                    bool(written) and one[0] == "(" and n - written.count(WORD) == 1
                )
            ),
            "no bracket may open in your rules when one word is left. A phrase of one word is a "
            "constituent.",
        ),
        Mistake(
            "as many brackets as words",
            _never(
                lambda one, written, n: (
                    one[0] == "(" and sum(symbol[0] == "(" for symbol in written) >= n
                )
            ),
            "you limit how many brackets may open. There is no limit: constituents of one word "
            "can stand inside each other.",
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
        Symptom(
            "no such symbol",
            lambda result, _expected, given: _no_symbol(result, given.positional[2]),
            "your set holds something that is no symbol. There are `(X` and `)X` for each label "
            "X, `XX` for a word, and `</s>`.",
        ),
    ],
    right="`allowed` is right: every tree can be written, and nothing else",
)


# The loop ----------------------------------------------------------------------------------------


MOST_SYMBOLS = 60


def _stop_endless(written: Sequence[str]) -> None:
    if len(written) > MOST_SYMBOLS:
        raise RuntimeError(
            f"{MOST_SYMBOLS} symbols for a sentence of two words, and no end. Does your decoder "
            "choose the allowed symbol with the highest score, and stop at `</s>`?"
        )


def _may(written: Sequence[str], n_words: int, labels: Sequence[str]) -> set[str]:
    _stop_endless(written)
    return rules(written, n_words, labels)


def scripted(wishes: Sequence[Mapping[str, float]]) -> Callable[[Sequence[str]], dict[str, float]]:
    """Return a model that gives these scores to the symbols, step by step, whatever is written."""

    def scores(written: Sequence[str]) -> dict[str, float]:
        _stop_endless(written)
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
    end_as_wished: bool = False,
) -> list[str]:
    """Return what greedy decoding under rules writes; each switch is a mistake."""
    written: list[str] = []
    while len(written) < 40:
        found = dict(scores(written))
        if end_as_wished and max(found, key=found.__getitem__) == END:
            break
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
    return fixed(label, scripted(wishes), _may, n_words)


def _of(**switch: bool) -> Callable[..., list[str]]:
    return lambda scores, may, n_words: decode(scores, may, n_words, **switch)


def _up_to_the_last_word(written: list[str]) -> list[str]:
    return written[: len(written) - written[::-1].index(WORD)]


Pick = Callable[[Mapping[str, float], Collection[str]], str]
N_FOLLOWED = 6  # symbols: a wrong choice may go on for ever


def _chosen_by(pick: Pick, *, scores_of: int | None = None) -> Callable[..., bool]:
    """Return whether a result begins as if `pick` had chosen each symbol.

    `scores_of` is how many symbols the model has read at most.
    """

    def shows(result: Sequence[str], expected: Sequence[str], given: Arguments) -> bool:
        if list(result) == expected:  # right, in another form
            return False
        scores, may, n_words = given.positional
        written: list[str] = []
        for symbol in [*result, END][:N_FOLLOWED]:
            chosen = pick(scores(written[:scores_of]), may(written, n_words, LABELS))
            if symbol != chosen:
                return False
            written.append(symbol)
        return True

    return shows


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
        Mistake(
            "the end as the model wishes",
            _of(end_as_wished=True),
            "you stop where the model's likeliest symbol is the end, even if the rules close it. "
            "Ask `may` first.",
        ),
        Mistake(
            "as long as the sentence",
            lambda scores, may, n_words: decode(scores, may, n_words)[:n_words],
            "you write as many symbols as there are words. Brackets are symbols, too: go on until "
            "the end symbol is chosen.",
        ),
        Mistake(
            "up to the last word",
            lambda scores, may, n_words: _up_to_the_last_word(decode(scores, may, n_words)),
            "you stop after the last word. Brackets are still open: go on until the end symbol is "
            "chosen.",
        ),
    ],
    symptoms=[
        Symptom(
            "the lowest score, without an end",
            _chosen_by(lambda found, may: min(may, key=found.__getitem__)),
            "you choose the symbol with the *lowest* score among those allowed.",
        ),
        Symptom(
            "the first or last by name",
            lambda *shown: any(
                _chosen_by(lambda found, may, by=by: by(may))(*shown)  # type: ignore[misc]
                for by in (min, max)
            ),
            "you choose among the symbols by their names. Choose by score: `max` needs a `key`.",
        ),
        Symptom(
            "scores of the beginning",
            _chosen_by(lambda found, may: max(may, key=found.__getitem__), scores_of=0),
            "you ask the model once. Its scores change with what is written: ask at every step.",
        ),
        Symptom(
            "0 for what is closed",
            _chosen_by(
                lambda found, may: max(found, key=lambda one: found[one] if one in may else 0.0)
            ),
            "a closed symbol gets the score 0, and the scores of open ones may lie below. Leave "
            "it out, or give it −∞.",
        ),
    ],
    right="the decoder is right: the model chooses, the rules close",
)
