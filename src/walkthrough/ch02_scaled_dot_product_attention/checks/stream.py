"""The check of chapter 02 on attention that sees its keys one at a time (§3.2.1)."""

import math
import weakref
from collections.abc import Callable, Iterator

import torch
from torch import Tensor

from walkthrough.ch02_scaled_dot_product_attention.checks.softmax import SOFTMAXES
from walkthrough.checking.base import Arguments, Case, Check, Mistake, arguments
from walkthrough.checking.forbidden import Forbidden

Pairs = Iterator[tuple[Tensor, Tensor]]


def _streamed(
    *,
    root: str = "d_k",
    start: float = -math.inf,
    rescale_sum: bool = True,
    rescale_total: bool = True,
    factor: Callable[[Tensor, Tensor], Tensor] = lambda old, new: (old - new).exp(),
    fixed_shift: str | None = None,
    divided_by: str = "total",
    keys_for_values: bool = False,
) -> Callable[[Tensor, Pairs], Tensor]:
    """Return attention in one pass; the keywords break it in one place."""

    def attend(query: Tensor, pairs: Pairs) -> Tensor:
        largest = torch.tensor(start)
        total, mixture = torch.tensor(0.0), torch.tensor(0.0)
        for place, (key, value) in enumerate(pairs):
            size = {"d_k": len(query), "d_v": len(value), "d_k²": len(query) ** 2}.get(root, 1)
            score = query @ key / math.sqrt(size)
            new = torch.maximum(largest, score)
            if fixed_shift == "none":
                new = torch.tensor(0.0)
            elif fixed_shift == "first":
                new = score if place == 0 else largest
            kept = torch.tensor(1.0) if fixed_shift else factor(largest, new)
            power = (score - new).exp()
            total = total * (kept if rescale_total else 1.0) + power
            mixture = mixture * (kept if rescale_sum else 1.0) + power * (
                key if keys_for_values else value
            )
            largest = new
        return mixture / {"total": total, "number": torch.tensor(place + 1.0)}.get(divided_by, 1)

    return attend


def _plain_mean(query: Tensor, pairs: Pairs) -> Tensor:
    total, number = torch.tensor(0.0), 0
    for _, value in pairs:
        total, number = total + value, number + 1
    return total / number


def _best_only(query: Tensor, pairs: Pairs) -> Tensor:
    highest, best = -math.inf, torch.tensor(0.0)
    for key, value in pairs:
        if (score := float(query @ key)) > highest:
            highest, best = score, value
    return best


def _scores_for_powers(query: Tensor, pairs: Pairs) -> Tensor:
    total, mixture = torch.tensor(0.0), torch.tensor(0.0)
    for key, value in pairs:
        score = query @ key / math.sqrt(len(query))
        total, mixture = total + score, mixture + score * value
    return mixture / total


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


def _first_only(query: Tensor, pairs: Pairs) -> Tensor:
    return next(iter(pairs))[1]


def _output_not_rescaled(query: Tensor, pairs: Pairs) -> Tensor:
    largest, total = -math.inf, 0.0
    output = torch.tensor(0.0)
    for key, value in pairs:
        score = float(query @ key) / math.sqrt(len(query))
        new = max(largest, score)
        total = total * math.exp(largest - new) + math.exp(score - new)
        output, largest = output + math.exp(score - new) / total * value, new
    return output


def _new_largest_left_out(query: Tensor, pairs: Pairs) -> Tensor:
    largest, total = -math.inf, torch.tensor(0.0)
    mixture = torch.tensor(0.0)
    for key, value in pairs:
        score = float(query @ key) / math.sqrt(len(query))
        kept = math.exp(largest - score) if score > largest else 1.0
        power = 0.0 if score > largest else math.exp(score - largest)
        total, mixture = total * kept + power, mixture * kept + power * value
        largest = max(largest, score)
    return mixture / total


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
        Case("scores that rise to 300", _stream([1.0, 100.0, 299.0, 300.0], d_v=2)),
        Case("scores that fall from 300", _stream([300.0, 299.5, 100.0, 1.0])),
        Case("all scores around −300", _stream([-300.0, -299.0, -301.0])),
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
            _streamed(fixed_shift="none"),
            "exp overflows for scores around 300, and for scores around −300 all powers are 0. "
            "Subtract the largest score that you have seen so far.",
        ),
        Mistake(
            "shift by the first score",
            _streamed(fixed_shift="first"),
            "you subtract the first score from all. When later scores are far above it, exp "
            "overflows. The shift has to follow the largest score seen.",
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
            "only the values rescaled",
            _streamed(rescale_total=False),
            "the sum of the values is brought to the new largest score, the total is not. "
            "Multiply both by exp(old − new).",
        ),
        Mistake(
            "factor upside down",
            _streamed(factor=lambda old, new: (new - old).exp()),
            "the factor is upside down: what was added up under the old largest score has to "
            "shrink, by exp(old − new).",
        ),
        Mistake(
            "largest starts at 0",
            _streamed(start=0.0),
            "the largest score starts at 0, or at another number that no score may reach. Where "
            "all scores are far below it, all powers are 0 and 0/0 is NaN. Start at −∞, or with "
            "the first score.",
        ),
        Mistake(
            "no scale",
            _streamed(root="none"),
            "the scores are not divided by √d_k.",
        ),
        Mistake(
            "not divided",
            _streamed(divided_by="nothing"),
            "the sum of the values is not divided by the total of the powers.",
        ),
        Mistake(
            "plain mean",
            _plain_mean,
            "this is the mean of the values: the query plays no part.",
        ),
        Mistake(
            "only the best",
            _best_only,
            "this is the value of the key with the largest score. Softmax mixes all of them.",
        ),
        Mistake(
            "divided by the number",
            _streamed(divided_by="number"),
            "the sum is divided by the number of keys. Divide by the total of the powers.",
        ),
        Mistake(
            "scores for powers",
            _scores_for_powers,
            "the scores themselves are the weights: the exponential is missing.",
        ),
        Mistake(
            "first value only",
            _first_only,
            "this is the value of the first key. Does a `return` inside the loop end it in the "
            "first round?",
        ),
        Mistake(
            "√d_v",
            _streamed(root="d_v"),
            "the scores are divided by √d_v, the size of a value, and not by √d_k.",
        ),
        Mistake(
            "divided by d_k",
            _streamed(root="d_k²"),
            "the scores are divided by d_k: the square root is missing.",
        ),
        Mistake(
            "keys added up",
            _streamed(keys_for_values=True),
            "the keys are added up. The powers are the weights of the *values*.",
        ),
        Mistake(
            "outputs added up",
            _output_not_rescaled,
            "each value is divided by the total as it stood then. Add up power · value and divide "
            "once at the end, or shrink the output whenever the total grows.",
        ),
        Mistake(
            "new largest left out",
            _new_largest_left_out,
            "when a new largest score comes, you rescale, but leave out that key's own value. Its "
            "power is exp(0) = 1.",
        ),
    ],
    right="`streamed_attention` is right: one pass, and memory for one key at a time",
)
