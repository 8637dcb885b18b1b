"""The check of chapter 01 on the gradient back to the start (§1)."""

import math
from collections.abc import Callable

import torch

from walkthrough.checking import Check, Mistake, fixed


def _slopes(states: list[float]) -> list[float]:
    return [1 - state**2 for state in states]


def _gradient(w: float, states: list[float]) -> float:
    return math.prod((w * slope for slope in _slopes(states)), start=1.0)


def _from(first: int | None, end: int | None) -> Callable[[float, list[float]], float]:
    return lambda w, states: _gradient(w, states[first:end])


gradient_to_start = Check(
    name="gradient_to_start",
    reference=_gradient,
    cases=[
        fixed("w = 0.5, five states", 0.5, [0.96, 0.45, 0.22, 0.11, -0.3]),
        fixed("w = 2, four states", 2.0, [0.1, -0.3, 0.5, 0.8]),
        fixed(
            "w = −1.5, three states",
            -1.5,
            [0.2, 0.4, -0.6],
            special="A negative w turns the sign of the gradient at every step.",
        ),
        fixed("w = 3, states near 1, 0 and −1", 3.0, [0.99, 0.0, -0.95]),
        fixed("w = 0.7, one state", 0.7, [0.5]),
    ],
    tolerance=1e-6,
    forbidden=[torch.autograd.grad, "backward"],
    mistakes=[
        Mistake(
            "tanh forgotten",
            lambda w, states: w ** len(states),
            "this is w to the power of the steps, the gradient of a recursion *without* tanh. Each "
            "step has the slope of tanh as a factor as well, 1 − h².",
        ),
        Mistake(
            "a step left out",
            _from(1, None),
            "one factor is missing. Between h_0 and h_n lie n steps, so there is a factor for each "
            "of the n states. (The page's own cell begins at `states[1:]`, because it asks for the "
            "way back to h_1.)",
            where="What the end tells the beginning",
            also=(_from(None, -1), _from(1, -1)),
        ),
        Mistake(
            "w forgotten",
            lambda w, states: math.prod(_slopes(states)),
            "the slopes of tanh are there, w is not. Each step multiplies by both.",
        ),
        Mistake(
            "w once",
            lambda w, states: w * math.prod(_slopes(states)),
            "w stands in the product once. Every step multiplies by w again.",
        ),
        Mistake(
            "not squared",
            lambda w, states: math.prod(w * (1 - state) for state in states),
            "the slope of tanh is written as 1 − h. It is 1 − h².",
        ),
        Mistake(
            "tanh taken again",
            lambda w, states: math.prod(w * (1 - math.tanh(state) ** 2) for state in states),
            "tanh is taken of the states. They are results of tanh already: the slope is 1 − h².",
        ),
    ],
    right="`gradient_to_start` is right: one factor for each of the n steps",
)
