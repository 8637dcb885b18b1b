"""Checks that diagnose: they compare a reader's function with known mistakes and name the one seen.

    check = Check(
        name="softmax over the keys",
        reference=softmax_over_keys,
        cases=[Case("three queries, five keys", make_scores)],
        mistakes=[Mistake("wrong axis", softmax_over_queries, "these weights sum to 1 over …")],
    )
    check(my_function)  # a Verdict

`walkthrough.checks.soundness.assert_check_is_sound(check)` proves that a check can fail, and that
every mistake it lists is rejected with its own sentence.
"""

import copy
import inspect
import linecache
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from walkthrough.checking.cases import Arguments, Case, arguments, drawn, fixed
from walkthrough.checking.changes import change_said
from walkthrough.checking.compare import difference, kind, same
from walkthrough.checking.verdict import Verdict

__all__ = ["Arguments", "Case", "Check", "Mistake", "Symptom", "arguments", "drawn", "fixed"]

SEED = 2017
NOTHING_YET = Verdict("nothing yet", "write the function, then run this cell again")


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


@dataclass(frozen=True)
class Raised:
    """A call that ended in an exception instead of a result."""

    error: Exception

    @property
    def kind(self) -> str:
        """The exception's name."""
        return type(self.error).__name__

    @property
    def words(self) -> str:
        """The exception's message."""
        return str(self.error)


