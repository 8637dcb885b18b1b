"""Find out why a reader's results are wrong, from the most telling answer to the least."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import torch

from walkthrough.checking.changes import by_name
from walkthrough.checking.compare import difference
from walkthrough.checking.counts import MOST_TOLD
from walkthrough.checking.forbidden import as_forbidden
from walkthrough.checking.kinds import as_values
from walkthrough.checking.known import (
    Found,
    named,
    named_for_other_arguments,
    named_pair,
    named_where_wrong,
    tells,
    two_at_once,
)
from walkthrough.checking.relations.arguments import (
    Trials,
    argument_pair_relation,
    argument_relation,
    ignored_argument,
    scaled_relation,
)
from walkthrough.checking.relations.operations import operation_relation
from walkthrough.checking.relations.parts import Wrong
from walkthrough.checking.relations.search import relation, weak_relation
from walkthrough.checking.running import Raised, Run, run
from walkthrough.checking.sentences import joined
from walkthrough.checking.stops import stop_said
from walkthrough.checking.telling import cases_said, example, smallest
from walkthrough.checking.verdict import Verdict

if TYPE_CHECKING:
    from walkthrough.checking.base import Check


def diagnosis(
    check: "Check", function: Callable[..., Any], seen: Run, expected: Sequence[Any]
) -> Verdict:
    """Return the verdict on a function whose outcomes are not all as expected."""
    said, name = _Inquiry(check, function, seen.outcomes, expected).cause()
    return Verdict("wrong", joined(said, *_besides(check, seen, name)), name)


def _besides(check: "Check", seen: Run, name: str | None) -> list[str]:
    """Return what a reader is told besides: changed arguments, forbidden calls.

    Not where the named mistake does the same: its sentence covers that.
    """
    if not (seen.changed or seen.forbidden):
        return []
    rules = as_forbidden(check.forbidden)
    known = [m.function for m in check.mistakes if m.name == name]
    covered = [run(function, check.arguments(), forbidden=rules) for function in known]
    said = []
    if seen.changed and not any(one.changed for one in covered):
        said.append(seen.changed)
    if seen.forbidden and not any(one.forbidden for one in covered):
        said.append(seen.forbidden[0].sentence)
    return said


class _Inquiry:
    """One wrong function and all that is known of it."""

    def __init__(
        self,
        check: "Check",
        function: Callable[..., Any],
        outcomes: list[Any],
        expected: Sequence[Any],
    ) -> None:
        self.check, self.function = check, function
        self.outcomes, self.expected = outcomes, expected
        self.inputs = check.arguments()
        self.given = [by_name(function, given) for given in self.inputs]
        self.labels = [case.label for case in check.cases]
        self.wrong = [
            place
            for place, (outcome, wanted) in enumerate(zip(outcomes, expected, strict=True))
            if not check.same_outcome(outcome, wanted)
        ]
        self.stopped = [p for p in self.wrong if isinstance(outcomes[p], Raised)]
        self.empty = [p for p in self.wrong if outcomes[p] is None]
        self.answered = [p for p in self.wrong if p not in self.stopped + self.empty]

    def cause(self) -> Found:
        """Return the sentence on the cause, and the mistake's name if it has one."""
        known = (
            named(self.check, self.outcomes)
            or named_pair(self.check, self.outcomes)
            or self._symptom()
            or self._terms(most=MOST_TOLD)
        )
        if known:
            return known
        first = self.wrong[0]
        if first in self.stopped or not self.answered:
            return self._no_answer(first), None
        found = named_where_wrong(self.check, self.outcomes, self.wrong)
        if found:
            return self._where(found[0]), found[1]
        for search in self._searches():
            try:
                found = search()
            except Exception:  # a verdict must come, whatever kind of result a reader returns
                continue
            if found:
                return joined(self._where(found[0]), *self._later()), found[1]
        return joined(self._cases(), *self._later()), None

    def _searches(self) -> Iterator[Callable[[], Found | None]]:
        yield lambda: _unnamed(self._relation(self.expected))
        trials = Trials(
            self.inputs,
            self.outcomes,
            self.answered,
            list(self.given[0]),
            self.check.same_outcome,
        )
        if tells([self.outcomes[place] for place in self.answered]):
            yield lambda: _unnamed(argument_relation(trials, self.check.reference))
            yield lambda: _unnamed(scaled_relation(trials, self.check.reference))
            yield lambda: _unnamed(operation_relation(trials, self.check.reference))
            yield lambda: _unnamed(argument_pair_relation(trials, self.check.reference))
            yield lambda: named_for_other_arguments(self.check, trials)
            yield from (partial(self._beside, mistake) for mistake in self.check.mistakes)
        yield lambda: _unnamed(ignored_argument(trials, self.function, self.check.reference))
        yield lambda: self._terms(most=2 * MOST_TOLD)
        yield lambda: _unnamed(self._weak_relation())

    def _symptom(self) -> Found | None:
        for place in self.answered:
            if isinstance(self.outcomes[place], str) and not isinstance(self.expected[place], str):
                continue  # "no" would count as True
            for symptom in self.check.symptoms:
                if symptom.is_shown(self.outcomes[place], self.expected[place], self.inputs[place]):
                    return symptom.say, symptom.name
        return None

    def _terms(self, *, most: int) -> Found | None:
        terms = self.check.terms
        if terms is None or not self.answered:
            return None
        return _unnamed(terms.said(self.function, self.check.reference, most=most))

    def _cases_of(self, wanted: Sequence[Any]) -> list[Wrong]:
        return [
            Wrong(self.outcomes[p], wanted[p], self.given[p], self.labels[p]) for p in self.answered
        ]

    def _relation(self, wanted: Sequence[Any]) -> str | None:
        cases, tolerance = self._cases_of(wanted), self.check.tolerance
        # beside another mistake, a sentence must account for all of the result
        complete = wanted is not self.expected
        return relation(cases, tolerance, self.check.same_outcome, complete=complete)

    def _weak_relation(self) -> str | None:
        cases = self._cases_of(self.expected)
        return weak_relation(cases, self.check.tolerance, self.check.same_outcome)

    def _beside(self, mistake: Any) -> Found | None:
        """A relation to what a known mistake gives: two things at once."""
        made = self.check.made(mistake)
        if any(isinstance(made[place], Raised) for place in self.answered):
            return None
        if any(self.check.same_outcome(made[p], self.expected[p]) for p in self.answered):
            return None
        if any(map(self._is_nearer, made, self.expected, self.outcomes)):
            return None
        said = self._relation(made)
        if not said or not _tells_more(said):
            return None
        return two_at_once(mistake.say, said.replace("the expected", "that")), mistake.name

    def _is_nearer(self, made: Any, expected: Any, mine: Any) -> bool:
        """Whether a result lies so near the expected one that no mistake stands between them.

        So it is, too, where it is of another kind than what the mistake gives.
        """
        values = [as_values(one) for one in (made, expected, mine)]
        if any(one is None for one in values):
            return False
        of_mistake, right, own = (one for one in values if one is not None)
        if (of_mistake.dtype == torch.bool) != (own.dtype == torch.bool):
            return True
        if not of_mistake.shape == right.shape == own.shape:
            return False
        gap, far = ((one.double() - right.double()).abs().sum() for one in (own, of_mistake))
        return bool(gap < far / 10) and not self.check.same_outcome(mine, expected)

    def _where(self, said: str) -> str:
        """A sentence on the cause, with the cases it is about when others are right."""
        n_right = len(self.labels) - len(self.wrong)
        if not n_right:
            return said
        return f"{cases_said(self.labels, self.wrong)}: {said}"

    def _later(self) -> list[str]:
        """What else happens in cases that give no result at all."""
        if self.stopped:
            place = self.stopped[0]
            return [stop_said(self.function, self.outcomes[place].error, self.labels[place])]
        if self.empty:
            return [f"for {self.labels[self.empty[0]]} your function returns nothing"]
        return []

    def _no_answer(self, first: int) -> str:
        outcome = self.outcomes[first]
        if isinstance(outcome, Raised):
            said = stop_said(self.function, outcome.error, self.labels[first])
        else:
            said = (
                f"for {self.labels[first]} your function returns nothing: does every way through "
                "it end with a `return`?"
            )
        right = [label for place, label in enumerate(self.labels) if place not in self.wrong]
        return f"{said} ({len(right)} of {len(self.labels)} cases are right)" if right else said

    def _cases(self) -> str:
        """The cases by name, and the smallest that fails with both results."""
        place = smallest(self.given, self.answered)
        mine, wanted = self.outcomes[place], self.expected[place]
        shown = example(self.function, self.given[place], mine, wanted)
        gap = difference(mine, wanted, self.check.tolerance)
        said = shown or str(gap)
        if len(self.wrong) == 1:
            return f"{cases_said(self.labels, self.wrong)}: {said}"
        return f"{cases_said(self.labels, self.wrong)}. For {self.labels[place]}: {said}"


_WEAK_BESIDE = (
    "in another order",
    "the shape is not",
    "the values should be",
    "the shape should be",
    "is missing, or several of them",
    "another in each case",
)


def _tells_more(said: str) -> bool:
    """Whether a relation to a known mistake is worth saying; some hold for many mistakes."""
    return not any(words in said.partition(" (the shape should be")[0] for words in _WEAK_BESIDE)


def _unnamed(said: str | None) -> Found | None:
    return (said, None) if said else None
