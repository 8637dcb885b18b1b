"""The check of chapter 12 on the cost of a run (§5.2)."""

from walkthrough.checking import Check, Mistake, fixed


def _days(forward: float, tokens: int, updates: int, rate: float) -> float:
    return 3 * forward * tokens * updates / rate / 86_400


training_days = Check(
    name="training_days",
    reference=_days,
    cases=[
        fixed("1e8 FLOPs a token, 25 000 tokens", 1e8, 25_000, 100_000, 1e12),
        fixed("a run of ten seconds and a half", 2e6, 1000, 700, 4e11),
        fixed("a run of weeks", 3e7, 8000, 250_000, 5e10),
    ],
    tolerance=1e-7,
    mistakes=[
        Mistake(
            "forward only",
            lambda f, tokens, updates, rate: _days(f, tokens, updates, rate) / 3,
            "only the forward pass is counted. The gradients take about twice as much again.",
        ),
        Mistake(
            "one backward",
            lambda f, tokens, updates, rate: _days(f, tokens, updates, rate) * 2 / 3,
            "the backward pass is counted like a forward pass. It has two products for each: a "
            "gradient for the weights, and one for the input.",
        ),
        Mistake(
            "six",
            lambda f, tokens, updates, rate: _days(f, tokens, updates, rate) * 2,
            "this is six times the forward pass. Six is for a *parameter* (two in the forward "
            "pass, times three); `forward` has the two in it already.",
        ),
        Mistake(
            "multiplied by the seconds of a day",
            lambda f, tokens, updates, rate: _days(f, tokens, updates, rate) * 86_400**2,
            "the seconds are multiplied by 86 400. `a / b * c` is `(a / b) * c`: from seconds to "
            "days you divide.",
        ),
        Mistake(
            "times the rate",
            lambda f, tokens, updates, rate: _days(f, tokens, updates, rate) * rate**2,
            "the rate is a factor here, so that faster hardware takes longer. Divide by it.",
        ),
    ],
    right="`training_days` is right",
)
