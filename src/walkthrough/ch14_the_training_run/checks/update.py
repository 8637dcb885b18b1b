"""The check of chapter 14 on an update from several batches (§5.3)."""

import functools
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim import SGD, Optimizer

from transformer.config import PAD_ID, TransformerConfig
from transformer.data.batching import Batch, collate
from transformer.model import Transformer
from transformer.training import label_smoothed_cross_entropy
from walkthrough.checking.base import Arguments, Case, Check, Mistake, Symptom, arguments

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


def _source_tokens(batches: Sequence[Batch]) -> int:
    return sum(int((batch.source != PAD_ID).sum()) for batch in batches)


def _own_mean(model: nn.Module, batch: Batch) -> Tensor:
    return _loss_sum(model, batch) / batch.n_target_tokens


def _update(
    *,
    weigh: Callable[[Batch, Sequence[Batch]], float] = lambda _batch, all_: 1 / _count(all_),
    loss_of: Callable[[nn.Module, Batch], Tensor] = _loss_sum,
    returned: Callable[[float, Sequence[Batch]], float] | None = lambda total, all_: (
        total / _count(all_)
    ),
    clear_each: bool = False,
    step_each: bool = False,
    clear_after_each: bool = True,
    clear_at_the_end: bool = True,
    set_rate: bool = True,
) -> Update:
    """Return an update with one thing done otherwise; `weigh` is the factor of a batch's sum.

    `returned=None` returns what was differentiated.
    """

    def update(
        model: nn.Module, optimizer: Optimizer, batches: Sequence[Batch], rate: float
    ) -> float:
        if set_rate:
            for group in optimizer.param_groups:
                group["lr"] = rate
        total, weighed = 0.0, 0.0
        for batch in batches:
            if clear_each:
                optimizer.zero_grad()
            loss = loss_of(model, batch)
            (loss * weigh(batch, batches)).backward()
            total += float(loss.detach())
            weighed += float(loss.detach()) * weigh(batch, batches)
            if step_each:
                optimizer.step()
                if clear_after_each:
                    optimizer.zero_grad()
        if not step_each:
            optimizer.step()
        if clear_at_the_end:
            optimizer.zero_grad()
        return weighed if returned is None else returned(total, batches)

    return update


def _of_other_parts(
    loss_sum: Callable[[nn.Module, Batch], Tensor] = _loss_sum,
    *,
    step: Callable[[nn.Module, Optimizer, float], None] | None = None,
    training: bool = True,
    some: slice = slice(None),
) -> Update:
    """Return an update with another loss, another step, or some of the batches only."""

    def update(
        model: nn.Module, optimizer: Optimizer, batches: Sequence[Batch], rate: float
    ) -> float:
        model.train(training)
        total = 0.0
        for batch in batches[some]:
            loss = loss_sum(model, batch) / _count(batches)
            loss.backward()
            total += float(loss.detach())
        if step:
            step(model, optimizer, rate)
        else:
            _set_rate(optimizer, rate)
            optimizer.step()
        optimizer.zero_grad()
        return total

    return update


def _smoothed_by(smoothing: float) -> Callable[[nn.Module, Batch], Tensor]:
    def loss_sum(model: nn.Module, batch: Batch) -> Tensor:
        logits = model(batch.source, batch.target_in)
        return label_smoothed_cross_entropy(
            logits, batch.target_out, smoothing=smoothing, reduction="sum"
        )

    return loss_sum


def _between(read: str, gold: str) -> Callable[[nn.Module, Batch], Tensor]:
    """The loss with another side of the batch read, or asked for."""

    def loss_sum(model: nn.Module, batch: Batch) -> Tensor:
        logits = model(batch.source, getattr(batch, read))
        return label_smoothed_cross_entropy(logits, getattr(batch, gold), reduction="sum")

    return loss_sum


def _set_rate(optimizer: Optimizer, rate: float) -> None:
    for group in optimizer.param_groups:
        group["lr"] = rate


@torch.no_grad()
def _step_by_hand(model: nn.Module, _optimizer: Optimizer, rate: float) -> None:
    for parameter in model.parameters():
        if parameter.grad is not None:
            parameter.sub_(rate * parameter.grad)


def _step_before_the_rate(_model: nn.Module, optimizer: Optimizer, rate: float) -> None:
    optimizer.step()
    _set_rate(optimizer, rate)


