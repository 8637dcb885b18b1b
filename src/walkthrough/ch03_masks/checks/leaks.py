"""The check of chapter 03 on leak detectors: they are tried on models that leak and that do not.

Each case is a small "model" from ids to outputs, made so that one kind of detector overlooks its
leak, or raises a false alarm.
"""

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor

from walkthrough.checking.base import Arguments, Case, Check, Mistake, arguments

VOCAB_SIZE = 12
LENGTH = 6
Model = Callable[[Tensor], Tensor]
Detector = Callable[[Model, Tensor, int], bool]
TOLERANCE = 1e-6


class Averages:
    """A toy model: each position's output is the mean of the embeddings that a mask lets it see."""

    def __init__(self, attend_mask: Tensor, table: Tensor, dropout: float = 0.0) -> None:
        self.weights = attend_mask / attend_mask.sum(-1, keepdim=True)
        self.table = table
        self.dropout = dropout

    def __call__(self, tokens: Tensor) -> Tensor:
        """Return (batch, length, 4) outputs for (batch, length) ids."""
        return self.weights @ F.dropout(self.table[tokens], self.dropout)


def _open(*extra: tuple[int, int]) -> Tensor:
    mask = torch.ones(LENGTH, LENGTH).tril()
    for query, key in extra:
        mask[query, key] = 1.0
    return mask


def _model_case(label: str, attend_mask: Tensor, dropout: float = 0.0) -> Case:
    def make(generator: torch.Generator) -> Arguments:
        table = torch.randn(VOCAB_SIZE, 4, generator=generator)
        tokens = torch.randint(4, VOCAB_SIZE, (2, LENGTH), generator=generator)
        return arguments(Averages(attend_mask, table, dropout), tokens, VOCAB_SIZE)

    return Case(label, make)


def _run(model: Model, tokens: Tensor, *, seeded: bool = True) -> Tensor:
    if seeded:
        torch.manual_seed(0)
    return model(tokens)


def _changed(tokens: Tensor, position: int, vocab_size: int) -> Tensor:
    other = tokens.clone()
    other[:, position] = (other[:, position] + 1) % vocab_size
    return other


def _detector(
    *,
    positions: Callable[[int], range] = range,
    compared: Callable[[Tensor, int], Tensor] = lambda outputs, position: outputs[:, :position],
    seeded: bool = True,
    inverted: bool = False,
) -> Detector:
    """Return a detector that changes the tokens at `positions` and looks at `compared` outputs."""

    def has_leak(model: Model, tokens: Tensor, vocab_size: int) -> bool:
        before = _run(model, tokens, seeded=seeded)
        found = False
        for position in positions(tokens.shape[1]):
            after = _run(model, _changed(tokens, position, vocab_size), seeded=seeded)
            gap = (compared(after, position) - compared(before, position)).abs()
            found |= bool((gap > TOLERANCE).any())
        return found != inverted

    return has_leak


has_leak = Check(
    name="has_leak",
    reference=_detector(),
    cases=[
        _model_case("a model with a right causal mask", _open()),
        _model_case("a model in which each position sees itself only", torch.eye(LENGTH)),
        _model_case("a model without a mask", torch.ones(LENGTH, LENGTH)),
        _model_case("a model that sees one token too far", torch.ones(LENGTH, LENGTH).tril(1)),
        _model_case("a model in which position 0 sees position 1, and nothing else", _open((0, 1))),
        _model_case("a model in which position 0 sees the last one", _open((0, LENGTH - 1))),
        _model_case(
            "a model in which the last position but one sees the last one",
            _open((LENGTH - 2, LENGTH - 1)),
        ),
        _model_case("a right model with dropout", _open(), dropout=0.3),
        _model_case("a model without a mask, with dropout", torch.ones(LENGTH, LENGTH), 0.3),
    ],
    mistakes=[
        Mistake(
            "changed position compared",
            _detector(compared=lambda outputs, position: outputs[:, : position + 1]),
            "a leak is reported for every model. You compare the changed position too, or all "
            "positions. The output there may move: a position sees its own input. Compare those "
            "*before* it, `[:, :position]`.",
        ),
        Mistake(
            "future compared",
            _detector(compared=lambda outputs, position: outputs[:, position + 1 :]),
            "the wrong side: positions *after* the changed one are compared. They are meant to "
            "move. A leak shows before it.",
        ),
        Mistake(
            "no seed",
            _detector(seeded=False),
            "right without dropout. With dropout a sound model is reported: two runs draw "
            "different random numbers, so everything moves. Call `torch.manual_seed` with the same "
            "number before *each* run.",
        ),
        Mistake(
            "last token only",
            _detector(positions=lambda length: range(length - 1, length)),
            "only the last token is changed. A model in which position 0 sees position 1 passes "
            "for sound. Change each position in turn.",
        ),
        Mistake(
            "last position forgotten",
            _detector(positions=lambda length: range(length - 1)),
            "the last token is never changed, so a leak from there stays hidden. Does your loop "
            "end one position early?",
        ),
        Mistake(
            "first row only",
            _detector(compared=lambda outputs, position: outputs[:, : min(position, 1)]),
            "a leak between later positions stays hidden. Either only the output of position 0 is "
            "compared, or small differences pass: one word among many moves a mean by little. "
            "Compare all positions before the change, and allow for rounding only, 1e-6.",
        ),
        Mistake(
            "neighbour only",
            _detector(
                compared=lambda outputs, position: outputs[:, max(position - 1, 0) : position]
            ),
            "only the position right before the change is compared. A leak over a longer distance "
            "stays hidden: here position 0 sees the last one.",
        ),
        Mistake(
            "answers inverted",
            _detector(inverted=True),
            "the answer is inverted: True is asked for when there *is* a leak.",
        ),
        Mistake(
            "never",
            lambda model, tokens, vocab_size: False,
            "no model is ever reported. A detector that cannot find a leak is none. Is the changed "
            "token different from the old one? Do you change a copy, and not the tokens of both "
            "runs? Do you change every position, not only the first, which has nothing before it?",
        ),
    ],
    right="`has_leak` is right: it finds leaks at every distance, and dropout does not fool it",
)
