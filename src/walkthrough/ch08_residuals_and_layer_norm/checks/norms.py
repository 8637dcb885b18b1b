"""The check of chapter 08 on layer norm (§3.1)."""

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from walkthrough.checking import Arguments, Case, Check, Mistake, arguments


def _layer_norm(x: Tensor, gain: Tensor, bias: Tensor, eps: float) -> Tensor:
    return F.layer_norm(x, x.shape[-1:], gain, bias, eps)


COPIED = "The layer norm that is copied everywhere"


def _normalised_by(divisor: Callable[[Tensor, float], Tensor]) -> Callable[..., Tensor]:
    """Layer norm whose divisor is `divisor(x, eps)`."""

    def norm(x: Tensor, gain: Tensor, bias: Tensor, eps: float) -> Tensor:
        return gain * (x - x.mean(-1, keepdim=True)) / divisor(x, eps) + bias

    return norm


def _over(*dims: int) -> Callable[..., Tensor]:
    """Layer norm over other dimensions than the last."""

    def norm(x: Tensor, gain: Tensor, bias: Tensor, eps: float) -> Tensor:
        variance = x.var(dims, correction=0, keepdim=True)
        return gain * (x - x.mean(dims, keepdim=True)) / (variance + eps).sqrt() + bias

    return norm


def _variance(x: Tensor) -> Tensor:
    return x.var(-1, correction=0, keepdim=True)


def _words(
    size: float = 1.0, mean: float = 1.0, learnt: float = 0.3, length: int = 5, eps: float = 0.1
) -> Callable[..., Arguments]:
    """Words whose components scatter by `size`; gain and bias by `learnt`, around 1 and 0."""

    def make(generator: torch.Generator) -> Arguments:
        x = mean + size * torch.randn(1 + length // 5, length, 6, generator=generator)
        gain = 1 + learnt * torch.randn(6, generator=generator)
        return arguments(x, gain, learnt * torch.randn(6, generator=generator), eps)

    return make


layer_norm = Check(
    name="layer_norm",
    reference=_layer_norm,
    cases=[
        Case("2 sentences of 5 words", _words()),
        Case("one word", _words(length=1)),
        Case("gain 1 and bias 0", _words(learnt=0.0)),
        Case(
            "words of mean 1000",
            _words(mean=1000.0),
            "E[x²] − mean² takes two numbers near a million from each other, and float32 keeps "
            "seven digits: centre first, then square.",
        ),
        Case("ε = 0", _words(eps=0.0)),
        Case(
            "words whose components are all equal",
            _words(0.0),
            "Their variance is 0, and ε alone keeps you from 0/0: it is added under the root.",
        ),
    ],
    forbidden=[F.layer_norm, nn.LayerNorm, "native_layer_norm"],
    # in float32, components near 1000 have three digits behind the point
    tolerance=5e-4,
    mistakes=[
        Mistake(
            "variance over n − 1",
            _normalised_by(lambda x, eps: (x.var(-1, keepdim=True) + eps).sqrt()),
            "the variance was divided by d − 1, as `var` and `std` do unless told otherwise. "
            "Layer norm divides by d: `correction=0`.",
            COPIED,
        ),
        Mistake(
            "ε outside",
            _normalised_by(lambda x, eps: _variance(x).sqrt() + eps),
            "ε was added to the standard deviation. It belongs to the variance, inside the root.",
            COPIED,
        ),
        Mistake(
            "the common wrong one",
            _normalised_by(lambda x, eps: x.std(-1, keepdim=True) + eps),
            "`std` divides by d − 1 unless told otherwise, and ε does not stand under the root. "
            "This version is copied from one repository to the next.",
            COPIED,
            (_normalised_by(lambda x, eps: x.std(-1, keepdim=True)),),
        ),
        Mistake(
            "gain or bias forgotten",
            lambda x, gain, bias, eps: F.layer_norm(x, x.shape[-1:], None, None, eps),
            "the words are normalised as they should be. What is missing is the gain, the bias or "
            "both: multiply each component by its gain, then add its bias.",
            "What it forgets, and what it learns",
            (
                lambda x, gain, bias, eps: _layer_norm(x, gain, 0 * bias, eps),
                lambda x, gain, bias, eps: _layer_norm(x, 0 * gain + 1, bias, eps),
            ),
        ),
        Mistake(
            "brackets",
            lambda x, gain, bias, eps: (
                gain * (x - x.mean(-1, keepdim=True) / (_variance(x) + eps).sqrt()) + bias
            ),
            "only the mean is divided by the root: brackets are missing. First subtract, then "
            "divide: `(x - mean) / root`.",
        ),
        Mistake(
            "no root",
            _normalised_by(lambda x, eps: _variance(x) + eps),
            "you divide by the variance. Divide by its root.",
        ),
        Mistake(
            "over the words",
            _over(-2),
            "mean and variance were taken over the words of a sentence, one pair a component. "
            "Layer norm takes them over the components of one word: the last dimension.",
        ),
        Mistake(
            "over the whole sentence",
            _over(-2, -1),
            "one mean and one variance for the whole sentence: each word then depends on all "
            "others, later ones included. Every word has its own: the last dimension.",
            "One mean for the whole sentence",
        ),
    ],
    right="`layer_norm` is right: biased variance, ε under the root, one mean a word",
)
