"""The training loop (§5): batches by tokens, Adam, Eq. 3, label smoothing, validation.

Everything random in an update is a function of (seed, update, process), and the batches of an
epoch are a function of (seed, epoch). So a run that was stopped and resumed goes through the same
numbers as one that was not, and logs them, but for its times.
"""

import math
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from tqdm import tqdm  # tqdm.auto warns in notebooks that lack ipywidgets

from transformer.data.batching import Pair, collate, token_batches
from transformer.model import Transformer
from transformer.training import distributed
from transformer.training.checkpoint import all_finite
from transformer.training.history import History, Record
from transformer.training.objective import TranslationLoss, perplexity
from transformer.training.process import autocast, seed_from, stop_signal, threads
from transformer.training.run_folder import RunFolder, state_tensors
from transformer.training.same_run import counted
from transformer.training.settings import TrainSettings

Callback = Callable[[Record], object]
Pairs = Sequence[Pair] | Callable[[int], Sequence[Pair]]
"""The sentence pairs, or a function that spells them for an epoch (BPE dropout)."""


def train(
    model: Transformer,
    pairs: Pairs,
    settings: TrainSettings,
    *,
    valid: Sequence[Pair] | None = None,
    folder: str | Path | None = None,
    resume: bool = False,
    tokenizer: str | None = None,
    progress: bool = True,
    callbacks: Sequence[Callback] = (),
    notes: Mapping[str, Any] | None = None,
) -> History:
    """Train `model` in place and return the log; with a `folder`, save it as it goes (§5).

    Each callback gets every new `Record`. With a folder, Ctrl-C and SIGTERM save the state before
    they end the run, and `resume` goes on from the last state saved there. `pairs` may be a
    function of the epoch, for data that is spelled anew each time. `tokenizer` is text
    that is kept in the checkpoints, `notes` are plain values kept in settings.json.

    Raises:
        ValueError: unfit pairs, or a run to resume that had other settings.
        FileExistsError: the folder holds a run and `resume` is off.
        FileNotFoundError: a run to resume that has lost its settings or its state.
        BlockingIOError: another process trains in the folder.
        FloatingPointError: the loss is no longer a number.
    """
    device_type = torch.device(settings.device).type
    with distributed.process_group(device_type), threads(settings.threads):
        device = distributed.local_device(settings.device)
        trainer = Trainer(model.to(device), pairs, settings, valid=valid, callbacks=callbacks)
        if folder is not None:
            trainer.open(folder, tokenizer=tokenizer, resume=resume, notes=notes)
        return trainer.run(progress=progress and distributed.rank() == 0)


@dataclass
class Position:
    """How far a run has come: what a resumed run needs to know beside its parameters."""

    update: int = 0
    epoch: int = 0
    updates_in_epoch: int = 0
    tokens: int = 0
    seconds: float = 0.0
    loss_scale: dict[str, float] = field(default_factory=dict)  # of float16's gradient scaler


