"""Attention functions that look alike from outside: one is sound, the others hide a fault (§3.2.1).

For the exercise of chapter 02 in which the reader finds the fault by experiments.
"""

import math
from collections.abc import Callable

import torch.nn.functional as F
from torch import Tensor

Attend = Callable[[Tensor, Tensor, Tensor, Tensor], Tensor]
"""(query, key, value, attend_mask) → output."""

FAULTS = ("fine", "scale", "axis", "mask", "random")


def _made(
    *,
    divisor: Callable[[Tensor], float] = lambda query: math.sqrt(query.shape[-1]),
    dim: int = -1,
    close: Callable[[Tensor, Tensor], Tensor] = lambda s, m: s.masked_fill(~m, -math.inf),
    after: Callable[[Tensor, Tensor], Tensor] = lambda w, m: w,
) -> Attend:
    def attend(query: Tensor, key: Tensor, value: Tensor, attend_mask: Tensor) -> Tensor:
        scores = close(query @ key.transpose(-2, -1) / divisor(query), attend_mask)
        return after(scores.softmax(dim).nan_to_num(0.0), attend_mask) @ value

    return attend


def _open(scores: Tensor, attend_mask: Tensor) -> Tensor:
    return scores


MACHINES: dict[str, tuple[Attend, str]] = {
    "A": (_made(dim=-2), "axis"),
    "B": (_made(after=lambda w, m: F.dropout(w, 0.1)), "random"),
    "C": (_made(), "fine"),
    "D": (_made(divisor=lambda query: math.sqrt(512)), "scale"),
    "E": (_made(close=lambda s, m: s * m), "mask"),
    "F": (_made(divisor=lambda query: 1.0), "scale"),
    "G": (_made(close=lambda s, m: s.masked_fill(m, -math.inf)), "mask"),
    "H": (_made(divisor=lambda query: query.shape[-1]), "scale"),
    "I": (_made(close=_open), "mask"),
    "J": (_made(close=_open, after=lambda w, m: w * m), "mask"),
    "K": (
        _made(close=lambda s, m: s.masked_fill(~m, -9.0)),
        "mask",
    ),
    "L": (_made(divisor=lambda query: math.sqrt(query.shape[-2])), "scale"),
}
"""Name → function and its fault. A to E are shown to the reader, the others come in the check."""

SHOWN = {name: MACHINES[name][0] for name in "ABCDE"}
