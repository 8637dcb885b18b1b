"""The check of chapter 02 on attention that sees its keys one at a time (§3.2.1)."""

import math
import weakref
from collections.abc import Callable, Iterator

import torch
from torch import Tensor

from walkthrough.ch02_scaled_dot_product_attention.checks.softmax import SOFTMAXES
from walkthrough.checking import Arguments, Case, Check, Forbidden, Mistake, arguments

Pairs = Iterator[tuple[Tensor, Tensor]]


def _streamed(
    *,
    root: Callable[[int], float] = math.sqrt,
    rescale_sum: bool = True,
    rescale_total: bool = True,
    shifted: bool = True,
) -> Callable[[Tensor, Pairs], Tensor]:
    """Return attention in one pass; the keywords break it in one place."""

    def attend(query: Tensor, pairs: Pairs) -> Tensor:
        largest = torch.tensor(-math.inf if shifted else 0.0)
        total, mixture = torch.tensor(0.0), torch.tensor(0.0)
        for key, value in pairs:
            score = query @ key / root(len(query))
            new = torch.maximum(largest, score) if shifted else largest
            kept, power = (largest - new).exp(), (score - new).exp()
            total = total * (kept if rescale_total else 1.0) + power
            mixture = mixture * (kept if rescale_sum else 1.0) + power * value
            largest = new
        return mixture / total

    return attend


class _Once:
    """An iterator over pairs; it says so when somebody begins a second time, or keeps pairs."""

    __slots__ = ("ended", "handed_over", "rest")

    def __init__(self, pairs: list[tuple[Tensor, Tensor]]) -> None:
        self.rest, self.ended = iter(pairs), False
        self.handed_over: list[tuple[weakref.ref[Tensor], weakref.ref[Tensor]]] = []

    def __iter__(self) -> "_Once":
        if self.ended:
            raise RuntimeError("the pairs are handed over once; a second loop finds none")
        return self

    def __next__(self) -> tuple[Tensor, Tensor]:
        before = self.handed_over[:-1]  # the last pair may still have its names
        keys, values = (sum(pair[side]() is not None for pair in before) for side in (0, 1))
        if keys or values > 1:  # one value may have become the sum itself
            raise RuntimeError(f"pairs that were handed over before are still there: {_NO_LIST}")
        try:
            key, value = (one.clone() for one in next(self.rest))
        except StopIteration:
            self.ended = True
            raise
        self.handed_over.append((weakref.ref(key), weakref.ref(value)))
        return key, value


def _stream(scores: list[float], d_v: int = 3) -> Callable[[torch.Generator], Arguments]:
    """Return a query and pairs with these scores, after the division by √d_k."""

    def make(generator: torch.Generator) -> Arguments:
        query = torch.randn(4, generator=generator)
        query = query / query.norm()
        pairs = []
        for score in scores:
            across = torch.randn(4, generator=generator)
            across = across - (across @ query) * query  # adds nothing to the score
            key = 2.0 * score * query + across
            pairs.append((key, torch.randn(d_v, generator=generator)))
        return arguments(query, _Once(pairs))

    return make


_NO_LIST = "keep nothing of a pair but what you add to the two sums."

streamed_attention = Check(
    name="streamed_attention",
    reference=_streamed(),
    cases=[
        Case("five keys", _stream([0.3, -1.2, 0.8, 0.1, -0.5])),
        Case(
            "scores that rise to 300",
            _stream([1.0, 100.0, 299.0, 300.0], d_v=2),
            "exp(299) is infinite in float32: the number that you subtract has to follow the "
            "largest score seen, not the first.",
        ),
        Case("scores that fall from 300", _stream([300.0, 299.5, 100.0, 1.0])),
        Case(
            "all scores around −300",
            _stream([-300.0, -299.0, -301.0]),
            "exp(−300) is 0 in float32, and 0/0 is NaN. Where the largest score starts at 0, none "
            "of these is larger: start at −∞, or with the first score.",
        ),
        Case("equal scores, longer values", _stream([0.4, 0.4, 0.4], d_v=6)),
        Case("one key", _stream([0.7])),
    ],
    forbidden=[
        *SOFTMAXES,
        torch.nn.functional.scaled_dot_product_attention,
        *(Forbidden(name, _NO_LIST) for name in (torch.stack, torch.cat)),
    ],
    tolerance=1e-3,  # scores around 300 have steps of 3e-5
    mistakes=[
        Mistake(
            "no shift",
            _streamed(shifted=False),
            "exp overflows for scores around 300, and for scores around −300 all powers are 0. "
            "Subtract the largest score that you have seen so far.",
        ),
        Mistake(
            "nothing rescaled",
            _streamed(rescale_sum=False, rescale_total=False),
            "when a new largest score comes, what you have added up so far was made with the old "
            "one. Multiply both sums by exp(old − new) first.",
        ),
        Mistake(
            "only the total rescaled",
            _streamed(rescale_sum=False),
            "the total is brought to the new largest score, the sum of the values is not. "
            "Multiply both by exp(old − new).",
        ),
        Mistake(
            "no scale",
            _streamed(root=lambda d_k: 1.0),
            "the scores are not divided by √d_k.",
        ),
    ],
    right="`streamed_attention` is right: one pass, and memory for one key at a time",
)
