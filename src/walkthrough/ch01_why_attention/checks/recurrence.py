"""The checks of chapter 01 on recurrence: both directions, the gradient, the waiting (§1, §2)."""

import math
from collections.abc import Callable

import torch
from torch import Tensor

from walkthrough.ch01_why_attention.experiments.recurrence import recurrent_states
from walkthrough.checking.base import (
    Arguments,
    Case,
    Check,
    Mistake,
    Symptom,
    arguments,
    fixed,
)

# Exercise: read in both directions

Matrices = tuple[Tensor, Tensor]


def _reads(x: Tensor, matrices: Matrices) -> Tensor:
    return recurrent_states(x, *matrices)


def _both(
    x: Tensor,
    forward: Matrices,
    backward: Matrices,
    *,
    turned: bool = True,
    turned_back: bool = True,
    dim: int = -1,
) -> Tensor:
    back = _reads(x.flip(0) if turned else x, backward)
    return torch.cat([_reads(x, forward), back.flip(0) if turned_back else back], dim=dim)


def _way(way: Callable[[Tensor, Tensor], Tensor]) -> Callable[..., Tensor]:
    """Return another way to put the right states of both directions together."""

    def both(x: Tensor, forward: Matrices, backward: Matrices) -> Tensor:
        return way(_reads(x, forward), _reads(x.flip(0), backward).flip(0))

    return both


def _half_right(result: Tensor, expected: Tensor, half: int) -> bool:
    return result.shape == expected.shape and torch.allclose(
        result.chunk(2, dim=-1)[half], expected.chunk(2, dim=-1)[half], atol=1e-5
    )


def _two_networks(length: int, d_in: int, d_state: int) -> Callable[[torch.Generator], Arguments]:
    def make(generator: torch.Generator) -> Arguments:
        def matrices() -> Matrices:
            w_state = torch.randn(d_state, d_state, generator=generator) / math.sqrt(d_state)
            return w_state, torch.randn(d_state, d_in, generator=generator) / math.sqrt(d_in)

        return arguments(torch.randn(length, d_in, generator=generator), matrices(), matrices())

    return make


both_ways = Check(
    name="both_ways",
    reference=_both,
    cases=[
        Case("5 words, states of 4 numbers", _two_networks(5, 3, 4)),
        Case("4 words, states of 2 numbers", _two_networks(4, 2, 2)),
        Case("one word", _two_networks(1, 2, 5)),
    ],
    mistakes=[
        Mistake(
            "not turned back",
            lambda x, f, b: _both(x, f, b, turned_back=False),
            "the states of the backward reader stand in the order in which it read: beside word 1 "
            "stands its state after the *last* word. Turn them round again with `flip(0)`.",
        ),
        Mistake(
            "both forward",
            lambda x, f, b: _both(x, f, b, turned=False, turned_back=False),
            "both networks read forward. The second gets the words in the other order, "
            "`x.flip(0)`.",
        ),
        Mistake(
            "states turned, words not",
            lambda x, f, b: _both(x, f, b, turned=False),
            "the second network reads forward and its states are turned round afterwards. The "
            "*words* are to be turned before it reads, and the states after.",
        ),
        Mistake(
            "one network twice",
            lambda x, f, b: _both(x, f, f),
            "the forward matrices read in both directions. The backward reader has its own.",
        ),
        Mistake(
            "matrices exchanged",
            lambda x, f, b: _both(x, b, f),
            "`forward` reads backward and `backward` reads forward.",
        ),
        Mistake(
            "backward first",
            _way(lambda there, back: torch.cat([back, there], dim=-1)),
            "both halves are right, in the wrong order: the forward state comes first.",
        ),
        Mistake(
            "one below the other",
            lambda x, f, b: _both(x, f, b, dim=0),
            "the states of one direction stand *below* those of the other: 2 · length rows. Each "
            "word keeps one row that is twice as long: `torch.cat(…, dim=-1)`.",
        ),
        Mistake(
            "stacked",
            _way(lambda there, back: torch.stack([there, back], dim=-1)),
            "`stack` makes a new axis. `torch.cat(…, dim=-1)` puts the two states of a word side "
            "by side.",
        ),
        Mistake(
            "stacked in front",
            _way(lambda there, back: torch.stack([there, back])),
            "`stack` makes a new axis in front. `torch.cat(…, dim=-1)` puts the two states of a "
            "word side by side.",
        ),
        Mistake(
            "added",
            _way(lambda there, back: there + back),
            "the two states of a word are added, so nobody can tell any more what came from which "
            "side. Put them side by side.",
        ),
        Mistake(
            "components turned",
            lambda x, f, b: torch.cat([_reads(x, f), _reads(x.flip(-1), b).flip(-1)], dim=-1),
            "`flip(-1)` turns the components of each word. The words are the rows: `flip(0)`.",
        ),
        Mistake(
            "last states only",
            lambda x, f, b: torch.cat([_reads(x, f)[-1], _reads(x.flip(0), b)[-1]]),
            "only the last state of each direction is returned. The result has one row a word.",
        ),
        Mistake(
            "forward only",
            lambda x, f, b: _reads(x, f),
            "these are the forward states alone.",
        ),
    ],
    symptoms=[
        Symptom(
            "backward half wrong",
            lambda result, expected, given: _half_right(result, expected, 0),
            "the forward half is right, the backward half is not. That network gets the words "
            "from the last to the first, with its own matrices, and its states are turned back.",
        ),
        Symptom(
            "forward half wrong",
            lambda result, expected, given: _half_right(result, expected, 1),
            "the backward half is right, the forward half is not.",
        ),
        Symptom(
            "two results",
            lambda result, expected, given: isinstance(result, tuple | list),
            "two results are returned. Put the two states of a word side by side in one tensor.",
        ),
    ],
    right="`both_ways` is right: each word knows what stands before it and what follows",
)

