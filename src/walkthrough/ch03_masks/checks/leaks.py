"""The check of chapter 03 on leak detectors: they are tried on models that leak and that do not.

Each case is a small "model" from ids to outputs, made so that one kind of detector overlooks its
leak, or raises a false alarm. The models stand in `suspects`, the wrong detectors here.
"""

from collections.abc import Callable

import torch
from torch import Tensor

from walkthrough.ch03_masks.checks.suspects import CASES
from walkthrough.checking import Check, Mistake

Model = Callable[[Tensor], Tensor]
Detector = Callable[[Model, Tensor, int], bool]
TOLERANCE = 1e-6
_SEED = torch.default_generator.manual_seed  # `torch.manual_seed` does much more, and is slow


def _before(outputs: Tensor, position: int) -> Tensor:
    return outputs[:, :position]


def _moves(difference: Tensor) -> bool:
    return bool((difference.abs() > TOLERANCE).any())


def _detector(
    *,
    positions: Callable[[int], range] = lambda length: range(1, length),
    compared: Callable[[Tensor, int], Tensor] = _before,
    copied: bool = True,
    moves: Callable[[Tensor], bool] = _moves,
) -> Detector:
    """Return a detector that changes the tokens at `positions` and looks at `compared` outputs."""

    def run(model: Model, tokens: Tensor) -> Tensor:
        _SEED(0)
        return model(tokens)

    def has_leak(model: Model, tokens: Tensor, vocab_size: int) -> bool:
        before = run(model, tokens)
        for position in positions(tokens.shape[1]):
            other = tokens.clone() if copied else tokens
            other[:, position] = (other[:, position] + 1) % vocab_size
            if moves(compared(run(model, other) - before, position)):
                return True
        return False

    return has_leak


has_leak = Check(
    name="has_leak",
    reference=_detector(),
    cases=CASES,
    mistakes=[
        Mistake(
            "changed position compared",
            _detector(compared=lambda outputs, position: outputs[:, : position + 1]),
            "a leak is reported for every model, the sound ones too. Two runs must differ in one "
            "token only, and the output at that position may move: a position sees its own "
            "input. Compare the outputs *before* it, `[:, :position]`.",
        ),
        Mistake(
            "no clone",
            _detector(copied=False),
            "you change `tokens` itself, so changes pile up: at the third position the first two "
            "differ as well, their own outputs move, and a sound model is reported. Change a "
            "copy, `tokens.clone()`, at each position.",
        ),
        Mistake(
            "future compared",
            _detector(compared=lambda outputs, position: outputs[:, position + 1 :]),
            "the wrong side: positions *after* the changed one are compared. They are meant to "
            "move. A leak shows before it.",
        ),
        Mistake(
            "first change only",
            _detector(positions=lambda length: range(1, 2)),
            "only position 1 is ever changed. Does a `return` inside the loop end it in the first "
            "round? Return True where you find a leak, and False after the loop.",
        ),
        Mistake(
            "last token only",
            _detector(positions=lambda length: range(length - 1, length)),
            "only the last token counts: is no other changed, or does each round of your loop "
            "overwrite what the one before found? A model in which position 0 sees position 1 "
            "passes for sound.",
        ),
        Mistake(
            "tolerance of 1e-4 or more",
            _detector(moves=lambda difference: bool((difference.abs() > 1e-4).any())),
            "a faint leak passes: an output that moves by 5e-5 has seen the future too. Rounding "
            "moves outputs by less than 1e-6, so allow for that and no more.",
        ),
        Mistake(
            "no absolute value",
            _detector(moves=lambda difference: bool((difference > TOLERANCE).any())),
            "only outputs that grow are noticed. A leak may as well make them smaller: take "
            "`.abs()` of the difference before you look for the largest.",
        ),
    ],
    right="`has_leak` is right: it finds leaks at every distance, however faint, and neither "
    "dropout nor rounding fools it",
)
