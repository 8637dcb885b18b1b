"""A model is called, shaken and followed; afterwards it is as it was (§3)."""

import copy
import random
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from walkthrough.doctor.calling import Subject
from walkthrough.doctor.norms import norms_of
from walkthrough.doctor.report import Report
from walkthrough.doctor.tags import Attention
from walkthrough.doctor.tape import Tape, record

MODES = (("evaluation", False), ("training", True))


def listed(names: Iterable[str]) -> str:
    """Return names without repetition, as a list."""
    return ", ".join(dict.fromkeys(name for name in names if name))


class Examination:
    """What all probes share: the model, a batch, its logits, and the report they write to.

    `start` has the logits of the weights as they are; `base` those of the same weights shaken a
    little, so that a part that begins at zero has an effect. The tapes were recorded before that:
    one in evaluation (False), one in training (True), and a painted one.
    """

    def __init__(self, subject: Subject, report: Report, guessed: bool) -> None:
        self.subject, self.model, self.report = subject, subject.model, report
        self.source, self.target, self.guessed = subject.ids(0), subject.ids(1), guessed
        self.start = self.base = self.run(self.source, self.target)
        self.tapes = {train: Tape({}, paint=False) for train in (False, True)}
        self.followed: list[tuple[str, str, bool]] = []
        self.norms: dict[str, str] = {}
        self.far = 1e-4 if self.start.dtype in (torch.float32, torch.float64) else 0.1
        self.scale, self.first, self.repeatable, self.reads_source = 1.0, 0, True, True
        self.leaks: dict[str, float] = {}
        self.written: Tensor | None = None  # what `future` moved in evaluation
        self.bug, self.departs, self.same, self.unseen = (
            partial(report.add, to) for to in ("bugs", "departures", "same", "not_examined")
        )

    @property
    def tape(self) -> Tape:
        """What was recorded in evaluation; an empty tape, where nothing could be followed."""
        return self.tapes[False]

    def attentions(self, kind: str = "") -> list[Attention]:
        """Return the attentions that were seen in evaluation, of one kind or of all."""
        return [a for a in self.tape.attentions if a.kind == kind or not kind]

    def judge(
        self,
        name: str,
        unit: str,
        ones: Sequence[Any],
        odd: Sequence[str],
        witness: str = "",
        *,
        say: Callable[..., None] | None = None,
        key: str = "other",
        **values: Any,
    ) -> None:
        """Say of what was seen, `ones`, that it is the same, or in which modules it is odd."""
        if not ones:
            self.unseen(f"{name}.unseen")
        elif not odd:
            self.same(f"{name}.same", f"{len(ones)} {unit}")
        else:
            seen = f"{len(odd)} of {len(ones)} {unit}{witness}"
            (say or self.departs)(f"{name}.{key}", seen, listed(odd), **values)

    def padded(self, side: int, row: int | slice = 0, n: int = 2) -> Tensor:
        """Return the source (0) or target (1) with padding in place of a sentence's last words."""
        ids = (self.source, self.target)[side].clone()
        ids[row, -n:] = self.subject.pads[side]
        return ids

    def run(
        self, source: Tensor, target: Tensor, *, train: bool = False, grad: bool = False
    ) -> Tensor:
        """Return the logits; what a call in training mode does to buffers is undone."""
        buffers = [(b, b.clone()) for b in self.model.buffers()] if train else []
        self.model.train(train)
        with torch.set_grad_enabled(grad):
            logits = self.subject.logits(source, target)
        for buffer, was in buffers:
            buffer.data.copy_(was)
        return logits

    def moved(self, logits: Tensor, other: Tensor) -> Tensor:
        """Return how far each prediction moved at most, in standard deviations of the logits."""
        return (logits - other).detach().abs().amax(-1) / self.scale

    def effect(self, source: Tensor | None = None, target: Tensor | None = None) -> float:
        """Return how far the predictions move at most with another source or target."""
        pair = (
            (self.source if source is None else source),
            (self.target if target is None else target),
        )
        return float(self.moved(self.run(*pair)[:, : self.base.shape[1]], self.base).max())

    def follow(self) -> None:
        """Record a forward pass in evaluation, one in training, and a painted one."""
        norms, names = norms_of(self.subject), {m: n for n, m in self.model.named_modules()}
        self.norms = {names[m]: how for m, how in norms.items()}
        for train in (False, True):
            self.tapes[train] = record(self.subject, norms, train=train)
        if self.far == 1e-4:  # else numbers of rows are rounded
            self.followed = record(self.subject, norms, paint=True).followed

    def shake(self) -> None:
        """Move every parameter a little, then measure the logits that all probes compare with."""
        drawn = torch.Generator().manual_seed(1)
        for parameter in self.model.parameters():
            if parameter.requires_grad and parameter.is_floating_point():
                noise = torch.randn(parameter.shape, generator=drawn).to(parameter)
                parameter.data.add_(noise, alpha=0.03)
        self.base = self.run(self.source, self.target)
        self.scale = float(self.base.std()) or 1.0


@contextmanager
def as_it_was(model: nn.Module) -> Iterator[None]:
    """Put back all that calls and probes can change: weights, modes, hooks, gradients, seeds."""
    held = [(vars(m), {k: (v, _copied(v)) for k, v in vars(m).items()}) for m in model.modules()]
    tensors = [(x, x.detach().clone()) for x in (*model.parameters(), *model.buffers())]
    grads = [(p, p.grad, p.requires_grad) for p in model.parameters()]
    numbers, numpy_numbers = random.getstate(), np.random.get_state()
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # in small products more of them wait for one another
    try:
        for parameter, *_ in grads:
            parameter.grad = None
        devices = range(torch.cuda.device_count())
        with torch.random.fork_rng(devices=devices), torch.enable_grad():
            yield
    finally:
        torch.set_num_threads(threads)
        random.setstate(numbers)
        np.random.set_state(numpy_numbers)
        for attributes, values in held:
            for name in set(attributes) - set(values):
                del attributes[name]
            for name, (value, was) in values.items():
                attributes[name] = value
                if isinstance(value, list):
                    value[:] = was
                elif isinstance(value, (dict, set)):
                    value.clear()
                    value.update(was)
        for tensor, was in tensors:
            tensor.data.copy_(was)
        for parameter, grad, wanted in grads:
            parameter.grad = grad
            parameter.requires_grad_(wanted)


def not_compiled() -> AbstractContextManager[Any]:
    """Let what torch.compile was given run as it is: it would compile anew for every probe."""
    loaded = "torch._dynamo" in sys.modules
    return torch.compiler.set_stance("force_eager") if loaded else nullcontext()


def _copied(value: Any) -> Any:
    return copy.copy(value) if isinstance(value, (list, dict, set)) else value
