"""The check of chapter 14 on an update from several batches (§5.3)."""

import functools
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim import SGD, Optimizer

from transformer.config import TransformerConfig
from transformer.data.batching import Batch, collate
from transformer.model import Transformer
from transformer.training import label_smoothed_cross_entropy
from walkthrough.checking import Arguments, Case, Check, Mistake, Symptom, arguments
from walkthrough.checking.compare import same

Update = Callable[[nn.Module, Optimizer, Sequence[Batch], float], Any]
SIZES = TransformerConfig.tiny(vocab_size=12).replace(
    d_model=8, n_heads=2, d_ff=16, n_layers=1, dropout=0.0
)


class UpdateCheck(Check):
    """A check of a function that changes a model: what is compared is the model afterwards."""

    def __call__(self, function: Any) -> Any:
        """Judge the reader's function by what two updates in a row make of a model."""
        return super().__call__(_measured(function) if callable(function) else function)


def _measured(function: Update) -> Callable[..., dict[str, Any] | None]:
    """Return a function that makes a model, runs two updates of it, and tells what moved.

    It is called with functions that make model and optimiser, so nothing of the caller's changes.
    """
    if hasattr(function, "measures"):
        return function

    @functools.wraps(function)
    def run(
        new_model: Callable[[], nn.Module],
        new_optimizer: Callable[[nn.Module], Optimizer],
        batches: Sequence[Batch],
        rate: float,
    ) -> dict[str, Any] | None:
        model = new_model().train()
        optimizer = new_optimizer(model)
        before = _weights(model)
        first = function(model, optimizer, batches, rate)
        moved = _weights(model) - before
        second = function(model, optimizer, batches[:1], rate / 2)
        moved_again = _weights(model) - before - moved
        if first is None and second is None and not moved.any():
            return None
        return {
            "the mean loss that is returned": first,
            "the step of the parameters": 100 * moved,
            "the step of a second update": 100 * moved_again,
            "the mode in which the model is left": "training" if model.training else "evaluation",
        }

    run.measures = True  # type: ignore[attr-defined]
    return run


def _weights(model: nn.Module) -> Tensor:
    return torch.cat([parameter.detach().flatten() for parameter in model.parameters()])


def _loss_sum(model: nn.Module, batch: Batch) -> Tensor:
    logits = model(batch.source, batch.target_in)
    return label_smoothed_cross_entropy(logits, batch.target_out, reduction="sum")


def _update(
    *,
    weigh: Callable[[Batch, Sequence[Batch]], float] = lambda _batch, all_: 1 / _count(all_),
    clear_each: bool = False,
    step_each: bool = False,
    clear_at_the_end: bool = True,
    n_groups: int | None = None,
) -> Update:
    """Return an update with one thing done otherwise; `weigh` is the factor of a batch's sum.

    What was differentiated is returned.
    """

    def update(
        model: nn.Module, optimizer: Optimizer, batches: Sequence[Batch], rate: float
    ) -> float:
        for group in optimizer.param_groups[:n_groups]:
            group["lr"] = rate
        total = 0.0
        for batch in batches:
            if clear_each:
                optimizer.zero_grad()
            loss = _loss_sum(model, batch) * weigh(batch, batches)
            loss.backward()
            total += float(loss.detach())
            if step_each:
                optimizer.step()
                optimizer.zero_grad()
        if not step_each:
            optimizer.step()
        if clear_at_the_end:
            optimizer.zero_grad()
        return total

    return update


def _steps_are_alike(result: Any, _expected: Any, given: Arguments) -> bool:
    """Adam's first step: nearly every parameter moves by the rate, up or down."""
    rate = given.positional[-1]
    steps = result["the step of the parameters"].abs() / 100
    return bool(((steps - rate).abs() < 0.01 * rate).float().mean() > 0.5)


def _left_in_evaluation(result: Any, _expected: Any, _given: Arguments) -> bool:
    return bool(result["the mode in which the model is left"] == "evaluation")


