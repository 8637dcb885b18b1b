"""The checks of chapter 13 on label smoothing: the loss, and its floor (§5.4)."""

import math
from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from transformer.training.loss import label_smoothed_cross_entropy
from walkthrough.checking.base import Arguments, Case, Check, Mistake, arguments
from walkthrough.checking.values import ValueCheck, WrongValue

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


def _even_part_counts_padding(
    logits: Tensor, target: Tensor, smoothing: float, pad_id: int
) -> Tensor:
    log_probs, is_token = logits.log_softmax(dim=-1), target != pad_id
    gold = log_probs.gather(-1, target[:, None])[:, 0][is_token].sum()
    even = log_probs.mean(dim=-1).sum()
    return -((1 - smoothing) * gold + smoothing * even) / is_token.sum()


def _from(
    log_probs: Callable[[Tensor], Tensor],
    even: Callable[[Tensor], Tensor] = lambda log_p: log_p.mean(dim=-1),
) -> Callable[[Tensor, Tensor, float, int], Tensor]:
    """The two parts of the loss, not from log-probabilities, or summed otherwise."""

    def loss(logits: Tensor, target: Tensor, smoothing: float, pad_id: int) -> Tensor:
        is_token = target != pad_id
        log_p = log_probs(logits[is_token])
        gold = log_p.gather(-1, target[is_token][:, None])[:, 0]
        return -((1 - smoothing) * gold + smoothing * even(log_p)).mean()

    return loss


def _each(logits: Tensor, target: Tensor, smoothing: float, pad_id: int) -> Tensor:
    is_token = target != pad_id
    log_p = logits[is_token].log_softmax(dim=-1)
    gold = log_p.gather(-1, target[is_token][:, None])[:, 0]
    return -(1 - smoothing) * gold - smoothing * log_p.mean(dim=-1)


def _median(logits: Tensor, target: Tensor, smoothing: float, pad_id: int) -> Tensor:
    return _each(logits, target, smoothing, pad_id).median()


def _without_a_column(logits: Tensor, target: Tensor, smoothing: float, pad_id: int) -> Tensor:
    kept = [column for column in range(logits.shape[-1]) if column != pad_id]
    moved = target - (target > pad_id).long()
    moved[target == pad_id] = -1
    return _each(logits[:, kept], moved, smoothing, -1).mean()


def _even_without_a_column(logits: Tensor, target: Tensor, smoothing: float, pad_id: int) -> Tensor:
    log_probs = logits[target != pad_id].log_softmax(dim=-1)
    gold = log_probs.gather(-1, target[target != pad_id][:, None])[:, 0]
    even = (log_probs.sum(dim=-1) - log_probs[:, pad_id]) / (logits.shape[-1] - 1)
    return -((1 - smoothing) * gold + smoothing * even).mean()


def _first_choice(logits: Tensor, target: Tensor, smoothing: float, pad_id: int) -> Tensor:
    real = target != pad_id
    return _each(logits[real], logits[real].argmax(dim=-1), smoothing, -1).mean()


def _logits_case(label: str, n_padding: int, smoothing: float, pad_id: int = 0) -> Case:
    def make(generator: torch.Generator) -> Arguments:
        logits = 2 * torch.randn(7, 12, generator=generator)
        target = torch.randint(1, 11, (7,), generator=generator)
        if n_padding:
            target[-n_padding:] = pad_id
        if pad_id:
            target[0] = 0  # a token like any other
        return arguments(logits, target, smoothing, pad_id)

    return Case(label, make)


