"""Is the result right for other arguments? Then that tells what the reader's function does."""

import contextlib
import copy
import math
import time
from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Any

import torch
from torch import Tensor

from walkthrough.checking.cases import Arguments
from walkthrough.checking.relations.deadline import TooLong, limited
from walkthrough.checking.relations.names import factor_name
from walkthrough.checking.relations.variants import Values, Variant, variants
from walkthrough.checking.running import SEED, Raised

SECONDS = 0.8  # of computing, for each kind of change that is tried on one verdict
SECONDS_A_CALL = 0.25


class Trials:
    """A check's cases with a reader's outcomes, to be compared with those of changed calls."""

    def __init__(
        self,
        inputs: Sequence[Arguments],
        outcomes: Sequence[Any],
        wrong: Sequence[int],
        names: Sequence[str],
        same: Callable[[Any, Any], bool],
    ) -> None:
        self.inputs = [given.positional for given in inputs]
        self.outcomes = outcomes
        self.names = names
        self.same = same
        answered = [n for n, outcome in enumerate(outcomes) if not isinstance(outcome, Raised)]
        self.wrong = [place for place in wrong if place in answered]
        self.order = [*self.wrong, *(place for place in answered if place not in self.wrong)]
        self.end = 0.0
        self.restart()

    def restart(self) -> None:
        """Begin to count the time that may be used."""
        self.end = time.thread_time() + SECONDS

    @property
    def in_time(self) -> bool:
        """Whether there is time to try more."""
        return time.thread_time() < self.end

    def outcome(self, function: Callable[..., Any], values: Values) -> Any:
        """Return what a function gives for these values; an exception for a call cut off."""
        state = torch.default_generator.get_state()
        torch.default_generator.manual_seed(SEED)
        try:
            with limited(SECONDS_A_CALL), contextlib.redirect_stdout(None):
                return function(*copy.deepcopy(values))
        except TooLong:
            return Raised(TimeoutError("stopped"))
        except Exception as error:
            return Raised(error)
        finally:
            torch.default_generator.set_state(state)

    def fits(self, function: Callable[..., Any], *changes: Variant) -> bool:
        """Return whether a function, called with changed arguments, gives all the outcomes."""
        different = False
        for place in self.order:
            values: Values | None = self.inputs[place]
            for variant in changes:
                values = _changed(variant, values)
            if values is None:
                return False
            outcome = self.outcome(function, values)
            if isinstance(outcome, Raised) or not self.same(self.outcomes[place], outcome):
                return False
            different = True
        return different


def _changed(variant: Variant, values: Values | None) -> Values | None:
    if values is None:
        return None
    try:
        return variant.change(copy.deepcopy(values))
    except Exception:  # a change that this kind of argument does not allow
        return None


def argument_relation(trials: Trials, reference: Callable[..., Any]) -> str | None:
    """Return for which other arguments the result would be right, or None."""
    trials.restart()
    for variant in variants(trials.names, trials.inputs):
        if trials.in_time and trials.fits(reference, variant):
            return f"your result is the right one {variant.say}"
    return None


def argument_pair_relation(trials: Trials, reference: Callable[..., Any]) -> str | None:
    """Return which two changes of the arguments would make the result right, or None."""
    trials.restart()
    every = [variant for variant in variants(trials.names, trials.inputs) if variant.combines]
    for one, other in combinations(every, 2):
        if trials.in_time and trials.fits(reference, one, other):
            return f"your result is the right one {_clause(one)}, and {other.say}"
    return None


def _clause(variant: Variant) -> str:
    return variant.say.partition(":")[0]


def mistake_with_change(
    trials: Trials, function: Callable[..., Any], changes: Sequence[Variant]
) -> Variant | None:
    """Return the change of arguments with which a known mistake gives the outcomes, or None."""
    for variant in changes:
        if trials.in_time and trials.fits(function, variant):
            return variant
    return None


