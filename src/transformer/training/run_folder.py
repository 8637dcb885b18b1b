"""The folder of one run: settings, log, checkpoints, and the state a resumed run starts from.

settings.json               configuration, training settings, checksums of the sentence pairs
log.csv                     one row a `Record`
checkpoints/001000.safetensors …  the newest `keep` checkpoints
best.safetensors            the parameters with the lowest validation perplexity yet
state.safetensors           parameters, Adam's moments, position in the epoch and the log
pairs.safetensors           the command's: tokenizer and ids, made once (`cli/prepared.py`)
.lock                       held by the process that trains here
"""

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from filelock import FileLock, Timeout
from safetensors import SafetensorError, safe_open
from torch import Tensor, nn

from transformer.config import TransformerConfig
from transformer.data.batching import Pair
from transformer.files import read_text, remove_unfinished, write_atomically
from transformer.model import Transformer
from transformer.training import distributed
from transformer.training.checkpoint import (
    load_weights,
    read_tensors,
    save_checkpoint,
    unique_weights,
    write_tensors,
)
from transformer.training.history import History
from transformer.training.same_run import counted, differences
from transformer.training.settings import TrainSettings

SETTINGS, STATE, LOG, BEST = "settings.json", "state.safetensors", "log.csv", "best.safetensors"

LOCK = ".lock"

MOMENTS = ("step", "exp_avg", "exp_avg_sq")


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
        valid: Sequence[Pair] | None = None,
        resume: bool = False,
        notes: Mapping[str, Any] | None = None,
    ) -> None:
        """Write settings.json; with `resume`, require that the run in the folder is this one.

        A folder of which nothing but settings was saved is begun anew. Of a run that has made all
        its updates nothing is written.

        Raises:
            FileExistsError: the folder holds a run and `resume` is off.
            FileNotFoundError: the run to resume lacks its settings or its state.
            ValueError: the run to resume had other settings, other sentence pairs to train or to
                validate on, or another number of processes.
            BlockingIOError: another process trains in the folder.
        """
        self.path.mkdir(parents=True, exist_ok=True)
        try:
            self._lock.acquire()
        except Timeout:
            raise _in_use(self.path) from None
        try:
            told = {
                "model": config.to_dict(),
                "training": self.settings.to_dict(),
                "pairs": counted(pairs),
                "valid": counted(valid or ()),
            }
            self._begin(told, resume=resume, notes=notes or {})
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Let other processes train in the folder."""
        self._lock.release()

    def _begin(
        self, told: Mapping[str, Mapping[str, Any]], *, resume: bool, notes: Mapping[str, Any]
    ) -> None:
        for name in (SETTINGS, LOG, STATE, BEST):
            remove_unfinished(self.path, name)
        remove_unfinished(self.path / "checkpoints", "[0-9]*.safetensors")
        written = self.path / SETTINGS
        if not resume:
            refuse_existing_run(self.path)
        elif holds_run(self.path):
            refuse_incomplete_run(self.path)
            recorded = read_json(written, sections=("model", "training", "pairs"))
            self._check_same({"valid": told["valid"], **recorded}, told)
            self._check_processes()
            if self._is_finished():
                return
        content = json.dumps({**told, **notes}, indent=2, ensure_ascii=False)
        write_atomically(written, (content + "\n").encode())

    def _check_same(self, recorded: Mapping[str, Any], told: Mapping[str, Any]) -> None:
        differing = differences(recorded, told, self.settings.schedule)
        if differing:
            raise ValueError(
                f"{self.path} holds a run with other settings: {', '.join(differing)}: "
                f"resume it as it was, or {_new_run(self.path)}"
            )

    def _check_processes(self) -> None:
        before, now = len(self._saved("since_record").get("losses", ())), distributed.world_size()
        if before not in (0, now):
            raise ValueError(
                f"{self.path} holds a run of {before} process{'es' * (before > 1)}, and now there "
                f"{'are' if now > 1 else 'is'} {now}: an update has {self.settings.accumulate} x "
                f"max_tokens from each. Start {before}, or {_new_run(self.path)}"
            )

    def _saved(self, name: str) -> dict[str, Any]:
        try:
            with safe_open(self.path / STATE, framework="pt") as file:
                return dict(json.loads(file.metadata()[name]))
        except (OSError, SafetensorError, KeyError, TypeError, ValueError):
            return {}  # `load_state` says what is wrong

    def _is_finished(self) -> bool:
        update = self._saved("position").get("update")
        if update is None:
            return False
        history = History.read(self.path / LOG, up_to=update)
        patience = self.settings.patience or math.inf
        return update >= self.settings.max_updates or history.validations_since_best >= patience

    @property
    def checkpoints(self) -> list[Path]:
        """Files of the checkpoints kept, oldest first."""
        return checkpoints_of(self.path)

    def save_checkpoint(self, model: Transformer, update: int, *, again: bool = True) -> None:
        """Write the parameters after `update` and drop all but the newest `keep` files.

        Without `again`, only if they were not written before.
        """
        path = self.path / "checkpoints" / f"{update:06d}.safetensors"
        if path.exists() and not again:
            return
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
        history.write(self.path / LOG)
        places = {"position": position, "since_record": since_record}
        metadata = {name: json.dumps(dict(values)) for name, values in places.items()}
        write_tensors(self.path / STATE, tensors, metadata)

    def load_state(
        self, model: nn.Module, optimizer: torch.optim.Optimizer
    ) -> tuple[dict[str, Any], History, dict[str, Any]] | None:
        """Restore model and optimiser in place; None when nothing was saved yet.

        Returns position, log, and the sums since its last row.

        Raises:
            ValueError: a file of the folder is damaged.
        """
        path = self.path / STATE
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
                for key in MOMENTS
            }
        except (KeyError, ValueError) as error:
            raise ValueError(f"{path} is no state of this run: {error}") from None
        history = History.read(self.path / LOG, up_to=position["update"])
        load_weights(
            model,
            {k.removeprefix(prefix): v for k, v in tensors.items() if k.startswith(prefix)},
        )
        for name, parameter in model.named_parameters():
            for key in MOMENTS:
                optimizer.state[parameter][key] = moments[name, key].to(parameter.device)
        return position, history, since_record


def state_tensors(model: nn.Module, optimizer: torch.optim.Optimizer) -> Iterator[Tensor]:
    """Yield the tensors of a state, parameters and Adam's moments, new ones where it has none."""
    yield from unique_weights(model).values()
    for parameter in model.parameters():
        kept = optimizer.state[parameter]
        for key in MOMENTS:
            empty = parameter.new_zeros(() if key == "step" else parameter.shape)
            yield kept.setdefault(key, empty)


