"""The checks of chapter 13: dropout, its place, the smoothed loss, its floor (§5.4)."""

import math
from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor

from transformer.training.loss import label_smoothed_cross_entropy
from walkthrough.checks.base import Arguments, Case, Check, Mistake, arguments
from walkthrough.checks.values import ValueCheck, WrongValue

__all__ = ["connect", "drop", "perfect_perplexity", "smoothed_loss"]


# Exercise: dropout -------------------------------------------------------------------------------


def _drop(x: Tensor, keep: Tensor, p: float, training: bool) -> Tensor:
    return x * keep / (1 - p) if training else x


def _when_training(
    rule: Callable[[Tensor, Tensor, float], Tensor],
) -> Callable[[Tensor, Tensor, float, bool], Tensor]:
    return lambda x, keep, p, training: rule(x, keep, p) if training else x


def _drop_case(label: str, p: float, *, training: bool) -> Case:
    def make(generator: torch.Generator) -> Arguments:
        x = torch.randn(3, 40, generator=generator)
        keep = torch.rand(3, 40, generator=generator) >= p
        return arguments(x, keep, p, training)

    return Case(label, make)


drop = Check(
    name="drop",
    reference=_drop,
    cases=[
        _drop_case("p = 0.1 in training", 0.1, training=True),
        _drop_case("p = 0.4 in training", 0.4, training=True),
        _drop_case("p = 0.4 when the model translates", 0.4, training=False),
        _drop_case("p = 0 in training", 0.0, training=True),
    ],
    mistakes=[
        Mistake(
            "not rescaled",
            _when_training(lambda x, keep, p: x * keep),
            "the numbers that stay are not scaled up. In training the sum is then smaller by the "
            "factor 1 − p than in use, and the next layer has never met what it gets in use.",
        ),
        Mistake(
            "rescaled in use",
            lambda x, keep, p, training: x * keep if training else x * (1 - p),
            "this scales down in use in place of up in training. The first papers did so, and "
            "it balances too, but here nothing at all should happen when the model translates.",
        ),
        Mistake(
            "scaled down",
            _when_training(lambda x, keep, p: x * keep * (1 - p)),
            "you multiply by 1 − p. What stays has to make up for what is gone: divide.",
        ),
        Mistake(
            "divided by p",
            _when_training(lambda x, keep, p: x * keep / p if p else x),
            "you divide by p, the share that is dropped. Divide by the share that stays, 1 − p.",
        ),
        Mistake(
            "kept and dropped exchanged",
            _when_training(lambda x, keep, p: x * ~keep / (1 - p)),
            "you keep what should go: `keep` is True where a number stays.",
        ),
        Mistake(
            "rescaled by the share counted",
            _when_training(lambda x, keep, p: x * keep / keep.float().mean()),
            "you divide by the share that happened to stay. The factor is fixed, 1/(1 − p): "
            "it balances on average, and one draw does not depend on the others.",
        ),
        Mistake(
            "always on",
            lambda x, keep, p, training: x * keep / (1 - p),
            "right in training, but it drops when the model translates too. Look at `training`.",
        ),
        Mistake(
            "the wrong way round",
            lambda x, keep, p, training: x if training else x * keep / (1 - p),
            "it drops in use and not in training: the condition is the wrong way round.",
        ),
        Mistake(
            "never on",
            lambda x, keep, p, training: x,
            "nothing is ever dropped.",
        ),
    ],
)


# Exercise: where dropout stands ------------------------------------------------------------------

_Map = Callable[[Tensor], Tensor]


def _connect(x: Tensor, sublayer: _Map, drop: _Map, norm: _Map) -> Tensor:
    return norm(x + drop(sublayer(x)))


def _norm(x: Tensor) -> Tensor:
    return F.layer_norm(x, x.shape[-1:])


def _connection(generator: torch.Generator) -> Arguments:
    matrix = torch.randn(8, 8, generator=generator)
    keep = torch.rand(2, 5, 8, generator=generator) >= 0.3
    x = torch.randn(2, 5, 8, generator=generator)
    return arguments(x, lambda y: (y @ matrix).relu(), lambda y: y * keep / 0.7, _norm)


