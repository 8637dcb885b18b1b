"""The checks of chapter 14, the training run (§5): shifting, Eq. 3, smoothing, the mean, rows.

Each mistake is a whole wrong implementation: the check runs it on the same inputs as the reader's
function and names it when the results agree.
"""

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor

from transformer.config import BOS_ID, EOS_ID, PAD_ID
from transformer.training.schedule import noam_rate
from walkthrough.checks.alignment import predicted_sources
from walkthrough.checks.base import Arguments, Case, Check, Mistake, Symptom, arguments

__all__ = ["learning_rate", "mean_loss", "predicted_sources", "shift", "smoothed_targets"]


# Exercise: what the decoder reads, and what it must say ------------------------------------------


def _shift(ids: list[int]) -> tuple[list[int], list[int]]:
    return [BOS_ID, *ids], [*ids, EOS_ID]


def _pair_case(label: str, ids: list[int]) -> Case:
    return Case(label, lambda _generator: arguments(list(ids)))


shift = Check(
    name="the decoder's input and the gold tokens",
    reference=_shift,
    cases=[
        _pair_case("a sentence of five words", [11, 7, 23, 5, 40]),
        _pair_case("a sentence of one word", [9]),
        _pair_case("a word that repeats", [6, 6, 8]),
    ],
    mistakes=[
        Mistake(
            "target fed unshifted",
            lambda ids: ([*ids, EOS_ID], [*ids, EOS_ID]),
            "the decoder reads the very token it must predict: input and gold are the same list. "
            "It would learn to copy. Put the start token in front of the input.",
        ),
        Mistake(
            "gold not shifted",
            lambda ids: ([BOS_ID, *ids], [BOS_ID, *ids]),
            "the gold starts with the start token: at every place it is the token that the "
            "decoder reads there. Gold begins with the first word and ends with the end token.",
        ),
        Mistake(
            "no start token",
            lambda ids: (list(ids), [*ids[1:], EOS_ID]),
            "the start token is missing, so nothing predicts the first word: it is read and never "
            "asked for.",
        ),
        Mistake(
            "no end token",
            lambda ids: ([BOS_ID, *ids[:-1]], list(ids)),
            "the gold has no end token. A model trained like this never learns to stop.",
        ),
        Mistake(
            "start and end on both",
            lambda ids: ([BOS_ID, *ids, EOS_ID], [BOS_ID, *ids, EOS_ID]),
            "both lists hold start, words and end: they are not shifted against each other. The "
            "input lacks the end token, the gold lacks the start token.",
        ),
        Mistake(
            "shifted the other way",
            lambda ids: ([*ids, EOS_ID], [BOS_ID, *ids]),
            "the two lists are exchanged: you return the gold first. Read from left to right, the "
            "decoder would have to name the word before the one it reads.",
        ),
        Mistake(
            "the end is read too",
            lambda ids: ([BOS_ID, *ids, EOS_ID], [*ids, EOS_ID]),
            "the input is one token longer than the gold. Nothing comes after the end token, so "
            "the decoder never reads it.",
        ),
    ],
)


# Exercise: Eq. 3 ---------------------------------------------------------------------------------


def _rate(step: int, d_model: int, warmup: int) -> float:
    return noam_rate(step, d_model=d_model, warmup=warmup)


def _rate_case(label: str, step: int, d_model: int, warmup: int) -> Case:
    return Case(label, lambda _generator: arguments(step, d_model, warmup))