def _rate_in_the_gradient(model: nn.Module, optimizer: Optimizer, rate: float) -> None:
    for parameter in model.parameters():
        if parameter.grad is not None:
            parameter.grad.mul_(rate)
    optimizer.step()


def _steps_are_alike(result: Any, _expected: Any, given: Arguments) -> bool:
    """Adam's first step: nearly every parameter moves by the rate, up or down."""
    rate = given.positional[-1]
    steps = result["the step of the parameters"].abs() / 100
    return bool(((steps - rate).abs() < 0.01 * rate).float().mean() > 0.5)


def _clipped_step(model: nn.Module, optimizer: Optimizer, rate: float) -> None:
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    _set_rate(optimizer, rate)
    optimizer.step()


def _no_step(_model: nn.Module, _optimizer: Optimizer, _rate: float) -> None:
    pass


def _count(batches: Sequence[Batch]) -> int:
    return sum(batch.n_target_tokens for batch in batches)


def _positions(batches: Sequence[Batch]) -> int:
    return sum(batch.target_out.numel() for batch in batches)


def _mean_of_means(model: nn.Module, optimizer: Optimizer, batches: Any, rate: float) -> float:
    means = []
    for batch in batches:
        loss = _loss_sum(model, batch) / batch.n_target_tokens / len(batches)
        loss.backward()
        means.append(float(loss.detach()))
    for group in optimizer.param_groups:
        group["lr"] = rate
    optimizer.step()
    optimizer.zero_grad()
    return sum(means)


def _last_returned(loss_of: Callable[[nn.Module, Batch], Tensor]) -> Update:
    """The right update, which returns what the last batch alone gave."""

    def update(
        model: nn.Module, optimizer: Optimizer, batches: Sequence[Batch], rate: float
    ) -> float:
        with torch.no_grad():
            last = float(loss_of(model, batches[-1]))
            if loss_of is _loss_sum:
                last /= _count(batches)
        _REFERENCE(model, optimizer, batches, rate)
        return last

    return update


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
    return SGD(model.parameters(), lr=0.01, momentum=0.5)


_REFERENCE = _update()

