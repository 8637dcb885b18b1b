"""The check of chapter 16 on a cost turned back into time (§6.1)."""

from transformer.analysis.cost import SUSTAINED_TFLOPS
from walkthrough.checking.values import ValueCheck, WrongValue

_FLOPS = 3.3e18
_BIG = 2.3e19
_DAY = 24 * 3600


def _days(gpu: str, n_gpus: int = 1, seconds: int = _DAY) -> float:
    return _FLOPS / (n_gpus * SUSTAINED_TFLOPS[gpu] * 1e12 * seconds)


days_on_one = ValueCheck(
    name="days on one K80",
    expected=_days("K80"),
    tolerance=0.01,
    mistakes=[
        WrongValue(_days("K80", 8), "that is eight K80s, side by side. The question is about one."),
        WrongValue(
            _days("P100"), "that is one P100, at 9.5 TFLOP/s. A K80 sustains 2.8 in the estimate."
        ),
        WrongValue(_days("P100", 8), "that is the paper's own machine: eight P100."),
        WrongValue(
            _days("K80", seconds=3600), "that is hours, if you count them. Divide by 24 for days."
        ),
        WrongValue(_days("K80", seconds=1), "that is seconds. A day has 24 · 3600 of them."),
        WrongValue(_days("K80", seconds=60), "that is minutes, if you count them. Divide by 1440."),
        WrongValue(_BIG / _FLOPS * _days("K80"), "that is the big model, 2.3·10¹⁹ FLOPs."),
        WrongValue(13, "that is cut to whole days. One decimal at least is asked."),
        WrongValue(14, "that is rounded to whole days. One decimal at least is asked."),
        WrongValue(
            _FLOPS * SUSTAINED_TFLOPS["K80"] * 1e12,
            "you multiply the cost by the rate. Operations divided by operations a second are "
            "seconds.",
        ),
    ],
    right="right: two weeks on one K80, for what eight P100 do in half a day",
)