learning_rate = Check(
    name="the learning rate of Equation 3",
    reference=_rate,
    tolerance=1e-7,
    cases=[
        _rate_case("the first update", step=1, d_model=64, warmup=10),
        _rate_case("an update in warm-up", step=6, d_model=64, warmup=10),
        _rate_case("the last update of warm-up", step=10, d_model=64, warmup=10),
        _rate_case("an update long after warm-up", step=250, d_model=64, warmup=10),
        _rate_case("another size and warm-up", step=30, d_model=128, warmup=40),
        _rate_case("a very short warm-up", step=30, d_model=16, warmup=2),
    ],
    mistakes=[
        Mistake(
            "the larger of the two",
            lambda step, d_model, warmup: d_model**-0.5 * max(step**-0.5, step * warmup**-1.5),
            "you take the larger of the two terms: the rate starts high and grows without end. "
            "Equation 3 takes the smaller one.",
        ),
        Mistake(
            "warm-up to the power −0.5",
            lambda step, d_model, warmup: d_model**-0.5 * min(step**-0.5, step * warmup**-0.5),
            "the warm-up has the exponent −0.5. With −1.5 the two terms meet at step = warmup; "
            "with −0.5 they meet near the first step, and there is no warm-up.",
        ),
        Mistake(
            "the step's root grows",
            lambda step, d_model, warmup: d_model**-0.5 * min(step**0.5, step * warmup**-1.5),
            "the first term is the root of the step; Equation 3 has one over it. Your rate never "
            "falls.",
        ),
        Mistake(
            "no model size",
            lambda step, d_model, warmup: min(step**-0.5, step * warmup**-1.5),
            "the factor d_model^−0.5 is missing: larger models get smaller rates.",
        ),
        Mistake(
            "root of the model size",
            lambda step, d_model, warmup: d_model**0.5 * min(step**-0.5, step * warmup**-1.5),
            "you multiply by the root of d_model; Equation 3 divides by it.",
        ),
        Mistake(
            "steps counted from 0",
            lambda step, d_model, warmup: (
                d_model**-0.5 * min(max(step - 1, 1e-9) ** -0.5, (step - 1) * warmup**-1.5)
            ),
            "your steps start at 0, so the first update has a rate of 0 and changes nothing. "
            "Updates are counted from 1.",
        ),
        Mistake(
            "warm-up only",
            lambda step, d_model, warmup: d_model**-0.5 * step * warmup**-1.5,
            "the rate rises for ever: the term step^−0.5 and the minimum are missing.",
        ),
        Mistake(
            "no warm-up",
            lambda step, d_model, warmup: d_model**-0.5 * step**-0.5,
            "the rate falls from the first update: the term with the warm-up is missing.",
        ),
    ],
)


# Exercise: the smoothed target -------------------------------------------------------------------


def _one_hot(target: Tensor, vocab_size: int) -> Tensor:
    return F.one_hot(target, vocab_size).float()


def _without_padding(rows: Tensor, target: Tensor) -> Tensor:
    return rows * (target != PAD_ID)[:, None]


def _smoothed(target: Tensor, vocab_size: int, smoothing: float) -> Tensor:
    rows = (1 - smoothing) * _one_hot(target, vocab_size) + smoothing / vocab_size
    return _without_padding(rows, target)


def _over_the_others(target: Tensor, vocab_size: int, smoothing: float) -> Tensor:
    gold = _one_hot(target, vocab_size)
    rows = (1 - smoothing) * gold + smoothing / (vocab_size - 1) * (1 - gold)
    return _without_padding(rows, target)


def _padding_kept(target: Tensor, vocab_size: int, smoothing: float) -> Tensor:
    return (1 - smoothing) * _one_hot(target, vocab_size) + smoothing / vocab_size


def _gold_without_its_share(target: Tensor, vocab_size: int, smoothing: float) -> Tensor:
    gold = _one_hot(target, vocab_size)
    rows = (1 - smoothing) * gold + smoothing / vocab_size * (1 - gold)
    return _without_padding(rows, target)


def _gold_kept_whole(target: Tensor, vocab_size: int, smoothing: float) -> Tensor:
    rows = _one_hot(target, vocab_size) + smoothing / vocab_size
    return _without_padding(rows, target)


def _smoothing_exchanged(target: Tensor, vocab_size: int, smoothing: float) -> Tensor:
    return _smoothed(target, vocab_size, 1 - smoothing)


def _target_case(label: str, target: list[int], vocab_size: int, smoothing: float) -> Case:
    return Case(label, lambda _generator: arguments(torch.tensor(target), vocab_size, smoothing))


