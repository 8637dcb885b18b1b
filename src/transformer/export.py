"""The model as two ONNX files: the encoder, and one step of the decoder with its cache.

    encoder.onnx       source (batch, source_len)
                       → memory, encoder_attention (layers, batch, heads, source_len, source_len)
    decoder-step.onnx  source, memory, token (batch, 1), past_keys, past_values
                       (layers, batch, heads, past_len, d_k or d_v; past_len 0 at first)
                       → logits (batch, vocab_size), keys, values (past_len + 1),
                         decoder_attention (layers, batch, heads, 1, past_len + 1),
                         cross_attention (layers, batch, heads, 1, source_len)

All sizes named here with a word are dynamic. The keys and values of a step are the past of the
next, so a browser decodes with one small product a token (§3.2.3).
"""

import logging
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.export import Dim

from transformer.cache import KeyValueCache
from transformer.config import UNK_ID, TransformerConfig
from transformer.files import replacing
from transformer.masks import padding_mask
from transformer.model import Transformer
from transformer.positional import sinusoidal_encoding

ENCODER_FILE, DECODER_FILE = "encoder.onnx", "decoder-step.onnx"
OPSET = 18


class EncoderGraph(nn.Module):
    """The encoder with its attention weights as an output."""

    def __init__(self, model: Transformer, max_positions: int) -> None:
        super().__init__()
        self.model = model
        self.positions = _PositionTable(model, max_positions)

    def forward(self, source: Tensor) -> tuple[Tensor, Tensor]:
        """Return memory and attention weights of all layers."""
        x = self.model.source_embedding(source) + self.positions(source.shape[1], 0)
        memory, weights = self.model.encoder(x, padding_mask(source), need_weights=True)
        return memory, torch.stack(weights)


class DecoderStepGraph(nn.Module):
    """One step of the decoder: tensors in the place of the cache's objects."""

    def __init__(self, model: Transformer, max_positions: int) -> None:
        super().__init__()
        self.model = model
        self.positions = _PositionTable(model, max_positions)

    def forward(
        self, source: Tensor, memory: Tensor, token: Tensor, past_keys: Tensor, past_values: Tensor
    ) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
        """Return logits, keys, values, self-attention and cross-attention weights."""
        x = self.model.target_embedding(token) + self.positions(1, past_keys.shape[3])
        outputs = []
        for index, layer in enumerate(self.model.decoder.layers):
            cache = _PastAndNew(past_keys[index], past_values[index])
            x, self_weights, cross_weights = layer(
                x, memory, None, padding_mask(source), self_cache=cache, need_weights=True
            )
            outputs.append((cache.keys, cache.values, self_weights, cross_weights))
        logits = self.model.project(self.model.decoder.final_norm(x[:, -1]))
        keys, values, self_weights, cross_weights = (
            torch.stack(parts) for parts in zip(*outputs, strict=True)
        )
        return logits, keys, values, self_weights, cross_weights


