"""The checks of chapter 08, residuals and layer norm (§3.1): those on layer norm itself."""

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from walkthrough.checking.base import Arguments, Case, Check, Mistake, arguments

# Exercise: layer norm


def _layer_norm(x: Tensor, gain: Tensor, bias: Tensor, eps: float) -> Tensor:
    return F.layer_norm(x, x.shape[-1:], gain, bias, eps)


def _normalised_by(divisor: Callable[[Tensor, float], Tensor]) -> Callable[..., Tensor]:
    """Layer norm whose divisor is `divisor(x, eps)`."""

    def norm(x: Tensor, gain: Tensor, bias: Tensor, eps: float) -> Tensor:
        return gain * (x - x.mean(-1, keepdim=True)) / divisor(x, eps) + bias

    return norm


def _over(dims: tuple[int, ...]) -> Callable[..., Tensor]:
    """Layer norm over other dimensions than the last."""

    def norm(x: Tensor, gain: Tensor, bias: Tensor, eps: float) -> Tensor:
        mean = x.mean(dims, keepdim=True)
        variance = x.var(dims, correction=0, keepdim=True)
        return gain * (x - mean) / (variance + eps).sqrt() + bias

    return norm


def _variance(x: Tensor) -> Tensor:
    return x.var(-1, correction=0, keepdim=True)


def _centred(x: Tensor) -> Tensor:
    return x - x.mean(-1, keepdim=True)


def _not_centred(x: Tensor, gain: Tensor, bias: Tensor, eps: float) -> Tensor:
    return gain * x / (_variance(x) + eps).sqrt() + bias


def _root_mean_square(x: Tensor, gain: Tensor, bias: Tensor, eps: float) -> Tensor:
    return gain * x / (x.square().mean(-1, keepdim=True) + eps).sqrt() + bias


def _words(size: float) -> Callable[[torch.Generator], Arguments]:
    def make(generator: torch.Generator) -> Arguments:
        x = 1.0 + size * torch.randn(2, 5, 6, generator=generator)
        gain = 1 + 0.3 * torch.randn(6, generator=generator)
        return arguments(x, gain, 0.3 * torch.randn(6, generator=generator), 1e-3)

    return make


