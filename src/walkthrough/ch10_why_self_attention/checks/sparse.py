"""The check of chapter 10 for a mask of the reader's own design (§4).

Many masks are right. This check asks each for what the exercise demands, and names the first word
for which it does not hold.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor

from walkthrough.checking.kinds import kind
from walkthrough.checking.own import OwnCheck
from walkthrough.checking.sentences import listed
from walkthrough.checking.stops import stop_said
from walkthrough.checking.stubs import is_empty, lost_result
from walkthrough.checking.verdict import Verdict

LENGTHS = (4, 9, 16, 36, 64)
NOTHING_YET = Verdict("nothing yet", "write the function, then run this cell again")


def _judge(function: Any) -> Verdict:
    """Judge a function that returns a mask for `length` words, a square number."""
    if function is None or function is ...:
        return NOTHING_YET
    if not callable(function):
        return Verdict("wrong", f"a function is expected here, got {kind(function)}")
    for length in LENGTHS:
        try:
            result = function(length)
        except NotImplementedError:
            return NOTHING_YET
        except Exception as error:
            return Verdict("wrong", stop_said(function, error, f"{length} words"))
        if result is None or result is ...:
            empty = result is ... or is_empty(function)
            return NOTHING_YET if empty else Verdict("wrong", _lost(function, length))
        said = _against(result, length)
        if said:
            return Verdict("wrong", said)
    return Verdict(
        "right",
        f"`sparse_mask` is right for {listed([*map(str, LENGTHS)])} words: at most 2√n words a "
        "row, and two layers connect all",
    )


def _lost(function: Callable[..., Any], length: int) -> str:
    if length == LENGTHS[0]:
        return lost_result(function)
    return f"for {length} words your function returns nothing; for fewer it does"


def _against(result: Any, length: int) -> str | None:
    """Return what the mask lacks first, in words; None if nothing."""
    mask, said = _as_mask(result, length)
    if mask is None:
        return said
    where = f"for {length} words"
    blind = (~mask.diagonal()).nonzero().flatten()
    if len(blind):
        inverted = bool((~mask).diagonal().all()) and _against(~mask, length) is None
        if inverted:
            return "the truth values are inverted: in this book True means *may attend*"
        return f"{where}, word {int(blind[0])} does not see itself"
    most = 2 * math.isqrt(length)
    too_many = (mask.sum(1) > most).nonzero().flatten()
    if len(too_many):
        word = int(too_many[0])
        transposed = ""
        if bool((mask.sum(0) <= most).all()):
            transposed = (
                ". No *column* holds more: are rows and columns exchanged? A row is a word that "
                "looks"
            )
        return (
            f"{where}, word {word} sees {int(mask[word].sum())} words, and {most} are allowed"
            f"{transposed}"
        )
    missing = (~_reached(mask)).nonzero()
    if not len(missing):
        return None
    late, early = (int(word) for word in missing[0])
    seen = [str(int(word)) for word in mask[late].nonzero().flatten()]
    causal = " Words see only what is before them: look to both sides" * _is_causal(mask)
    return (
        f"{where}, word {late} does not depend on word {early} after two layers: it sees "
        f"{listed(seen)}, and none of these sees {early}. "
        f"({len(missing)} of {length**2} pairs are not connected.){causal}"
    )


def _as_mask(result: Any, length: int) -> tuple[Tensor | None, str]:
    wanted = f"a mask of shape ({length}, {length}) is expected"
    try:
        mask = torch.as_tensor(np.array(result) if isinstance(result, list) else result)
    except Exception:  # a list of lists of unequal length, a text, a dictionary
        return None, f"{wanted}, your result is {kind(result)}"
    if mask.dim() == 4 and mask.shape[:2] == (1, 1):
        mask = mask[0, 0]
    if tuple(mask.shape) != (length, length):
        return None, f"{wanted}, yours has the shape {tuple(mask.shape)}"
    if mask.dtype == torch.bool:
        return mask, ""
    if bool(((mask == 0) | (mask == 1)).all()):
        return mask.bool(), ""
    if bool(((mask == 0) | mask.isinf()).all()):
        return None, (
            "these are numbers to add to the scores, 0 and −∞. Return the mask itself: True where "
            "a word may attend"
        )
    return None, "a mask holds True and False; yours holds other numbers as well"


def _reached(mask: Tensor) -> Tensor:
    """Return which word (row) depends on which (column) after two layers."""
    once = mask.float()
    return once @ once > 0


def _is_causal(mask: Tensor) -> bool:
    return not bool(mask.triu(1).any()) and bool(mask.tril(-1).any())


sparse_mask = OwnCheck(name="sparse_mask", judge=_judge)