smoothed_targets = Check(
    name="the smoothed target distribution",
    reference=_smoothed,
    cases=[
        _target_case("three words", [4, 5, 2], vocab_size=8, smoothing=0.1),
        _target_case("two words and padding", [6, 2, PAD_ID, PAD_ID], vocab_size=10, smoothing=0.2),
        _target_case("no smoothing", [3, 2, PAD_ID], vocab_size=5, smoothing=0.0),
    ],
    mistakes=[
        Mistake(
            "ε over the other V − 1 tokens",
            _over_the_others,
            "your rows sum to 1 and spread ε over the V − 1 other tokens. That is another "
            "convention, tensor2tensor's. The paper does not say which; PyTorch and this book "
            "spread ε over all V, so that the gold token gets 1 − ε + ε/V.",
        ),
        Mistake(
            "mass on padding",
            _padding_kept,
            "positions whose target is padding keep a distribution, so the model is trained to "
            "say padding. Their rows must be zero.",
        ),
        Mistake(
            "gold without its share",
            _gold_without_its_share,
            "your rows sum to 1 − ε/V: ε is divided by V, and the gold token does not take its "
            "share. Either all V tokens share ε, or V − 1 of them do.",
        ),
        Mistake(
            "gold kept at 1",
            _gold_kept_whole,
            "your rows sum to 1 + ε: the gold token keeps its 1, and ε comes on top. It is taken "
            "from the gold token.",
        ),
        Mistake(
            "no smoothing",
            lambda target, vocab_size, smoothing: _smoothed(target, vocab_size, 0.0),
            "the rows are one-hot: ε is not used.",
        ),
        Mistake(
            "ε and 1 − ε exchanged",
            _smoothing_exchanged,
            "ε is on the gold token and 1 − ε on all of them: the two are exchanged.",
        ),
    ],
    symptoms=[
        Symptom(
            "rows that do not sum to 1",
            lambda result, expected, _: (
                not torch.allclose(result.sum(-1), expected.sum(-1), atol=1e-4)
            ),
            "each row of a word must sum to 1, and each row of padding to 0; yours do not.",
        )
    ],
)


# Exercise: the mean over tokens ------------------------------------------------------------------


def _mean_loss(losses: Tensor, target: Tensor) -> Tensor:
    return losses[target != PAD_ID].mean()


def _loss_case(label: str, lengths: list[int], width: int) -> Case:
    def make(generator: torch.Generator) -> Arguments:
        losses = torch.rand(len(lengths), width, generator=generator) + 0.5
        target = torch.full((len(lengths), width), PAD_ID)
        for row, length in enumerate(lengths):
            target[row, :length] = torch.randint(4, 30, (length,), generator=generator)
            target[row, length - 1] = EOS_ID
        return arguments(losses, target)

    return Case(label, make)


def _over_real(weigh: Callable[[Tensor, Tensor], Tensor]) -> Callable[[Tensor, Tensor], Tensor]:
    return lambda losses, target: weigh(losses * (target != PAD_ID), target != PAD_ID)


mean_loss = Check(
    name="the mean over real tokens",
    reference=_mean_loss,
    cases=[
        _loss_case("two sentences, one of them short", [6, 2], width=6),
        _loss_case("three sentences", [3, 5, 1], width=5),
        _loss_case("a batch without padding", [4, 4], width=4),
    ],
    mistakes=[
        Mistake(
            "padding counts",
            lambda losses, target: losses.mean(),
            "padding counts as tokens: the loss depends on how long the longest sentence of the "
            "batch happens to be. Leave out positions whose target is padding.",
        ),
        Mistake(
            "divided by all positions",
            _over_real(lambda kept, _real: kept.mean()),
            "padding adds nothing to the sum, but you still divide by all positions: batches with "
            "more padding get smaller losses and smaller gradients.",
        ),
        Mistake(
            "mean of sentence means",
            _over_real(lambda kept, real: (kept.sum(-1) / real.sum(-1)).mean()),
            "every sentence counts the same, so a word of a short sentence weighs more than one "
            "of a long sentence. The mean is over tokens.",
        ),
        Mistake(
            "a sum",
            _over_real(lambda kept, _real: kept.sum()),
            "this is the sum: it grows with the batch. Divide by the number of real tokens.",
        ),
        Mistake(
            "a sum a sentence",
            _over_real(lambda kept, _real: kept.sum(-1).mean()),
            "you divide by the number of sentences; divide by the number of real tokens.",
        ),
        Mistake(
            "the end token left out",
            lambda losses, target: losses[target > EOS_ID].mean(),
            "the end token is left out as well. It is a token to predict; only padding is not.",
        ),
        Mistake(
            "the mask upside down",
            lambda losses, target: losses[target == PAD_ID].mean(),
            "this is the mean over the padding: the condition is the wrong way round.",
        ),
    ],
)
