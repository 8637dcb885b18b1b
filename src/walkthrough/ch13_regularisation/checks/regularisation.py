"""The checks of chapter 13, regularisation (§5.4): those on dropout itself, and its place."""

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor

from walkthrough.checking.base import Arguments, Case, Check, Mistake, Symptom, arguments

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


def _drops_others(result: Tensor, expected: Tensor, given: Arguments) -> bool:
    _, keep, _, training = given.positional
    dropped = result == 0
    return bool(training and dropped.any() and (dropped == keep).any())


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
            _when_training(lambda x, keep, p: x * keep / p),
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
            "draws numbers of its own",
            lambda x, keep, p, training: F.dropout(x, p, training),
            "`keep` is not used: this draws which numbers go once more. They are drawn already.",
        ),
        Mistake(
            "never on",
            lambda x, keep, p, training: x,
            "nothing is ever dropped.",
        ),
    ],
    symptoms=[
        Symptom(
            "other numbers dropped",
            _drops_others,
            "the numbers that you drop are not those that `keep` drops. They are drawn already.",
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
            "normalised twice",
            lambda x, sublayer, drop, norm: norm(x + drop(sublayer(norm(x)))),
            "dropout is where it belongs, but you normalise twice: the sub-layer's input and the "
            "sum. The paper normalises the sum.",
        ),
        Mistake(
            "dropped twice",
            lambda x, sublayer, drop, norm: norm(drop(x + drop(sublayer(x)))),
            "you drop twice, from the sub-layer's output and from the sum. Section 5.4 has "
            "the first only.",
        ),
    ],
)