def scaled_relation(trials: Trials, reference: Callable[..., Any]) -> str | None:
    """Return by which number an argument is multiplied: a factor inside of a softmax, a tanh."""
    trials.restart()
    if not trials.wrong:
        return None
    for place, name in enumerate(trials.names):
        values = trials.inputs[trials.wrong[0]][place]
        if not isinstance(values, Tensor) or not values.is_floating_point():
            continue
        factors = []
        for case in trials.order:
            factor = _fitted_factor(trials, reference, case, place)
            if factor is None:
                break
            factors.append(factor)
        else:
            return _scaled_said(trials, name, factors)
    return None


def _scaled_said(trials: Trials, name: str, factors: list[float]) -> str | None:
    if all(abs(factor - 1) < 1e-3 for factor in factors):
        return None
    given = [dict(zip(trials.names, trials.inputs[case], strict=False)) for case in trials.order]
    known = factor_name(factors, given)
    by = known or ", ".join(f"{factor:.3g}" for factor in dict.fromkeys(factors))
    return f"your result is the right one if `{name}` is multiplied by {by}"


def _fitted_factor(
    trials: Trials, reference: Callable[..., Any], case: int, place: int
) -> float | None:
    mine = trials.outcomes[case]
    if not isinstance(mine, Tensor) or mine.numel() < 4 or not mine.is_floating_point():
        return None
    values = trials.inputs[case]

    def miss(power: float) -> float:
        if not trials.in_time:
            return math.inf
        changed = (*values[:place], values[place] * 2.0**power, *values[place + 1 :])
        result = trials.outcome(reference, changed)
        if not isinstance(result, Tensor) or result.shape != mine.shape:
            return math.inf
        gap = (result.detach().double() - mine.detach().double()).norm()
        return float(gap) if gap.isfinite() else math.inf

    start = min((float(power) for power in range(-10, 11)), key=miss)
    if not math.isfinite(miss(start)):
        return None
    power = _lowest(miss, start - 1, start + 1)
    changed = (*values[:place], values[place] * 2.0**power, *values[place + 1 :])
    return 2.0**power if trials.same(mine, trials.outcome(reference, changed)) else None


def _lowest(miss: Callable[[float], float], low: float, high: float) -> float:
    golden = (math.sqrt(5) - 1) / 2
    for _ in range(48):
        one, other = high - golden * (high - low), low + golden * (high - low)
        if miss(one) < miss(other):
            high = other
        else:
            low = one
    return (low + high) / 2


# What a function does not look at -----------------------------------------------------------------


def ignored_argument(
    trials: Trials, function: Callable[..., Any], reference: Callable[..., Any]
) -> str | None:
    """Return that the result does not change with an argument that it should change with."""
    trials.restart()
    if any(isinstance(x, Tensor) and bool(x.isnan().any()) for x in trials.outcomes):
        return None
    ignored = [
        name
        for place, name in enumerate(trials.names)
        if trials.in_time and _ignores(trials, function, reference, place)
    ]
    if not ignored:
        return None
    if len(ignored) == len(trials.names) > 1:
        return "your result does not change, whatever the arguments are"
    return f"your result does not change when `{ignored[0]}` changes: do you use `{ignored[0]}`?"


def _ignores(
    trials: Trials, function: Callable[..., Any], reference: Callable[..., Any], place: int
) -> bool:
    should_change = False
    for case in trials.order:
        values = trials.inputs[case]
        others = _others(values[place])
        if not others:
            return False
        for other in others:
            changed = (*values[:place], other, *values[place + 1 :])
            if not trials.same(trials.outcome(function, changed), trials.outcomes[case]):
                return False
            before, after = (trials.outcome(reference, given) for given in (values, changed))
            should_change |= not isinstance(after, Raised) and not trials.same(after, before)
    return should_change


def _others(value: Any) -> list[Any]:
    """Return other values of the same kind and shape: none, or enough to tell.

    One change can cancel out (a difference of two entries does not see a summand), so numbers and
    lists are changed in two ways.
    """
    if isinstance(value, Tensor):
        if value.dtype == torch.bool:
            return [~value]
        return [value * 1.5 + 0.25 if value.is_floating_point() else value.roll(1, -1)]
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, (int, float)):
        return [value + 1, 3 * value]
    if isinstance(value, list) and value and all(type(x) in (int, float) for x in value):
        return [[x + 1 for x in value], [x + place for place, x in enumerate(value, start=1)]]
    return []
