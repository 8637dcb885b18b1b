"""Mistakes that a check's author foresaw, alone and two at once."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from walkthrough.checking.cases import Arguments
from walkthrough.checking.relations.arguments import Trials, mistake_with_change
from walkthrough.checking.relations.variants import variants
from walkthrough.checking.running import Raised, run

if TYPE_CHECKING:
    from walkthrough.checking.base import Check

LEAST_DIGITS = 4


@dataclass(frozen=True)
class Mistake:
    """A known wrong implementation and the sentence that tells a reader what it does.

    `changes` are the arguments with which the check's `build` makes this implementation. Mistakes
    that have them are recognised two at once.
    """

    name: str
    function: Callable[..., Any]
    say: str
    changes: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Symptom:
    """A property of a wrong result that deserves its own sentence.

    `shows(result, expected, arguments)` looks at one case. The first case that shows it decides.
    """

    name: str
    shows: Callable[[Any, Any, Arguments], bool]
    say: str

    def is_shown(self, outcome: Any, expected: Any, given: Arguments) -> bool:
        """Return whether one case shows it; a result of another kind does not."""
        try:
            return bool(self.shows(outcome, expected, given))
        except Exception:  # a rule about shapes meets a result of another kind
            return False


Found = tuple[str, str | None]


def named(check: "Check", outcomes: Sequence[Any]) -> Found | None:
    """Return the mistake that gives these outcomes in every case."""
    for mistake in check.mistakes:
        if check.agree(outcomes, check.made(mistake)):
            return mistake.say, mistake.name
    return None


def _gives(
    check: "Check",
    function: Callable[..., Any],
    inputs: Sequence[Arguments],
    outcomes: Sequence[Any],
) -> bool:
    """Return whether a function has these outcomes; it is called until a case differs."""
    return all(
        check.same_outcome(outcome, run(function, [given]).outcomes[0])
        for given, outcome in zip(inputs, outcomes, strict=True)
    )


def named_pair(check: "Check", outcomes: Sequence[Any]) -> Found | None:
    """Return the two mistakes that, built together, give these outcomes."""
    if check.build is None:
        return None
    inputs = check.arguments()
    for one, other in combinations([m for m in check.mistakes if m.changes], 2):
        if set(one.changes) & set(other.changes):
            continue
        both = check.build(**one.changes, **other.changes)
        if _gives(check, both, inputs, outcomes):
            return two_at_once(one.say, other.say), f"{one.name}; {other.name}"
    return None


def named_where_wrong(
    check: "Check", outcomes: Sequence[Any], wrong: Sequence[int]
) -> Found | None:
    """Return the mistake, or the two, that account for the cases that are wrong.

    Elsewhere the reader's function is right where the mistake is not, or makes another mistake.
    """
    places = [place for place in wrong if not isinstance(outcomes[place], Raised)]
    if len(places) < len(wrong) or not tells([outcomes[place] for place in places]):
        return None
    made = {mistake.name: (mistake, check.made(mistake)) for mistake in check.mistakes}
    # whoever is right elsewhere does not give one and the same text to everything
    made = {name: one for name, one in made.items() if not _one_text(one[1])}
    fits = {
        name: {p for p in places if check.same_outcome(outcomes[p], results[p])}
        for name, (_, results) in made.items()
    }
    for name, found in fits.items():
        if len(found) == len(places):
            return made[name][0].say, name
    for one, other in combinations(fits, 2):
        both = fits[one] | fits[other]
        alone = (
            [outcomes[p] for p in fits[one] - fits[other]],
            [outcomes[p] for p in fits[other] - fits[one]],
        )
        if len(both) == len(places) and all(map(tells, alone)):
            return two_at_once(made[one][0].say, made[other][0].say), f"{one}; {other}"
    return None


def _one_text(outcomes: Sequence[Any]) -> bool:
    texts = {outcome for outcome in outcomes if isinstance(outcome, str)}
    return len(texts) == 1 and all(isinstance(outcome, str) for outcome in outcomes)


def named_for_other_arguments(check: "Check", trials: Trials) -> Found | None:
    """Return a mistake that gives these outcomes if an argument is changed as well."""
    if not trials.wrong or not tells([trials.outcomes[place] for place in trials.wrong]):
        return None
    trials.restart()
    changes = [one for one in variants(trials.names, trials.inputs) if one.combines]
    for mistake in check.mistakes:
        if _one_text(check.made(mistake)):
            continue
        change = mistake_with_change(trials, mistake.function, changes)
        if change:
            second = f"your result is what that gives {change.say}"
            return two_at_once(mistake.say, second), mistake.name
    return None


def two_at_once(one: str, other: str) -> str:
    """Return the sentence on two mistakes in one function."""
    end = "" if one.endswith((".", "!", "?")) else "."
    return f"two things at once. First: {one}{end} Second: {other}"


def tells(outcomes: Sequence[Any]) -> bool:
    """Return whether results are so many or so precise that no two mistakes agree by chance."""
    digits = 0
    for outcome in outcomes:
        if isinstance(outcome, Tensor):
            if outcome.dtype == torch.bool:
                digits += outcome.numel() // 3
            else:
                digits += 2 * int(outcome[outcome.isfinite()].unique().numel())
        elif isinstance(outcome, bool) or outcome is None:
            digits += 0
        elif isinstance(outcome, (int, float)):
            digits += len(f"{abs(outcome):.6g}".replace(".", "").strip("0"))
        elif isinstance(outcome, str):
            digits += len(outcome) // 4
        elif isinstance(outcome, (list, tuple, dict)):
            parts = outcome.values() if isinstance(outcome, dict) else outcome
            digits += sum(2 if not isinstance(part, bool) else 0 for part in parts)
    return digits >= LEAST_DIGITS
