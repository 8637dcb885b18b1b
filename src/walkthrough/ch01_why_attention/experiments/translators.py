"""The translators of 2014 and of 2015 in small, for chapter 01: one vector, or attention (§1, §2).

Both read the source with one recurrent network and write with another. They differ in the context
alone: the last state of the source for every word, or a new weighted sum for each.
"""

from collections.abc import Sequence
from typing import Literal, get_args

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn

from phrasebook import Example
from transformer.analysis.alignment import (
    AlignmentScore,
    alignment_from_attention,
    score_alignments,
)
from transformer.config import BOS_ID, EOS_ID, PAD_ID
from transformer.data.batching import Pair, collate

Kind = Literal["one vector", "attention"]
D_MODEL = 96
BATCH = 64
RATE = 3e-3


class RecurrentTranslator(nn.Module):
    """A GRU that reads, a GRU that writes, and a context in between (Bahdanau et al., 2015)."""

    def __init__(self, kind: Kind, vocab_size: int, d_model: int = D_MODEL) -> None:
        super().__init__()
        if kind not in get_args(Kind):
            raise ValueError(f"kind must be one of {', '.join(get_args(Kind))}; got {kind!r}")
        self.kind = kind
        self.words = nn.Embedding(vocab_size, d_model)
        self.reader = nn.GRU(d_model, d_model, batch_first=True)
        self.start = nn.Linear(d_model, d_model)
        self.writer = nn.GRUCell(2 * d_model, d_model)
        self.answer = nn.Linear(2 * d_model, vocab_size)
        if kind == "attention":
            self.from_writer = nn.Linear(d_model, d_model)  # W_s and b
            self.from_reader = nn.Linear(d_model, d_model, bias=False)  # W_h
            self.score = nn.Linear(d_model, 1, bias=False)  # v

    def read(self, source: Int[Tensor, "batch source_len"]) -> tuple[Tensor, ...]:
        """Return the states of the source, its last state, its share of the scores, its padding."""
        states, _ = self.reader(self.words(source))
        padding = source == PAD_ID
        ends = (~padding).sum(dim=1) - 1
        last = states[torch.arange(len(source)), ends]
        keys = self.from_reader(states) if self.kind == "attention" else states
        return states, last, keys, padding

    def context(
        self, state: Float[Tensor, "batch d"], memory: tuple[Tensor, ...]
    ) -> tuple[Float[Tensor, "batch d"], Float[Tensor, "batch source_len"] | None]:
        """Return what the writer gets to know of the source, and the weights if there are any."""
        states, last, keys, padding = memory
        if self.kind == "one vector":
            return last, None
        hidden = torch.tanh(self.from_writer(state)[:, None] + keys)
        scores = self.score(hidden).squeeze(-1).masked_fill(padding, -torch.inf)
        weights = scores.softmax(dim=-1)
        return (weights[:, None] @ states).squeeze(1), weights

    def step(
        self, token: Int[Tensor, "batch"], state: Tensor, memory: tuple[Tensor, ...]
    ) -> tuple[Tensor, Tensor, Tensor | None]:
        """Read one target word; return the next state, what the answer is made of, the weights."""
        context, weights = self.context(state, memory)
        state = self.writer(torch.cat([self.words(token), context], dim=-1), state)
        return state, torch.cat([state, context], dim=-1), weights

    def forward(
        self,
        source: Int[Tensor, "batch source_len"],
        target_in: Int[Tensor, "batch target_len"],
    ) -> tuple[Float[Tensor, "batch target_len vocab_size"], Tensor | None]:
        """Return logits for every target position, and the weights of every position."""
        memory = self.read(source)
        state = torch.tanh(self.start(memory[1]))
        found, rows = [], []
        for token in target_in.unbind(dim=1):
            state, features, weights = self.step(token, state, memory)
            found.append(features)
            rows += [] if weights is None else [weights]
        logits = self.answer(torch.stack(found, dim=1))
        return logits, torch.stack(rows, dim=1) if rows else None

    @torch.no_grad()
    def greedy(
        self, source: Int[Tensor, "batch source_len"], max_len: int = 24
    ) -> Int[Tensor, "batch target_len"]:
        """Return the most probable next word again and again; ids after the end are padding."""
        memory = self.read(source)
        state = torch.tanh(self.start(memory[1]))
        token = torch.full((len(source),), BOS_ID)
        ended = torch.zeros(len(source), dtype=torch.bool)
        written = []
        for _ in range(max_len):
            state, features, _ = self.step(token, state, memory)
            token = self.answer(features).argmax(dim=-1).masked_fill(ended, PAD_ID)
            written.append(token)
            ended = ended | (token == EOS_ID)
            if ended.all():
                break
        return torch.stack(written, dim=1)


