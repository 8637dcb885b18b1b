"""The check of chapter 07 on scores that see distances only: queries and keys turned (§3.5)."""

from collections.abc import Callable

import torch
from torch import Tensor

from transformer.positional import sinusoidal_encoding
from walkthrough.checking.base import Check, Mistake, Symptom, drawn

Scores = Callable[[Tensor, Tensor], Tensor]


def _turned(x: Tensor, *, base: float = 10000.0, sign: int = 1, step: float = 1.0) -> Tensor:
    """Turn pair i of word t by t / base^(2i/d)."""
    length, d = x.shape
    frequency = base ** (-step * torch.arange(0, d, 2, dtype=torch.float64) / d)
    angle = sign * torch.arange(length)[:, None] * frequency
    a, b = x[:, 0::2].double(), x[:, 1::2].double()
    turned = [a * angle.cos() - b * angle.sin(), a * angle.sin() + b * angle.cos()]
    return torch.stack(turned, dim=-1).flatten(-2)


def _product(query: Tensor, key: Tensor, divisor: float | None = None) -> Tensor:
    size = query.shape[-1] ** 0.5 if divisor is None else divisor
    return (query.double() @ key.double().T / size).float()


def _rotary(query: Tensor, key: Tensor) -> Tensor:
    return _product(_turned(query), _turned(key))


def _in_halves(x: Tensor) -> Tensor:
    """Pair i with i + d/2, as a well-known library does, and back again."""
    half = x.shape[-1] // 2
    order = torch.stack([torch.arange(half), torch.arange(half) + half], dim=-1).flatten()
    return _turned(x[:, order])


def _one_angle(x: Tensor) -> Tensor:
    return _turned(x, base=1.0)


def _added(x: Tensor) -> Tensor:
    return x + sinusoidal_encoding(*x.shape)


def _same_angle_twice(x: Tensor) -> Tensor:
    """The first line overwrites what the second line reads."""
    length, d = x.shape
    angle = torch.arange(length)[:, None] * 10000.0 ** (
        -torch.arange(0, d, 2, dtype=torch.float64) / d
    )
    a, b = x[:, 0::2].double(), x[:, 1::2].double()
    first = a * angle.cos() - b * angle.sin()
    return torch.stack([first, first * angle.sin() + b * angle.cos()], dim=-1).flatten(-2)


def _last_exponent_1(x: Tensor) -> Tensor:
    d = x.shape[1]
    return _turned(x, step=d / max(d - 2, 1))


def _no_minus(x: Tensor) -> Tensor:
    length, d = x.shape
    angle = torch.arange(length)[:, None] * 10000.0 ** (
        -torch.arange(0, d, 2, dtype=torch.float64) / d
    )
    a, b = x[:, 0::2].double(), x[:, 1::2].double()
    turned = [a * angle.cos() + b * angle.sin(), a * angle.sin() + b * angle.cos()]
    return torch.stack(turned, dim=-1).flatten(-2)


def _both(turn: Callable[[Tensor], Tensor]) -> Scores:
    return lambda query, key: _product(turn(query), turn(key))


