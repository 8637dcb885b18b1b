"""The checks of chapter 14 on a sentence and a batch (§5): shifting, and the mean over tokens.

Each mistake is a whole wrong implementation: the check runs it on the same inputs as the reader's
function and names it when the results agree.
"""

from collections.abc import Callable

import torch
from torch import Tensor

from transformer.config import BOS_ID, EOS_ID, PAD_ID
from walkthrough.checking import Arguments, Case, Check, Mistake, arguments, fixed

# Exercise: what the decoder reads, and what it must say ------------------------------------------


def _shift(ids: list[int]) -> tuple[list[int], list[int]]:
    return [BOS_ID, *ids], [*ids, EOS_ID]


shift = Check(
    name="the decoder's input and the gold tokens",
    reference=_shift,
    cases=[
        fixed("a sentence of five words", [11, 7, 23, 5, 40]),
        fixed("a sentence of one word", [9]),
        fixed("a word that repeats", [6, 6, 8]),
    ],
    mistakes=[
        Mistake(
            "neither start nor end",
            lambda ids: (ids[:-1], ids[1:]),
            "this shifts the words against each other and has neither start nor end token, so "
            "nothing predicts the first word and nothing the end.",
        ),
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
            "no end token, nothing cut",
            lambda ids: ([BOS_ID, *ids], list(ids)),
            "the gold lacks the end token, so it is one token shorter than what the decoder reads. "
            "After the last word the decoder must predict the end.",
        ),
        Mistake(
            "no start token, nothing cut",
            lambda ids: (list(ids), [*ids, EOS_ID]),
            "the input lacks the start token, so it is one token shorter than the gold: nothing is "
            "there to predict the first word from.",
        ),
        Mistake(
            "start and end on both",
            lambda ids: ([BOS_ID, *ids, EOS_ID], [BOS_ID, *ids, EOS_ID]),
            "both lists hold start, words and end: they are not shifted against each other. The "
            "input lacks the end token, the gold lacks the start token.",
        ),
    ],
)


# Exercise: the mean over tokens ------------------------------------------------------------------


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
    ],
)