def batches(pairs: Sequence[Pair], size: int, generator: torch.Generator) -> list[list[int]]:
    """Return one epoch: sentences of like length together, in a random order of batches."""
    noise = torch.rand(len(pairs), generator=generator).tolist()
    order = sorted(range(len(pairs)), key=lambda i: (len(pairs[i][0]), noise[i]))
    groups = [order[start : start + size] for start in range(0, len(order), size)]
    return [groups[i] for i in torch.randperm(len(groups), generator=generator).tolist()]


def new_translator(kind: Kind, vocab_size: int, *, seed: int) -> RecurrentTranslator:
    """Return an untrained translator.

    Raises:
        ValueError: an unknown kind.
    """
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return RecurrentTranslator(kind, vocab_size)


def train(
    model: RecurrentTranslator,
    pairs: Sequence[Pair],
    *,
    updates: int,
    seed: int,
    rate: float = RATE,
) -> RecurrentTranslator:
    """Train with Adam, at a rate that falls in a line to 0; both kinds see the same batches.

    Raises:
        ValueError: no updates to train for.
    """
    if updates < 1:
        raise ValueError(f"updates must be at least 1, got {updates}")
    generator = torch.Generator().manual_seed(seed)
    optimizer = torch.optim.Adam(model.parameters(), lr=rate)
    schedule = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.0, total_iters=updates)
    epoch: list[list[int]] = []
    for _ in range(updates):
        epoch = epoch or batches(pairs, BATCH, generator)
        batch = collate(pairs, epoch.pop())
        logits, _ = model(batch.source, batch.target_in)
        loss = F.cross_entropy(logits.flatten(0, 1), batch.target_out.flatten(), ignore_index=0)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)  # as recurrent networks need it
        optimizer.step()
        schedule.step()
    return model.eval()


@torch.no_grad()
def exact(model: RecurrentTranslator, pairs: Sequence[Pair]) -> list[bool]:
    """Return for each pair whether the greedy translation equals the reference, word by word."""
    found = []
    for start in range(0, len(pairs), 250):
        some = pairs[start : start + 250]
        written = model.greedy(collate(some).source)
        for ids, (_, target) in zip(written.tolist(), some, strict=True):
            found.append(ids[: len(target) + 1] == [*target, EOS_ID])
    return found


@torch.no_grad()
def alignment(model: RecurrentTranslator, pair: Pair) -> Float[Tensor, "target_len source_len"]:
    """Return the weights of one pair, the end symbols included; the decoder reads the reference."""
    batch = collate([pair])
    _, weights = model(batch.source, batch.target_in)
    assert weights is not None, "one vector has no weights"
    return weights[0]


def alignment_score(
    model: RecurrentTranslator, pairs: Sequence[Pair], examples: Sequence[Example]
) -> AlignmentScore:
    """Compare where each word looked most with the gold alignment."""
    links = [
        alignment_from_attention(
            alignment(model, pair), n_source=len(pair[0]), n_target=len(pair[1])
        )
        for pair in pairs
    ]
    return score_alignments(links, [example.alignment for example in examples])
