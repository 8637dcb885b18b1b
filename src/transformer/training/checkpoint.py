"""Checkpoints: one safetensors file with the weights, the configuration and the tokenizer.

A file appears under its name complete or not at all: it is written beside its place, flushed to
the disk, and renamed. Weights that are tied in the model (§3.4) are stored once. Equal models with
equal notes give equal bytes. A checksum over the whole file is kept in it; files of before there
was one are read without.
"""

import json
import re
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor, nn

from transformer.config import TransformerConfig
from transformer.files import write_atomically
from transformer.model import Transformer

_NO_CHECKSUM = "0" * 8  # stands in the place of the checksum while it is computed
_CHUNK = 1 << 24
_DTYPES = {"U16": np.uint16, "I32": np.int32, "I64": np.int64}


@dataclass(frozen=True, kw_only=True)
class Checkpoint:
    """What a checkpoint file holds; `tokenizer` is the text form of the tokenizer, if saved."""

    config: TransformerConfig
    weights: dict[str, Tensor]
    tokenizer: str | None = None
    notes: Mapping[str, Any]

    def model(self) -> Transformer:
        """Build the model, in evaluation mode, with these weights."""
        model = Transformer(self.config)
        load_weights(model, self.weights)
        return model.eval()


def save_checkpoint(
    path: str | Path, model: Transformer, *, tokenizer: str | None = None, **notes: Any
) -> None:
    """Write the model to `path`; `notes` (plain values) are kept with it.

    Raises:
        FloatingPointError: a weight is not finite. Nothing is written.
        OSError: the disk has too little room (with the bytes needed and free). Nothing is written.
    """
    metadata = {"config": json.dumps(model.config.to_dict()), "notes": json.dumps(notes)}
    if tokenizer is not None:
        metadata["tokenizer"] = tokenizer
    write_tensors(path, unique_weights(model), metadata)


def load_checkpoint(path: str | Path, *, expected: TransformerConfig | None = None) -> Checkpoint:
    """Read a checkpoint; with `expected`, require that configuration.

    Raises:
        FileNotFoundError: no such file.
        ValueError: the file is damaged or no checkpoint, or its configuration is another one.
    """
    weights, metadata = read_tensors(path)
    if "config" not in metadata:
        raise ValueError(f"{path} holds no model configuration: not a checkpoint of this package")
    try:
        config = TransformerConfig.from_dict(json.loads(metadata["config"]))
        notes = dict(json.loads(metadata.get("notes", "{}")))
    except (ValueError, TypeError, AttributeError) as error:
        raise ValueError(f"{path} has damaged metadata: {error}") from None
    if expected is not None:
        check_same_config(path, config, expected)
    return Checkpoint(
        config=config,
        weights=weights,
        tokenizer=metadata.get("tokenizer"),
        notes=notes,
    )


def load_model(path: str | Path) -> Transformer:
    """Read a checkpoint and build its model, in evaluation mode."""
    return load_checkpoint(path).model()


def average_checkpoints(paths: Iterable[str | Path]) -> Checkpoint:
    """Return the mean of the parameters of several checkpoints (§6.1), summed in float64.

    Raises:
        ValueError: no paths, or checkpoints whose configuration or tokenizer differ.
    """
    paths = list(paths)
    if not paths:
        raise ValueError("averaging needs at least one checkpoint, got none")
    first = load_checkpoint(paths[0])
    total = {name: weight.double() for name, weight in first.weights.items()}
    for path in paths[1:]:
        other = load_checkpoint(path, expected=first.config)
        if other.tokenizer != first.tokenizer:
            raise ValueError(f"{path} and {paths[0]} were trained with different tokenizers")
        for name, weight in other.weights.items():
            total[name] += weight.double()
    mean = {
        name: (value / len(paths)).to(first.weights[name].dtype) for name, value in total.items()
    }
    notes = {"average_of": [Path(path).name for path in paths]}
    return Checkpoint(config=first.config, weights=mean, tokenizer=first.tokenizer, notes=notes)


def unique_weights(model: nn.Module) -> dict[str, Tensor]:
    """Every parameter and saved buffer once: tied names share the first name's entry."""
    state = model.state_dict()
    shared = {name for names in _names(model) for name in names[1:]}
    return {name: value.detach() for name, value in state.items() if name not in shared}


def load_weights(model: nn.Module, weights: Mapping[str, Tensor]) -> None:
    """Copy `weights` into the model, in place, so that tied matrices stay tied.

    Raises:
        ValueError: tensors are missing, unknown, or of another shape.
    """
    own = unique_weights(model)
    missing, unknown = sorted(own.keys() - weights.keys()), sorted(weights.keys() - own.keys())
    if missing or unknown:
        raise ValueError(
            "weights do not fit the model: "
            f"missing {missing or 'none'}, unknown {unknown or 'none'}"
        )
    for name, tensor in own.items():
        if tensor.shape != weights[name].shape:
            raise ValueError(
                f"{name} must have shape {tuple(tensor.shape)}, got {tuple(weights[name].shape)}"
            )
    with torch.no_grad():
        for name, tensor in own.items():
            tensor.copy_(weights[name])


def check_same_config(
    path: str | Path, found: TransformerConfig, expected: TransformerConfig
) -> None:
    """Raise ValueError naming every field that differs, with both values."""
    ours, theirs = expected.to_dict(), found.to_dict()
    differing = [
        f"{name} (expected {ours.get(name)!r}, found {theirs.get(name)!r})"
        for name in dict.fromkeys([*ours, *theirs])
        if ours.get(name) != theirs.get(name)
    ]
    if differing:
        raise ValueError(f"{path} has another configuration: {', '.join(differing)}")


