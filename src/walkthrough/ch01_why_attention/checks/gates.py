"""The check of chapter 01 on how far a forget gate must open (§1)."""

import math

from walkthrough.checking import Check, Mistake, fixed


def _logit(share: float) -> float:
    return math.log(share / (1 - share))


gate_bias = Check(
    name="gate_bias",
    reference=lambda steps: _logit(0.5 ** (1 / steps)),
    cases=[
        fixed("10 steps", 10),
        fixed("100 steps", 100),
        fixed("3 steps", 3),
        fixed("one step", 1),
    ],
    mistakes=[
        Mistake(
            "share for the bias",
            lambda steps: 0.5 ** (1 / steps),
            "this is the gate, the share that stays at each step. The bias is what sigmoid makes "
            "that share of: turn sigmoid around, b = log(f / (1 − f)).",
        ),
        Mistake(
            "half at every step",
            lambda steps: 0.0,
            "a bias of 0 is a gate of ½: half is lost at *every* step, and half is to be left "
            "after all of them.",
        ),
        Mistake(
            "loss shared out evenly",
            lambda steps: _logit(1 - 0.5 / steps),
            "you share the loss out evenly, ½ / steps at each step. Steps multiply: "
            "f · f · … · f = ½, so f is a root of ½.",
        ),
        Mistake(
            "sign turned",
            lambda steps: -_logit(0.5 ** (1 / steps)),
            "the sign is turned: with a negative bias the gate is nearly closed.",
        ),
        Mistake(
            "e for a half",
            lambda steps: _logit(math.exp(-1 / steps)),
            "after these steps 1/e = 37 % are left. Half is asked for.",
        ),
        Mistake(
            "logarithm only",
            lambda steps: math.log(0.5 ** (1 / steps)),
            "this is the logarithm of the gate. The inverse of sigmoid is log(f / (1 − f)).",
        ),
        Mistake(
            "odds not logarithm",
            lambda steps: 0.5 ** (1 / steps) / (1 - 0.5 ** (1 / steps)),
            "this is f / (1 − f), how many times more stays than goes. The bias is its logarithm.",
        ),
        Mistake(
            "power for root",
            lambda steps: _logit(0.5**steps),
            "f is ½ to the power of the steps: that is what a gate of ½ leaves. Take the root, "
            "½ to the power of 1/steps.",
        ),
    ],
    tolerance=1e-4,
    right="`gate_bias` is right: the gate's share, multiplied `steps` times, leaves one half",
)