smoothed_loss = Check(
    name="smoothed_loss",
    reference=_loss,
    cases=[
        _logits_case("seven tokens, ε = 0.1", 0, 0.1),
        _logits_case("four tokens and three positions of padding, ε = 0.1", 3, 0.1),
        _logits_case("five tokens and two positions of padding, ε = 0.3", 2, 0.3),
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
            "even part added",
            lambda logits, target, smoothing, pad_id: (
                (1 - smoothing) * _loss(logits, target, 0.0, pad_id)
                + smoothing * logits[target != pad_id].log_softmax(-1).mean()
            ),
            "the even part has the wrong sign. Log-probabilities are negative, and both parts "
            "are *minus* them.",
        ),
        Mistake(
            "entropy of the model",
            lambda logits, target, smoothing, pad_id: _from(
                lambda x: x.log_softmax(-1), lambda log_p: (log_p.exp() * log_p).sum(-1)
            )(logits, target, smoothing, pad_id),
            "the even part weighs each log-probability by the model’s own probability. The "
            "target’s share is ε/V for each: their plain mean.",
        ),
        Mistake(
            "divided by the positions",
            lambda logits, target, smoothing, pad_id: _from(
                lambda x: x.log_softmax(-1), lambda log_p: log_p.sum(-1) / len(log_p)
            )(logits, target, smoothing, pad_id),
            "the even part is divided by the number of positions. ε is spread over the "
            "vocabulary: divide by V, the last dimension.",
        ),
        Mistake(
            "even part only",
            lambda logits, target, smoothing, pad_id: _each(logits, target, 1.0, pad_id).mean(),
            "the gold token does not enter: this is the mean over the vocabulary alone. The "
            "loss is (1 − ε) times the gold part plus ε times this.",
        ),
        Mistake(
            "first choice for gold",
            _first_choice,
            "you take the model’s first choice for the right word. The gold token is `target`.",
        ),
        Mistake(
            "median",
            _median,
            "you take the median over the tokens. Asked is the mean.",
        ),
        Mistake(
            "one loss a position",
            _each,
            "you return a loss for each position. Asked is one number, their mean.",
        ),
        Mistake(
            "without the padding’s column",
            _without_a_column,
            "you leave the padding token out of the vocabulary. What is left out are "
            "*positions* whose target is padding; V stays what it is.",
        ),
        Mistake(
            "the padding’s column out of the even part",
            _even_without_a_column,
            "the even part leaves the padding token out of the vocabulary. What is left out are "
            "*positions* whose target is padding; ε is spread over all V tokens.",
        ),
        Mistake(
            "mean over the vocabulary as well",
            lambda logits, target, smoothing, pad_id: (
                _loss(logits, target, smoothing, pad_id) / logits.shape[-1]
            ),
            "you take the mean over the vocabulary as well. A position’s loss is the *sum* over "
            "the vocabulary; the mean is over the tokens.",
        ),
        Mistake(
            "sum below 1",
            _against(lambda e, v: 1 - e, lambda e, v: e / v),
            "your targets sum to 1 − ε/V: the gold token gets 1 − ε, and its share of what is "
            "spread over all V is missing.",
        ),
        Mistake(
            "sum above 1",
            _against(lambda e, v: 1.0, lambda e, v: e / v),
            "your targets sum to more than 1: the gold token still has all of its 1 while the "
            "others get ε/V each.",
        ),
        Mistake(
            "padding counted",
            lambda logits, target, smoothing, pad_id: _loss(logits, target, smoothing, -1),
            "positions of padding are counted. The model is then trained to predict padding.",
        ),
        Mistake(
            "padding taken to be id 0",
            lambda logits, target, smoothing, pad_id: _loss(logits, target, smoothing, 0),
            "right where padding has the id 0, and nowhere else. Its id is the argument `pad_id`.",
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
            "padding in the even part",
            _even_part_counts_padding,
            "the gold part leaves padding out, and the even part, ε times the mean over the "
            "vocabulary, does not.",
        ),
        Mistake(
            "sum",
            lambda logits, target, smoothing, pad_id: (
                _loss(logits, target, smoothing, pad_id) * (target != pad_id).sum()
            ),
            "this is the sum over tokens. Divide by their number.",
        ),
        Mistake(
            "divergence",
            _divergence,
            "this is the divergence from the targets, as `F.kl_div` gives it: the cross-entropy "
            "less the entropy of the targets. It has the same gradient; asked is the "
            "cross-entropy.",
        ),
        Mistake(
            "not smoothed",
            lambda logits, target, smoothing, pad_id: _loss(logits, target, 0.0, pad_id),
            "this is the plain cross-entropy: `smoothing` is not used.",
        ),
        Mistake(
            "ε and 1 − ε exchanged",
            _against(lambda e, v: e + (1 - e) / v, lambda e, v: (1 - e) / v),
            "ε and 1 − ε are exchanged: the gold token gets the small share.",
        ),
        Mistake(
            "probabilities",
            lambda logits, target, smoothing, pad_id: _loss(
                logits.softmax(dim=-1), target, smoothing, pad_id
            ),
            "softmax is taken twice: log_softmax wants logits, and gets probabilities.",
        ),
        Mistake(
            "raw logits",
            _from(lambda logits: logits),
            "you take the logits themselves for log-probabilities. `log_softmax` over the "
            "vocabulary makes them so.",
        ),
        Mistake(
            "softmax over the positions",
            _from(lambda logits: logits.log_softmax(dim=0)),
            "your softmax runs over the positions (`dim=0`). The probabilities of one position sum "
            "to 1 over the vocabulary: `dim=-1`.",
        ),
        Mistake(
            "probabilities in place of their logarithms",
            _from(lambda logits: logits.softmax(dim=-1)),
            "you use the probabilities, and cross-entropy wants their logarithms.",
        ),
        Mistake(
            "sum over the vocabulary",
            _from(lambda logits: logits.log_softmax(dim=-1), even=lambda log_p: log_p.sum(dim=-1)),
            "the even part is `smoothing` times the *mean* over the vocabulary. You take the sum, "
            "as if each token were to get ε in place of ε/V.",
        ),
        Mistake(
            "sign",
            lambda logits, target, smoothing, pad_id: -_loss(logits, target, smoothing, pad_id),
            "the sign is missing: cross-entropy is *minus* the sum of target times log p.",
        ),
    ],
    forbidden=[F.cross_entropy, F.nll_loss, F.kl_div, "CrossEntropyLoss", "NLLLoss", "KLDivLoss"],
    tolerance=1e-4,
)


