"""A task with two answers a query, for chapter 04: the word before and the word after (§3.2.2).

One attention layer looks, a reader answers from what it found. One head has one set of weights
for both words; two heads of the same total width have one each. The second half asks which heads
of a trained model matter: it takes one away at a time.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn

from transformer.attention import MultiHeadAttention
from transformer.config import PAD_ID
from transformer.data.batching import Batch
from transformer.feed_forward import PositionwiseFeedForward
from transformer.model import Transformer

N_WORDS = 16
LENGTH = 8
D_MODEL = 16
RELATIONS = ("word before", "word after")
GUESSING = 1 / N_WORDS
"""Share of right answers without looking: every word is as likely."""


class TwoRelations(nn.Module):
    """One multi-head attention, and a reader that names two words from its output.

    The reader is linear, or with `feed_forward` the paper's feed-forward network before that
    (§3.3). No residual connection and no layer norm: the reader sees the attention's output alone.
    """

    def __init__(self, n_heads: int, *, feed_forward: bool = False, d_model: int = D_MODEL) -> None:
        super().__init__()
        self.words = nn.Embedding(N_WORDS, d_model)
        self.positions = nn.Embedding(LENGTH, d_model)
        self.attention = MultiHeadAttention(d_model=d_model, n_heads=n_heads)
        network = PositionwiseFeedForward(d_model=d_model, d_ff=4 * d_model)
        self.network: nn.Module = network if feed_forward else nn.Identity()
        self.read = nn.Linear(d_model, len(RELATIONS) * N_WORDS)

    def forward(
        self, tokens: Int[Tensor, "batch length"]
    ) -> Float[Tensor, "batch inner relations n_words"]:
        """Return the logits of both answers for every word that has two neighbours."""
        found, _ = self._look(tokens, need_weights=False)
        logits = self.read(self.network(found))[:, 1:-1]
        return logits.unflatten(-1, (len(RELATIONS), N_WORDS))

    @torch.no_grad()
    def weights(self, tokens: Int[Tensor, "batch length"]) -> Float[Tensor, "heads length length"]:
        """Return the attention weights of each head, averaged over the sentences."""
        _, weights = self._look(tokens, need_weights=True)
        assert weights is not None
        return weights.mean(dim=0)

    def _look(self, tokens: Tensor, *, need_weights: bool) -> tuple[Tensor, Tensor | None]:
        x = self.words(tokens) + self.positions.weight
        output: tuple[Tensor, Tensor | None] = self.attention(x, x, x, need_weights=need_weights)
        return output


def sentences(
    size: int, generator: torch.Generator
) -> tuple[Int[Tensor, "size length"], Int[Tensor, "size inner relations"]]:
    """Return random sentences and, for each inner word, the word before it and the word after.

    Words are independent, so the two answers can be the same word.
    """
    tokens = torch.randint(N_WORDS, (size, LENGTH), generator=generator)
    return tokens, torch.stack([tokens[:, :-2], tokens[:, 2:]], dim=-1)


def train(
    n_heads: int, *, seed: int, feed_forward: bool = False, steps: int = 400, d_model: int = D_MODEL
) -> TwoRelations:
    """Train one model, with everything but the heads and the reader the same; about a second.

    Raises:
        ValueError: there are no steps to train for, or n_heads does not divide d_model.
    """
    if steps < 1:
        raise ValueError(f"steps must be at least 1, got {steps}")
    generator = torch.Generator().manual_seed(seed)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = TwoRelations(n_heads, feed_forward=feed_forward, d_model=d_model)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2, fused=True)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: min((step + 1) / 50, 1 - step / steps)
    )
    for _ in range(steps):
        tokens, answers = sentences(64, generator)
        loss = F.cross_entropy(model(tokens).flatten(0, 2), answers.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
    return model.eval()


@torch.no_grad()
def right_answers(
    model: nn.Module, *, size: int = 500, seed: int = 10_000
) -> Float[Tensor, "relations"]:
    """Return the share of right answers on new sentences, one number a relation."""
    tokens, answers = sentences(size, torch.Generator().manual_seed(seed))
    return (model(tokens).argmax(dim=-1) == answers).double().mean(dim=(0, 1)).float()


def neighbour_weights(
    model: TwoRelations, *, size: int = 100, seed: int = 10_000
) -> Float[Tensor, "heads relations"]:
    """Return the mean weight that each head gives to the word before and to the word after."""
    tokens, _ = sentences(size, torch.Generator().manual_seed(seed))
    weights = model.weights(tokens)
    before = weights.diagonal(-1, -2, -1)[:, :-1]  # weights[:, i, i − 1] for i = 1 … length − 2
    after = weights.diagonal(1, -2, -1)[:, 1:]  # weights[:, i, i + 1]
    return torch.stack([before.mean(-1), after.mean(-1)], dim=-1)


@dataclass(frozen=True)
class Answers:
    """What a model says where it is asked for its worse relation; shares of the words."""

    right: float
    other_neighbour: float
    """It names the other neighbour instead."""
    in_top_two: float
    """The right word has the highest or the second highest logit."""


@torch.no_grad()
def worse_relation(model: nn.Module, *, size: int = 2_000, seed: int = 10_000) -> Answers:
    """Return what a model answers in the relation it knows less well.

    Only words whose two neighbours differ count: a mistake is then one word or another.
    """
    tokens, answers = sentences(size, torch.Generator().manual_seed(seed))
    logits = model(tokens)[answers[..., 0] != answers[..., 1]]  # words, relations, n_words
    answers = answers[answers[..., 0] != answers[..., 1]]
    said = logits.argmax(dim=-1)
    worse = int((said == answers).double().mean(dim=0).argmin())
    first_two = logits[:, worse].topk(2).indices
    return Answers(
        right=(said == answers)[:, worse].double().mean().item(),
        other_neighbour=(said[:, worse] == answers[:, 1 - worse]).double().mean().item(),
        in_top_two=(first_two == answers[:, worse, None]).any(-1).double().mean().item(),
    )


def attentions(model: Transformer) -> dict[str, MultiHeadAttention]:
    """Return every attention of a model by name, such as "encoder, layer 1"."""
    found: dict[str, MultiHeadAttention] = {}
    stacks: tuple[tuple[str, nn.ModuleList, str], ...] = (
        ("encoder", model.encoder.layers, "self_attention"),
        ("decoder", model.decoder.layers, "self_attention"),
        ("encoder–decoder", model.decoder.layers, "cross_attention"),
    )
    for name, layers, part in stacks:
        for number, layer in enumerate(layers, start=1):
            found[f"{name}, layer {number}"] = getattr(layer, part)
    return found


@contextmanager
def without_heads(attention: MultiHeadAttention, heads: Sequence[int]) -> Iterator[None]:
    """Take heads away, counted from 0, by zeroing their rows of W^O; put them back afterwards.

    Raises:
        IndexError: there is no such head.
    """
    weight = attention.output_proj.weight  # (d_model, heads · d_v): PyTorch's is transposed
    kept = weight.detach().clone()
    with torch.no_grad():
        by_head = weight.unflatten(-1, (attention.n_heads, attention.d_v))
        for head in heads:
            by_head[:, head] = 0.0
    try:
        yield
    finally:
        with torch.no_grad():
            weight.copy_(kept)


@torch.no_grad()
def loss(model: Transformer, batch: Batch) -> float:
    """Return the loss of a batch in nats a target token."""
    logits = model(batch.source, batch.target_in).flatten(0, 1)
    return F.cross_entropy(logits, batch.target_out.flatten(), ignore_index=PAD_ID).item()


def loss_without_each_head(model: Transformer, batch: Batch) -> dict[str, list[float]]:
    """Return by how much the loss rises when one head is taken away, a row an attention."""
    whole = loss(model, batch)
    rises: dict[str, list[float]] = {}
    for name, attention in attentions(model).items():
        rises[name] = []
        for head in range(attention.n_heads):
            with without_heads(attention, [head]):
                rises[name].append(loss(model, batch) - whole)
    return rises


def loss_without(model: Transformer, batch: Batch, heads: Sequence[tuple[str, int]]) -> float:
    """Return the loss when several heads are away, each given as attention and head from 0.

    Raises:
        KeyError: no attention has that name.
    """
    by_attention: dict[str, list[int]] = {}
    for name, head in heads:
        by_attention.setdefault(name, []).append(head)
    found = attentions(model)
    with ExitStack() as stack:
        for name, numbers in by_attention.items():
            stack.enter_context(without_heads(found[name], numbers))
        return loss(model, batch)


def least_needed(rises: Mapping[str, Sequence[float]]) -> list[tuple[str, int]]:
    """Return all heads in the order in which they can be spared, by the rise that each costs."""
    heads = [(name, head) for name, row in rises.items() for head in range(len(row))]
    return sorted(heads, key=lambda place: rises[place[0]][place[1]])
