"""The checks of chapter 14 on a sentence and a batch (§5): shifting, and the mean over tokens.

Each mistake is a whole wrong implementation: the check runs it on the same inputs as the reader's
function and names it when the results agree.
"""

from collections.abc import Callable

import torch
from torch import Tensor

from transformer.config import BOS_ID, EOS_ID, PAD_ID
from walkthrough.checking.base import Arguments, Case, Check, Mistake, arguments, fixed

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
            "padding at the start",
            lambda ids: ([PAD_ID, *ids], [*ids, EOS_ID]),
            "the input starts with padding. It starts with the start token, `BOS_ID`.",
        ),
        Mistake(
            "texts for ids",
            lambda ids: (["<bos>", *ids], [*ids, "<eos>"]),
            "you put texts into lists of ids. The start token is the number `BOS_ID`, the end "
            "token `EOS_ID`.",
        ),
        Mistake(
            "neither start nor end",
            lambda ids: (ids[:-1], ids[1:]),
            "this shifts the words against each other and has neither start nor end token, so "
            "nothing predicts the first word and nothing the end.",
        ),
        Mistake(
            "a list in a list",
            lambda ids: ([BOS_ID, ids], [ids, EOS_ID]),
            "the ids stand as a list inside the list. Unpack them: `[BOS_ID, *ids]`.",
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
            "start and end on the gold",
            lambda ids: ([BOS_ID, *ids], [BOS_ID, *ids, EOS_ID]),
            "the gold begins with the start token. Nobody predicts that: gold begins with the "
            "first word.",
        ),
        Mistake(
            "padded",
            lambda ids: ([BOS_ID, *ids, PAD_ID], [*ids, EOS_ID, PAD_ID]),
            "you append padding. One sentence alone needs none: `collate` pads when it makes a "
            "batch.",
        ),
        Mistake(
            "pairs",
            lambda ids: list(zip([BOS_ID, *ids], [*ids, EOS_ID], strict=True)),
            "you return a pair for each place. Asked are two lists: all that is read, and all that "
            "is gold.",
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
        Mistake(
            "the end token at the start",
            lambda ids: ([EOS_ID, *ids], [*ids, EOS_ID]),
            "the input starts with the end token. Some libraries do that; here the start token is "
            "`BOS_ID`.",
        ),
        Mistake(
            "the start token at the end",
            lambda ids: ([BOS_ID, *ids], [*ids, BOS_ID]),
            "the gold ends with the start token. The end token is `EOS_ID`.",
        ),
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
            "weighted by the ids",
            lambda losses, target: (losses * target).sum() / target.sum(),
            "you weigh the losses with the ids themselves. What counts is whether an id is "
            "padding: `target != PAD_ID`.",
        ),
        Mistake(
            "divided by the ids",
            lambda losses, target: losses[target != PAD_ID].sum() / target.sum(),
            "you divide by the sum of the *ids*. Count the tokens: `(target != PAD_ID).sum()`.",
        ),
        Mistake(
            "mean of the places' means",
            _over_real(lambda kept, real: (kept.sum(0) / real.sum(0)).mean()),
            "you take a mean for each place in the sentence, and then the mean of these. A late "
            "place, which few sentences have, then weighs as much as the first.",
        ),
        Mistake(
            "divided by the length",
            _over_real(lambda kept, _real: kept.sum() / kept.shape[1]),
            "you divide by the number of places of one sentence. Divide by the number of real "
            "tokens of all sentences.",
        ),
        Mistake(
            "mean times share",
            lambda losses, target: losses.mean() * (target != PAD_ID).float().mean(),
            "you take the mean of all losses, those of padding among them, times the share of real "
            "tokens. Leave padding out of the sum, then divide by the number of real tokens.",
        ),
        Mistake(
            "the last place left out",
            lambda losses, target: losses[:, :-1][target[:, :-1] != PAD_ID].mean(),
            "the last place of each row is left out. It holds a token where the sentence is the "
            "longest.",
        ),
        Mistake(
            "the first sentence only",
            lambda losses, target: losses[0][target[0] != PAD_ID].mean(),
            "only the first sentence counts. The mean is over the tokens of the whole batch.",
        ),
        Mistake(
            "one token too many",
            _over_real(lambda kept, real: kept.sum() / (real.sum() + 1)),
            "you divide by one token too many.",
        ),
        Mistake(
            "root mean square",
            _over_real(lambda kept, real: (kept.square().sum() / real.sum()).sqrt()),
            "the losses are squared. Asked is their mean as they are.",
        ),
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
