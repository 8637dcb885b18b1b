"""The check of an exercise: compares a reader's function with the reference, says what is wrong.

`walkthrough.checking` shows how to write one.
"""

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch

from walkthrough.checking.cases import Arguments, Case, Mistake, Symptom
from walkthrough.checking.changes import by_name
from walkthrough.checking.compare import same
from walkthrough.checking.counts import CountTerms
from walkthrough.checking.diagnosis import diagnosis
from walkthrough.checking.evidence import Tried
from walkthrough.checking.forbidden import as_forbidden
from walkthrough.checking.kinds import kind
from walkthrough.checking.running import SEED, Raised, Run, run
from walkthrough.checking.sentences import joined
from walkthrough.checking.stubs import is_empty, lost_result
from walkthrough.checking.verdict import Verdict

NOTHING_YET = Verdict("nothing yet", "write the function, then run this cell again")


@dataclass(frozen=True, kw_only=True)
class Check:
    """An exercise's check. Call it with the reader's function; it answers with a `Verdict`.

    `forbidden` lists what the reader's own code must not call: functions, classes, names such as
    `"min"` or `"torch.min"`, or `Forbidden(what, say)` with a sentence of its own. A right result
    that was found with their help is wrong.

    `terms` are the products of which a count is the sum: a count that no mistake explains is then
    told which of its terms is wrong.

    Raises:
        ValueError: there are no cases, or two mistakes share a name.
    """

    name: str
    reference: Callable[..., Any]
    cases: Sequence[Case]
    mistakes: Sequence[Mistake] = ()
    symptoms: Sequence[Symptom] = ()
    forbidden: Sequence[Any] = ()
    terms: CountTerms | None = None
    tolerance: float = 1e-5
    right: str = "{name}: right (inputs tried: {n_cases})"
    _made: dict[Any, Any] = field(default_factory=dict, init=False, repr=False, compare=False)

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
        seen = run(function, self.arguments(), forbidden=as_forbidden(self.forbidden))
        if all(map(_is_unwritten, seen.outcomes)):
            begun = all(outcome is None for outcome in seen.outcomes) and not is_empty(function)
            return Verdict("wrong", lost_result(function), "no return") if begun else NOTHING_YET
        expected = [self._outcome(self.reference, place) for place in range(len(self.cases))]
        if self.agree(seen.outcomes, expected):
            return self._right_unless(seen)
        sentence, name = self._cause(function, seen.outcomes, expected)
        if name:  # one cause at a time
            listed: list[Mistake | Symptom] = [*self.mistakes, *self.symptoms]
            where = next((cause.where for cause in listed if cause.name == name), "")
            return Verdict("wrong", sentence, name, where)
        where = next(
            (case.where for case in self.cases if case.where and case.special in sentence), ""
        )
        return Verdict("wrong", joined(sentence, seen.changed, *seen.forbidden[:1]), None, where)

    def arguments(self) -> list[Arguments]:
        """Return fresh copies of the inputs, the same at every call."""
        return [self._given(place) for place in range(len(self.cases))]

    def outcomes(self, function: Callable[..., Any]) -> list[Any]:
        """Return what the function gives for each case: a result, or `Raised`."""
        return run(function, self.arguments()).outcomes

    def names(self, mistake: Mistake, outcomes: Sequence[Any]) -> bool:
        """Return whether a mistake gives these outcomes; it is called up to the first other one."""
        return any(
            all(
                self.same_outcome(outcome, self._outcome(function, place))
                for place, outcome in enumerate(outcomes)
            )
            for function in (mistake.function, *mistake.also)
        )

    def agree(self, outcomes: Sequence[Any], others: Sequence[Any]) -> bool:
        """Return whether all outcomes are alike."""
        return all(map(self.same_outcome, outcomes, others))

    def same_outcome(self, ours: Any, other: Any) -> bool:
        """Return whether two outcomes of a case are alike; exceptions by kind and message."""
        if isinstance(ours, Raised) or isinstance(other, Raised):
            both = isinstance(ours, Raised) and isinstance(other, Raised)
            return both and repr(ours.error) == repr(other.error)
        return same(ours, other, self.tolerance)

    def _given(self, place: int) -> Arguments:
        return self.cases[place].make(torch.Generator().manual_seed(SEED + place))

    def _outcome(self, function: Callable[..., Any], place: int) -> Any:
        """Return what the reference or a mistake gives for one case, computed once."""
        known = id(function), place
        if known not in self._made:
            self._made[known] = run(function, [self._given(place)]).outcomes[0]
        return self._made[known]

    def _cause(
        self, function: Callable[..., Any], outcomes: Sequence[Any], expected: Sequence[Any]
    ) -> tuple[str, str | None]:
        """Return the sentence on the cause, and the mistake's name if it has one."""
        for mistake in self.mistakes:
            if self.names(mistake, outcomes):
                return mistake.say, mistake.name
        inputs = self.arguments()
        tried = [
            Tried(mine, wanted, by_name(function, given), case, self.same_outcome(mine, wanted))
            for mine, wanted, given, case in zip(
                outcomes, expected, inputs, self.cases, strict=True
            )
        ]
        for trial, given in zip(tried, inputs, strict=True):
            for symptom in () if trial.right else self.symptoms:
                if symptom.is_shown(trial.mine, trial.wanted, given):
                    return symptom.say, symptom.name
        counted = self.terms.said(function, self.reference) if self.terms else None
        return counted or diagnosis(function, tried, self.same_outcome, self.tolerance), None

    def _right_unless(self, seen: Run) -> Verdict:
        if seen.forbidden or seen.changed:
            name = "forbidden" if seen.forbidden else "changes its input"
            first, *others = [*seen.forbidden[:1], *filter(None, [seen.changed])]
            return Verdict("wrong", joined(f"the result is right, but {first}", *others), name)
        return Verdict("right", self.right.format(name=self.name, n_cases=len(self.cases)))

    def _signature_problem(self, function: Callable[..., Any]) -> str | None:
        for given in self.arguments():
            try:
                signature = inspect.signature(function)
                signature.bind(*given.positional)
            except ValueError:  # it does not tell its arguments
                return None
            except TypeError as error:
                call = ", ".join("…" for _ in given.positional)
                return (
                    f"the check calls your function as `f({call})`, "
                    f"which its arguments `{signature}` do not allow: {error}"
                )
        return None


def _is_unwritten(outcome: Any) -> bool:
    if isinstance(outcome, Raised):
        return isinstance(outcome.error, NotImplementedError)
    return outcome is None or outcome is ...