# Exercise: the gradient back to the start


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
    ],
)

# Exercise: how many steps must wait


def _waits(n_words: int, n_layers: int) -> int:
    return n_words + n_layers - 1


waiting_steps = Check(
    name="waiting_steps",
    reference=_waits,
    cases=[
        fixed("5 words, 2 layers", 5, 2),
        fixed("50 words, 6 layers", 50, 6),
        fixed("1 word, 4 layers", 1, 4),
        fixed("9 words, 1 layer", 9, 1),
    ],
    mistakes=[
        Mistake(
            "layer after layer",
            lambda n_words, n_layers: n_words * n_layers,
            "n_words · n_layers counts all steps. Some can run at the same time: layer 2 may read "
            "word 1 while layer 1 reads word 2.",
        ),
        Mistake(
            "layers for free",
            lambda n_words, n_layers: n_words,
            "n_words is the count for one layer. The last layer cannot start at once: it waits "
            "until the layers below have read the first word.",
        ),
        Mistake(
            "one too many",
            lambda n_words, n_layers: n_words + n_layers,
            "one too many: with one layer and one word there is one step, not two.",
        ),
        Mistake(
            "longer side",
            lambda n_words, n_layers: max(n_words, n_layers),
            "the longer side alone is too little: the chain goes along the words *and* up through "
            "the layers.",
        ),
        Mistake(
            "attention",
            lambda n_words, n_layers: n_layers,
            "n_layers is the count for attention, where all words of a layer are computed at once. "
            "A recurrent layer must also go along the words.",
        ),
        Mistake(
            "corner not counted",
            lambda n_words, n_layers: n_words * n_layers - 1,
            "this counts all steps but one. Many of them can run in the same round: draw the grid "
            "and write into each cell the first round in which it can be computed.",
        ),
        Mistake(
            "shorter side",
            lambda n_words, n_layers: min(n_words, n_layers),
            "the shorter side is the number of states that can run in one round at most. Asked is "
            "how many rounds there are.",
        ),
        Mistake(
            "two too many",
            lambda n_words, n_layers: n_words + n_layers + 1,
            "two too many: with one layer and one word there is one round, not three.",
        ),
        Mistake(
            "one layer of delay",
            lambda n_words, n_layers: n_words + 1,
            "right for two layers. Each further layer starts one round later again.",
        ),
        Mistake(
            "a layer waits for two",
            lambda n_words, n_layers: n_words + 2 * (n_layers - 1),
            "each layer starts two rounds after the one below. One is enough: as soon as layer 1 "
            "has read word 1, layer 2 can.",
        ),
        Mistake(
            "diagonals of a square",
            lambda n_words, n_layers: 2 * max(n_words, n_layers) - 1,
            "right for as many layers as words: you count the diagonals of a square. The grid is "
            "n_words wide and n_layers high.",
        ),
        Mistake(
            "one too few",
            lambda n_words, n_layers: n_words + n_layers - 2,
            "one too few: this counts the arrows between the steps, not the steps. With one layer "
            "and one word there is one step.",
        ),
    ],
    right="`waiting_steps` is right, for four networks",
)