# Exercise: undo the smoothing --------------------------------------------------------------------

Part = Callable[[Tensor, float, float], Tensor]


def _unmixed(
    p: Tensor,
    epsilon: float,
    least: float,
    *,
    take: Part = lambda p, epsilon, _least: (p - epsilon / p.shape[-1]) / (1 - epsilon),
    floor: Callable[[Tensor, float], Tensor] = lambda r, least: r.clamp(min=least),
    dim: int | None = -1,
) -> Tensor:
    r = floor(take(p, epsilon, least), least)
    return r if dim is None else r / r.sum(dim=dim, keepdim=True)


def _otherwise(**changes: Any) -> Part:
    return lambda p, epsilon, least: _unmixed(p, epsilon, least, **changes)


def _mixture_case(label: str, epsilon: float, least: float, *, low: float = 0.0) -> Case:
    """Probabilities of a mixture; with `low`, that share of the even part is kept back."""

    def make(generator: torch.Generator) -> Arguments:
        r = (3 * torch.randn(5, 12, generator=generator)).softmax(dim=-1)
        p = (1 - epsilon) * r + epsilon / 12
        p = p - low * epsilon / 12 * (r < 0.02)
        return arguments(p / p.sum(dim=-1, keepdim=True), epsilon, least)

    return Case(label, make)


