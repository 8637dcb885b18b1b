"""The check of chapter 01 on how far a forget gate must open (§1)."""

import math

from walkthrough.checking.base import Check, Mistake, Symptom, fixed


def _logit(share: float) -> float:
    return math.log(share / (1 - share))


gate_bias = Check(
    name="gate_bias",
    reference=lambda steps: _logit(0.5 ** (1 / steps)),
    cases=[fixed("10 steps", 10), fixed("100 steps", 100), fixed("3 steps", 3)],
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
            "this is f / (1 − f). The bias is the logarithm of it.",
        ),
        Mistake(
            "sigmoid once more",
            lambda steps: 1 / (1 + math.exp(-(0.5 ** (1 / steps)))),
            "you take sigmoid of the gate. It has to be turned around: b = log(f / (1 − f)).",
        ),
        Mistake(
            "power for root",
            lambda steps: _logit(0.5**steps),
            "f is ½ to the power of the steps: that is what a gate of ½ leaves. Take the root, "
            "½ to the power of 1/steps.",
        ),
        Mistake(
            "one step short",
            lambda steps: _logit(0.5 ** (1 / (steps - 1))),
            "you count one step too few: the memory is multiplied by the gate `steps` times.",
        ),
        Mistake(
            "one step more",
            lambda steps: _logit(0.5 ** (1 / (steps + 1))),
            "you count one step too many: the memory is multiplied by the gate `steps` times.",
        ),
        Mistake(
            "another base",
            lambda steps: math.log10(0.5 ** (1 / steps) / (1 - 0.5 ** (1 / steps))),
            "the logarithm has the base 10. Sigmoid is made with e: take `math.log`.",
        ),
        Mistake(
            "logarithm of the steps",
            lambda steps: math.log(steps),
            "with a bias of log(steps) the gate is steps / (steps + 1), which leaves about 1/e = "
            "37 %. Half is asked for.",
        ),
        Mistake(
            "logarithm of the rest",
            lambda steps: math.log(1 - 0.5 ** (1 / steps)),
            "this is the logarithm of 1 − f. The inverse of sigmoid is log(f / (1 − f)).",
        ),
        Mistake(
            "logarithm of the rest, turned",
            lambda steps: -math.log(1 - 0.5 ** (1 / steps)),
            "this is −log(1 − f). The inverse of sigmoid is log(f / (1 − f)): log f is missing.",
        ),
        Mistake(
            "tanh turned round",
            lambda steps: math.atanh(0.5 ** (1 / steps)),
            "this turns tanh around. A gate is a sigmoid: b = log(f / (1 − f)).",
        ),
        Mistake(
            "a sign inside",
            lambda steps: -math.log(2 ** (1 / steps) + 1),
            "a sign slipped when you turned sigmoid around: 1/f = 1 + e^(−b), so e^(−b) is "
            "1/f − 1.",
        ),
        Mistake(
            "quotient for root",
            lambda steps: math.log(0.5 / steps),
            "this is the logarithm of ½ / steps. Steps multiply, so f is a root of ½: "
            "½ ** (1 / steps). Then turn sigmoid around.",
        ),
        Mistake(
            "a quarter",
            lambda steps: _logit(0.25 ** (1 / steps)),
            "after these steps a quarter is left. Half is asked for.",
        ),
        Mistake(
            "root of whole numbers",
            lambda steps: _logit(0.5 ** (1 // steps)),
            "`1 // steps` is 0 for more than one step, so f becomes 1 and 1 − f is 0. Divide with "
            "`/`.",
        ),
        Mistake(
            "base 2",
            lambda steps: math.log2(0.5 ** (1 / steps) / (1 - 0.5 ** (1 / steps))),
            "the logarithm has the base 2. Sigmoid is made with e: take `math.log`.",
        ),
    ],
    symptoms=[
        Symptom(
            "loses too much",
            lambda result, expected, given: result < expected - 1e-3,
            "the bias is too small: less than half is left after these steps. Compute "
            "sigmoid(b) ** steps for yours. Is f, the gate, ½ ** (1 / steps)? And is sigmoid "
            "turned around, b = log(f / (1 − f))?",
        ),
        Symptom(
            "keeps too much",
            lambda result, expected, given: result > expected + 1e-3,
            "the bias is too large: more than half is left after these steps. Compute "
            "sigmoid(b) ** steps for yours. Is f, the gate, ½ ** (1 / steps)? And is sigmoid "
            "turned around, b = log(f / (1 − f))?",
        ),
    ],
    tolerance=1e-4,
    right="`gate_bias` is right: the gate's share, multiplied `steps` times, leaves one half",
)