def checkpoints_of(folder: str | Path) -> list[Path]:
    """Return the checkpoints that a run wrote into its folder, oldest first.

    Files of other names, there for whatever reason, are not the run's.
    """
    names = re.compile(r"[0-9]{6,}\.safetensors")
    files = (Path(folder) / "checkpoints").glob("*.safetensors")
    return sorted((p for p in files if names.fullmatch(p.name)), key=lambda path: int(path.stem))


def holds_run(path: str | Path) -> bool:
    """Whether a run saved anything in the folder; settings alone are left by a failed start."""
    saved = (Path(path) / name for name in (STATE, BEST))
    return any(file.exists() for file in saved) or bool(checkpoints_of(path))


def refuse_existing_run(path: str | Path) -> None:
    """Raise FileExistsError if the folder holds a run."""
    if holds_run(path):
        raise FileExistsError(f"{path} already holds a run: name another folder, or resume it")


def refuse_incomplete_run(path: str | Path) -> None:
    """Raise FileNotFoundError if the run in the folder has lost what a resumed run needs.

    Begun anew, it would write over what is left. A run that was killed before it had saved a state
    may have a best checkpoint; nothing else is there then.
    """
    path = Path(path)
    saved = checkpoints_of(path)
    for name, is_due in ((SETTINGS, True), (STATE, bool(saved) or (path / LOG).exists())):
        if is_due and not (path / name).exists():
            held = f"checkpoints up to update {int(saved[-1].stem)}" if saved else "a run"
            raise FileNotFoundError(
                f"{path} holds {held}, but no {name}: copy it there, or {_new_run(path)}"
            )


def _new_run(path: Path) -> str:
    saved = [*checkpoints_of(path)[-1:], *(best for best in (path / BEST,) if best.exists())]
    start = f" with --start-from {saved[0]}" if saved else ""
    return f"begin a new run in another folder{start}"


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
