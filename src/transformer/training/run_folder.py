"""The folder of one run: settings, log, checkpoints, and the state a resumed run starts from.

settings.json               configuration, training settings, checksum of the sentence pairs
log.csv                     one row a `Record`
checkpoints/001000.safetensors …  the newest `keep` checkpoints
state.safetensors           parameters, Adam's moments, position in the epoch
"""

import json
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from transformer.config import TransformerConfig
from transformer.data.batching import Pair
from transformer.model import Transformer
from transformer.training.checkpoint import (
    load_weights,
    read_tensors,
    save_checkpoint,
    unique_weights,
    write_atomically,
    write_tensors,
)
from transformer.training.history import History
from transformer.training.settings import TrainSettings

FREE_TO_CHANGE = {"threads", "compile", "log_every", "valid_every", "save_every", "keep"}
"""Settings that a resumed run may change: they do not touch the parameters."""


class RunFolder:
    """Reads and writes one run's folder."""

    def __init__(
        self, path: str | Path, settings: TrainSettings, *, tokenizer: str | None = None
    ) -> None:
        self.path, self.settings, self.tokenizer = Path(path), settings, tokenizer

    def begin(
        self,
        config: TransformerConfig,
        pairs: Sequence[Pair],
        *,
        resume: bool = False,
        notes: Mapping[str, Any] | None = None,
    ) -> None:
        """Write settings.json; with `resume`, require that the run in the folder is this one.

        Raises:
            FileExistsError: the folder holds a run and `resume` is off.
            ValueError: the run to resume had other settings or other sentence pairs.
        """
        told = {
            "model": config.to_dict(),
            "training": self.settings.to_dict(),
            "pairs": {"number": len(pairs), "checksum": checksum(pairs)},
        }
        written = self.path / "settings.json"
        if written.exists():
            if not resume:
                refuse_existing_run(self.path)
            _check_same(self.path, json.loads(written.read_text()), told, self.settings.schedule)
        content = json.dumps({**told, **(notes or {})}, indent=2, ensure_ascii=False)
        write_atomically(written, (content + "\n").encode())

    @property
    def checkpoints(self) -> list[Path]:
        """Files of the checkpoints kept, oldest first."""
        return sorted((self.path / "checkpoints").glob("*.safetensors"))

    def save_checkpoint(self, model: Transformer, update: int) -> None:
        """Write the parameters after `update` and drop all but the newest `keep` files."""
        path = self.path / "checkpoints" / f"{update:06d}.safetensors"
        save_checkpoint(path, model, tokenizer=self.tokenizer, update=update)
        for old in self.checkpoints[: -self.settings.keep]:
            old.unlink()

    def save_state(
        self,
        model: nn.Module,
        optimizer: torch.optim.Optimizer,
        position: Mapping[str, Any],
        history: History,
    ) -> None:
        """Write what `load_state` needs to go on as if nothing had happened, and the log."""
        tensors = {f"model.{name}": value for name, value in unique_weights(model).items()}
        for name, parameter in model.named_parameters():
            for key, value in optimizer.state[parameter].items():
                tensors[f"adam.{key}.{name}"] = value
        history.write(self.path / "log.csv")
        write_tensors(
            self.path / "state.safetensors", tensors, {"position": json.dumps(dict(position))}
        )

    def load_state(
        self, model: nn.Module, optimizer: torch.optim.Optimizer
    ) -> tuple[dict[str, Any], History] | None:
        """Restore model and optimiser in place; None when nothing was saved yet."""
        path = self.path / "state.safetensors"
        if not path.exists():
            return None
        tensors, metadata = read_tensors(path)
        prefix = "model."
        load_weights(
            model,
            {k.removeprefix(prefix): v for k, v in tensors.items() if k.startswith(prefix)},
        )
        for name, parameter in model.named_parameters():
            for key in ("step", "exp_avg", "exp_avg_sq"):
                value = tensors[f"adam.{key}.{name}"]
                optimizer.state[parameter][key] = value.to(parameter.device)
        position = json.loads(metadata["position"])
        return position, History.read(self.path / "log.csv", up_to=position["update"])


def refuse_existing_run(path: str | Path) -> None:
    """Raise FileExistsError if the folder holds a run."""
    if (Path(path) / "settings.json").exists():
        raise FileExistsError(f"{path} already holds a run: name another folder, or resume it")


def checksum(pairs: Sequence[Pair]) -> int:
    """CRC-32 over all ids, so that a run is not resumed on other sentences."""
    value = 0
    for source, target in pairs:
        value = zlib.crc32(np.array([len(source), *source, *target], np.int64).tobytes(), value)
    return value


def _check_same(
    path: Path, found: Mapping[str, Any], wanted: Mapping[str, Any], schedule: str
) -> None:
    free = FREE_TO_CHANGE if schedule == "linear" else FREE_TO_CHANGE | {"max_updates"}
    differing = [
        f"{name} ({found[part].get(name)!r} in the folder, {value!r} now)"
        for part in wanted
        for name, value in wanted[part].items()
        if found[part].get(name) != value and name not in free
    ]
    if differing:
        raise ValueError(f"{path} holds a run with other settings: {', '.join(differing)}")