connect = Check(
    name="connect",
    reference=_connect,
    cases=[Case("two sentences of five words", _connection)],
    mistakes=[
        Mistake(
            "on the sum",
            lambda x, sublayer, drop, norm: norm(drop(x + sublayer(x))),
            "dropout stands behind the addition, so it drops from the stream itself. Drop from "
            "the sub-layer's output, before it is added.",
        ),
        Mistake(
            "on the input of the sum",
            lambda x, sublayer, drop, norm: norm(drop(x) + sublayer(x)),
            "you drop from `x`, the part that goes past the sub-layer. The paper drops from the "
            "sub-layer's output.",
        ),
        Mistake(
            "behind the norm",
            lambda x, sublayer, drop, norm: drop(norm(x + sublayer(x))),
            "dropout comes last. The paper has it before the addition and the normalisation.",
        ),
        Mistake(
            "before the sub-layer",
            lambda x, sublayer, drop, norm: norm(x + sublayer(drop(x))),
            "you drop from the sub-layer's input. It belongs on its output.",
        ),
        Mistake(
            "no dropout",
            lambda x, sublayer, drop, norm: norm(x + sublayer(x)),
            "`drop` is not used.",
        ),
        Mistake(
            "no residual",
            lambda x, sublayer, drop, norm: norm(drop(sublayer(x))),
            "the residual is missing: `x` itself is not added.",
        ),
        Mistake(
            "pre-norm",
            lambda x, sublayer, drop, norm: x + drop(sublayer(norm(x))),
            "dropout is where it belongs, but this is pre-norm. The paper normalises the sum.",
        ),
        Mistake(
            "norm before the sum",
            lambda x, sublayer, drop, norm: x + norm(drop(sublayer(x))),
            "the norm covers the branch only. The paper normalises the sum.",
        ),
        Mistake(
            "dropped twice",
            lambda x, sublayer, drop, norm: norm(drop(x + drop(sublayer(x)))),
            "you drop twice, from the sub-layer's output and from the sum. Section 5.4 has "
            "the first only.",
        ),
    ],
)


# Exercise: the smoothed loss ---------------------------------------------------------------------


def _loss(logits: Tensor, target: Tensor, smoothing: float, pad_id: int) -> Tensor:
    return label_smoothed_cross_entropy(logits, target, smoothing=smoothing, pad_id=pad_id)


def _rows(target: Tensor, vocab_size: int, smoothing: float) -> Tensor:
    wanted = torch.full((len(target), vocab_size), smoothing / vocab_size)
    wanted[torch.arange(len(target)), target] += 1 - smoothing
    return wanted


def _against(
    wanted: Callable[[Tensor, int, float], Tensor],
) -> Callable[[Tensor, Tensor, float, int], Tensor]:
    def loss(logits: Tensor, target: Tensor, smoothing: float, pad_id: int) -> Tensor:
        is_token = target != pad_id
        rows = wanted(target[is_token], logits.shape[-1], smoothing)
        return -(rows * logits[is_token].log_softmax(dim=-1)).sum(dim=-1).mean()

    return loss


def _others_only(target: Tensor, vocab_size: int, smoothing: float) -> Tensor:
    wanted = torch.full((len(target), vocab_size), smoothing / (vocab_size - 1))
    wanted[torch.arange(len(target)), target] = 1 - smoothing
    return wanted


def _short_sum(target: Tensor, vocab_size: int, smoothing: float) -> Tensor:
    wanted = torch.full((len(target), vocab_size), smoothing / vocab_size)
    wanted[torch.arange(len(target)), target] = 1 - smoothing
    return wanted


def _long_sum(target: Tensor, vocab_size: int, smoothing: float) -> Tensor:
    wanted = torch.full((len(target), vocab_size), smoothing / vocab_size)
    wanted[torch.arange(len(target)), target] = 1.0
    return wanted


