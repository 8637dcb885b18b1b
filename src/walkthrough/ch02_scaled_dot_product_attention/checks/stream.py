"""The check of chapter 02 on attention that sees its keys one at a time (§3.2.1)."""

import math
from collections.abc import Callable, Iterator

import torch
from torch import Tensor

from walkthrough.checking.base import Arguments, Case, Check, Mistake, arguments
from walkthrough.checking.forbidden import Forbidden

Pairs = Iterator[tuple[Tensor, Tensor]]


def _streamed(
    *,
    scaled: bool = True,
    start: float = -math.inf,
    rescale_sum: bool = True,
    rescale_total: bool = True,
    factor: Callable[[Tensor, Tensor], Tensor] = lambda old, new: (old - new).exp(),
    fixed_shift: str | None = None,
    divided: bool = True,
) -> Callable[[Tensor, Pairs], Tensor]:
    """Return attention in one pass; the keywords break it in one place."""

    def attend(query: Tensor, pairs: Pairs) -> Tensor:
        largest = torch.tensor(start)
        total, mixture = torch.tensor(0.0), torch.tensor(0.0)
        for place, (key, value) in enumerate(pairs):
            score = query @ key / (math.sqrt(len(query)) if scaled else 1.0)
            new = torch.maximum(largest, score)
            if fixed_shift == "none":
                new = torch.tensor(0.0)
            elif fixed_shift == "first":
                new = score if place == 0 else largest
            kept = torch.tensor(1.0) if fixed_shift else factor(largest, new)
            power = (score - new).exp()
            total = total * (kept if rescale_total else 1.0) + power
            mixture = mixture * (kept if rescale_sum else 1.0) + power * value
            largest = new
        return mixture / total if divided else mixture

    return attend


def _plain_mean(query: Tensor, pairs: Pairs) -> Tensor:
    return torch.stack([value for _, value in pairs]).mean(0)


def _best_only(query: Tensor, pairs: Pairs) -> Tensor:
    return max(pairs, key=lambda pair: float(query @ pair[0]))[1]


def _weighted(weigh: Callable[[Tensor], Tensor]) -> Callable[[Tensor, Pairs], Tensor]:
    def attend(query: Tensor, pairs: Pairs) -> Tensor:
        seen = list(pairs)
        keys = torch.stack([key for key, _ in seen])
        values = torch.stack([value for _, value in seen])
        return weigh(keys @ query / math.sqrt(len(query))) @ values

    return attend


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
        return arguments(query, iter(pairs))

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
        torch.softmax,
        torch.nn.functional.scaled_dot_product_attention,
        *(Forbidden(name, _NO_LIST) for name in ("list", torch.stack, torch.cat)),
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
            "the largest score starts at 0. Where all scores are far below 0, all powers are 0 "
            "and 0/0 is NaN. Start at −∞, or with the first score.",
        ),
        Mistake(
            "no scale",
            _streamed(scaled=False),
            "the scores are not divided by √d_k.",
        ),
        Mistake(
            "not divided",
            _streamed(divided=False),
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
            _weighted(lambda scores: (scores - scores.max()).exp() / len(scores)),
            "the sum is divided by the number of keys. Divide by the total of the powers.",
        ),
        Mistake(
            "scores for powers",
            _weighted(lambda scores: scores / scores.sum()),
            "the scores themselves are the weights: the exponential is missing.",
        ),
    ],
    right="`streamed_attention` is right: one pass, and memory for one key at a time",
)