unmixed = Check(
    name="unmixed",
    reference=_unmixed,
    cases=[
        _mixture_case("a true mixture, ε = 0.1", 0.1, 1e-6),
        _mixture_case("a true mixture, ε = 0.3", 0.3, 1e-6),
        _mixture_case("words that get less than ε/V", 0.2, 1e-3, low=0.8),
        _mixture_case("ε = 0", 0.0, 1e-9),
    ],
    mistakes=[
        Mistake(
            "not divided",
            _otherwise(take=lambda p, epsilon, _least: p - epsilon / p.shape[-1]),
            "right for a true mixture, where dividing by the sum repairs it. But r is (p − ε/V) "
            "/ (1 − ε); without the division `least` is reached at another place.",
        ),
        Mistake(
            "by 1 + ε",
            _otherwise(take=lambda p, epsilon, _least: (p - epsilon / p.shape[-1]) / (1 + epsilon)),
            "you divide by 1 + ε. From p = (1 − ε) r + ε/V follows a division by 1 − ε.",
        ),
        Mistake(
            "number of positions",
            _otherwise(take=lambda p, epsilon, _least: (p - epsilon / len(p)) / (1 - epsilon)),
            "you take ε divided by the number of *positions* away. V is the last dimension, "
            "`p.shape[-1]`.",
        ),
        Mistake(
            "the other tokens",
            _otherwise(
                take=lambda p, epsilon, _least: (p - epsilon / (p.shape[-1] - 1)) / (1 - epsilon)
            ),
            "you take ε/(V − 1) away. Here ε was spread over all V tokens, the gold one included.",
        ),
        Mistake(
            "by ε",
            _otherwise(take=lambda p, epsilon, _least: (p - epsilon / p.shape[-1]) / epsilon),
            "you divide by ε. From p = (1 − ε) r + ε/V follows a division by 1 − ε.",
        ),
        Mistake(
            "least added",
            _otherwise(floor=lambda r, least: r.clamp(min=0.0) + least),
            "you add `least` to every token. Only those below it are lifted to it.",
        ),
        Mistake(
            "least added, nothing lifted",
            _otherwise(floor=lambda r, least: r + least),
            "you add `least` to every token, so what was negative may stay negative. Only those "
            "below `least` are lifted, to `least` itself.",
        ),
        Mistake(
            "a ceiling",
            _otherwise(floor=lambda r, least: r.clamp(max=least)),
            "you cut everything off *above* `least`. It is the smallest value: `clamp(min=least)`.",
        ),
        Mistake(
            "a floor of its own",
            _otherwise(floor=lambda r, _least: r.clamp(min=1e-3)),
            "right for a true mixture. The floor is the argument `least`, and not a number of "
            "its own.",
        ),
        Mistake(
            "brackets",
            _otherwise(take=lambda p, epsilon, _least: p - epsilon / p.shape[-1] / (1 - epsilon)),
            "brackets are missing: only ε/V is divided by 1 − ε. The whole difference is: (p − "
            "ε/V) / (1 − ε).",
        ),
        Mistake(
            "a temperature",
            _otherwise(take=lambda p, epsilon, _least: p ** (1 / (1 - epsilon))),
            "you take a power of the probabilities, which is what a temperature does. Solve the "
            "equation for r: take ε/V away, divide by 1 − ε.",
        ),
        Mistake(
            "the rows do not sum to 1",
            _otherwise(dim=None),
            "right for a true mixture. Where words were lifted to `least`, the row sums to more "
            "than 1: divide each row by its sum at the end.",
        ),
        Mistake(
            "no least",
            _otherwise(floor=lambda r, _least: r),
            "right for a true mixture. Where the model gave less than ε/V, you return negative "
            "probabilities: lift them to `least`.",
        ),
        Mistake(
            "lifted to 0",
            _otherwise(floor=lambda r, _least: r.clamp(min=0.0)),
            "right for a true mixture. Words below the floor get 0 from you, and the logarithm of "
            "0 is minus infinity. Give them `least`.",
        ),
        Mistake(
            "absolute values",
            _otherwise(floor=lambda r, _least: r.abs()),
            "right for a true mixture. Where the model gave less than ε/V you take the absolute "
            "value: the less it gave, the more it gets. Give it `least`.",
        ),
        Mistake(
            "ε in place of ε/V",
            _otherwise(take=lambda p, epsilon, _least: (p - epsilon) / (1 - epsilon)),
            "you take ε from every token. Smoothing gave each of them ε/V.",
        ),
        Mistake(
            "only divided",
            _otherwise(take=lambda p, epsilon, _least: p / (1 - epsilon)),
            "you divide by 1 − ε and take nothing away, so the row is what it was once it sums to "
            "1 again. Take ε/V from each token first.",
        ),
        Mistake(
            "multiplied",
            _otherwise(take=lambda p, epsilon, _least: (p - epsilon / p.shape[-1]) * (1 - epsilon)),
            "after the subtraction you multiply by 1 − ε in place of dividing by it, so `least` "
            "is reached at another place.",
        ),
        Mistake(
            "mixed once more",
            _otherwise(take=lambda p, epsilon, _least: (1 - epsilon) * p + epsilon / p.shape[-1]),
            "this mixes the even distribution in once more. Solve the equation for r.",
        ),
        Mistake(
            "sums over the positions",
            _otherwise(dim=0),
            "you divide by sums over the positions (`dim=0`). Each row sums to 1: `dim=-1`.",
        ),
        Mistake(
            "one sum for all",
            lambda p, epsilon, least: (
                _unmixed(p, epsilon, least, dim=None) / _unmixed(p, epsilon, least, dim=None).sum()
            ),
            "you divide by the sum of all rows together. Each row sums to 1 by itself.",
        ),
        Mistake(
            "softmax at the end",
            lambda p, epsilon, least: _unmixed(p, epsilon, least, dim=None).softmax(dim=-1),
            "softmax is for logits. These are probabilities already; divide each row by its sum.",
        ),
    ],
    tolerance=1e-5,
)


