"""Learning-rate schedules (§5.3). Each is a function of the number of the *update*, from 1.

An update is one step of the optimiser. With gradient accumulation several batches make one
update, and the schedule moves once for all of them.
"""

from collections.abc import Callable


def noam_rate(step: int, *, d_model: int, warmup: int = 4000, scale: float = 1.0) -> float:
    """Learning rate of Eq. 3: d_model^−0.5 · min(step^−0.5, step · warmup^−1.5) (§5.3).

    Raises:
        ValueError: step, d_model or warmup below 1.
    """
    _check_at_least_one(step=step, d_model=d_model, warmup=warmup)
    return scale * d_model**-0.5 * min(step**-0.5, step * warmup**-1.5)


def inverse_sqrt_rate(step: int, *, peak: float, warmup: int) -> float:
    """Eq. 3 named by its highest value: rises to `peak` at `warmup`, then falls as step^−0.5.

    Raises:
        ValueError: step or warmup below 1.
    """
    _check_at_least_one(step=step, warmup=warmup)
    return peak * min(step / warmup, (warmup / step) ** 0.5)


def linear_rate(step: int, *, peak: float, warmup: int, total: int) -> float:
    """Rises in a line to `peak` at `warmup`, falls in a line to 0 at `total`; 0 after.

    Raises:
        ValueError: step or warmup below 1, or total not above warmup.
    """
    _check_at_least_one(step=step, warmup=warmup)
    if total <= warmup:
        raise ValueError(f"total must be above warmup, got total {total} and warmup {warmup}")
    return peak * max(0.0, min(step / warmup, (total - step) / (total - warmup)))


def make_schedule(
    name: str, *, d_model: int, warmup: int, total: int, peak: float | None = None
) -> Callable[[int], float]:
    """The schedule of that name as a function of the update's number.

    `peak=None` means the highest value of Eq. 3, (d_model · warmup)^−0.5.

    Raises:
        ValueError: an unknown name, or values the schedule cannot use.
    """
    _check_at_least_one(d_model=d_model, warmup=warmup)
    if name == "linear" and total < warmup:
        raise ValueError(f"max_updates must be at least warmup = {warmup}, got {total}")
    highest = noam_rate(warmup, d_model=d_model, warmup=warmup) if peak is None else peak
    schedules: dict[str, Callable[[int], float]] = {
        "noam": lambda step: inverse_sqrt_rate(step, peak=highest, warmup=warmup),
        "inverse_sqrt": lambda step: inverse_sqrt_rate(step, peak=highest, warmup=warmup),
        # One more than the last update, so that the last update still moves the parameters.
        "linear": lambda step: linear_rate(step, peak=highest, warmup=warmup, total=total + 1),
        "constant": lambda step: highest * min(1.0, step / warmup),
    }
    if peak is None:
        schedules["noam"] = lambda step: noam_rate(step, d_model=d_model, warmup=warmup)
    if name not in schedules:
        raise ValueError(f"schedule must be one of {sorted(schedules)}, got {name!r}")
    schedules[name](1)
    return schedules[name]


def _check_at_least_one(**values: int) -> None:
    for name, value in values.items():
        if value < 1:
            raise ValueError(f"{name} must be at least 1, got {value}")