class _PastAndNew(KeyValueCache):
    """A cache without memory of its own: a graph gets past keys and returns them with the new."""

    def __init__(self, keys: Tensor, values: Tensor) -> None:
        super().__init__(growing=True)
        self.keys, self.values = keys, values

    def append(self, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
        self.keys = torch.cat([self.keys, key], dim=-2)
        self.values = torch.cat([self.values, value], dim=-2)
        return self.keys, self.values


class _PositionTable(nn.Module):
    table: Tensor

    def __init__(self, model: Transformer, max_positions: int) -> None:
        super().__init__()
        config = model.config
        if config.positions == "learned":
            table = model.get_parameter("positions.weight").detach().clone()
        else:
            table = sinusoidal_encoding(max_positions, config.d_model)
        self.register_buffer("table", table * (config.positions != "none"))

    def forward(self, length: int, start: int) -> Tensor:
        # A slice would end with the table, without a word; an index past its end is an error.
        places = torch.arange(start, start + length, device=self.table.device)
        return self.table.index_select(0, places)


def export_onnx(
    model: Transformer, folder: str | Path, *, max_positions: int = 1024
) -> tuple[Path, Path]:
    """Write both files into `folder` and return their paths.

    Positions past `max_positions` (or past a learned table) do not exist in the files: the runtime
    says that an index is out of bounds. The files' metadata tell their number as `max_positions`.

    Raises:
        ValueError: max_positions below 1.
        ModuleNotFoundError: the packages of the extra `export` are not installed.
    """
    check_exporter()
    if max_positions < 1:
        raise ValueError(f"max_positions must be at least 1, got {max_positions}")
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    model = model.cpu().eval()
    encoder, decoder = folder / ENCODER_FILE, folder / DECODER_FILE
    batch, source_len, past_len = Dim("batch"), Dim("source_len"), Dim("past_len")
    # example sizes are distinct and above 1, so that none is taken for a constant
    source = torch.full((2, 5), UNK_ID)
    _write(
        EncoderGraph(model, max_positions),
        (source,),
        encoder,
        dynamic_shapes={"source": {0: batch, 1: source_len}},
        output_names=["memory", "encoder_attention"],
    )
    past = [torch.zeros(*x.shape[:3], 3, x.shape[4]) for x in empty_past(model.config, batch=2)]
    growing = {1: batch, 3: past_len}
    _write(
        DecoderStepGraph(model, max_positions),
        (source, torch.zeros(2, 5, model.config.d_model), torch.full((2, 1), UNK_ID), *past),
        decoder,
        dynamic_shapes={
            "source": {0: batch, 1: source_len},
            "memory": {0: batch, 1: source_len},
            "token": {0: batch},
            "past_keys": growing,
            "past_values": growing,
        },
        output_names=["logits", "keys", "values", "decoder_attention", "cross_attention"],
    )
    return encoder, decoder


def check_exporter() -> None:
    """Raise ModuleNotFoundError unless the packages that write ONNX are installed."""
    missing = [name for name in ("onnx", "onnxscript") if find_spec(name) is None]
    if missing:
        raise ModuleNotFoundError(
            f"export needs {' and '.join(missing)}: pip install {' '.join(missing)}"
        )


def empty_past(config: TransformerConfig, batch: int) -> tuple[Tensor, Tensor]:
    """Return the past keys and values of the first step: of length 0."""
    shape = (config.n_layers, batch, config.n_heads, 0)
    return torch.zeros(*shape, config.d_k or 0), torch.zeros(*shape, config.d_v or 0)


def _write(
    module: EncoderGraph | DecoderStepGraph,
    example: tuple[Tensor, ...],
    path: Path,
    *,
    dynamic_shapes: dict[str, dict[int, Any]],
    output_names: list[str],
) -> None:
    with replacing(path) as place:
        program = exported(
            module, example, dynamic_shapes=dynamic_shapes, output_names=output_names
        )
        program.model.metadata_props["max_positions"] = str(len(module.positions.table))
        program.save(place)


def exported(
    module: nn.Module,
    example: tuple[Tensor, ...],
    *,
    dynamic_shapes: Mapping[str, Mapping[int, Any] | None],
    output_names: Sequence[str],
) -> torch.onnx.ONNXProgram:
    """Return a module as an ONNX program; `dynamic_shapes` names every input, None where fixed.

    Raises:
        RuntimeError: torch wrote none.
    """
    with silent_exporter():
        program = torch.onnx.export(
            module.eval(),
            example,
            input_names=list(dynamic_shapes),
            output_names=output_names,
            dynamic_shapes=dict(dynamic_shapes),
            opset_version=OPSET,
            dynamo=True,
            external_data=False,
            verbose=False,
        )
    if program is None:
        raise RuntimeError("torch wrote no ONNX program")
    return program


@contextmanager
def silent_exporter() -> Iterator[None]:
    """Keep torch's exporter from warning of its own insides and of packages not used here."""
    logger = logging.getLogger("torch.onnx")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logger.setLevel(level)
