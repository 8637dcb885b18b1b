"""The check of chapter 07 on scores that see distances only: queries and keys turned (§3.5)."""

from collections.abc import Callable

import torch
from torch import Tensor

from transformer.positional import sinusoidal_encoding
from walkthrough.checking import Check, Mistake, drawn

Scores = Callable[[Tensor, Tensor], Tensor]


def _turned(
    x: Tensor, *, times: float = 1.0, first: int = 0, lost: bool = False, base: float = 10000.0
) -> Tensor:
    """Turn pair i of word t by times · (t + first) / base^(2i/d).

    `lost`: the first result has overwritten the component that the second one needs.
    """
    length, d = x.shape
    frequency = base ** (-torch.arange(0, d, 2, dtype=torch.float64) / d)
    angle = times * torch.arange(first, first + length)[:, None] * frequency
    a, b = x[:, 0::2].double(), x[:, 1::2].double()
    left = a * angle.cos() - b * angle.sin()
    right = (left if lost else a) * angle.sin() + b * angle.cos()
    return torch.stack([left, right], dim=-1).flatten(-2)


def _product(query: Tensor, key: Tensor) -> Tensor:
    return (query.double() @ key.double().T / query.shape[-1] ** 0.5).float()


def _both(turn: Callable[[Tensor], Tensor]) -> Scores:
    return lambda query, key: _product(turn(query), turn(key))


def _in_halves(x: Tensor) -> Tensor:
    """Pair i with i + d/2, as a well-known library does."""
    half = x.shape[-1] // 2
    order = torch.stack([torch.arange(half), torch.arange(half) + half], dim=-1).flatten()
    return _turned(x[:, order])


rotary_scores = Check(
    name="the scores see what the words are and how far apart they stand",
    reference=_both(_turned),
    cases=[
        drawn("4 words of size 2, one pair", (4, 2), (4, 2)),
        drawn("6 words of size 8", (6, 8), (6, 8)),
        drawn("30 words of size 16", (30, 16), (30, 16)),
        drawn("one word", (1, 6), (1, 6)),
    ],
    tolerance=1e-4,
    mistakes=[
        Mistake(
            "queries only",
            lambda query, key: _product(_turned(query), key),
            "only the queries are turned. Then the score depends on where the query stands and not "
            "on the distance: turn the keys as well.",
        ),
        Mistake(
            "the other way",
            _both(lambda x: _turned(x, times=-1.0)),
            "queries and keys are turned by −θ. The scores see the distance, but with the other "
            "sign than asked: (a, b) becomes (a cos θ − b sin θ, a sin θ + b cos θ).",
        ),
        Mistake(
            "added",
            _both(lambda x: x + sinusoidal_encoding(*x.shape)),
            "you add the encoding, as the paper does. Here nothing is added: each pair of a query "
            "or key is turned by its position.",
        ),
        Mistake(
            "halves",
            _both(_in_halves),
            "a component is paired with the one d/2 further on. Some libraries do so, and it works "
            "as well if you train with it; here the pairs are neighbours, (0, 1), (2, 3), …",
            "Another table than in training",
        ),
        Mistake(
            "keys from 1",
            lambda query, key: _product(_turned(query), _turned(key, first=1)),
            "your keys stand one place further than the queries of the same words: count both from "
            "0. A word's own key is at distance 0.",
        ),
        Mistake(
            "base 1000",
            _both(lambda x: _turned(x, base=1000.0)),
            "the base is 1000, so the slow pairs turn too far. Here it is 10000.",
            "The base",
        ),
        Mistake(
            "not divided",
            lambda query, key: _product(_turned(query), _turned(key)) * query.shape[-1] ** 0.5,
            "the dot products are right, but not divided by √d: by nothing, or by d.",
            also=(lambda q, k: _product(_turned(q), _turned(k)) / q.shape[-1] ** 0.5,),
        ),
        Mistake(
            "overwritten",
            _both(lambda x: _turned(x, lost=True)),
            "the second component of a pair was computed from the *turned* first one. Keep the "
            "first as it was until both are done.",
        ),
    ],
    right="right: {name}",
)