@dataclass(frozen=True, kw_only=True)
class Check:
    """An exercise's check. Call it with the reader's function; it answers with a `Verdict`.

    Raises:
        ValueError: there are no cases, or two mistakes share a name.
    """

    name: str
    reference: Callable[..., Any]
    cases: Sequence[Case]
    mistakes: Sequence[Mistake] = ()
    symptoms: Sequence[Symptom] = ()
    tolerance: float = 1e-5
    right: str = "{name}: right (inputs tried: {n_cases})"

    def __post_init__(self) -> None:
        if not self.cases:
            raise ValueError(f"a check needs at least one case; {self.name!r} has none")
        names = [m.name for m in self.mistakes] + [s.name for s in self.symptoms]
        if len(set(names)) != len(names):
            raise ValueError(f"names of mistakes must differ; {self.name!r} has {sorted(names)}")

    def __call__(self, function: Any) -> Verdict:
        """Judge the reader's function. Never raises for what that function does."""
        if function is None or function is ...:
            return NOTHING_YET
        if not callable(function):
            got = f"a function is expected here, got {kind(function)}"
            return Verdict("wrong", f"{got}: give the function's name, without brackets")
        unfit = self._signature_problem(function)
        if unfit:
            return Verdict("wrong", unfit)
        outcomes, changed = self._outcomes(function, watch_inputs=True)
        if all(_is_stub(outcome) for outcome in outcomes):
            return NOTHING_YET
        expected = self.outcomes(self.reference)
        if self.agree(outcomes, expected):
            return self._right_unless(changed)
        return self._diagnose(function, outcomes, expected, changed)

    def arguments(self) -> list[Arguments]:
        """Return fresh copies of the inputs, the same at every call."""
        return [
            case.make(torch.Generator().manual_seed(SEED + number))
            for number, case in enumerate(self.cases)
        ]

    def outcomes(self, function: Callable[..., Any]) -> list[Any]:
        """Return what the function gives for each case: a result, or `Raised`."""
        return self._outcomes(function, watch_inputs=False)[0]

    def _outcomes(
        self, function: Callable[..., Any], *, watch_inputs: bool
    ) -> tuple[list[Any], str | None]:
        outcomes, changed = [], None
        for given in self.arguments():
            handed = copy.deepcopy(given)
            outcomes.append(_call(function, handed))
            if watch_inputs and changed is None:
                changed = change_said(function, given, handed)
        return outcomes, changed

    def agree(self, outcomes: Sequence[Any], others: Sequence[Any]) -> bool:
        """Return whether all outcomes are alike; exceptions by kind and message."""
        return all(map(self._same_outcome, outcomes, others))

    def _same_outcome(self, one: Any, other: Any) -> bool:
        if isinstance(one, Raised) and isinstance(other, Raised):
            return (one.kind, one.words) == (other.kind, other.words)
        return same(one, other, self.tolerance)

    def _right_unless(self, changed: str | None) -> Verdict:
        if changed:
            return Verdict("wrong", f"the result is right, but {changed}", "changes its input")
        return Verdict("right", self.right.format(name=self.name, n_cases=len(self.cases)))

    def _diagnose(
        self,
        function: Callable[..., Any],
        outcomes: list[Any],
        expected: list[Any],
        changed: str | None,
    ) -> Verdict:
        for mistake in self.mistakes:
            if self.agree(outcomes, self.outcomes(mistake.function)):
                return Verdict("wrong", mistake.say, mistake.name)
        for case, given, outcome, wanted in zip(
            self.cases, self.arguments(), outcomes, expected, strict=True
        ):
            if self._same_outcome(outcome, wanted):
                continue
            if isinstance(outcome, Raised):
                return Verdict("wrong", _exception_message(function, outcome.error, case.label))
            if outcome is None:
                return Verdict("wrong", f"for {case.label} your function returns nothing")
            for symptom in self.symptoms:
                if _shows(symptom, outcome, wanted, given):
                    said = f"{symptom.say} Besides, {changed}" if changed else symptom.say
                    return Verdict("wrong", said, symptom.name)
        besides = f"; besides, {changed}" if changed else ""
        return Verdict("wrong", self._unknown(outcomes, expected) + besides)

    def _unknown(self, outcomes: list[Any], expected: list[Any]) -> str:
        wrong = [
            (case.label, difference(outcome, wanted, self.tolerance))
            for case, outcome, wanted in zip(self.cases, outcomes, expected, strict=True)
            if not self._same_outcome(outcome, wanted)
        ]
        label, words = wrong[0]
        n_right = len(self.cases) - len(wrong)
        rest = f" ({n_right} of {len(self.cases)} cases are right)" if n_right else ""
        return f"for {label}: {words}{rest}"

    def _signature_problem(self, function: Callable[..., Any]) -> str | None:
        try:
            signature = inspect.signature(function)
        except (TypeError, ValueError):
            return None
        for given in self.arguments():
            try:
                signature.bind(*given.positional)
            except TypeError as error:
                call = ", ".join("…" for _ in given.positional)
                return (
                    f"the check calls your function as `f({call})`, "
                    f"which its arguments `{signature}` do not allow: {error}"
                )
        return None


def _call(function: Callable[..., Any], given: Arguments) -> Any:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(SEED)
        try:
            return function(*given.positional)
        except Exception as error:
            return Raised(error)


def _is_stub(outcome: Any) -> bool:
    if isinstance(outcome, Raised):
        return isinstance(outcome.error, NotImplementedError)
    return outcome is None or outcome is ...


def _shows(symptom: Symptom, outcome: Any, expected: Any, given: Arguments) -> bool:
    try:
        return bool(symptom.shows(outcome, expected, given))
    except Exception:  # a rule about shapes meets a result of another kind
        return False


def _exception_message(function: Callable[..., Any], error: Exception, label: str) -> str:
    code = getattr(inspect.unwrap(function), "__code__", None)
    frames = traceback.extract_tb(error.__traceback__)
    mine = [frame for frame in frames if code and frame.filename == code.co_filename]
    where = ""
    if mine:
        line = (mine[-1].line or linecache.getline(mine[-1].filename, mine[-1].lineno or 0)).strip()
        where = f" in line {mine[-1].lineno}" + (f" (`{line}`)" if line else "")
    words = f": {error}" if str(error) else ""
    return f"for {label} your function stops with {type(error).__name__}{where}{words}"
