"""With `step`: what the loss asks for, whether it counts padding, and what the optimiser moves.

A loss says what it wants by its gradient with respect to the logits: it is lowest at the label, and
zero where nothing is asked.
"""

import copy
import gc
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim import Optimizer
from torch.optim import optimizer as hooks
from torch.optim.lr_scheduler import LRScheduler

from walkthrough.doctor.behaviour import kind_of
from walkthrough.doctor.calling import in_order, tensors_in
from walkthrough.doctor.examination import Examination

Step = Callable[[nn.Module, tuple[Tensor, Tensor]], Any]
STEPS = 4


class _Watch:
    """What passes by while a step runs: inputs, logits with their gradient, rates, optimisers."""

    def __init__(self, x: Examination) -> None:
        self.x, self.read, self.logits = x, list[Tensor](), list[Tensor]()
        self.grads: dict[int, Tensor] = {}
        self.rates: list[float] = []
        self.before: dict[Optimizer, Any] = {}

    def forward(self, _module: nn.Module, args: Any, kwargs: Any, out: Any) -> None:
        ids = [a for a in (*args, *kwargs.values()) if isinstance(a, Tensor)]
        self.read = [a.T if self.x.subject.length_first else a for a in ids]
        for y in tensors_in(out):
            if y.requires_grad:
                n = len(self.logits)
                self.logits.append(y)
                y.register_hook(lambda g, n=n: self.grads.__setitem__(n, g.detach().clone()))

    def met(self, optimizer: Optimizer, *_: Any) -> None:
        if optimizer not in self.before:
            schedulers = [s for s in gc.get_objects() if issubclass(type(s), LRScheduler)]
            plans = [s for s in schedulers if getattr(s, "optimizer", None) is optimizer]
            state = copy.deepcopy(optimizer.state_dict())
            self.before[optimizer] = state, [(vars(s), dict(vars(s))) for s in plans]

    def moved(self, optimizer: Optimizer, *_: Any) -> None:
        self.rates.append(max(float(group["lr"]) for group in optimizer.param_groups))


@contextmanager
def _watched(x: Examination) -> Iterator[_Watch]:
    """Watch the steps; put optimisers and their plans for the rate back afterwards."""
    watch = _Watch(x)
    with ExitStack() as stack:
        stack.enter_context(x.model.register_forward_hook(watch.forward, with_kwargs=True))
        stack.callback(hooks.register_optimizer_step_pre_hook(watch.met).remove)
        stack.callback(hooks.register_optimizer_step_post_hook(watch.moved).remove)
        try:
            yield watch
        finally:
            for optimizer, (state, plans) in watch.before.items():
                optimizer.load_state_dict(state)
                for now, was in plans:
                    now.update(was)


def with_step(x: Examination, step: Step | None) -> bool | None:
    """Run some steps on one padded batch, and see what they ask for and what they move."""
    if step is None:
        x.unseen("labels.unseen")
        return False
    source, target = x.padded(0), x.padded(1, n=3)
    x.model.train()
    with _watched(x) as watch:
        for n in range(STEPS):
            loss = step(x.model, (source, target))
            if n == 0:
                _about_loss(x, watch, loss, target)
        _about_updates(x, watch)
    return None


def _about_loss(x: Examination, watch: _Watch, loss: Any, target: Tensor) -> None:
    for n, y in enumerate(watch.logits):
        grad = watch.grads.get(n)
        if grad is None and isinstance(loss, Tensor) and loss.requires_grad:
            (grad,) = torch.autograd.grad(loss, y, allow_unused=True, retain_graph=True)
        shaped = None if grad is None else in_order(grad, target.shape, x.subject.length_first)
        if shaped is not None and shaped.shape[-1] == x.base.shape[-1]:
            _about_labels(x, watch, shaped, target)
            if kind_of(y.detach()) == "probabilities" and float(shaped.max()) > 0:
                x.bug("output.twice", "its gradient is positive for words that are no labels")
            return
    x.unseen("labels.output")


def _about_labels(x: Examination, watch: _Watch, grad: Tensor, target: Tensor) -> None:
    def offset(ids: Tensor) -> int | None:
        """By how many places `found` is ahead of the target, in the sentence without padding."""
        for by in (0, 1, 2, -1):
            inside = range(max(0, -by), min(ids.shape[1], target.shape[1] - by))
            if all(int(ids[1, i]) == int(target[1, i + by]) for i in inside):
                return by
        return None

    ahead = offset(grad.argmin(-1))
    inputs = [a for a in watch.read if a.dim() == 2 and len(a) == len(target) and a.shape != (1, 1)]
    read = next((by for a in reversed(inputs) if (by := offset(a)) is not None), None)
    if ahead is None or read is None:
        x.unseen("labels.output")
        return
    moves = x.report.leak
    if moves is not None and not bool(moves[:, x.first :].diagonal()[1:].any()):
        read -= 1  # the model moves its input to the right itself
    how, n = "found in the gradient of the logits", ahead - read
    if n == 1:
        x.same("labels.same", how)
    else:
        x.bug(f"labels.{'other' if n else 'copied'}", how, n=n)
    labels = target[0, max(0, ahead) :][: grad.shape[1]]
    asked = grad[0, max(0, -ahead) :][: len(labels)].abs().amax(-1) > 0
    padded = labels == x.subject.pads[1]
    counted = int((padded & asked).sum())
    if padded.any():
        say, key = (x.bug, "counted") if counted else (x.same, "same")
        say(f"padding in the loss.{key}", f"{counted} of {int(padded.sum())} such positions")


def _about_updates(x: Examination, watch: _Watch) -> None:
    if not watch.rates:
        x.unseen("rate.unseen")
        return
    held = {id(p) for o in watch.before for group in o.param_groups for p in group["params"]}
    lost = [name for name, p in x.model.named_parameters() if p.requires_grad and id(p) not in held]
    if lost:
        x.bug("optimiser.missing", module=", ".join(lost[:6]), n=len(lost))
    else:
        x.same("optimiser.same")
    n, rate = len(watch.rates), max(watch.rates)
    if rate < 1e-8:
        x.bug("rate.nothing", f"in {n} updates", rate=f"{rate:.2g}")
    elif len(set(watch.rates)) == 1:
        x.departs("rate.constant", f"{rate:.2g}", n=n)
    else:
        x.same("rate.same", ", ".join(f"{r:.2g}" for r in watch.rates))
