"""The check of chapter 09 for five models with one fault each (§3.1).

It does not compare words. It makes the experiments that would show the named fault, and says which
of them comes out otherwise.
"""

from collections.abc import Mapping
from functools import cache
from typing import Any

from walkthrough.ch09_encoder_and_decoder.experiments.broken import (
    FAULTS,
    OF_FIVE,
    five_models,
    observed,
)
from walkthrough.checking.kinds import kind
from walkthrough.checking.own import OwnCheck
from walkthrough.checking.sentences import listed
from walkthrough.checking.verdict import Verdict

# What is changed, and how a sentence says it.
CHANGES = {
    "later target": "another last target token",
    "padding": "padding behind the source",
    "other source": "another source",
    "order": "the same source in another order",
    "first encoder layer": "another weight in the first encoder layer",
    "last encoder layer": "another weight in the last encoder layer",
    "first decoder layer": "another weight in the first decoder layer",
    "last encoder layer, inside": "another weight in the last encoder layer",
}
RESULTS = {
    "later target": "the rows before it",
    "last encoder layer, inside": "what the first decoder layer returns",
}
# Fault → what would move the result with it (True), and what would not (False).
SIGNS: Mapping[str, Mapping[str, bool]] = {
    "future": {"later target": True},
    "padding": {"padding": True},
    "deaf": {"other source": False},
    "no encoder": {
        "other source": True,
        "first encoder layer": False,
        "last encoder layer": False,
    },
    "one layer": {"first encoder layer": True, "last encoder layer": False},
    "level": {"last encoder layer": True, "last encoder layer, inside": False},
    "last layer": {"first decoder layer": False},
    "no positions": {"other source": True, "order": False},
}


WARNED = {
    "one layer": "One layer, N times",
    "level": "Layer by layer",
    "last layer": "Layer by layer",
}
"""Headings of the page's own warnings against a fault."""


@cache
def _seen() -> Mapping[str, Mapping[str, bool]]:
    return {name: observed(model) for name, model in five_models().items()}


def _judge(answer: Any) -> Verdict:
    """Judge which fault a reader finds in each of the five models."""
    if answer is None or answer is ...:
        return _unanswered([], list(OF_FIVE))
    if not isinstance(answer, Mapping):
        return Verdict("wrong", f"a dictionary such as `faults` is expected, got {kind(answer)}")
    models = OF_FIVE
    strange = [name for name in answer if name not in models]
    if strange:
        return Verdict("wrong", f"there is no model {strange[0]!r}: they are {listed([*models])}")
    given = {name: answer.get(name) for name in models}
    named = {name: word for name, word in given.items() if word is not None and word is not ...}
    for name, word in named.items():
        said = _word_said(name, word)
        if said:
            return Verdict("wrong", said)
    against = {name: _against(SIGNS[_plain(word)], _seen()[name]) for name, word in named.items()}
    wrong = {name: f"{name}: {said}" for name, said in against.items() if said}
    if wrong:
        right = [name for name in named if not against[name]]
        agreed = f" Right so far: {listed(right)}." if right else ""
        where = WARNED.get(_plain(named[next(iter(wrong))]), "") if len(wrong) == 1 else ""
        return Verdict("wrong", f"{' '.join(wrong.values())}{agreed}", None, where)
    if len(named) < len(models):
        return _unanswered([*named], [name for name in models if name not in named])
    return Verdict("right", "`faults` is right: all five, each with the experiments that show it")


def _plain(word: str) -> str:
    return " ".join(word.replace("_", " ").split()).lower()


def _word_said(name: str, word: Any) -> str | None:
    if not isinstance(word, str):
        return f"for {name} a word of the list is expected, in quotes; yours is {kind(word)}"
    if _plain(word) not in FAULTS:
        return f"for {name}: {word!r} is not on the list. It has {listed([*map(repr, FAULTS)])}."
    return None


def _against(signs: Mapping[str, bool], seen: Mapping[str, bool]) -> str | None:
    """Return the first experiment that comes out otherwise than the named fault would have it."""
    for change, moves in signs.items():
        if seen[change] != moves:
            what = RESULTS.get(change, "the result")
            would = "would move" if moves else "would not move"
            does = "it moves" if seen[change] else "it does not"
            return f"with that fault, {CHANGES[change]} {would} {what}; {does}."
    return None


def _unanswered(right: list[str], missing: list[str]) -> Verdict:
    begun = f"right so far: {listed(right)}; " if right else ""
    return Verdict("nothing yet", f"{begun}still without an answer: {listed(missing)}")


faults = OwnCheck(name="faults", judge=_judge)
