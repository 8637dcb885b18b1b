"""How a wrong number relates to the right one, said without telling the right one."""

import math
from collections.abc import Callable

_RELATIONS: tuple[tuple[str, Callable[[float], float]], ...] = (
    ("it has the wrong sign", lambda x: -x),
    ("it is in per cent; asked is a share", lambda x: 100 * x),
    ("asked is per cent, and this is a share", lambda x: x / 100),
    ("it is a factor of 2 off", lambda x: 2 * x),
    ("it is a factor of 2 off", lambda x: x / 2),
    ("it is one off", lambda x: x + 1),
    ("it is one off", lambda x: x - 1),
    ("it is upside down, 1 over the right one", lambda x: 1 / x),
    ("it is the rest: 1 minus this is right", lambda x: 1 - x),
    ("it is the square of the right one", lambda x: x * x),
    ("it is the root of the right one", math.sqrt),
    ("it is the natural logarithm of the right one", math.log),
    ("it is the logarithm to the base 2 of the right one", math.log2),
    ("it is the logarithm to the base 10 of the right one", math.log10),
    ("it is the exponential of the right one", math.exp),
    ("it is a factor of 3 off", lambda x: 3 * x),
    ("it is a factor of 3 off", lambda x: x / 3),
    ("it is a factor of 4 off", lambda x: 4 * x),
    ("it is a factor of 4 off", lambda x: x / 4),
    ("it is a factor of 8 off", lambda x: 8 * x),
    ("it is a factor of 8 off", lambda x: x / 8),
    ("it is a factor of 10 off", lambda x: 10 * x),
    ("it is a factor of 10 off", lambda x: x / 10),
    ("it is a factor of 60 off: minutes, seconds, hours?", lambda x: 60 * x),
    ("it is a factor of 24 off: hours, days?", lambda x: 24 * x),
    ("it is a factor of 24 off: hours, days?", lambda x: x / 24),
    ("it is a factor of 3600 off: seconds, hours?", lambda x: 3600 * x),
    ("it is a factor of 86 400 off: seconds, days?", lambda x: 86_400 * x),
    ("it is a factor of 1000 off", lambda x: 1000 * x),
    ("it is a factor of 1000 off", lambda x: x / 1000),
    ("it is a factor of a million off", lambda x: 1e6 * x),
    ("it is a factor of a million off", lambda x: x / 1e6),
)


def value_relation(number: float, expected: float, tolerance: float) -> str | None:
    """Return how a wrong number relates to the expected one, or None.

    The expected one is not told, though a reader may now compute it.
    """
    if not math.isfinite(number) or not number:
        return None
    for said, change in _RELATIONS:
        try:
            guess = change(expected)
        except (ValueError, ZeroDivisionError, OverflowError):
            continue
        if math.isclose(number, guess, rel_tol=max(min(tolerance, 1e-3), 1e-6)):
            return said
    if abs(number - expected) <= 0.02 * abs(expected):
        return "it is within 2 % of the right one: rounded on the way?"
    return None
