"""The examination: a model is called, shaken and followed; afterwards it is as it was (§3)."""

import copy
import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from walkthrough.doctor.calling import Call, Subject, find_call
from walkthrough.doctor.report import WORDS, Report
from walkthrough.doctor.tape import Tape, norms_of, record

Step = Callable[[nn.Module, tuple[Tensor, Tensor]], Any]


class Examination:
    """What all probes share: the model, a batch, its logits, and the report they write to.

    `start` has the logits of the weights as they are; `base` those of the same weights shaken a
    little, so that a part that begins at zero has an effect. The tapes were recorded before that.
    """

    def __init__(self, subject: Subject, report: Report, guessed: bool) -> None:
        self.subject, self.model, self.report, self.guessed = (
            subject,
            subject.model,
            report,
            guessed,
        )
        self.source, self.target = subject.ids(0), subject.ids(1)
        self.start = self.base = self.run(self.source, self.target)
        self.tapes: dict[bool, Tape] = {}  # by whether in training
        self.far = 1e-4 if self.start.dtype in (torch.float32, torch.float64) else 2e-2
        self.scale, self.first, self.repeatable, self.reads_source = 1.0, 0, True, True
        self.leaks: dict[str, float] = {}
        self.bug, self.departs, self.same, self.unseen = (
            partial(report.add, to) for to in ("bugs", "departures", "same", "not_examined")
        )

    @property
    def tape(self) -> Tape | None:
        """What was recorded in evaluation."""
        return self.tapes.get(False)

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

    def moved(self, one: Tensor, other: Tensor) -> Tensor:
        """Return how far each prediction moved at most, in standard deviations of the logits."""
        return (one - other).detach().abs().amax(-1) / self.scale

    def follow(self) -> None:
        """Record a forward pass in evaluation and one in training."""
        norms = norms_of(self.subject)
        for train in (False, True):
            self.tapes[train] = record(self.subject, norms, train=train)

    def shake(self) -> None:
        """Move every parameter a little, then measure the logits that all probes compare with."""
        drawn = torch.Generator().manual_seed(1)
        for parameter in self.model.parameters():
            if parameter.requires_grad and parameter.is_floating_point():
                noise = torch.randn(parameter.shape, generator=drawn).to(parameter)
                parameter.data.add_(noise, alpha=0.03)
        self.base = self.run(self.source, self.target)
        self.scale = float(self.base.std()) or 1.0


def examine(
    model: nn.Module,
    pad: int | tuple[int, int] = 0,
    call: Call | None = None,
    step: Step | None = None,
) -> Report:
    """Examine somebody's encoder–decoder, and say what is seen, with a witness for each line (§3).

    `pad` is the id of padding, or a pair of them for source and target. `call` takes ids of shape
    (batch, source length) and (batch, target length) and returns logits; it is needed where the
    model wants more than two tensors of ids and the common masks do not fit. `step` takes the model
    and a batch, a pair of padded ids (source, target), and returns the loss, with or without an
    update. Trained or not makes no difference; small models are examined faster. Nothing is
    trained, and nothing of the model is changed.

    Raises:
        TypeError: the model is not a module of PyTorch, or a pad id is not a whole number.
        CannotCallError: no way to call the model was found; the message says what to write.
    """
    from walkthrough.doctor.probes import PROBES, first_loss, with_step

    if not isinstance(model, nn.Module):
        raise TypeError(f"model must be a torch.nn.Module, got {type(model).__name__}")
    pads = pad if isinstance(pad, tuple) else (pad, pad)
    if len(pads) != 2 or not all(type(one) is int for one in pads):
        raise TypeError(f"pad must be a whole number or a pair of them, got {pad!r}")
    report = Report(type(model).__name__)
    with as_it_was(model):
        model.eval()
        x = Examination(find_call(model, call, pads), report, not isinstance(pad, tuple))
        if x.subject.masks:
            x.unseen("inside.masks", said=x.subject.masks)
        if not bool(torch.isfinite(x.start).all()):
            x.bug("not a number.everywhere")
            return report
        try:
            x.follow()
        except Exception as error:  # whatever somebody's code raises under a dispatch mode
            x.unseen("inside.tape", error=f"{type(error).__name__}: {error}")
        _run(x, "first loss", first_loss)
        x.shake()
        for name, probe in PROBES:
            _run(x, name, probe)
        _run(x, "labels", lambda x: with_step(x, step))
    return report


def _run(x: Examination, name: str, probe: Callable[[Examination], bool | None]) -> None:
    try:
        looked_for = WORDS[name].get("looked_for")
        if probe(x) is not False and looked_for:
            x.report.looked_for.append(looked_for)
    except Exception as error:  # one probe must not end the examination
        x.unseen("inside.probe", error=f"{type(error).__name__}: {error} ({name})")


@contextmanager
def as_it_was(model: nn.Module) -> Iterator[None]:
    """Put back all that calls and probes can change: weights, modes, hooks, gradients, seeds."""
    held = [(vars(m), {k: (v, _copied(v)) for k, v in vars(m).items()}) for m in model.modules()]
    tensors = [(x, x.detach().clone()) for x in (*model.parameters(), *model.buffers())]
    grads = [(p, p.grad, p.requires_grad) for p in model.parameters()]
    numbers, numpy_numbers = random.getstate(), np.random.get_state()
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # in small products more of them wait for one another
    devices = range(torch.cuda.device_count())
    try:
        for parameter, *_ in grads:
            parameter.grad = None
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


def _copied(value: Any) -> Any:
    return copy.copy(value) if isinstance(value, (list, dict, set)) else value