class Trainer:
    """One run: `run` holds the loop, `step` one update."""

    def __init__(
        self,
        model: Transformer,
        pairs: Pairs,
        settings: TrainSettings,
        *,
        valid: Sequence[Pair] | None = None,
        callbacks: Sequence[Callback] = (),
    ) -> None:
        self.model, self.settings, self.valid = model, settings, valid
        self.spell = pairs if callable(pairs) else None
        self.pairs: Sequence[Pair] = pairs(0) if callable(pairs) else pairs
        if distributed.world_size() > 1:
            splits = {"training": self.pairs, "validation": valid or ()}
            told = {f"{name} pairs": counted(split) for name, split in splits.items()}
            distributed.agree({**told, **settings.replace(threads=None).to_dict()})
        self.callbacks = callbacks
        self.folder: RunFolder | None = None  # of the first process, which alone writes
        self.held = ExitStack()  # the folder, until the run ends
        self.interruptible = False
        self.device = model.output_weight.device
        self.autocast = autocast(settings.precision, self.device)
        self.scaler = torch.amp.GradScaler(
            self.device.type, enabled=settings.precision == "float16"
        )
        self.optimizer = torch.optim.Adam(
            model.parameters(), lr=0.0, betas=(0.9, 0.98), eps=1e-9, fused=True
        )
        loss = TranslationLoss(model, smoothing=settings.smoothing, r_drop=settings.r_drop)
        if settings.compile:
            loss.compile(dynamic=True)
        self.loss = distributed.distribute(loss, self.device)
        self.position = Position()
        self.history = History()
        self.since_record = _Totals()

    def open(
        self,
        path: str | Path,
        *,
        tokenizer: str | None = None,
        resume: bool = False,
        notes: Mapping[str, Any] | None = None,
    ) -> None:
        """Use a run folder; with `resume`, take up the state saved there."""
        folder = RunFolder(path, self.settings, tokenizer=tokenizer)
        options: dict[str, Any] = {"valid": self.valid, "resume": resume, "notes": notes}

        def begin() -> tuple[dict[str, Any], History, dict[str, Any]] | None:
            folder.begin(self.model.config, self.pairs, **options)
            self.held.callback(folder.close)
            self.folder = folder
            return folder.load_state(self.model, self.optimizer) if resume else None

        self.interruptible = True  # all processes, so that they stop at the same update
        try:
            saved = distributed.from_first(begin)
        except BaseException:
            self.held.close()
            raise
        if saved is None:
            return
        # each machine may have a disk of its own: what it holds must not matter
        distributed.send_from_first(state_tensors(self.model, self.optimizer))
        self.position, self.history = Position(**saved[0]), saved[1]
        self.since_record.restore(**saved[2])
        if self.position.loss_scale:
            self.scaler.load_state_dict(self.position.loss_scale)
        if self.folder is not None and self._is_due(self.settings.save_every):
            self.folder.save_checkpoint(self.model, self.position.update, again=False)

    def run(self, *, progress: bool = True) -> History:
        """Update the parameters until `max_updates`, the end of patience, or a signal to stop."""
        at, settings = self.position, self.settings
        bar = tqdm(
            total=settings.max_updates, initial=at.update, unit="update", disable=not progress
        )
        with self.held, bar, stop_signal(enabled=self.interruptible) as stop:
            stopping = False
            while not self.is_finished and not stopping:
                groups = self.groups(at.epoch)
                for group in groups[at.updates_in_epoch :]:
                    stopping = self.step(group, stop=bool(stop))
                    at.updates_in_epoch += 1
                    bar.update()
                    self.record(bar)
                    self.save(stopping=stopping)
                    if stopping or self.is_finished:
                        break
                else:
                    at.epoch, at.updates_in_epoch = at.epoch + 1, 0
        self.model.eval()
        self.history.interrupted_by = stop[0] if stop else None
        return self.history

    def groups(self, epoch: int) -> list[list[Sequence[int]]]:
        """Batches of an epoch (places of pairs), grouped into updates.

        A last group with fewer batches than the others is left out; its pairs come at another
        place of the next epoch.
        """
        settings = self.settings
        if self.spell is not None:
            self.pairs = self.spell(epoch)
        batches = token_batches(
            self.pairs, max_tokens=settings.max_tokens, seed=settings.seed, epoch=epoch
        )
        size = settings.accumulate * distributed.world_size()
        if len(batches) < distributed.world_size():
            raise ValueError(
                f"{distributed.world_size()} processes need a batch each, got {len(batches)}: "
                f"lower max_tokens (now {settings.max_tokens})"
            )
        groups = [batches[start : start + size] for start in range(0, len(batches), size)]
        return groups[:-1] if len(groups) > 1 and len(groups[-1]) < size else groups

    def step(self, group: Sequence[Sequence[int]], *, stop: bool = False) -> bool:
        """Make one update from the gradient's mean over all target tokens of `group` (§5.3).

        Returns whether any process was asked to stop.
        """
        began = time.perf_counter()
        at, settings, processes = self.position, self.settings, distributed.world_size()
        at.update += 1
        seed_from(settings.seed, at.update, distributed.rank())
        self.model.train()
        batches = [collate(self.pairs, batch) for batch in distributed.share(group)]
        tokens, stopping = distributed.sum_over_processes(
            sum(batch.n_target_tokens for batch in batches), stop, device=self.device
        )
        total = torch.zeros((), device=self.device)
        for number, batch in enumerate(batches, start=1):
            batch = batch.to(self.device)
            with distributed.exchanging(self.loss, now=number == len(batches)):
                with self.autocast():
                    loss = self.loss(batch.source, batch.target_in, batch.target_out)
                # DistributedDataParallel takes the mean over processes; the sum is what we want
                self.scaler.scale(loss * (processes / tokens)).backward()
            total += loss.detach()
        rate = settings.rate(at.update, d_model=self.model.config.d_model)
        for parameters in self.optimizer.param_groups:
            parameters["lr"] = rate
        self.scaler.unscale_(self.optimizer)
        norm = nn.utils.clip_grad_norm_(self.model.parameters(), settings.clip or math.inf)
        self.scaler.step(self.optimizer)
        self.scaler.update()
        self.optimizer.zero_grad()
        at.tokens += int(tokens)
        self.since_record.add(total, norm, int(tokens), rate, time.perf_counter() - began)
        return stopping > 0

    def record(self, bar: tqdm) -> None:
        """Log, validate and call back where it is due."""
        at, settings = self.position, self.settings
        validates = self.valid is not None and self._is_due(settings.valid_every)
        if not validates and not self._is_due(settings.log_every):
            return
        new = self.since_record
        (loss,) = distributed.sum_over_processes(float(new.loss), device=self.device)
        if not math.isfinite(loss):
            raise FloatingPointError(
                f"the loss is {loss} at update {at.update} (rate {new.rate:.2g}, gradient norm "
                f"{float(new.norm):.2g}): lower the peak rate, or clip the gradient"
            )
        at.seconds += new.seconds
        record = Record(
            update=at.update,
            epoch=at.epoch,
            loss=loss / new.tokens,
            rate=new.rate,
            gradient_norm=float(new.norm),
            tokens=at.tokens,
            tokens_per_second=new.tokens / new.seconds,
            seconds=at.seconds,
        )
        if validates and self.valid is not None:
            value = perplexity(self.model, self.valid, max_tokens=settings.max_tokens, shared=True)
            self._check_finite([value])
            record = replace(record, valid_perplexity=value)
        self.since_record = _Totals()
        self.history.records.append(record)
        shown = [f"loss {record.loss:.3f}", f"{record.tokens_per_second:.0f} tokens/s"]
        if self.history.perplexities:
            shown.insert(1, f"valid perplexity {self.history.perplexities[-1][1]:.2f}")
        bar.set_postfix_str(", ".join(shown))
        if validates and self.folder is not None and not self.history.validations_since_best:
            self.folder.save_best(self.model, at.update)
        for callback in self.callbacks:
            callback(record)

    def save(self, *, stopping: bool) -> None:
        """Save checkpoint and state where it is due; only the state when stopping early."""
        due = self._is_due(self.settings.save_every)
        if not (due or stopping) or not self.interruptible:
            return
        since_record = self.since_record.to_dict(self.device)  # of all processes
        self._check_finite(since_record["losses"])
        if self.folder is None:
            return
        self.position.loss_scale = self.scaler.state_dict()
        self.folder.save_state(
            self.model, self.optimizer, asdict(self.position), self.history, since_record
        )
        if due:  # after the state: checkpoints without one tell that it was lost
            self.folder.save_checkpoint(self.model, self.position.update)

    @property
    def is_finished(self) -> bool:
        """Whether the run is at `max_updates`, or out of patience."""
        patience = self.settings.patience
        is_patient = patience is None or self.history.validations_since_best < patience
        return self.position.update >= self.settings.max_updates or not is_patient

    def _check_finite(self, losses: Sequence[float]) -> None:
        """Raise FloatingPointError, in all processes, rather than save what cannot be resumed."""
        moments = (value for state in self.optimizer.state.values() for value in state.values())
        if not all_finite([*self.model.parameters(), *moments, torch.tensor(losses)]):
            raise FloatingPointError(
                f"the weights or the loss are no longer finite at update {self.position.update}, "
                "nothing more is saved: lower the peak rate, or clip the gradient"
            )

    def _is_due(self, every: int) -> bool:
        return self.is_finished or (every > 0 and self.position.update % every == 0)


class _Totals:
    """Sums since the last record, kept on the device so that no update waits for them."""

    def __init__(self) -> None:
        self.loss: Tensor | float = 0.0
        self.tokens, self.seconds = 0, 0.0
        self.norm: Tensor | float  # of the last update, as the rate
        self.rate: float

    def add(self, loss: Tensor, norm: Tensor, tokens: int, rate: float, seconds: float) -> None:
        self.loss = self.loss + loss
        self.norm, self.rate = norm, rate
        self.tokens += tokens
        self.seconds += seconds

    def to_dict(self, device: torch.device) -> dict[str, Any]:
        """Return what a resumed run goes on from; every process adds up its own loss."""
        losses = distributed.each_process(float(self.loss), device=device)
        return {"losses": losses, "tokens": self.tokens, "seconds": self.seconds}

    def restore(self, losses: Sequence[float], tokens: int, seconds: float) -> None:
        """Take up `to_dict`, in as many processes."""
        self.loss = losses[distributed.rank()]
        self.tokens, self.seconds = tokens, seconds
