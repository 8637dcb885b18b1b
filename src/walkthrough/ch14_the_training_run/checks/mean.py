"""The check of chapter 14 on the loss of a batch (§5): the mean over tokens."""

from collections.abc import Callable

import torch
from torch import Tensor

from transformer.config import EOS_ID, PAD_ID
from walkthrough.checking import Arguments, Case, Check, Mistake, arguments


def _mean_loss(losses: Tensor, target: Tensor) -> Tensor:
    return losses[target != PAD_ID].mean()


def _loss_case(label: str, lengths: list[int], width: int, sure_of_the_end: bool = False) -> Case:
    def make(generator: torch.Generator) -> Arguments:
        losses = torch.rand(len(lengths), width, generator=generator) + 0.5
        target = torch.full((len(lengths), width), PAD_ID)
        for row, length in enumerate(lengths):
            target[row, :length] = torch.randint(4, 30, (length,), generator=generator)
            target[row, length - 1] = EOS_ID
        if sure_of_the_end:
            losses[target == EOS_ID] = 0.0
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
        _loss_case("end tokens that cost nothing", [2, 4], width=4, sure_of_the_end=True),
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
            "padding in the sum",
            lambda losses, target: losses.sum() / (target != PAD_ID).sum(),
            "you divide by the number of real tokens, but the losses of padding are still in the "
            "sum. Leave them out of both.",
        ),
        Mistake(
            "a sum",
            _over_real(lambda kept, _real: kept.sum()),
            "this is the sum: it grows with the batch. Divide by the number of real tokens.",
        ),
        Mistake(
            "the end token left out",
            lambda losses, target: losses[target > EOS_ID].mean(),
            "the end token is left out as well. It is a token to predict; only padding is not.",
        ),
        Mistake(
            "the end token in the sum alone",
            lambda losses, target: losses[target != PAD_ID].sum() / (target > EOS_ID).sum(),
            "the losses of the end tokens are in your sum, but the end tokens are not in the "
            "number that you divide by. Count them as tokens.",
        ),
        Mistake(
            "the first place left out",
            lambda losses, target: losses[:, 1:][target[:, 1:] != PAD_ID].mean(),
            "the first place of each sentence is left out. `target` has no start token: its first "
            "place is the first word, and it has to be predicted.",
        ),
    ],
)