def _all_counted(logits: Tensor, target: Tensor, smoothing: float, pad_id: int) -> Tensor:
    rows = _rows(target, logits.shape[-1], smoothing)
    return -(rows * logits.log_softmax(dim=-1)).sum(dim=-1).mean()


def _even_part_counts_padding(
    logits: Tensor, target: Tensor, smoothing: float, pad_id: int
) -> Tensor:
    log_probs, is_token = logits.log_softmax(dim=-1), target != pad_id
    gold = log_probs.gather(-1, target[:, None])[:, 0][is_token].sum()
    even = log_probs.mean(dim=-1).sum()
    return -((1 - smoothing) * gold + smoothing * even) / is_token.sum()


def _logits_case(label: str, n_padding: int, smoothing: float) -> Case:
    def make(generator: torch.Generator) -> Arguments:
        logits = 2 * torch.randn(7, 12, generator=generator)
        target = torch.randint(1, 12, (7,), generator=generator)
        if n_padding:
            target[-n_padding:] = 0
        return arguments(logits, target, smoothing, 0)

    return Case(label, make)


smoothed_loss = Check(
    name="smoothed_loss",
    reference=_loss,
    cases=[
        _logits_case("seven tokens, ε = 0.1", 0, 0.1),
        _logits_case("four tokens and three positions of padding, ε = 0.1", 3, 0.1),
        _logits_case("five tokens and two positions of padding, ε = 0.3", 2, 0.3),
        _logits_case("ε = 0", 2, 0.0),
    ],
    mistakes=[
        Mistake(
            "over the other V − 1",
            _against(_others_only),
            "ε is spread over the other V − 1 tokens. That is the convention of tensor2tensor. "
            "Here the gold token gets its share ε/V too.",
        ),
        Mistake(
            "sum below 1",
            _against(_short_sum),
            "your targets sum to 1 − ε/V: the gold token gets 1 − ε, and its share of what is "
            "spread over all V is missing.",
        ),
        Mistake(
            "sum above 1",
            _against(_long_sum),
            "your targets sum to more than 1: the gold token still has all of its 1 while the "
            "others get ε/V each.",
        ),
        Mistake(
            "padding counted",
            _all_counted,
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
            "not smoothed",
            lambda logits, target, smoothing, pad_id: _loss(logits, target, 0.0, pad_id),
            "this is the plain cross-entropy: `smoothing` is not used.",
        ),
        Mistake(
            "ε and 1 − ε exchanged",
            lambda logits, target, smoothing, pad_id: (
                (1 - smoothing) * _loss(logits, target, 0.999999, pad_id)
                + smoothing * _loss(logits, target, 0.0, pad_id)
            ),
            "ε and 1 − ε are exchanged: the gold token gets the small share.",
        ),
        Mistake(
            "probabilities",
            lambda logits, target, smoothing, pad_id: _against(_rows)(
                logits.softmax(dim=-1), target, smoothing, pad_id
            ),
            "softmax is taken twice: log_softmax wants logits, and gets probabilities.",
        ),
        Mistake(
            "sign",
            lambda logits, target, smoothing, pad_id: -_loss(logits, target, smoothing, pad_id),
            "the sign is missing: cross-entropy is *minus* the sum of target times log p.",
        ),
    ],
    tolerance=1e-4,
)


# Exercise: the perplexity of a perfect pupil -----------------------------------------------------

_EPSILON, _VOCAB = 0.2, 37_000
_GOLD = 1 - _EPSILON + _EPSILON / _VOCAB
_ENTROPY = -_GOLD * math.log(_GOLD) - _EPSILON * (1 - 1 / _VOCAB) * math.log(_EPSILON / _VOCAB)

perfect_perplexity = ValueCheck(
    name="perfect_perplexity",
    expected=1 / _GOLD,
    tolerance=2e-3,
    mistakes=[
        WrongValue(
            1.0,
            "a perplexity of 1 needs probability 1 on every gold token. This model has learned "
            "its target, and the target holds less than that.",
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
            1 / 0.9,
            "this is the answer for ε = 0.1.",
        ),
    ],
)
