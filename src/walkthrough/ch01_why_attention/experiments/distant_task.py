"""A task that needs a distant token, for chapter 01: which word stood there? (§2).

Every word of a sentence is drawn at random. At the last word the model has to name the one that
stood a given distance before it. All sentences have one length, so that distance alone differs.
"""

from typing import Literal, get_args

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn

from transformer.attention import scaled_dot_product_attention
from transformer.positional import sinusoidal_encoding

Kind = Literal["recurrence", "attention"]
N_WORDS = 8
LENGTH = 20
D_MODEL = 32
SOLVED = 0.02
"""Training ends early when the loss, a running mean, is below this: nothing is left to learn."""
GUESSING = 1 / N_WORDS
"""Share of right answers without looking: every word is as likely."""


class RecurrentReader(nn.Module):
    """Reads word by word, and answers from the last state alone."""

    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Embedding(N_WORDS, D_MODEL)
        self.layer = nn.RNN(D_MODEL, D_MODEL, batch_first=True)
        self.answer = nn.Linear(D_MODEL, N_WORDS)

    def forward(self, tokens: Int[Tensor, "batch length"]) -> Float[Tensor, "batch n_words"]:
        """Return the logits of the word asked for."""
        states, _ = self.layer(self.words(tokens))
        return self.answer(states[:, -1])


class AttentionReader(nn.Module):
    """The last word asks, all words answer: one attention, no recursion.

    Attention does not see order by itself, so a code for its position is added to every word.
    """

    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Embedding(N_WORDS, D_MODEL)
        self.query_proj = nn.Linear(D_MODEL, D_MODEL)
        self.key_proj = nn.Linear(D_MODEL, D_MODEL)
        self.value_proj = nn.Linear(D_MODEL, D_MODEL)
        self.answer = nn.Linear(D_MODEL, N_WORDS)

    def forward(self, tokens: Int[Tensor, "batch length"]) -> Float[Tensor, "batch n_words"]:
        """Return the logits of the word asked for."""
        x = self.words(tokens) + sinusoidal_encoding(tokens.shape[1], D_MODEL)
        query = self.query_proj(x[:, -1:])
        key, value = self.key_proj(x), self.value_proj(x)
        found, _ = scaled_dot_product_attention(query, key, value)
        return self.answer(found[:, 0])


def sentences(
    distance: int, size: int, generator: torch.Generator
) -> tuple[Int[Tensor, "size length"], Int[Tensor, "size"]]:
    """Return random sentences and, for each, the word `distance` places before its last.

    Raises:
        ValueError: no word stands there, or it is the last one itself.
    """
    if not 1 <= distance < LENGTH:
        raise ValueError(f"distance must be from 1 to {LENGTH - 1}, got {distance}")
    tokens = torch.randint(N_WORDS, (size, LENGTH), generator=generator)
    return tokens, tokens[:, -1 - distance]


def make_model(kind: Kind, *, seed: int) -> nn.Module:
    """Return an untrained model.

    Raises:
        ValueError: an unknown kind.
    """
    if kind not in get_args(Kind):
        raise ValueError(f"kind must be one of {', '.join(get_args(Kind))}; got {kind!r}")
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return AttentionReader() if kind == "attention" else RecurrentReader()


def train(
    kind: Kind, *, distance: int, seed: int, steps: int = 200, batch: int = 32, rate: float = 0.01
) -> nn.Module:
    """Train one model to fetch from one distance; everything but the model is the same.

    `steps` is the most: who has solved the task ends early.

    Raises:
        ValueError: an unknown kind, no such distance, or no steps to train for.
    """
    if steps < 1:
        raise ValueError(f"steps must be at least 1, got {steps}")
    generator = torch.Generator().manual_seed(seed)
    model = make_model(kind, seed=seed)
    optimizer = torch.optim.Adam(model.parameters(), lr=rate, fused=True)
    recent = 1.0
    for _ in range(steps):
        tokens, answers = sentences(distance, batch, generator)
        loss = F.cross_entropy(model(tokens), answers)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)  # as recurrent networks need it
        optimizer.step()
        recent = 0.9 * recent + 0.1 * loss.item()
        if recent < SOLVED:
            break
    return model.eval()


@torch.no_grad()
def accuracy(model: nn.Module, distance: int, *, size: int = 1000, seed: int = 10_000) -> float:
    """Return the share of right answers on new sentences."""
    tokens, answers = sentences(distance, size, torch.Generator().manual_seed(seed))
    return float((model(tokens).argmax(dim=-1) == answers).double().mean())
