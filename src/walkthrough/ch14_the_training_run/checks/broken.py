"""The check of chapter 14's last exercise: which part of a model is broken (§3)?"""

from collections.abc import Callable, Sequence
from functools import cache

import torch
from torch import Tensor

from transformer.config import PAD_ID
from walkthrough.ch14_the_training_run.experiments import PARTS, broken_model, two_sentences
from walkthrough.checking import Case, Check, Mistake, arguments

Model = Callable[[Tensor, Tensor], Tensor]
Experiment = Callable[[Model, Tensor, Tensor], bool]


def _alike(one: Tensor, other: Tensor) -> bool:
    return torch.allclose(one, other, atol=1e-4)


def _drops(model: Model, source: Tensor, target: Tensor) -> bool:
    return not _alike(model(source, target), model(source, target))


def _sees_the_future(model: Model, source: Tensor, target: Tensor) -> bool:
    other = target.clone()
    other[:, -1] = 4 + (other[:, -1] - 3) % 56
    return not _alike(model(source, target)[:, :-1], model(source, other)[:, :-1])


def _mixes_sentences(model: Model, source: Tensor, target: Tensor) -> bool:
    return not _alike(model(source, target)[:1], model(source[:1], target[:1]))


def _mixes_or_reads_padding(model: Model, source: Tensor, target: Tensor) -> bool:
    length = int((source[1] != PAD_ID).sum())
    return not _alike(model(source, target)[1:], model(source[1:, :length], target[1:]))


def _reads_padding(model: Model, source: Tensor, target: Tensor) -> bool:
    padded = torch.cat([source, torch.full_like(source[:, :2], PAD_ID)], dim=1)
    return not _alike(model(source, target), model(padded, target))


def _ignores_the_source(model: Model, source: Tensor, target: Tensor) -> bool:
    other = source.clone()
    other[:, 0] = 4 + (other[:, 0] - 3) % 56
    return _alike(model(source, target), model(other, target))


def _ignores_order(model: Model, source: Tensor, target: Tensor) -> bool:
    swapped = source.clone()
    swapped[:, [0, 2]] = source[:, [2, 0]]
    return _alike(model(source, target), model(swapped, target))


_STEPS: tuple[tuple[str, Experiment], ...] = (
    ("dropout", _drops),
    ("target mask", _sees_the_future),
    ("batch", _mixes_sentences),
    ("padding mask", _reads_padding),
    ("source", _ignores_the_source),
    ("positions", _ignores_order),
)


def _diagnose(model: Model, steps: Sequence[tuple[str, Experiment]] = _STEPS) -> str:
    source, target = two_sentences()
    for name, shows in steps:
        if shows(model, source, target):
            return name
    return "nothing"


def _without(*left_out: str) -> Callable[[Model], str]:
    steps = [step for step in _STEPS if step[0] not in left_out]
    return lambda model: _diagnose(model, steps)


_built = cache(broken_model)


def _patient(letter: str, part: str, seed: int) -> Case:
    # a function, because a check copies its inputs, and would copy a module's every tensor
    def model(source: Tensor, target_in: Tensor) -> Tensor:
        return _built(part, seed=seed)(source, target_in)

    return Case(f"model {letter}", lambda _: arguments(model))


diagnose = Check(
    name="diagnose",
    reference=_diagnose,
    # other models than those of the page: other weights, in another order, two parts twice
    cases=[
        _patient(letter, part, seed=100 + number)
        for number, (letter, part) in enumerate(
            zip("PQRSTUVWX", (*reversed(PARTS), "nothing", "positions"), strict=True)
        )
    ],
    right="`diagnose` is right about {n_cases} models that the page does not show",
    mistakes=[
        Mistake(
            "dropout is not tested first",
            _without("dropout"),
            "the model with dropout left on gets another name. Its output differs at every call, "
            "so every comparison finds something. Before anything else, call a model twice with "
            "the same input.",
        ),
        Mistake(
            "the source is not tested before positions",
            _without("source"),
            "the model that does not read the source passes for one without positions: exchanging "
            "two words changes nothing there, because no word does. Change a word first.",
        ),
        Mistake(
            "a sentence without its padding",
            lambda model: _diagnose(
                model,
                [
                    (name, _mixes_or_reads_padding if name == "batch" else shows)
                    for name, shows in _STEPS
                ],
            ),
            "the model without a padding mask passes for one that mixes sentences. When you took a "
            "sentence out of the batch, you took its padding away too: change one thing at a time.",
        ),
        Mistake(
            "the batch is not tested",
            _without("batch"),
            "the model whose sentences mix is not found. Run one sentence alone, and compare with "
            "what it got in company.",
        ),
        Mistake(
            "the padding mask is not tested",
            _without("padding mask"),
            "the model without a padding mask is not found. Lengthen the source by padding: "
            "nothing should change.",
        ),
        Mistake(
            "the target mask is not tested",
            _without("target mask"),
            "the model without a target mask is not found. Change the last word that the decoder "
            "reads, and look at the predictions before it.",
        ),
        Mistake(
            "positions are not tested",
            _without("positions"),
            "the model without positions is not found. Exchange two words of the source.",
        ),
    ],
)
