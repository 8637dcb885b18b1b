"""Experiment 01-recall: which word stood so many places back? (§2).

Every word of a sentence is drawn at random. At the last word the model has to name the one that
stood a given distance before it. All sentences have one length, so that distance alone differs.
"""

from typing import Literal, get_args

import pandas as pd
import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn

from transformer.attention import scaled_dot_product_attention
from transformer.positional import sinusoidal_encoding
from walkthrough.ch01_why_attention.experiments.recurrence import open_forget_gate
from walkthrough.lab import Arm, Experiment, Job, Loaded, Outcome, store
from walkthrough.lab.rates import best_rate

Kind = Literal["attention", "RNN", "LSTM", "LSTM, open gate"]
KINDS: tuple[Kind, ...] = get_args(Kind)
N_WORDS = 8
LENGTH = 20
D_MODEL = 32
RATE = 0.01
DISTANCES = (1, 5, 15)
GUESSING = 1 / N_WORDS
SHOWN = "new/-/accuracy"
"""Share of right answers without looking: every word is as likely."""


class RecurrentReader(nn.Module):
    """Reads word by word, and answers from the last state alone."""

    def __init__(self, layer: nn.RNN | nn.LSTM) -> None:
        super().__init__()
        self.words = nn.Embedding(N_WORDS, D_MODEL)
        self.layer = layer
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
    if kind not in KINDS:
        raise ValueError(f"kind must be one of {', '.join(KINDS)}; got {kind!r}")
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        if kind == "attention":
            return AttentionReader()
        if kind == "RNN":
            return RecurrentReader(nn.RNN(D_MODEL, D_MODEL, batch_first=True))
        lstm = nn.LSTM(D_MODEL, D_MODEL, batch_first=True)
        return RecurrentReader(lstm if kind == "LSTM" else open_forget_gate(lstm))


def train(
    kind: Kind, *, distance: int, seed: int, steps: int = 200, batch: int = 32, rate: float = RATE
) -> nn.Module:
    """Train one model to fetch from one distance; everything but the model is the same.

    Raises:
        ValueError: an unknown kind, no such distance, or no steps to train for.
    """
    if steps < 1:
        raise ValueError(f"steps must be at least 1, got {steps}")
    generator = torch.Generator().manual_seed(seed)
    model = make_model(kind, seed=seed)
    optimizer = torch.optim.Adam(model.parameters(), lr=rate, fused=True)
    for _ in range(steps):
        tokens, answers = sentences(distance, batch, generator)
        loss = F.cross_entropy(model(tokens), answers)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)  # as recurrent networks need it
        optimizer.step()
    return model.eval()


@torch.no_grad()
def measured(
    model: nn.Module, distance: int, *, size: int = 2000, seed: int
) -> tuple[float, float]:
    """Return the loss in nats and the share of right answers on new sentences."""
    tokens, answers = sentences(distance, size, torch.Generator().manual_seed(seed))
    logits = model(tokens)
    right = (logits.argmax(dim=-1) == answers).double().mean()
    return F.cross_entropy(logits, answers).item(), right.item()


def recalled(job: Job) -> Outcome:
    """Train one model; measure it on new sentences, and its rate on others."""
    kind, distance = job.arm.labels["model"], job.arm.labels["far"]
    rate = RATE * job.key.rate
    model = train(kind, distance=distance, seed=job.seed, steps=job.length, rate=rate)
    figures: dict[str, float] = {}
    for split, first in (("valid", 10_000), ("new", 20_000)):
        loss, right = measured(model, distance, seed=first + job.seed)
        figures |= {f"{split}/-/loss": loss, f"{split}/-/accuracy": right}
    return Outcome(figures=figures, parameters=sum(p.numel() for p in model.parameters()))


EXPERIMENT = Experiment(
    name="01-recall",
    question="Who can still name a word that stood some places back, in sentences of one length?",
    task=Loaded(),
    rival="guessing one of eight words, which every figure draws: 12.5 per cent",
    arms=[
        Arm(f"{kind}, {far} back", labels={"model": kind, "far": far})
        for far in DISTANCES
        for kind in KINDS
    ],
    rates=(0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30),
    rate_seeds=(1, 2, 3, 4, 5),  # of three, attention's steepest rate was lucky with all
    choose="valid/loss",
    lengths=(200, 2000),
    run=recalled,
)


def right_answers() -> pd.Series:
    """Return the mean share of right answers by kind, updates and distance, at the best rates."""
    runs = store.read(store.path_of(EXPERIMENT.name), EXPERIMENT.name).values()
    best = {
        (arm.name, n, best_rate(EXPERIMENT, arm.name, runs, figure=SHOWN, length=n).rate)
        for arm in EXPERIMENT.arms
        for n in EXPERIMENT.lengths
    }
    found = EXPERIMENT.frame()
    keys = zip(found["arm"], found["length"], found["rate"], strict=True)
    found = found[[key in best for key in keys]]
    return found.groupby(["model", "length", "far"])[SHOWN].mean()
