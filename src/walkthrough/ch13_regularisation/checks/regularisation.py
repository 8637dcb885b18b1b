"""The checks of chapter 13, regularisation (§5.4): those on dropout itself, and its place."""

from collections.abc import Callable, Mapping
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from walkthrough.checking import Arguments, Case, Check, Mistake, arguments, fixed

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
            "always on",
            lambda x, keep, p, training: x * keep / (1 - p),
            "right in training, but it drops when the model translates too. Look at `training`.",
        ),
        Mistake(
            "training and use exchanged",
            lambda x, keep, p, training: _drop(x, keep, p, not training),
            "you leave `x` as it is in training, and drop in use. It is the other way round: "
            "`training` is False when the model translates.",
        ),
        Mistake(
            "draws numbers of its own",
            lambda x, keep, p, training: F.dropout(x, p, training),
            "`keep` is not used: this draws which numbers go once more. They are drawn already.",
        ),
    ],
)


# Exercise: where dropout stands ------------------------------------------------------------------

_Map = Callable[[Tensor], Tensor]
_Connection = Callable[[Tensor, _Map, _Map, _Map], Tensor]

_PLACES: Mapping[str, _Connection] = {
    "branch": lambda x, sublayer, drop, norm: norm(x + drop(sublayer(x))),
    "stream": lambda x, sublayer, drop, norm: norm(drop(x) + sublayer(x)),
    "input": lambda x, sublayer, drop, norm: norm(x + sublayer(drop(x))),
    "sum": lambda x, sublayer, drop, norm: norm(drop(x + sublayer(x))),
    "result": lambda x, sublayer, drop, norm: drop(norm(x + sublayer(x))),
    "nowhere": lambda x, sublayer, drop, norm: norm(x + sublayer(x)),
}


def _where(
    connection: _Connection,
    sublayer: _Map = lambda y: 10 * y + 5,
    norm: _Map = lambda y: y + 100,
) -> str:
    """Return the first place whose result is the connection's, when `drop` leaves nothing."""
    given = (torch.ones(1), sublayer, torch.zeros_like, norm)
    found = connection(*given)
    return next((name for name in _PLACES if torch.equal(found, _PLACES[name](*given))), "nowhere")


def _with(**changes: Any) -> Callable[[_Connection], str]:
    return lambda connection: _where(connection, **changes)


def _exchanged(one: str, other: str) -> Callable[[_Connection], str]:
    names = {one: other, other: one}
    return lambda connection: names.get(found := _where(connection), found)


def _after(n: int, connection: _Connection) -> _Connection:
    """Return the connection behind n random numbers: a `drop` of chance must not be lucky twice."""
    return lambda x, sublayer, drop, norm: (torch.rand(n), connection(x, sublayer, drop, norm))[1]


_ORDER = ("sum", "nowhere", "branch", "input", "result", "stream")
where = Check(
    name="where",
    reference=_where,
    cases=[
        fixed(f"connection {letter}", _after(n, _PLACES[name]))
        for n, (letter, name) in enumerate(zip("ABCDEFGHIJKL", 2 * _ORDER, strict=True))
    ],
    right="`where` is right about {n_cases} connections",
    mistakes=[
        Mistake(
            "a sub-layer that maps 0 to 0",
            _with(sublayer=lambda y: 10 * y),
            'you cannot tell "input" from "branch": your sub-layer makes 0 from 0, so it is all '
            "the same whether zeros go in or come out. Let it add something.",
        ),
        Mistake(
            "a norm that does nothing",
            _with(norm=lambda y: y),
            'you cannot tell "result" from "sum": with your norm it is all the same whether '
            "zeros go in or come out. Let it add something.",
        ),
        Mistake(
            "branch and stream exchanged",
            _exchanged("branch", "stream"),
            '"branch" and "stream" are exchanged: the branch is what the sub-layer makes, the '
            "stream is what goes past it.",
        ),
        Mistake(
            "sum and result exchanged",
            _exchanged("sum", "result"),
            '"sum" and "result" are exchanged: the sum goes into the norm, the result comes out.',
        ),
    ],
)
