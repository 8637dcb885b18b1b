"""The check of chapter 01 on the gradient back to the start (§1)."""

import math

import torch

from walkthrough.checking.base import Check, Mistake, Symptom, fixed


def _slopes(states: list[float]) -> list[float]:
    return [1 - state**2 for state in states]


def _gradient(w: float, states: list[float]) -> float:
    return math.prod(w * slope for slope in _slopes(states))


gradient_to_start = Check(
    name="gradient_to_start",
    reference=_gradient,
    cases=[
        fixed("w = 0.5, five states", 0.5, [0.96, 0.45, 0.22, 0.11, -0.3]),
        fixed("w = 2, four states", 2.0, [0.1, -0.3, 0.5, 0.8]),
        fixed("w = −1.5, three states", -1.5, [0.2, 0.4, -0.6]),
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
            "sum",
            lambda w, states: sum(w * slope for slope in _slopes(states)),
            "the steps are added. Along a chain derivatives are multiplied.",
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
        Mistake(
            "one step short",
            lambda w, states: math.prod(w * slope for slope in _slopes(states[:-1])),
            "one step is missing: from h_0 to h_n there are n steps, one for each of the n states "
            "in the list, the last one included.",
        ),
        Mistake(
            "first step missing",
            lambda w, states: math.prod(w * slope for slope in _slopes(states[1:])),
            "one step is missing: the step from h_0 to h_1, whose slope is made from `states[0]`. "
            "The list begins with h_1.",
        ),
        Mistake(
            "slopes of the states before",
            lambda w, states: math.prod(w * slope for slope in _slopes([0.0, *states[:-1]])),
            "the slopes are those of h_{t−1}, the states *before* each step. The step to h_t has "
            "the slope 1 − h_t².",
        ),
        Mistake(
            "w once too few",
            lambda w, states: w ** (len(states) - 1) * math.prod(_slopes(states)),
            "w is there n − 1 times and the slopes n times. From h_0 to h_n there are n steps.",
        ),
        Mistake(
            "the states themselves",
            lambda w, states: math.prod(w * state for state in states),
            "you multiply the states. The factor of a step is the *slope* of tanh there, 1 − h².",
        ),
        Mistake(
            "slope with a plus",
            lambda w, states: math.prod(w * (1 + state**2) for state in states),
            "the slope of tanh is 1 − h²; you have 1 + h².",
        ),
        Mistake(
            "slope at w h",
            lambda w, states: math.prod(w * (1 - math.tanh(w * state) ** 2) for state in states),
            "you take the slope at w · h. What tanh gave is h_t already, so the slope is 1 − h_t².",
        ),
        Mistake(
            "size only",
            lambda w, states: abs(_gradient(w, states)),
            "the size is right, the sign is lost: a negative w turns it at every step.",
        ),
        Mistake(
            "last step only",
            lambda w, states: w * _slopes(states)[-1],
            "this is the last step alone, from h_{n−1} to h_n. Multiply over all steps.",
        ),
        Mistake(
            "slope of sigmoid",
            lambda w, states: math.prod(w * state * (1 - state) for state in states),
            "h (1 − h) is the slope of sigmoid. That of tanh is 1 − h².",
        ),
        Mistake(
            "size of the state",
            lambda w, states: math.prod(w * (1 - abs(state)) for state in states),
            "the slope of tanh is written as 1 − |h|. It is 1 − h².",
        ),
        Mistake(
            "bracket squared",
            lambda w, states: math.prod(w * (1 - state) ** 2 for state in states),
            "the whole bracket is squared, (1 − h)². Square the state alone: 1 − h².",
        ),
        Mistake(
            "square alone",
            lambda w, states: math.prod(w * state**2 for state in states),
            "the factor of a step is w · h² here. The slope of tanh is 1 − h².",
        ),
        Mistake(
            "no brackets",
            lambda w, states: math.prod(w - state**2 for state in states),
            "`w * 1 - h**2` takes h² away from w. Put the slope into brackets: w · (1 − h²).",
        ),
        Mistake(
            "w in the square",
            lambda w, states: math.prod(w * (1 - (w * state) ** 2) for state in states),
            "w is multiplied into the state before it is squared. The state h_t is the result of "
            "tanh, so the slope is 1 − h_t².",
        ),
        Mistake(
            "logarithms",
            lambda w, states: sum(math.log(abs(w * slope)) for slope in _slopes(states)),
            "these are the logarithms of the factors, added up. The product is asked for.",
        ),
        Mistake(
            "first step only",
            lambda w, states: w * _slopes(states)[0],
            "this is the first step alone, from h_0 to h_1. Does a `return` inside the loop end it "
            "in the first round? Multiply over all steps.",
        ),
        Mistake(
            "last step n times",
            lambda w, states: (w * _slopes(states)[-1]) ** len(states),
            "the factor of the last step is raised to the power of the steps. Each step has a "
            "slope of its own, made from its own state.",
        ),
    ],
    symptoms=[
        Symptom(
            "a factor for each step",
            lambda result, expected, given: (
                len(result) == len(given.positional[1]) > 1
                and abs(math.prod(float(x) for x in result) - expected) < 1e-5
            ),
            "these are the factors of the steps, one for each. Multiply them.",
        ),
        Symptom(
            "products so far",
            lambda result, expected, given: (
                len(result) == len(given.positional[1]) > 1 and abs(result[-1] - expected) < 1e-5
            ),
            "these are the products after one step, two steps, and so on. The last one is asked "
            "for.",
        ),
    ],
)
