"""How a part is judged: by the chapters' own checks, else beside the solution, alike in weights."""

from typing import Any

import torch
from torch import nn

from walkthrough.capstone import book, start
from walkthrough.capstone.kinds import FUNCTIONS, KINDS, N_HEADS
from walkthrough.capstone.weights import CannotPlaceError, MissingError, Placing, placings
from walkthrough.checking import Verdict
from walkthrough.checking.base import NOTHING_YET
from walkthrough.checking.stops import readers_frames, where_said


def judge(part: str, made: Any, mapping: Any = None) -> Verdict:
    """Judge one part of a reader's file: a function or a class, as it stands there."""
    if part in FUNCTIONS:
        return FUNCTIONS[part](made)
    verdict = _numbers(part, made, mapping)
    try:
        wrong = start.problem(part, made) if verdict else ""
    except Exception as error:  # whatever a reader's code raises
        wrong = stopped(f"a fresh `{part}`, in training mode,", error)
    return Verdict("wrong", wrong, "start") if wrong else verdict


def _numbers(part: str, made: Any, mapping: Any) -> Verdict:
    """Judge what a class computes in evaluation, with the solution's weights in it."""
    kind = KINDS[part]
    try:
        module = built(part, made)
        ways = _ways(part, module, mapping)
    except NotImplementedError:
        return NOTHING_YET
    except CannotPlaceError as error:
        lost = start.lost(module)
        if lost or isinstance(error, MissingError):
            return Verdict("wrong", lost or str(error), "weights")
        said = "whether this is right cannot be told, since weights for it do not fit"
        return Verdict("wrong", f"{said}: {error}", "placing")
    except Exception as error:  # whatever a reader's code raises
        return Verdict("wrong", stopped(f"`{part}(…)`", error), "stops")
    verdicts = []
    for way in ways:
        way.put(module, kind.state)
        verdicts.append(kind.check(kind.call(module)))
        if verdicts[-1]:
            return verdicts[-1]
    if len(ways) == 1:
        return verdicts[0]
    said = (  # the order in which the weights stand is not known
        "whether this is wrong cannot be told: its weights have no names of the skeleton, and in "
        "every order that was tried the numbers are others: "
    )
    return Verdict("wrong", said + verdicts[0].message, "placing")


def built(part: str, made: Any) -> nn.Module:
    """Build a reader's class in the sizes of the check.

    Raises:
        TypeError: what comes back is no module.
    """
    sizes = book.sizes_for(made) if part == "Transformer" else {}
    with torch.random.fork_rng(devices=[]):
        module = made(*KINDS[part].sizes, **sizes)
    if not isinstance(module, nn.Module):
        raise TypeError(f"a torch.nn.Module is expected, got {type(module).__name__}")
    return module.eval()


def _ways(part: str, module: nn.Module, mapping: Any) -> list[Placing]:
    n_heads = book.config().n_heads if part == "Transformer" else N_HEADS
    try:
        return placings(module, KINDS[part].state, n_heads, mapping)
    except CannotPlaceError:  # a mapping may be made for the whole model alone
        if mapping and part != "Transformer":
            return placings(module, KINDS[part].state, n_heads)
        raise


def stopped(what: str, error: BaseException) -> str:
    """Return the sentence on code that raises: what was called, where it stopped, its words."""
    words = f": {error}" if str(error) else ""
    return f"{what} stops with {type(error).__name__}{where_said(readers_frames(error))}{words}"
