"""Find out why a reader's results are wrong, from the most telling answer to the least."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from walkthrough.checking.cases import Arguments
from walkthrough.checking.compare import difference
from walkthrough.checking.forbidden import as_forbidden
from walkthrough.checking.running import Raised, Run, run
from walkthrough.checking.sentences import joined
from walkthrough.checking.stops import stop_said
from walkthrough.checking.verdict import Verdict

if TYPE_CHECKING:
    from walkthrough.checking.base import Check


@dataclass(frozen=True)
class Mistake:
    """A known wrong implementation and the sentence that tells a reader what it does."""

    name: str
    function: Callable[..., Any]
    say: str


@dataclass(frozen=True)
class Symptom:
    """A property of a wrong result that deserves its own sentence.

    `shows(result, expected, arguments)` looks at one case. The first case that shows it decides.
    """

    name: str
    shows: Callable[[Any, Any, Arguments], bool]
    say: str


def diagnosis(
    check: "Check", function: Callable[..., Any], seen: Run, expected: Sequence[Any]
) -> Verdict:
    """Return the verdict on a function whose outcomes are not all as expected."""
    wrong = [
        place
        for place, (outcome, wanted) in enumerate(zip(seen.outcomes, expected, strict=True))
        if not check.same_outcome(outcome, wanted)
    ]
    said, name = _cause(check, function, seen, expected, wrong)
    return Verdict("wrong", joined(said, *_besides(check, seen, name)), name)


def _besides(check: "Check", seen: Run, name: str | None) -> list[str]:
    """Return what a reader is told besides: changed arguments, forbidden calls.

    Not where the named mistake does the same: its sentence covers that.
    """
    rules = as_forbidden(check.forbidden)
    known = [m.function for m in check.mistakes if m.name == name]
    covered = [run(function, check.arguments(), forbidden=rules) for function in known]
    said = []
    if seen.changed and not any(one.changed for one in covered):
        said.append(seen.changed)
    if seen.forbidden and not any(one.forbidden for one in covered):
        said.append(seen.forbidden[0].sentence)
    return said


def _cause(
    check: "Check",
    function: Callable[..., Any],
    seen: Run,
    expected: Sequence[Any],
    wrong: list[int],
) -> tuple[str, str | None]:
    for mistake in check.mistakes:
        if check.agree(seen.outcomes, check.outcomes(mistake.function)):
            return mistake.say, mistake.name
    inputs, labels = check.arguments(), [case.label for case in check.cases]
    for place in wrong:
        outcome = seen.outcomes[place]
        if isinstance(outcome, Raised) or outcome is None:
            continue
        for symptom in check.symptoms:
            if _shows(symptom, outcome, expected[place], inputs[place]):
                return symptom.say, symptom.name
    first = wrong[0]
    outcome = seen.outcomes[first]
    if isinstance(outcome, Raised):
        return stop_said(function, outcome.error, labels[first]), None
    if outcome is None:
        words = "your function returns nothing: does every way through it end with a `return`?"
        return f"for {labels[first]} {words}", None
    gap = difference(outcome, expected[first], check.tolerance)
    n_right = len(labels) - len(wrong)
    rest = f" ({n_right} of {len(labels)} cases are right)" if n_right else ""
    return f"for {labels[first]}: {gap}{rest}", None


def _shows(symptom: Symptom, outcome: Any, expected: Any, given: Arguments) -> bool:
    try:
        return bool(symptom.shows(outcome, expected, given))
    except Exception:  # a rule about shapes meets a result of another kind
        return False
