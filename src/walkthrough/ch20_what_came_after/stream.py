"""One stack of the package's encoder layers over one sequence: BERT and GPT, by the mask (§3.1)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from transformer.config import BOS_ID, EOS_ID, PAD_ID, TransformerConfig
from transformer.data.batching import Pair
from transformer.embedding import TokenEmbedding
from transformer.layers import EncoderLayer
from transformer.masks import causal_mask, padding_mask
from transformer.model import Encoder, Transformer
from transformer.positional import SinusoidalEncoding

SIGHTS = ("both ways", "backwards", "prefix")


class Stack(nn.Module):
    """Embedding, positions and the package's `Encoder`: the left half of Figure 1, alone.

    What a position may see decides what it is: "both ways" makes it BERT, "backwards" GPT.
    "prefix" is in between: the words up to and with BOS see each other, later ones look backwards.

    Raises:
        ValueError: `sight` is none of these.
    """

    def __init__(self, config: TransformerConfig, sight: str = "backwards") -> None:
        super().__init__()
        if sight not in SIGHTS:
            raise ValueError(f"sight must be one of {SIGHTS}, got {sight!r}")
        self.config, self.sight = config, sight
        self.embedding = TokenEmbedding(vocab_size=config.vocab_size, d_model=config.d_model)
        self.positions: nn.Module | None = SinusoidalEncoding(d_model=config.d_model, max_len=128)
        self.encoder = Encoder(config)
        self.reset_parameters()

    def forward(self, tokens: Int[Tensor, "batch length"]) -> Float[Tensor, "batch length d_model"]:
        """Return the state of every position."""
        x = self.embedding(tokens)
        if self.positions is not None:
            x = x + self.positions(tokens.shape[1])
        mask = self.mask(tokens)
        for layer in self.encoder.layers:
            x = layer_output(cast(EncoderLayer, layer), x, mask)
        return self.encoder.final_norm(x)

    def mask(self, tokens: Int[Tensor, "batch length"]) -> Bool[Tensor, "batch 1 queries keys"]:
        """Return what every position may see."""
        seen = padding_mask(tokens)
        if self.sight == "both ways":
            return seen
        backwards = causal_mask(tokens.shape[1])
        if self.sight == "prefix":
            in_source = ((tokens == BOS_ID).cumsum(1) == 0) | (tokens == BOS_ID)
            backwards = backwards | (in_source[:, None, :, None] & in_source[:, None, None, :])
        return seen & backwards

    def project(self, states: Float[Tensor, "*batch d_model"]) -> Float[Tensor, "*batch words"]:
        """Return logits; one matrix embeds and projects (§3.4)."""
        return F.linear(states, self.embedding.weight)

    def reset_parameters(self) -> None:
        """Draw new weights as the package does."""
        Transformer.reset_parameters(self)  # type: ignore[arg-type]

    @property
    def n_parameters(self) -> int:
        """Number of trained values."""
        return sum(parameter.numel() for parameter in self.parameters())


def layer_output(
    layer: EncoderLayer,
    x: Float[Tensor, "batch length d_model"],
    mask: Bool[Tensor, "batch 1 queries keys"],
) -> Float[Tensor, "batch length d_model"]:
    """Return what an encoder layer makes of `x`; the mask may differ from query to query."""
    first, second = layer.residuals
    y = first.before(x)
    x = first(x, layer.self_attention(y, y, y, mask)[0])
    return second(x, layer.feed_forward(second.before(x)))


@dataclass(frozen=True)
class Streams:
    """Sentence pairs, each as one sequence: source, BOS, target, EOS; padded on the right.

    `labels` holds the token that comes next, and padding where nothing is to be predicted.
    """

    tokens: Int[Tensor, "batch length"]
    labels: Int[Tensor, "batch length"]


def streams(pairs: Sequence[Pair]) -> Streams:
    """Return pairs as sequences in which the target alone is to be predicted."""
    rows = [[*source, BOS_ID, *target, EOS_ID] for source, target in pairs]
    longest = max(map(len, rows))
    padded = torch.tensor([row + [PAD_ID] * (longest - len(row)) for row in rows])
    labels = padded[:, 1:].clone()
    for row, (source, _) in zip(labels, pairs, strict=True):
        row[: len(source)] = PAD_ID
    return Streams(padded[:, :-1], labels)


@torch.no_grad()
def continuations(
    model: Stack, sources: Sequence[list[int]], *, longest: int = 40
) -> list[list[int]]:
    """Return what the model writes after each source, the likeliest word each time."""
    outputs: list[list[int]] = [[] for _ in sources]
    for length in sorted({len(source) for source in sources}):
        places = [place for place, source in enumerate(sources) if len(source) == length]
        rows = torch.tensor([[*sources[place], BOS_ID] for place in places])
        done = torch.zeros(len(rows), dtype=torch.bool)
        while not done.all() and rows.shape[1] < length + longest:
            best = model.project(model(rows)[:, -1]).argmax(-1)
            best[done] = EOS_ID
            done |= best == EOS_ID
            rows = torch.cat([rows, best[:, None]], dim=1)
        for place, row in zip(places, rows[:, length + 1 :].tolist(), strict=True):
            outputs[place] = row[: row.index(EOS_ID)] if EOS_ID in row else row
    return outputs