rotary_scores = Check(
    name="the scores see what the words are and how far apart they stand",
    reference=_rotary,
    cases=[
        drawn("4 words of size 2, one pair", (4, 2), (4, 2)),
        drawn("6 words of size 8", (6, 8), (6, 8)),
        drawn("30 words of size 16", (30, 16), (30, 16)),
    ],
    tolerance=1e-4,
    mistakes=[
        Mistake(
            "not turned",
            lambda query, key: _product(query, key),
            "nothing is turned: these are plain scores, which do not know where a word stands.",
        ),
        Mistake(
            "queries only",
            lambda query, key: _product(_turned(query), key),
            "only the queries are turned. Then the score depends on where the query stands and not "
            "on the distance: turn the keys as well.",
        ),
        Mistake(
            "keys only",
            lambda query, key: _product(query, _turned(key)),
            "only the keys are turned. Then the score depends on where the key stands and not on "
            "the distance: turn the queries as well.",
        ),
        Mistake(
            "opposite ways",
            lambda query, key: _product(_turned(query), _turned(key, sign=-1)),
            "queries and keys turn in opposite ways, so the score depends on the *sum* of the two "
            "positions. Turn both the same way: then the difference is left.",
        ),
        Mistake(
            "the other way",
            _both(lambda x: _turned(x, sign=-1)),
            "queries and keys are turned by −θ. The scores see the distance, but with the other "
            "sign than asked: (a, b) becomes (a cos θ − b sin θ, a sin θ + b cos θ).",
        ),
        Mistake(
            "added",
            _both(_added),
            "you add the encoding, as the paper does. Here nothing is added: each pair of a query "
            "or key is turned by its position.",
        ),
        Mistake(
            "halves",
            _both(_in_halves),
            "a component is paired with the one d/2 further on. Some libraries do so, and it works "
            "as well if you train with it; here the pairs are neighbours, (0, 1), (2, 3), …",
        ),
        Mistake(
            "one angle",
            _both(_one_angle),
            "every pair turns by the position itself. Pair i turns by pos / 10000^(2i/d).",
        ),
        Mistake(
            "queries one place on",
            lambda query, key: _product(_turned(torch.cat([query[:1], query]))[1:], _turned(key)),
            "the queries are turned as if they stood one place further on than they do. Both "
            "count from position 0.",
        ),
        Mistake(
            "last exponent 1",
            _both(_last_exponent_1),
            "the exponent of the last pair is 1: you divide by d − 2, or by the number of pairs "
            "less one. Pair i has the exponent 2i/d.",
        ),
        Mistake(
            "a number a word",
            lambda query, key: _product(_turned(query), _turned(key)).diagonal(),
            "you multiply each query with its own key only. Every query meets every key: `@` "
            "with the keys transposed, shape (length, length).",
        ),
        Mistake(
            "entry by entry",
            lambda query, key: (_turned(query) * _turned(key)).float() / query.shape[-1] ** 0.5,
            "you multiply queries and keys entry by entry. A score is a dot product, of each query "
            "with every key: `query @ key.T`.",
        ),
        Mistake(
            "base 1000",
            _both(lambda x: _turned(x, base=1000.0)),
            "the angles use base 1000; it is 10000.",
        ),
        Mistake(
            "index doubled twice",
            _both(lambda x: _turned(x, step=2.0)),
            "the later pairs turn too little: i is doubled twice. If your index runs 0, 2, 4, …, "
            "it is 2i already.",
        ),
        Mistake(
            "index never doubled",
            _both(lambda x: _turned(x, step=0.5)),
            "the later pairs turn too much: pair i has the exponent 2i/d, not i/d.",
        ),
        Mistake(
            "not divided",
            lambda query, key: _product(_turned(query), _turned(key), 1.0),
            "the turning is right. The scores are not divided by √d.",
        ),
        Mistake(
            "divided by d",
            lambda query, key: _product(_turned(query), _turned(key), float(query.shape[-1])),
            "the turning is right. The scores are divided by d; it should be √d.",
        ),
        Mistake(
            "divided by the root of the length",
            lambda query, key: _product(_turned(query), _turned(key), len(query) ** 0.5),
            "the turning is right. The scores are divided by the root of the number of words; it "
            "should be √d, with d the number of components.",
        ),
        Mistake(
            "multiplied by √d",
            lambda query, key: _product(_turned(query), _turned(key), query.shape[-1] ** -0.5),
            "the turning is right. The scores are multiplied by √d; divide by it.",
        ),
        Mistake(
            "queries with themselves",
            lambda query, key: _product(_turned(query), _turned(query)),
            "these are the products of the queries with themselves: the keys do not enter.",
        ),
        Mistake(
            "causal",
            lambda query, key: _rotary(query, key).tril(),
            "scores of later words were set to 0. No mask is asked for here.",
        ),
        Mistake(
            "causal with −∞",
            lambda query, key: _rotary(query, key).masked_fill(
                torch.ones(len(query), len(key), dtype=torch.bool).triu(1), float("-inf")
            ),
            "scores of later words are closed by −∞. No mask is asked for here.",
        ),
        Mistake(
            "encodings multiplied",
            _both(lambda x: x * sinusoidal_encoding(*x.shape)),
            "each component was multiplied by its encoding. A rotation mixes the *two* components "
            "of a pair: (a cos θ − b sin θ, a sin θ + b cos θ).",
        ),
        Mistake(
            "products of encodings added",
            lambda query, key: (
                _product(query, key)
                + _product(sinusoidal_encoding(*query.shape), sinusoidal_encoding(*key.shape), 1.0)
            ),
            "plain scores plus the products of encodings: the distance enters, but in the same way "
            "for all words. Turn the queries and keys themselves.",
        ),
        Mistake(
            "softmax",
            lambda query, key: _rotary(query, key).softmax(-1),
            "the softmax was taken already. Asked for are the scores before it.",
        ),
        Mistake(
            "keys in rows",
            lambda query, key: _rotary(query, key).T,
            "your scores are transposed: rows are queries, columns are keys.",
        ),
        Mistake(
            "overwritten",
            _both(_same_angle_twice),
            "the second component of a pair was computed from the *turned* first one. Keep the "
            "first as it was until both are done.",
        ),
        Mistake(
            "no minus",
            _both(_no_minus),
            "both sines have the same sign, so this is no rotation: (a, b) becomes "
            "(a cos θ − b sin θ, a sin θ + b cos θ).",
        ),
    ],
    symptoms=[
        Symptom(
            "no scores",
            lambda result, expected, given: isinstance(result, tuple) and len(result) == 2,
            "you return the turned queries and keys. Asked are their scores: dot products divided "
            "by √d.",
        ),
    ],
    right="right: {name}",
)
