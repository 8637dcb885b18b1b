"""The folder of one run: settings, log, checkpoints, and the state a resumed run starts from.

settings.json               configuration, training settings, checksum of the sentence pairs
log.csv                     one row a `Record`
checkpoints/001000.safetensors …  the newest `keep` checkpoints
best.safetensors            the parameters with the lowest validation perplexity yet
state.safetensors           parameters, Adam's moments, position in the epoch and the log
.lock                       held by the process that trains here
"""

import json
import math
import re
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from filelock import FileLock, Timeout
from safetensors import SafetensorError, safe_open
from torch import nn

from transformer.config import TransformerConfig
from transformer.data.batching import Pair
from transformer.files import read_text, remove_unfinished, write_atomically
from transformer.model import Transformer
from transformer.training.checkpoint import (
    load_weights,
    read_tensors,
    save_checkpoint,
    unique_weights,
    write_tensors,
)
from transformer.training.history import History
from transformer.training.settings import TrainSettings

FREE_TO_CHANGE = {
    "threads", "compile", "log_every", "valid_every", "save_every", "keep", "patience"
}  # fmt: skip
"""Settings that a resumed run may change: they do not touch the parameters."""

BEST = "best.safetensors"

LOCK = ".lock"


class RunFolder:
    """Reads and writes one run's folder; from `begin` to `close`, no other process writes there."""

    def __init__(
        self, path: str | Path, settings: TrainSettings, *, tokenizer: str | None = None
    ) -> None:
        self.path, self.settings, self.tokenizer = Path(path), settings, tokenizer
        self._lock = FileLock(self.path / LOCK, timeout=0)

    def begin(
        self,
        config: TransformerConfig,
        pairs: Sequence[Pair],
        *,
        resume: bool = False,
        notes: Mapping[str, Any] | None = None,
    ) -> None:
        """Write settings.json; with `resume`, require that the run in the folder is this one.

        A folder of which nothing but settings was saved is begun anew. Of a run that has made all
        its updates nothing is written.

        Raises:
            FileExistsError: the folder holds a run and `resume` is off.
            ValueError: the run to resume had other settings or other sentence pairs.
            BlockingIOError: another process trains in the folder.
        """
        self.path.mkdir(parents=True, exist_ok=True)
        try:
            self._lock.acquire()
        except Timeout:
            raise _in_use(self.path) from None
        try:
            self._begin(config, pairs, resume=resume, notes=notes or {})
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Let other processes train in the folder."""
        self._lock.release()

    def _begin(
        self,
        config: TransformerConfig,
        pairs: Sequence[Pair],
        *,
        resume: bool,
        notes: Mapping[str, Any],
    ) -> None:
        for name in ("settings.json", "log.csv", "state.safetensors", BEST):
            remove_unfinished(self.path, name)
        remove_unfinished(self.path / "checkpoints", "[0-9]*.safetensors")
        told = {
            "model": config.to_dict(),
            "training": self.settings.to_dict(),
            "pairs": {"number": len(pairs), "checksum": checksum(pairs)},
        }
        written = self.path / "settings.json"
        if not resume:
            refuse_existing_run(self.path)
        elif written.exists() and holds_run(self.path):
            found = read_json(written, sections=tuple(told))
            _check_same(self.path, found, told, self.settings.schedule)
            if self._is_finished():
                return
        content = json.dumps({**told, **notes}, indent=2, ensure_ascii=False)
        write_atomically(written, (content + "\n").encode())

    def _is_finished(self) -> bool:
        try:
            with safe_open(self.path / "state.safetensors", framework="pt") as file:
                update = int(json.loads(file.metadata()["position"])["update"])
        except (OSError, SafetensorError, KeyError, TypeError, ValueError):
            return False  # `load_state` says what is wrong
        history = History.read(self.path / "log.csv", up_to=update)
        patience = self.settings.patience or math.inf
        return update >= self.settings.max_updates or history.validations_since_best >= patience

    @property
    def checkpoints(self) -> list[Path]:
        """Files of the checkpoints kept, oldest first."""
        return checkpoints_of(self.path)

    def save_checkpoint(self, model: Transformer, update: int) -> None:
        """Write the parameters after `update` and drop all but the newest `keep` files."""
        path = self.path / "checkpoints" / f"{update:06d}.safetensors"
        save_checkpoint(path, model, tokenizer=self.tokenizer, update=update)
        for old in self.checkpoints[: -self.settings.keep]:
            old.unlink()

    def save_best(self, model: Transformer, update: int) -> None:
        """Write the parameters after `update`, the best so far on the validation split."""
        save_checkpoint(self.path / BEST, model, tokenizer=self.tokenizer, update=update)

    def save_state(
        self,
        model: nn.Module,
        optimizer: torch.optim.Optimizer,
        position: Mapping[str, Any],
        history: History,
        since_record: Mapping[str, Any],
    ) -> None:
        """Write what `load_state` needs to go on as if nothing had happened, and the log."""
        tensors = {f"model.{name}": value for name, value in unique_weights(model).items()}
        for name, parameter in model.named_parameters():
            for key, value in optimizer.state[parameter].items():
                tensors[f"adam.{key}.{name}"] = value
        history.write(self.path / "log.csv")
        places = {"position": position, "since_record": since_record}
        metadata = {name: json.dumps(dict(values)) for name, values in places.items()}
        write_tensors(self.path / "state.safetensors", tensors, metadata)

    def load_state(
        self, model: nn.Module, optimizer: torch.optim.Optimizer
    ) -> tuple[dict[str, Any], History, dict[str, Any]] | None:
        """Restore model and optimiser in place; None when nothing was saved yet.

        Returns position, log, and the sums since its last row.

        Raises:
            ValueError: a file of the folder is damaged.
        """
        path = self.path / "state.safetensors"
        if not path.exists():
            return None
        tensors, metadata = read_tensors(path)
        prefix = "model."
        try:
            position = json.loads(metadata["position"])
            since_record = json.loads(metadata["since_record"])
            moments = {
                (name, key): tensors[f"adam.{key}.{name}"]
                for name, _ in model.named_parameters()
                for key in ("step", "exp_avg", "exp_avg_sq")
            }
        except (KeyError, ValueError) as error:
            raise ValueError(f"{path} is no state of this run: {error}") from None
        history = History.read(self.path / "log.csv", up_to=position["update"])
        load_weights(
            model,
            {k.removeprefix(prefix): v for k, v in tensors.items() if k.startswith(prefix)},
        )
        for name, parameter in model.named_parameters():
            for key in ("step", "exp_avg", "exp_avg_sq"):
                optimizer.state[parameter][key] = moments[name, key].to(parameter.device)
        return position, history, since_record


def checkpoints_of(folder: str | Path) -> list[Path]:
    """Return the checkpoints that a run wrote into its folder, oldest first.

    Files of other names, there for whatever reason, are not the run's.
    """
    names = re.compile(r"[0-9]{6,}\.safetensors")
    found = (Path(folder) / "checkpoints").glob("*.safetensors")
    return sorted((p for p in found if names.fullmatch(p.name)), key=lambda path: int(path.stem))


def holds_run(path: str | Path) -> bool:
    """Whether a run saved anything in the folder; settings alone are left by a failed start."""
    saved = (Path(path) / name for name in ("state.safetensors", BEST))
    return any(file.exists() for file in saved) or bool(checkpoints_of(path))


def refuse_existing_run(path: str | Path) -> None:
    """Raise FileExistsError if the folder holds a run."""
    if holds_run(path):
        raise FileExistsError(f"{path} already holds a run: name another folder, or resume it")


def refuse_run_in_use(path: str | Path) -> None:
    """Raise BlockingIOError if another process trains in the folder, before much is read."""
    lock = Path(path) / LOCK
    if lock.exists():
        try:
            with FileLock(lock, timeout=0):
                pass
        except Timeout:
            raise _in_use(path) from None


def read_json(path: str | Path, *, sections: Sequence[str] = ()) -> dict[str, Any]:
    """Read a JSON file that holds an object with, at least, these `sections`, objects too.

    Raises:
        ValueError: naming the file, if it is damaged or holds something else.
    """
    try:
        content = json.loads(read_text(path))
    except ValueError as error:  # not UTF-8, or not JSON
        raise ValueError(f"{path} is damaged: {error}") from None
    if not isinstance(content, dict):
        raise ValueError(f"{path} must hold an object, got a {type(content).__name__}")
    for name in sections:
        if not isinstance(content.get(name), dict):
            raise ValueError(f"{path} is damaged: it has no section {name!r}")
    return content


def _in_use(path: str | Path) -> BlockingIOError:
    return BlockingIOError(f"{path} is in use: another process trains there, and writes to it")


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
        f"{name} ({found[part].get(name)!r} in the folder, {wanted[part].get(name)!r} now)"
        for part in wanted
        for name in dict.fromkeys([*wanted[part], *found[part]])
        if found[part].get(name) != wanted[part].get(name) and name not in free
    ]
    if differing:
        raise ValueError(f"{path} holds a run with other settings: {', '.join(differing)}")
