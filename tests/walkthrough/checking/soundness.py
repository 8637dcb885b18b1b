"""Prove that a check can fail, and that it names each mistake it lists. For tests."""

import inspect
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import combinations
from typing import Any, cast

from jaxtyping import config

import walkthrough
from walkthrough.checking import Check
from walkthrough.checking.forbidden import Forbidden, as_forbidden
from walkthrough.checking.running import Raised
from walkthrough.checking.values import ValueCheck

LEAST, MOST, LEAST_NEW = 3, 8, 4


@contextmanager
def as_readers_have_it() -> Iterator[None]:
    """Without the shapes that tests enforce: readers lack them, and they take most of the time."""
    before = config.jaxtyping_disable
    config.update("jaxtyping_disable", True)
    try:
        yield
    finally:
        config.update("jaxtyping_disable", before)


@as_readers_have_it()
def assert_check_is_sound(check: Check | ValueCheck) -> None:
    """Raise AssertionError unless the check accepts its reference and names every mistake.

    The reference must answer every case: where it raised, code that fails alike would be right. It
    also proves that no two mistakes look alike on the check's inputs, that a stub counts as
    nothing yet, that code which raises counts as wrong, with the exception's own message, and that
    each forbidden call is rejected, with its own sentence, even where the result is right.
    """
    if isinstance(check, ValueCheck):
        _assert_value_check_is_sound(check)
        return
    _assert_reference_answers(check)
    assert check(check.reference).status == "right", (
        f"{check.name!r} rejects its own reference: {check(check.reference)}"
    )
    assert check.mistakes, f"{check.name!r} knows no mistake: it cannot diagnose"
    for mistake in check.mistakes:
        verdict = check(mistake.function)
        assert verdict.status == "wrong", f"{check.name!r} does not reject {mistake.name!r}"
        assert verdict.message == mistake.say, (
            f"{check.name!r} says {verdict.message!r} about {mistake.name!r}"
        )
    made = [(mistake, _outcomes(check, mistake.function)) for mistake in check.mistakes]
    for mistake, outcomes in made:
        stops = all(isinstance(outcome, Raised) for outcome in outcomes)
        assert not stops, f"{mistake.name!r} of {check.name!r} answers no case: {outcomes[0]}"
    for (one, _), (other, outcomes) in combinations(made, 2):
        alike = check.names(one, outcomes)
        assert not alike, f"{check.name!r} cannot tell {one.name!r} from {other.name!r}"
    assert_stubs_and_errors_are_reported(check)
    assert_forbidden_calls_are_rejected(check)


@as_readers_have_it()
def assert_mistakes_are_worth_listing(check: Check) -> None:
    """Raise AssertionError unless a check has few mistakes, and each says more than is found alone.

    Without the list, the verdict must not be a symptom's or what is special about a case, and the
    mistake's sentence must hold `LEAST_NEW` words that the verdict does not.
    """
    n_mistakes, n_cases = len(check.mistakes), len(check.cases)
    assert LEAST <= n_mistakes <= MOST, f"{check.name!r} lists {n_mistakes} mistakes"
    assert n_cases >= LEAST, f"{check.name!r} has {n_cases} cases: nothing is proved on them"
    alone = replace(check, mistakes=())
    alone._made.update(check._made)  # what the reference gives
    for mistake in check.mistakes:
        found = alone(mistake.function)
        known = found.mistake or any(c.special and c.special in found.message for c in check.cases)
        assert not known, f"{check.name!r} says without {mistake.name!r}: {found.message}"
        new = _words(mistake.say) - _words(found.message)
        assert len(new) >= LEAST_NEW, f"{mistake.name!r} of {check.name!r} says only {new} more"


def _outcomes(check: Check, function: Callable[..., Any]) -> list[Any]:
    """What the reference or a mistake gives; the check has called it before."""
    return [check._outcome(function, place) for place in range(len(check.cases))]


def _words(said: str) -> set[str]:
    return {word for word in re.findall(r"\w+", said.lower()) if len(word) > 2}


def _assert_reference_answers(check: Check) -> None:
    for case, outcome in zip(check.cases, _outcomes(check, check.reference), strict=True):
        assert not isinstance(outcome, Raised), (
            f"the reference of {check.name!r} must answer every case; for {case.label} it stops "
            f"with {type(outcome.error).__name__}: {outcome.error}"
        )


def assert_stubs_and_errors_are_reported(check: Check) -> None:
    """Raise AssertionError unless stubs give "nothing yet" and exceptions a wrong verdict."""

    def returns_nothing(*positional: Any, **named: Any) -> None:
        return None

    def not_written(*positional: Any, **named: Any) -> None:
        raise NotImplementedError

    def stops(*positional: Any, **named: Any) -> None:
        raise RuntimeError("a message of its own")

    for stub in (None, ..., returns_nothing, not_written):
        assert check(stub).status == "nothing yet", f"{check.name!r} judges the stub {stub!r}"
    verdict = check(stops)
    assert verdict.status == "wrong", f"{check.name!r} accepts code that raises"
    assert "a message of its own" in verdict.message, f"the error is not reported: {verdict}"


def assert_forbidden_calls_are_rejected(check: Check) -> None:
    """Raise AssertionError unless right results with a forbidden call in them are rejected."""
    for rule in as_forbidden(check.forbidden):
        verdict = check(_as_a_reader(check.reference, rule))
        assert verdict.status == "wrong", f"{check.name!r} does not see a call of `{rule.name}`"
        assert rule.sentence in verdict.message, f"{check.name!r} says {verdict.message!r}"


def _as_a_reader(reference: Callable[..., Any], rule: Forbidden) -> Callable[..., Any]:
    """Return the reference with a forbidden call before it, in code that counts as a reader's."""
    called = _named(rule.name, rule.library) if isinstance(rule.what, str) else rule.what
    names = {"reference": reference, "called": called, "some": _some_arguments(called)}
    code = (
        "def reads(*given):\n"
        "    try:\n"
        "        called(*some)\n"
        "    except Exception:\n"
        "        pass\n"
        "    return reference(*given)\n"
    )
    exec(compile(code, "<a reader's cell>", "exec"), names)
    return cast(Callable[..., Any], names["reads"])


def _named(name: str, library: str | None) -> Callable[..., Any]:
    """Return a function of this name that counts as one of the library."""
    names: dict[str, Any] = {"__name__": library or "library"}
    exec(compile(f"def {name}(): pass", walkthrough.__path__[0] + "/named.py", "exec"), names)
    return cast(Callable[..., Any], names[name])


def _some_arguments(called: Any) -> list[Any]:
    """Return as many values as a call needs to begin; C code is seen whatever it gets."""
    if hasattr(called, "__objclass__"):  # a method, such as `list.sort`
        return [called.__objclass__()]
    try:
        parameters = inspect.signature(called).parameters.values()
    except (TypeError, ValueError):
        return []
    return [None for one in parameters if one.default is one.empty and one.kind <= 1]


def _assert_value_check_is_sound(check: ValueCheck) -> None:
    assert check(check.expected).status == "right", f"{check.name!r} rejects its own answer"
    assert check(None).status == "nothing yet", f"{check.name!r} judges None"
    assert check.mistakes, f"{check.name!r} knows no mistake: it cannot diagnose"
    for mistake in check.mistakes:
        verdict = check(mistake.value)
        assert verdict.status == "wrong", f"{check.name!r} accepts {mistake.value!r}"
        assert verdict.message == mistake.say, f"{check.name!r} says {verdict.message!r}"
