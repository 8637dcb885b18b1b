"""The model with switches: the graphs behind the buttons that break it (§3).

`transformer.export` writes the model as it is. A switch in the page needs a graph that takes it as
an input. These two compute the same numbers from the same weights when every switch is at rest, and
something else when one is thrown:

    laboratory-encoder.onnx  source (1, source_len), positions (), score_scale (),
                             encoder_heads (layers, heads)
                             → memory, encoder_products (layers, 1, heads, source_len, source_len)
    laboratory-decoder.onnx  memory, target (batch, target_len), causal (), positions (),
                             score_scale (), decoder_heads, cross_heads (layers, heads)
                             → logits (batch, vocab_size) after the last token,
                             decoder_products (layers, batch, heads, target_len, target_len),
                             cross_products (layers, batch, heads, target_len, source_len)

The products are q·k, before they are scaled, masked and made into weights: the page does that
before the reader's eyes.

There is no cache: without the target mask an early word reads later ones, so what was computed for
it must be computed again.
"""

from pathlib import Path
from typing import Any, cast

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.export import Dim

from transformer.attention import MultiHeadAttention
from transformer.config import UNK_ID
from transformer.export import check_exporter, exported
from transformer.layers import DecoderLayer, EncoderLayer
from transformer.model import Transformer
from transformer.positional import sinusoidal_encoding

ENCODER_FILE, DECODER_FILE = "laboratory-encoder.onnx", "laboratory-decoder.onnx"


class _Laboratory(nn.Module):
    table: Tensor

    def __init__(self, model: Transformer, max_positions: int) -> None:
        super().__init__()
        self.model = model
        self.register_buffer("table", sinusoidal_encoding(max_positions, model.config.d_model))


class LaboratoryEncoder(_Laboratory):
    """The encoder with switches."""

    def forward(
        self, source: Tensor, positions: Tensor, score_scale: Tensor, encoder_heads: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Return memory and products; every switch at 1 is the model as trained."""
        x = self.model.source_embedding(source) + positions * _rows(self.table, source.shape[1])
        all_products = []
        layers = cast("list[EncoderLayer]", list(self.model.encoder.layers))
        for layer, gains in zip(layers, encoder_heads, strict=True):
            y, products = _attend(layer.self_attention, x, x, None, score_scale, gains)
            x = layer.residuals[0](x, y)
            x = layer.residuals[1](x, layer.feed_forward(x))
            all_products.append(products)
        return x, torch.stack(all_products)


class LaboratoryDecoder(_Laboratory):
    """The decoder over a whole prefix, with switches."""

    def forward(
        self,
        memory: Tensor,
        target: Tensor,
        causal: Tensor,
        positions: Tensor,
        score_scale: Tensor,
        decoder_heads: Tensor,
        cross_heads: Tensor,
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Return the logits after the last token, and the products of both attentions."""
        length = target.shape[1]
        x = self.model.target_embedding(target) + positions * _rows(self.table, length)
        places = torch.arange(length, device=target.device)
        attend_mask = (places[None, :] <= places[:, None]) | (causal < 0.5)
        memory = memory.expand(target.shape[0], -1, -1)
        pairs = []
        layers = cast("list[DecoderLayer]", list(self.model.decoder.layers))
        for index, layer in enumerate(layers):
            own, cross = layer.self_attention, layer.cross_attention
            y, own_products = _attend(own, x, x, attend_mask, score_scale, decoder_heads[index])
            x = layer.residuals[0](x, y)
            y, cross_products = _attend(cross, x, memory, None, score_scale, cross_heads[index])
            x = layer.residuals[1](x, y)
            x = layer.residuals[2](x, layer.feed_forward(x))
            pairs.append((own_products, cross_products))
        logits = F.linear(x[:, -1], self.model.output_weight)
        decoder_products, cross_products = (torch.stack(kind) for kind in zip(*pairs, strict=True))
        return logits, decoder_products, cross_products


def _rows(table: Tensor, length: int) -> Tensor:
    return table.index_select(0, torch.arange(length, device=table.device))


def _attend(
    attention: MultiHeadAttention,
    query: Tensor,
    memory: Tensor,
    attend_mask: Tensor | None,
    score_scale: Tensor,
    gains: Tensor,
) -> tuple[Tensor, Tensor]:
    """Attend with scores times `score_scale`, each head's result times its gain; and give q·k."""
    q = attention.split_heads(attention.query_proj(query))
    k = attention.split_heads(attention.key_proj(memory))
    v = attention.split_heads(attention.value_proj(memory))
    products = q @ k.transpose(-2, -1)
    scores = products * (attention.scale * score_scale)
    if attend_mask is not None:
        scores = scores.masked_fill(~attend_mask, float("-inf"))
    weights = torch.softmax(scores, dim=-1)
    heads = weights @ v * gains[:, None, None]
    return attention.output_proj(attention.merge_heads(heads)), products


def switches_at_rest(model: Transformer) -> dict[str, Tensor]:
    """Return every switch at the value the model was trained with."""
    # a tensor for each: the exporter makes one input of two names for the same tensor
    numbers = {name: torch.tensor(1.0) for name in ("positions", "score_scale", "causal")}
    shape = (model.config.n_layers, model.config.n_heads)
    heads = ("encoder_heads", "decoder_heads", "cross_heads")
    return numbers | {name: torch.ones(shape) for name in heads}


def export_laboratory(model: Transformer, folder: Path, *, max_positions: int) -> tuple[Path, Path]:
    """Write both graphs into `folder` and return their paths.

    Raises:
        ValueError: the model has other parts than post-norm and sinusoidal positions.
        ModuleNotFoundError: the packages of the extra `export` are not installed.
    """
    check_exporter()
    if (model.config.norm, model.config.positions) != ("post", "sinusoidal"):
        raise ValueError(
            "the laboratory is built for post-norm and sinusoidal positions, got "
            f"{model.config.norm!r} and {model.config.positions!r}"
        )
    rest = switches_at_rest(model)
    batch, source_len, target_len = Dim("batch"), Dim("source_len"), Dim("target_len")
    source = torch.full((1, 5), UNK_ID)
    memory, target = torch.zeros(1, 5, model.config.d_model), torch.full((3, 7), UNK_ID)
    encoder, decoder = folder / ENCODER_FILE, folder / DECODER_FILE
    taken = ("positions", "score_scale", "encoder_heads")
    _write(
        LaboratoryEncoder(model, max_positions),
        {"source": source, **{name: rest[name] for name in taken}},
        {"source": {1: source_len}},
        ["memory", "encoder_products"],
        encoder,
    )
    named = ("causal", "positions", "score_scale", "decoder_heads", "cross_heads")
    _write(
        LaboratoryDecoder(model, max_positions),
        {"memory": memory, "target": target, **{name: rest[name] for name in named}},
        {"memory": {1: source_len}, "target": {0: batch, 1: target_len}},
        ["logits", "decoder_products", "cross_products"],
        decoder,
    )
    return encoder, decoder


def _write(
    module: nn.Module,
    example: dict[str, Tensor],
    sizes: dict[str, dict[int, Any]],
    output_names: list[str],
    path: Path,
) -> None:
    program = exported(
        module,
        tuple(example.values()),
        dynamic_shapes={name: sizes.get(name) for name in example},
        output_names=output_names,
    )
    program.save(path)