def write_tensors(
    path: str | Path, tensors: Mapping[str, Tensor], metadata: Mapping[str, str]
) -> None:
    """Write a safetensors file atomically; its checksum joins the metadata.

    Raises:
        FloatingPointError: a number is not finite; it would replace those of the file before.
        OSError: the disk has too little room.
    """
    on_cpu = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    broken = [name for name, tensor in on_cpu.items() if not all_finite([tensor])]
    if broken:
        raise FloatingPointError(f"{path} is not written: {broken[0]} is no longer finite")
    header, data = _split(memoryview(save(on_cpu)))
    _write(path, header, metadata, [data])


def write_arrays(
    path: str | Path, arrays: Mapping[str, np.ndarray], metadata: Mapping[str, str]
) -> None:
    """Write flat arrays into a file that `map_arrays` reads, as it is, without a copy of them."""
    header, end = {}, 0
    for name in sorted(arrays, key=lambda name: -arrays[name].itemsize):  # so they stay aligned
        dtype = next(word for word, kind in _DTYPES.items() if kind == arrays[name].dtype)
        start, end = end, end + arrays[name].nbytes
        header[name] = {"dtype": dtype, "shape": [len(arrays[name])], "data_offsets": [start, end]}
    _write(path, header, metadata, [arrays[name].data.cast("B") for name in header])


def _write(
    path: str | Path,
    header: Mapping[str, Any],
    metadata: Mapping[str, str],
    data: Sequence[memoryview],
) -> None:
    # the library writes the metadata in an order of chance
    kept = {name: metadata[name] for name in sorted(metadata)}
    header = {"__metadata__": {"checksum": _NO_CHECKSUM, **kept}, **header}
    text = json.dumps(header, ensure_ascii=False, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)  # the tensors stay aligned
    start = len(text).to_bytes(8, "little") + text
    value = zlib.crc32(start)
    for part in data:
        value = zlib.crc32(part, value)
    write_atomically(path, _with_checksum(start, _NO_CHECKSUM, f"{value:08x}"), *data)


def all_finite(tensors: Iterable[Tensor]) -> bool:
    """Whether none of the tensors holds NaN or infinity."""
    return all(bool(tensor.isfinite().all()) for tensor in tensors)


def read_tensors(path: str | Path) -> tuple[dict[str, Tensor], dict[str, str]]:
    """Read a safetensors file: tensors and metadata.

    Raises:
        FileNotFoundError: no such file.
        PermissionError: the file may not be read.
        ValueError: the file is damaged, or not safetensors.
    """
    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(f"no checkpoint at {path}")
    checksum = _checksum(path)  # first: the library calls a file that it may not read missing
    try:
        with safe_open(path, framework="pt") as file:
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
            metadata = file.metadata() or {}
    except SafetensorError as error:
        size = path.stat().st_size
        raise ValueError(
            f"{path} is damaged or no safetensors file ({size} bytes): {error}"
        ) from None
    kept = metadata.pop("checksum", checksum)
    if kept != checksum:
        raise ValueError(f"{path} is damaged: its checksum is {checksum}, not {kept}")
    return tensors, metadata


def map_arrays(path: str | Path) -> tuple[dict[str, np.ndarray], dict[str, str]]:
    """Map a file of `write_arrays` into memory: arrays, read when they are used, and metadata.

    The checksum is in the metadata.

    Raises:
        OSError: no such file.
        ValueError: the file is damaged.
    """
    content = np.memmap(path, np.uint8, mode="r")
    header, _ = _split(memoryview(content.data)[: 8 + int(content[:8].view("<u8")[0])])
    metadata = header.pop("__metadata__")
    if metadata["checksum"] != _checksum(Path(path)):
        raise ValueError(f"{path} is damaged")
    data = np.asarray(content)[content.size - max(end for _, end in _offsets(header)) :]
    return {
        name: data[start:end].view(_DTYPES[header[name]["dtype"]])
        for name, (start, end) in zip(header, _offsets(header), strict=True)
    }, metadata


def _offsets(header: Mapping[str, Any]) -> list[tuple[int, int]]:
    return [tuple(entry["data_offsets"]) for entry in header.values()]


def _split(content: memoryview) -> tuple[dict[str, Any], memoryview]:
    end = 8 + int.from_bytes(content[:8], "little")
    return json.loads(bytes(content[8:end])), content[end:]


def _with_checksum(start: bytes, old: str, new: str) -> bytes:
    # quotes inside a text are escaped in JSON, so this can only be the entry itself
    before, after = (f'"checksum":"{checksum}"'.encode() for checksum in (old, new))
    return start.replace(before, after)


def _checksum(path: Path) -> str:
    """CRC-32 of the file with nothing in the place of its own checksum."""
    with path.open("rb") as file:
        length = file.read(8)
        start = length + file.read(min(int.from_bytes(length, "little"), path.stat().st_size))
        kept = re.search(rb'"checksum":"([0-9a-f]{8})"', start)
        if kept:
            start = _with_checksum(start, kept[1].decode(), _NO_CHECKSUM)
        value = zlib.crc32(start)
        while chunk := file.read(_CHUNK):
            value = zlib.crc32(chunk, value)
    return f"{value:08x}"


def _names(model: nn.Module) -> list[list[str]]:
    names: dict[int, list[str]] = {}
    for name, parameter in model.named_parameters(remove_duplicate=False):
        names.setdefault(id(parameter), []).append(name)
    return list(names.values())
