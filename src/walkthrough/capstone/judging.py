"""How a part is judged: by the chapters' own checks, else beside the package, alike in weights."""

from functools import cache
from typing import Any

import torch
from torch import nn

from walkthrough.capstone import book, start
from walkthrough.capstone.kinds import FUNCTIONS, KINDS, N_HEADS, Call
from walkthrough.capstone.slips import SLIPS, Slip, module_of
from walkthrough.capstone.weights import (
    CannotPlaceError,
    MissingError,
    Placing,
    placings,
)
from walkthrough.checking import Check, Mistake, Verdict
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
    """Judge what a class computes in evaluation, with the package's weights in it."""
    kind, check = KINDS[part], class_check(part)
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
    first = None
    for way in ways:
        way.put(module, kind.state)
        verdict = check(kind.call(module))
        if verdict:
            return verdict
        first = verdict if first is None else first
    if len(ways) > 1 and first is not None:  # the order in which the weights stand is not known
        said = (
            "whether this is wrong cannot be told: its weights have no names of the skeleton, and "
            "in every order that was tried the numbers are others: "
        )
        return Verdict("wrong", said + first.message, "placing")
    return NOTHING_YET if first is None else first


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


def _ways(part: str, module: nn.Module, mapping: Any = None) -> list[Placing]:
    n_heads = book.config().n_heads if part == "Transformer" else N_HEADS
    try:
        return placings(module, KINDS[part].state, n_heads, mapping)
    except CannotPlaceError:  # a mapping may be made for the whole model alone
        if mapping and part != "Transformer":
            return placings(module, KINDS[part].state, n_heads)
        raise


@cache
def class_check(part: str) -> Check:
    """Return the check of a class: the package's module beside it, the slips as its mistakes."""
    kind = KINDS[part]
    reference = kind.call_ours(kind.ours())
    return Check(
        name=part,
        reference=torch.no_grad()(reference),
        cases=kind.cases,
        mistakes=[
            Mistake(slip.name, _slipped(slip), f"`{part}` forgets {slip.forgets}.")
            for slip in SLIPS
            if slip.part == part != "Transformer"  # of the whole, the walk tells the cause
        ],
        tolerance=1e-4,
        right=f"`{part}` is right: the numbers of the package's, with the same weights",
    )


def _slipped(slip: Slip) -> Call:
    @cache
    def module() -> nn.Module:
        made = built(slip.part, getattr(module_of(slip), slip.part))
        state = KINDS[slip.part].state
        _ways(slip.part, made)[0].put(made, state)
        return made

    return lambda *given: KINDS[slip.part].call(module())(*given)


def stopped(what: str, error: BaseException) -> str:
    """Return the sentence on code that raises: what was called, where it stopped, its words."""
    words = f": {error}" if str(error) else ""
    return f"{what} stops with {type(error).__name__}{where_said(readers_frames(error))}{words}"