def _only_the_loss_is_wrong(result: Any, expected: Any, _given: Arguments) -> bool:
    """Both steps are right, and what is returned is not."""
    told, *others = expected
    return all(same(result[name], expected[name], 1e-4) for name in others) and not same(
        result[told], expected[told], 1e-4
    )


def _count(batches: Sequence[Batch]) -> int:
    return sum(batch.n_target_tokens for batch in batches)


def _positions(batches: Sequence[Batch]) -> int:
    return sum(batch.target_out.numel() for batch in batches)


def _case(label: str, lengths: Sequence[Sequence[int]]) -> Case:
    def make(generator: torch.Generator) -> Arguments:
        def words(length: int) -> list[int]:
            return torch.randint(4, 12, (length,), generator=generator).tolist()

        seed = int(torch.randint(1000, (), generator=generator))
        batches = [
            collate([(words(length + 1), words(length)) for length in batch]) for batch in lengths
        ]
        return arguments(lambda: _new_model(seed), _new_optimizer, batches, 0.05)

    return Case(label, make)


def _new_model(seed: int) -> Transformer:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return Transformer(SIZES)


def _new_optimizer(model: nn.Module) -> Optimizer:
    # Adam would hide a gradient that is a multiple of the right one; with momentum, steps made by
    # hand differ from the optimiser's
    *most, last = model.parameters()
    return SGD([{"params": most}, {"params": [last]}], lr=0.01, momentum=0.5)


update = UpdateCheck(
    name="update",
    reference=_measured(_update()),
    cases=[
        _case("one batch without padding", [[3, 3]]),
        _case("two batches of different size, no padding", [[2, 2, 2], [6]]),
        _case("three batches, with padding", [[5, 1], [2, 2, 2], [7, 3]]),
    ],
    tolerance=1e-4,
    right="`update` is right: the gradient of the mean over all tokens, and one step",
    mistakes=[
        Mistake(name, _measured(function), say)
        for name, function, say in [
            (
                "a step a batch",
                _update(step_each=True),
                "your optimiser steps once a batch. An update makes one step, after the gradients "
                "of all its batches have been added up.",
            ),
            (
                "mean of means",
                _update(weigh=lambda batch, all_: 1 / batch.n_target_tokens / len(all_)),
                "every batch counts the same, so a word of a small batch weighs more than a word "
                "of a large one. Count the tokens of all batches first, and divide by that.",
            ),
            (
                "gradients cleared between batches",
                _update(clear_each=True),
                "only the last batch counts when the optimiser steps: the gradients are cleared "
                "before each batch, or `backward` stands behind the loop. Call it for each batch, "
                "and clear once an update.",
            ),
            (
                "gradients never cleared",
                _update(clear_at_the_end=False),
                "the first update is right, the second is not: the gradients of the first are "
                "still there when it begins. Clear them once an update.",
            ),
            (
                "rate not set",
                _update(n_groups=0),
                "the optimiser steps at the rate it was made with. Set `lr` in its `param_groups`.",
            ),
            (
                "rate of one group",
                _update(n_groups=1),
                "the first group of parameters steps at the new rate, the second at the one it was "
                "made with. Set `lr` in each of `param_groups`.",
            ),
            (
                "padding counted",
                _update(weigh=lambda _batch, all_: 1 / _positions(all_)),
                "you divide by all positions, padding among them. Count the tokens that are not "
                "padding: `batch.n_target_tokens`, or `(batch.target_out != PAD_ID).sum()`.",
            ),
        ]
    ],
    symptoms=[
        Symptom(
            "left in evaluation",
            _left_in_evaluation,
            "your function calls `model.eval()` and leaves it at that: from then on nothing is "
            "dropped in training. An update needs no other mode than the caller's.",
        ),
        Symptom(
            "another loss returned",
            _only_the_loss_is_wrong,
            "the steps are right, and what you return is not. Return the mean loss of a token over "
            "all batches of the update, as one number.",
        ),
        Symptom(
            "a new Adam",
            _steps_are_alike,
            "every parameter moves by `rate`, as in the first step of a new Adam. The optimiser is "
            "the argument `optimizer`, and it remembers the updates before: make none of your own.",
        ),
    ],
)