update = UpdateCheck(
    name="update",
    reference=_measured(_REFERENCE),
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
                _mean_of_means,
                "every batch counts the same, so a word of a small batch weighs more than a word "
                "of a large one. Count the tokens of all batches first, and divide by that.",
            ),
            (
                "own tokens",
                _update(weigh=lambda batch, _all: 1 / batch.n_target_tokens),
                "each loss is divided by the tokens of its own batch, and the gradients are added: "
                "with three batches the step is about three times too long. Divide by the tokens "
                "of all batches.",
            ),
            (
                "a sum",
                _update(weigh=lambda _batch, _all: 1.0),
                "the gradient is that of the sum over tokens: it grows with the update. Divide "
                "each loss by the number of tokens of all batches.",
            ),
            (
                "a sum, returned as well",
                _update(weigh=lambda _batch, _all: 1.0, returned=None),
                "the gradient is that of the sum over tokens, and so is what you return: both grow "
                "with the update. Divide each loss by the number of tokens of all batches.",
            ),
            (
                "own tokens, returned as well",
                _update(weigh=lambda batch, _all: 1 / batch.n_target_tokens, returned=None),
                "the means of the batches are added up, in the gradient and in what you return: "
                "with three batches both are about three times too large. Take the *sum* of each "
                "batch, and divide by the tokens of all batches.",
            ),
            (
                "a mean divided once more",
                _update(loss_of=_own_mean, returned=None),
                "each batch's loss is a mean already, and you divide it by the number of tokens "
                'once more. Take its sum (`reduction="sum"`), then divide.',
            ),
            (
                "divided by sentences",
                _update(
                    weigh=lambda _batch, all_: 1 / sum(len(one.source) for one in all_),
                    returned=None,
                ),
                "you divide by the number of sentences. The mean is over tokens: "
                "`batch.n_target_tokens`.",
            ),
            (
                "divided by the last batch's tokens",
                _update(
                    weigh=lambda _batch, all_: 1 / all_[-1].n_target_tokens,
                    returned=None,
                ),
                "you divide by the tokens of the last batch alone. Count those of all batches.",
            ),
            (
                "divided by source tokens",
                _update(weigh=lambda _batch, all_: 1 / _source_tokens(all_), returned=None),
                "you divide by the number of *source* tokens. The losses belong to target tokens.",
            ),
            (
                "divided by the number of batches",
                _update(weigh=lambda _batch, all_: 1 / len(all_), returned=None),
                "you divide the sums by the number of batches. The mean is over tokens: divide by "
                "the number of tokens of all batches.",
            ),
            (
                "a step a batch, not cleared",
                _update(step_each=True, clear_after_each=False),
                "your optimiser steps once a batch, and each time with the gradients of the "
                "batches before as well. An update makes one step, after all of them.",
            ),
            (
                "the last batch returned",
                _last_returned(_own_mean),
                "the update is right, but what you return is the mean loss of the last batch. Add "
                "up the losses of all batches.",
            ),
            (
                "the last batch's part returned",
                _last_returned(_loss_sum),
                "the update is right, but what you return is the last batch's part of the mean. "
                "Add up the parts of all batches.",
            ),
            (
                "the rate in the loss",
                _of_other_parts(step=_rate_in_the_gradient),
                "you multiply the loss, or its gradient, by `rate`, and the optimiser steps at the "
                "rate it was made with. Set `lr` in its `param_groups`.",
            ),
            (
                "clipped",
                _of_other_parts(step=_clipped_step),
                "the gradient is cut to a length of 1. Nobody asked for that here: step with the "
                "gradient of the mean as it is.",
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
                _update(set_rate=False),
                "the optimiser steps at the rate it was made with. Set `lr` in its `param_groups`.",
            ),
            (
                "rate set too late",
                _of_other_parts(step=_step_before_the_rate),
                "the optimiser steps first and gets its rate afterwards. Set `lr` before the step.",
            ),
            (
                "no step",
                _of_other_parts(step=_no_step),
                "the mean loss is right, and the parameters do not move. Is `backward` called, and "
                "then `optimizer.step()`?",
            ),
            (
                "a step by hand",
                _of_other_parts(step=_step_by_hand),
                "the parameters are moved by hand, against the gradient. The optimiser knows more "
                "than the rate (momentum, or Adam's two means): call `optimizer.step()`.",
            ),
            (
                "the first batch only",
                _of_other_parts(some=slice(1)),
                "only the first batch is used: does a `return` stand inside the loop?",
            ),
            (
                "evaluation mode",
                _of_other_parts(training=False),
                "you switch the model to evaluation and leave it there, so that dropout is off for "
                "the rest of the training. An update runs in training mode.",
            ),
            (
                "not smoothed",
                _of_other_parts(_smoothed_by(0.0)),
                "the loss is not smoothed. Asked is ε = 0.1, which is the default of "
                "`label_smoothed_cross_entropy`.",
            ),
            (
                "smoothed by 0.2",
                _of_other_parts(_smoothed_by(0.2)),
                "the loss is smoothed by 0.2. Asked is ε = 0.1.",
            ),
            (
                "reads what it must predict",
                _of_other_parts(_between("target_out", "target_out")),
                "the decoder is given `target_out`, the very words that it must predict. It reads "
                "`target_in`.",
            ),
            (
                "predicts what it reads",
                _of_other_parts(_between("target_in", "target_in")),
                "the loss asks for `target_in`, the words that the decoder has read. It must "
                "predict `target_out`.",
            ),
            (
                "padding counted",
                _update(
                    weigh=lambda _batch, all_: 1 / _positions(all_),
                    returned=lambda total, all_: total / _positions(all_),
                ),
                "you divide by all positions, padding among them. Count the tokens that are not "
                "padding: `batch.n_target_tokens`, or `(batch.target_out != PAD_ID).sum()`.",
            ),
            (
                "the sum returned",
                _update(returned=lambda total, _all: total),
                "the update is right, but what you return is the sum of the losses, not their mean "
                "over the tokens.",
            ),
            (
                "the mean over batches returned",
                _update(returned=lambda total, all_: total / len(all_)),
                "the update is right, but what you return is divided by the number of batches. "
                "Divide by the number of tokens.",
            ),
        ]
    ],
    symptoms=[
        Symptom(
            "a new Adam",
            _steps_are_alike,
            "every parameter moves by `rate`, as in the first step of a new Adam. The optimiser is "
            "the argument `optimizer`, and it remembers the updates before: make none of your own.",
        ),
    ],
)
