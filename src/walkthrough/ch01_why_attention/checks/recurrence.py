"""The checks of chapter 01: recurrence, its gradient, and the step to attention (§1, §2)."""

import math
from collections.abc import Callable

import torch
from torch import Tensor

from walkthrough.ch01_why_attention.experiments.recurrence import recurrent_states
from walkthrough.checking.base import Arguments, Case, Check, Mistake, arguments, fixed

# Exercise: the recursion


def _stepwise(
    step: Callable[[Tensor, Tensor, Tensor, Tensor], Tensor], *, backwards: bool = False
) -> Callable[..., Tensor]:
    """Run `step(state, word, w_state, w_input)` over the words; its result is the next state."""

    def states(x: Tensor, w_state: Tensor, w_input: Tensor) -> Tensor:
        state, found = torch.zeros(len(w_state)), []
        for word in x.flip(0) if backwards else x:
            state = step(state, word, w_state, w_input)
            found.append(state)
        return torch.stack(found[::-1] if backwards else found)

    return states


def _with_start(x: Tensor, w_state: Tensor, w_input: Tensor) -> Tensor:
    states = recurrent_states(x, w_state, w_input)
    return torch.cat([torch.zeros_like(states[:1]), states])


def _sum_not_squashed(x: Tensor, w_state: Tensor, w_input: Tensor) -> Tensor:
    return recurrent_states(x, w_state, w_input, squash=False)


def _words(length: int, d_in: int, d_state: int) -> Callable[[torch.Generator], Arguments]:
    def make(generator: torch.Generator) -> Arguments:
        x = torch.randn(length, d_in, generator=generator)
        w_state = torch.randn(d_state, d_state, generator=generator) / math.sqrt(d_state)
        w_input = torch.randn(d_state, d_in, generator=generator) / math.sqrt(d_in)
        return arguments(x, w_state, w_input)

    return make


rnn_states = Check(
    name="rnn_states",
    reference=recurrent_states,
    cases=[
        Case("5 words, states of 4 numbers", _words(5, 3, 4)),
        Case("7 words, states of 3 numbers", _words(7, 3, 3)),
        Case("one word", _words(1, 2, 5)),
    ],
    mistakes=[
        Mistake(
            "state not carried on",
            _stepwise(lambda h, x, w, u: torch.tanh(u @ x)),
            "every state is made from its own word alone: W h_{t−1} is missing, or `state` is "
            "never replaced. Word 5 knows nothing of word 1.",
        ),
        Mistake(
            "no tanh",
            _sum_not_squashed,
            "tanh is missing: the states are W h + U x as they are, and can grow without limit.",
        ),
        Mistake(
            "tanh of the input only",
            _stepwise(lambda h, x, w, u: w @ h + torch.tanh(u @ x)),
            "tanh is taken of U x alone. It goes around the whole sum W h + U x.",
        ),
        Mistake(
            "tanh of the old state only",
            _stepwise(lambda h, x, w, u: torch.tanh(w @ h) + u @ x),
            "tanh is taken of W h alone. It goes around the whole sum W h + U x.",
        ),
        Mistake(
            "W transposed",
            _stepwise(lambda h, x, w, u: torch.tanh(w.T @ h + u @ x)),
            "W is transposed: `state @ w_state` is Wᵀ h. For one vector write `w_state @ state`, "
            "for rows of vectors `states @ w_state.T`.",
        ),
        Mistake(
            "read backwards",
            _stepwise(lambda h, x, w, u: torch.tanh(w @ h + u @ x), backwards=True),
            "the words are read from the last to the first.",
        ),
        Mistake(
            "old states returned",
            lambda x, w_state, w_input: _with_start(x, w_state, w_input)[:-1],
            "these are the states *before* each word: the list begins with h_0 = 0, and the state "
            "after the last word is missing. Append after the step.",
        ),
        Mistake(
            "start kept",
            _with_start,
            "the list begins with h_0 = 0, which belongs to no word. The first row is h_1, the "
            "state after the first word.",
        ),
        Mistake(
            "last state only",
            lambda x, w_state, w_input: recurrent_states(x, w_state, w_input)[-1],
            "only the last state is returned. The result has one row a word.",
        ),
    ],
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
            "one too few",
            lambda n_words, n_layers: n_words + n_layers - 2,
            "one too few: this counts the arrows between the steps, not the steps. With one layer "
            "and one word there is one step.",
        ),
    ],
    right="`waiting_steps` is right, for four networks",
)