# Exercise: the perplexity of a perfect pupil -----------------------------------------------------

_EPSILON, _VOCAB = 0.2, 37_000
_GOLD = 1 - _EPSILON + _EPSILON / _VOCAB
_ENTROPY = -_GOLD * math.log(_GOLD) - _EPSILON * (1 - 1 / _VOCAB) * math.log(_EPSILON / _VOCAB)


def _as_a_probability(perplexity: float) -> str:
    if perplexity < 1:
        return "a perplexity is 1 over a probability, so it is at least 1"
    return (
        f"it would mean that the gold token gets a probability of {1 / perplexity:.3f}. Which does "
        "the smoothed target give it?"
    )


perfect_perplexity = ValueCheck(
    name="perfect_perplexity",
    expected=1 / _GOLD,
    tolerance=2e-3,
    means=_as_a_probability,
    mistakes=[
        WrongValue(
            1.0,
            "a perplexity of 1 needs probability 1 on every gold token. This model has learned "
            "its target, and the target holds less than that.",
        ),
        WrongValue(
            100 / _GOLD,
            "this is a hundred times the perplexity. It is a number of tokens, 1 at the lowest, "
            "and no per cent.",
        ),
        WrongValue(
            math.exp(_ENTROPY),
            "this is the exponential of the *smoothed* loss. Perplexity asks only what the gold "
            "token got.",
        ),
        WrongValue(
            _ENTROPY,
            "this is the smoothed loss at its lowest, in nats. Asked is the perplexity, without "
            "smoothing.",
        ),
        WrongValue(
            -math.log(_GOLD),
            "this is the unsmoothed loss in nats. Perplexity is its exponential.",
        ),
        WrongValue(
            _GOLD,
            "this is the probability of the gold token. Perplexity is 1 over it.",
        ),
        WrongValue(
            math.exp(0.2),
            "this is e to the power of ε. Perplexity is e to the power of −log p, that is 1/p, "
            "with p the gold token’s probability.",
        ),
        WrongValue(
            math.exp(0.8),
            "this is e to the power of a probability. Perplexity is 1 over the gold token’s "
            "probability.",
        ),
        WrongValue(
            5.0,
            "this is 1/ε, as if the gold token got ε. It gets 1 − ε + ε/V.",
        ),
        WrongValue(
            2 ** -math.log(_GOLD),
            "this is 2 to the power of the loss in nats. With nats the base is e.",
        ),
        WrongValue(
            1 / 0.8**2,
            "this is the square of the perplexity: 1 over the probability, once.",
        ),
        WrongValue(
            185_000.0,
            "this is V/ε, 1 over the share of a token that is not the gold one.",
        ),
        WrongValue(
            1.3,
            "too rough: three digits are asked. Take 1 over the gold token’s probability.",
        ),
        WrongValue(
            37_000,
            "this is the perplexity of a blind guess among all tokens. This model has learned "
            "everything.",
        ),
        WrongValue(
            1 / 0.9,
            "this is the answer for ε = 0.1.",
        ),
    ],
)