layer_norm = Check(
    name="layer_norm",
    reference=_layer_norm,
    cases=[
        Case("2 sentences of 5 words", _words(1.0)),
        Case("words whose components hardly differ", _words(0.03)),
    ],
    forbidden=[F.layer_norm, nn.LayerNorm, "native_layer_norm"],
    # as a mean square less the squared mean, a small variance keeps four digits in float32
    tolerance=5e-4,
    mistakes=[
        Mistake(
            "variance over n − 1",
            _normalised_by(lambda x, eps: (x.var(-1, keepdim=True) + eps).sqrt()),
            "the variance was divided by d − 1, as `var` and `std` do unless told otherwise. "
            "Layer norm divides by d: `correction=0`.",
        ),
        Mistake(
            "ε outside",
            _normalised_by(lambda x, eps: _variance(x).sqrt() + eps),
            "ε was added to the standard deviation. It belongs to the variance, inside the root.",
        ),
        Mistake(
            "the common wrong one",
            _normalised_by(lambda x, eps: x.std(-1, keepdim=True) + eps),
            "two things at once: the variance was divided by d − 1, and ε stands outside the "
            "root. This version is copied from one repository to the next.",
        ),
        Mistake(
            "ε forgotten",
            _normalised_by(lambda x, eps: _variance(x).sqrt()),
            "ε is missing. It matters where the components of a word hardly differ.",
        ),
        Mistake(
            "plain `std`",
            _normalised_by(lambda x, eps: x.std(-1, keepdim=True)),
            "two things at once: `std` divides by d − 1 unless told otherwise, and ε is missing.",
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
            "ε subtracted",
            lambda x, gain, bias, eps: _layer_norm(x, gain, bias, -eps),
            "ε is subtracted from the variance. It is added, so that the root never gets a "
            "number below 0.",
        ),
        Mistake(
            "median",
            lambda x, gain, bias, eps: (
                gain * (x - x.median(-1, keepdim=True).values) / (_variance(x) + eps).sqrt() + bias
            ),
            "you subtract the median. Layer norm subtracts the mean.",
        ),
        Mistake(
            "mean absolute distance, squared",
            lambda x, gain, bias, eps: (
                gain * _centred(x) / (_centred(x).abs().mean(-1, keepdim=True) ** 2 + eps).sqrt()
                + bias
            ),
            "you divide by the mean *absolute* distance from the mean. Layer norm divides by "
            "the root of the mean square.",
        ),
        Mistake(
            "no root",
            _normalised_by(lambda x, eps: _variance(x) + eps),
            "you divide by the variance. Divide by its root.",
        ),
        Mistake(
            "over the words",
            _over((-2,)),
            "mean and variance were taken over the words of a sentence, one pair a component. "
            "Layer norm takes them over the components of one word: the last dimension.",
        ),
        Mistake(
            "over the whole sentence",
            _over((-2, -1)),
            "one mean and one variance for the whole sentence: each word then depends on all "
            "others, later ones included. Every word has its own: the last dimension.",
        ),
        Mistake(
            "over everything",
            _over((-3, -2, -1)),
            "one mean and one variance for all numbers of the batch. Every word has its own: "
            "`dim=-1, keepdim=True`.",
        ),
        Mistake(
            "over the sentences",
            _over((0,)),
            "mean and variance were taken over the sentences of the batch (`dim=0`). Layer norm "
            "takes them over the components of one word: `dim=-1, keepdim=True`.",
        ),
        Mistake(
            "mean kept",
            _root_mean_square,
            "the mean was not taken away. Dividing by the root of the mean square is RMSNorm, "
            "which came later; layer norm first centres.",
        ),
        Mistake(
            "no gain and bias",
            lambda x, gain, bias, eps: _layer_norm(x, torch.ones_like(gain), 0 * bias, eps),
            "gain and bias are not used. They come last: multiply by the gain, add the bias.",
        ),
        Mistake(
            "no bias",
            lambda x, gain, bias, eps: _layer_norm(x, gain, 0 * bias, eps),
            "the bias is not used. It comes last: add it after the gain was multiplied.",
        ),
        Mistake(
            "no gain",
            lambda x, gain, bias, eps: _layer_norm(x, torch.ones_like(gain), bias, eps),
            "the gain is not used. Multiply the normalised word by it, before the bias is added.",
        ),
        Mistake(
            "gain and bias exchanged",
            lambda x, gain, bias, eps: _layer_norm(x, bias, gain, eps),
            "gain and bias are exchanged: multiply by the gain, add the bias.",
        ),
        Mistake(
            "gain one too large",
            lambda x, gain, bias, eps: _layer_norm(x, 1 + gain, bias, eps),
            "you multiply by 1 + gain. Here the gain itself starts at 1: multiply by it as it is.",
        ),
        Mistake(
            "gain before the norm",
            lambda x, gain, bias, eps: _layer_norm(gain * x, torch.ones_like(gain), bias, eps),
            "the gain was multiplied before the word was normalised. It acts on the normalised "
            "word.",
        ),
        Mistake(
            "only centred",
            lambda x, gain, bias, eps: gain * (x - x.mean(-1, keepdim=True)) + bias,
            "the words are centred but not divided by the root of their variance.",
        ),
        Mistake(
            "not centred",
            _not_centred,
            "you divide by the root of the variance, but the mean was not taken away above the "
            "fraction line.",
        ),
        Mistake(
            "mean of absolute values",
            _normalised_by(lambda x, eps: _centred(x).abs().mean(-1, keepdim=True) + eps),
            "you divide by the mean distance from the mean. Layer norm divides by the root of the "
            "mean *square*.",
        ),
        Mistake(
            "sum in place of the mean",
            _normalised_by(
                lambda x, eps: (_centred(x).square().sum(-1, keepdim=True) + eps).sqrt()
            ),
            "the squares were summed and not divided by d: that is the length of the word, not its "
            "standard deviation.",
        ),
        Mistake(
            "divided by the gain",
            lambda x, gain, bias, eps: _layer_norm(x, 1 / gain, bias, eps),
            "the gain stands below the fraction line. Multiply by it.",
        ),
        Mistake(
            "from 0 to 1",
            lambda x, gain, bias, eps: (
                gain
                * (x - x.amin(-1, keepdim=True))
                / (x.amax(-1, keepdim=True) - x.amin(-1, keepdim=True) + eps)
                + bias
            ),
            "you bring the smallest component to 0 and the largest to 1. Layer norm subtracts the "
            "mean and divides by the root of the variance.",
        ),
        Mistake(
            "range",
            _normalised_by(
                lambda x, eps: x.amax(-1, keepdim=True) - x.amin(-1, keepdim=True) + eps
            ),
            "you divide by the distance from the smallest component to the largest. Layer norm "
            "divides by the root of the variance.",
        ),
        Mistake(
            "bias subtracted",
            lambda x, gain, bias, eps: _layer_norm(x, gain, -bias, eps),
            "the bias was subtracted. It is added.",
        ),
        Mistake(
            "an ε of its own",
            lambda x, gain, bias, eps: _layer_norm(x, gain, bias, 1e-5),
            "ε is 1e-5 whatever the argument says: use `eps`.",
        ),
        Mistake(
            "roots added",
            _normalised_by(lambda x, eps: _variance(x).sqrt() + eps**0.5),
            "the root was taken of variance and ε one by one. Add first, then take the root.",
        ),
        Mistake(
            "multiplied by the root",
            lambda x, gain, bias, eps: gain * _centred(x) * (_variance(x) + eps).sqrt() + bias,
            "you multiply by the root of the variance; divide by it.",
        ),
        Mistake(
            "one mean for all",
            lambda x, gain, bias, eps: gain * (x - x.mean()) / (_variance(x) + eps).sqrt() + bias,
            "the mean was taken over all numbers of the batch. Every word has its own: "
            "`dim=-1, keepdim=True`.",
        ),
        Mistake(
            "one variance for all",
            _normalised_by(lambda x, eps: (x.var(correction=0) + eps).sqrt()),
            "the variance was taken over all numbers of the batch. Every word has its own: "
            "`dim=-1, correction=0, keepdim=True`.",
        ),
        Mistake(
            "bias before gain",
            lambda x, gain, bias, eps: gain * (_layer_norm(x, gain * 0 + 1, bias, eps)),
            "the bias was added before the gain was multiplied. First the gain, then the bias.",
        ),
    ],
    right="`layer_norm` is right: biased variance, ε under the root, one mean a word",
)
