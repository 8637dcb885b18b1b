"""The check of chapter 10 that holds predicted crossings against counted operations (§4).

A prediction is not compared with a number: both layers are counted at the predicted length, and
the verdict says which of them is the cheaper one there.
"""

import math
from collections.abc import Callable, Mapping
from functools import cache
from numbers import Real
from typing import Any

from torch import Tensor, nn

from transformer.feed_forward import PositionwiseFeedForward
from walkthrough.ch10_why_self_attention.experiments.layer_types import (
    WithProjections,
    counted,
    make_layer,
)
from walkthrough.checking.kinds import is_numeric, kind
from walkthrough.checking.own import OwnCheck
from walkthrough.checking.sentences import listed
from walkthrough.checking.verdict import Verdict

D = 32
LONGEST = 16 * D
Count = Callable[[int], int]


def _table_1(n: int) -> int:
    return counted(make_layer("self-attention", D), n=n, d=D)


def _attention(n: int) -> int:
    return counted(WithProjections(D), n=n, d=D)


def _layer(n: int) -> int:
    network = PositionwiseFeedForward(d_model=D, d_ff=4 * D, bias=False)
    return _attention(n) + counted(network, n=n, d=D)


def _convolution(n: int) -> int:
    return counted(make_layer("convolutional", D, k=3), n=n, d=D)


class _OneStep(nn.Module):
    """One step of an LSTM: the first word of a sentence."""

    def __init__(self) -> None:
        super().__init__()
        self.cell = nn.LSTMCell(D, D)

    def forward(self, x: Tensor) -> Tensor:
        state: Tensor = self.cell(x[0])[0]
        return state


def _lstms(number: int) -> Count:
    return lambda n: number * n * counted(_OneStep(), n=1, d=D)


# Name of a pair → its two layers in words, and what counts their operations.
PAIRS: Mapping[str, tuple[str, Count, str, Count]] = {
    "a": ("Table 1's self-attention", _table_1, "the convolution", _convolution),
    "b": ("the attention with projections", _attention, "the convolution", _convolution),
    "c": ("the attention with projections", _attention, "two LSTMs", _lstms(2)),
    "d": ("the Transformer's layer", _layer, "two LSTMs", _lstms(2)),
    "e": ("the Transformer's layer", _layer, "one LSTM", _lstms(1)),
}

# Name of a pair → a wrong n/d that readers give, and where it comes from.
SLIPS: Mapping[str, Mapping[float, str]] = {
    "a": {
        3: "this counts one of the attention's two products over pairs of words",
        1: "this is where it meets a plain recurrence; a convolution has k = 3 matrices",
    },
    "b": {1.5: "this leaves out the four projections"},
    "c": {
        2: "this is where one LSTM meets it; here are two",
        8: "this leaves out the attention's four projections",
    },
    "d": {6: "this leaves out the feed-forward network"},
    "e": {2: "this leaves out the feed-forward network"},
}


@cache
def operations(name: str, n: int) -> tuple[int, int]:
    """Return the counted operations of both layers of a pair for n words, d = 32."""
    _, one, _, other = PAIRS[name]
    return one(n), other(n)


def _judge(answer: Any) -> Verdict:
    """Judge the predicted n/d at which each pair of layers takes equally many operations."""
    if answer is None or answer is ...:
        return _unanswered([], [*PAIRS])
    if not isinstance(answer, Mapping):
        wanted = "a dictionary such as `crossings` is expected"
        return Verdict("wrong", f"{wanted}, got {kind(answer)}")
    strange = [name for name in answer if name not in PAIRS]
    if strange:
        return Verdict("wrong", f"there is no pair {strange[0]!r}: they are {listed([*PAIRS])}")
    given = {name: answer.get(name) for name in PAIRS}
    said = {
        name: _against(name, value)
        for name, value in given.items()
        if value is not None and value is not ...
    }
    right = [name for name, against in said.items() if not against]
    wrong = [f"{name}: {against}." for name, against in said.items() if against]
    if wrong:
        agreed = f" Right so far: {listed(right)}." if right else ""
        return Verdict("wrong", f"{' '.join(wrong)}{agreed}")
    if len(said) < len(PAIRS):
        return _unanswered(right, [name for name in PAIRS if name not in said])
    return Verdict("right", "`crossings` is right: all five, counted with d = 32")


def _against(name: str, value: Any) -> str | None:
    """Return what speaks against a predicted n/d, from counts at that length; None if nothing."""
    number = value.item() if getattr(value, "shape", None) == () else value
    if not is_numeric(number) or not isinstance(number, Real) or isinstance(number, bool):
        return f"a number is expected, n divided by d; yours is {kind(value)}"
    ratio = float(number)
    if ratio < 0 or math.isnan(ratio):
        return "a length is not negative; for layers that never meet, write 0"
    one, _, other, _ = PAIRS[name]
    if ratio == 0 or math.isinf(ratio):
        return _never(name, one, other, infinite=ratio > 0)
    n = round(ratio * D)
    if n < 1 or n > LONGEST:
        extra = " Give n / d, not n" if ratio >= D else ""
        return f"that is n = {ratio:g} · d, far from where these two are close.{extra}"
    first, second = operations(name, n)
    if first == second and math.isclose(n, ratio * D, rel_tol=1e-3):
        return None
    if first == second:
        return "that is close, and it is no rounded number: solve the equation"
    cheaper, dearer = (one, other) if first < second else (other, one)
    few, many = sorted((first, second))
    slips = SLIPS[name].items()
    slip = next((f"{say}. At" for at, say in slips if math.isclose(ratio, at, rel_tol=0.01)), "at")
    return (
        f"{slip} n = {ratio:g} · d they do not meet. Counted there with d = {D}: {few:,} "
        f"operations for {cheaper}, {many:,} for {dearer}"
    )


def _never(name: str, one: str, other: str, *, infinite: bool) -> str | None:
    short, long = (operations(name, n) for n in (1, LONGEST))
    if short[0] < short[1] and long[0] > long[1]:
        return (
            f"they do meet: for one word {one} takes fewer operations than {other}, for "
            f"{LONGEST // D} · d words more"
        )
    if infinite:
        return f"they never meet, that is right; write 0 for it: {one} takes more at every length"
    return None


def _unanswered(right: list[str], missing: list[str]) -> Verdict:
    begun = f"right so far: {listed(right)}; " if right else ""
    return Verdict("nothing yet", f"{begun}still without a prediction: {listed(missing)}")


crossings = OwnCheck(name="crossings", judge=_judge)
