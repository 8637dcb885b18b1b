"""The check of chapter 15 on the mean of checkpoints (§6.1)."""

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from walkthrough.checking import Arguments, Case, Check, Mistake, arguments

States = Sequence[Mapping[str, Tensor]]


def _average(states: States) -> dict[str, Tensor]:
    return {name: torch.stack([s[name] for s in states]).mean(dim=0) for name in states[0]}


def _running(states: States) -> dict[str, Tensor]:
    mean = dict(states[0])
    for state in states[1:]:
        mean = {name: (mean[name] + state[name]) / 2 for name in mean}
    return mean


def _sum_over(states: States, number: int) -> dict[str, Tensor]:
    return {
        name: sum((s[name] for s in states[1:]), states[0][name]) / number for name in states[0]
    }


def _states_case(label: str, n: int) -> Case:
    def make(generator: torch.Generator) -> Arguments:
        shapes = {"weight": (3, 2), "bias": (3,), "gain": (2,), "shift": (2,)}
        return arguments(
            [
                {name: torch.randn(shape, generator=generator) for name, shape in shapes.items()}
                for _ in range(n)
            ]
        )

    return Case(label, make)


average = Check(
    name="the average of checkpoints",
    reference=_average,
    cases=[
        _states_case("five checkpoints", 5),
        _states_case("three checkpoints", 3),
        _states_case("one checkpoint", 1),
    ],
    mistakes=[
        Mistake(
            "averaged two by two",
            _running,
            "you average the mean so far with the next checkpoint. The last one then counts one "
            "half, the one before a quarter. Each must count the same.",
        ),
        Mistake(
            "the last one",
            lambda states: dict(states[-1]),
            "this is the last checkpoint alone.",
        ),
        Mistake(
            "one number a tensor",
            lambda states: {
                name: torch.stack([state[name] for state in states]).mean() for name in states[0]
            },
            "each tensor has become one number: take the mean over the checkpoints, not over the "
            "weights of a tensor (`dim=0` of the stacked tensors).",
        ),
        Mistake(
            "half the sum",
            lambda states: _sum_over(states, 2),
            "you divide by 2, however many checkpoints there are. Divide by their number.",
        ),
    ],
)
