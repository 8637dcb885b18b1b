"""A look-up task that compares ways to score a query against a key, for chapter 02 (§3.2.1).

A sentence shows 8 of 16 symbols, each with a random value. A question is a symbol, too: it asks for
the value of the symbol five places back in the alphabet. Which key answers which query is learned.
"""

import math
from typing import Literal, get_args

import torch
from jaxtyping import Float
from torch import Tensor, nn

Kind = Literal["scaled dot", "unscaled dot", "additive"]
KINDS: tuple[Kind, ...] = get_args(Kind)
N_SYMBOLS, N_KEYS, D_V = 16, 8, 8


def score_pairs(
    kind: Kind,
    query: Float[Tensor, "size 1 d_k"],
    key: Float[Tensor, "size n_keys d_k"],
    v: Float[Tensor, "d_k"],
) -> Float[Tensor, "size n_keys"]:
    """Return how well each key fits; the matrices of additive attention are in query and key."""
    if kind == "additive":
        return torch.tanh(query + key) @ v
    product = (query * key).sum(-1)
    return product / math.sqrt(query.shape[-1]) if kind == "scaled dot" else product


def questions(size: int, generator: torch.Generator) -> tuple[Tensor, ...]:
    """Draw what is asked for, sentences of different symbols, their values, and the right key."""
    symbols = torch.rand(size, N_SYMBOLS, generator=generator).argsort(-1)[:, :N_KEYS]
    wanted = torch.randint(N_KEYS, (size,), generator=generator)
    question = (symbols[torch.arange(size), wanted] + 5) % N_SYMBOLS
    values = torch.randn(size, N_KEYS, D_V, generator=generator)
    return question, symbols, values, wanted


def recall(
    kind: Kind, d_k: int, seed: int, *, rate: float = 0.01, steps: int = 250, shrink: float = 1.0
) -> float:
    """Learn the rule through softmax; return how often the largest score is then the right one.

    Queries and keys start with variance 1, as the paper assumes, times `shrink` squared.
    """
    generator = torch.Generator().manual_seed(seed)
    tables = shrink * torch.randn(2, N_SYMBOLS, d_k, generator=generator)
    v = torch.randn(d_k, generator=generator) / math.sqrt(d_k)
    query, key, v = (nn.Parameter(start) for start in (*tables, v))
    optimizer = torch.optim.Adam([query, key, v], lr=rate)
    for _ in range(steps):
        question, symbols, values, wanted = questions(32, generator)
        scores = score_pairs(kind, query[question][:, None], key[symbols], v)
        mixture = (scores.softmax(-1)[:, :, None] * values).sum(1)
        loss = (mixture - values[torch.arange(32), wanted]).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    question, symbols, _, wanted = questions(2_000, generator)
    with torch.no_grad():
        scores = score_pairs(kind, query[question][:, None], key[symbols], v)
    return float((scores.argmax(-1) == wanted).double().mean())
