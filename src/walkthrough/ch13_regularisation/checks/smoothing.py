"""The checks of chapter 13 on label smoothing: the loss, and its floor (§5.4)."""

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor

from transformer.training.loss import label_smoothed_cross_entropy
from walkthrough.checking import Arguments, Case, Check, Mistake, arguments

Share = Callable[[float, int], float]


# Exercise: the smoothed loss ---------------------------------------------------------------------


def _loss(logits: Tensor, target: Tensor, smoothing: float, pad_id: int) -> Tensor:
    return label_smoothed_cross_entropy(logits, target, smoothing=smoothing, pad_id=pad_id)


def _against(gold: Share, other: Share) -> Callable[[Tensor, Tensor, float, int], Tensor]:
    """The loss against targets with these shares, given ε and V, for the gold token and others."""

    def loss(logits: Tensor, target: Tensor, smoothing: float, pad_id: int) -> Tensor:
        is_token, vocab_size = target != pad_id, logits.shape[-1]
        log_probs, kept = logits[is_token].log_softmax(dim=-1), target[is_token]
        wanted = torch.full_like(log_probs, other(smoothing, vocab_size))
        wanted[torch.arange(len(kept)), kept] = gold(smoothing, vocab_size)
        return -(wanted * log_probs).sum(dim=-1).mean()

    return loss


def _divergence(logits: Tensor, target: Tensor, smoothing: float, pad_id: int) -> Tensor:
    # the loss is lowest where the probabilities are the targets: there it is their entropy
    vocab_size = logits.shape[-1]
    targets = torch.full_like(logits, smoothing / vocab_size)
    targets[torch.arange(len(target)), target] += 1 - smoothing
    entropy = _loss(targets.log(), target, smoothing, pad_id) if smoothing else 0.0
    return _loss(logits, target, smoothing, pad_id) - entropy


def _logits_case(
    label: str,
    n_padding: int,
    smoothing: float,
    pad_id: int = 0,
    spread: float = 2.0,
    special: str = "",
) -> Case:
    def make(generator: torch.Generator) -> Arguments:
        logits = spread * torch.randn(7, 12, generator=generator)
        target = torch.randint(1, 11, (7,), generator=generator)
        if n_padding:
            target[-n_padding:] = pad_id
        if pad_id:
            target[0] = 0  # a token like any other
        return arguments(logits, target, smoothing, pad_id)

    return Case(label, make, special)


_APART = "Some probabilities are 0 as floats there: take `log_softmax` of the logits as they are."

smoothed_loss = Check(
    name="smoothed_loss",
    reference=_loss,
    cases=[
        _logits_case("seven tokens, ε = 0.1", 0, 0.1),
        _logits_case("four tokens and three positions of padding, ε = 0.1", 3, 0.1),
        _logits_case("logits far apart, ε = 0.3", 2, 0.3, spread=60.0, special=_APART),
        _logits_case("ε = 0", 2, 0.0),
        _logits_case("two positions of padding, whose id is 11", 2, 0.1, pad_id=11),
    ],
    mistakes=[
        Mistake(
            "over the other V − 1",
            _against(lambda e, v: 1 - e, lambda e, v: e / (v - 1)),
            "ε is spread over the other V − 1 tokens. That is the convention of tensor2tensor. "
            "Here the gold token gets its share ε/V too.",
        ),
        Mistake(
            "gold not lowered",
            lambda logits, target, smoothing, pad_id: (
                _loss(logits, target, 0.0, pad_id)
                - smoothing * logits[target != pad_id].log_softmax(-1).mean()
            ),
            "the gold token still has all of its 1 while ε is spread besides: its part is (1 − "
            "ε) times.",
        ),
        Mistake(
            "sum below 1",
            _against(lambda e, v: 1 - e, lambda e, v: e / v),
            "your targets sum to 1 − ε/V: the gold token gets 1 − ε, and its share of what is "
            "spread over all V is missing.",
        ),
        Mistake(
            "padding counted",
            lambda logits, target, smoothing, pad_id: _loss(logits, target, smoothing, -1),
            "positions of padding are counted. The model is then trained to predict padding.",
        ),
        Mistake(
            "padding in the divisor",
            lambda logits, target, smoothing, pad_id: (
                _loss(logits, target, smoothing, pad_id) * (target != pad_id).float().mean()
            ),
            "padding is left out of the sum and still counted by the divisor: the mean is over "
            "tokens.",
        ),
        Mistake(
            "sum",
            lambda logits, target, smoothing, pad_id: (
                _loss(logits, target, smoothing, pad_id) * (target != pad_id).sum()
            ),
            "this is the sum over the tokens. Asked is their mean: divide by how many they are.",
        ),
        Mistake(
            "shares exchanged",
            _against(lambda e, v: e + (1 - e) / v, lambda e, v: (1 - e) / v),
            "the two weights are exchanged: the gold token gets 1 − ε, and ε is what is spread.",
        ),
        Mistake(
            "divergence",
            _divergence,
            "this is the divergence from the targets, as `F.kl_div` gives it: the cross-entropy "
            "less the entropy of the targets. It has the same gradient; asked is the "
            "cross-entropy.",
        ),
    ],
    forbidden=[F.cross_entropy, F.nll_loss, F.kl_div, "CrossEntropyLoss", "NLLLoss", "KLDivLoss"],
)
