"""The check of chapter 01 on an LSTM built from its formulas (§1)."""

import math
from collections.abc import Callable

import torch
from torch import Tensor

from walkthrough.checking import Arguments, Case, Check, Mistake, arguments

Step = Callable[[Tensor, Tensor, Tensor, Tensor, Tensor], tuple[Tensor, Tensor]]


def _usual(i: Tensor, f: Tensor, g: Tensor, o: Tensor, c: Tensor) -> tuple[Tensor, Tensor]:
    c = f * c + i * g
    return o * c.tanh(), c


def _lstm(
    step: Step = _usual,
    *,
    order: tuple[int, int, int, int] = (0, 1, 2, 3),
    with_state: bool = True,
    from_cell: bool = False,
    cells: bool = False,
) -> Callable[..., Tensor]:
    """Return an LSTM; the keywords, or a step of another kind, break it in one place."""

    def states(x: Tensor, w_input: Tensor, w_state: Tensor, bias: Tensor) -> Tensor:
        h = c = torch.zeros(w_state.shape[1])
        found = []
        for word in x:
            total = w_input @ word + bias
            if with_state:
                total = total + w_state @ (c if from_cell else h)
            parts = total.chunk(4)
            i, f, g, o = (parts[place] for place in order)
            h, c = step(i.sigmoid(), f.sigmoid(), g.tanh(), o.sigmoid(), c)
            found.append(c if cells else h)
        return torch.stack(found)

    return states


def _inputs(
    length: int, d_in: int, d: int, *, size: float = 1.0, bias: float = 1.0
) -> Callable[[torch.Generator], Arguments]:
    def make(generator: torch.Generator) -> Arguments:
        x = size * torch.randn(length, d_in, generator=generator)
        w_input = torch.randn(4 * d, d_in, generator=generator) / math.sqrt(d_in)
        w_state = torch.randn(4 * d, d, generator=generator) / math.sqrt(d)
        return arguments(x, w_input, w_state, bias * torch.randn(4 * d, generator=generator))

    return make


lstm_states = Check(
    name="lstm_states",
    reference=_lstm(),
    cases=[
        Case("5 words of 3 numbers, states of 4", _inputs(5, 3, 4)),
        Case("7 words of 4 numbers, states of 4", _inputs(7, 4, 4)),
        Case("words of large numbers, which open and close gates", _inputs(6, 3, 5, size=10.0)),
        Case("a bias of 0", _inputs(4, 2, 6, bias=0.0)),
        Case("one word", _inputs(1, 2, 3)),
    ],
    mistakes=[
        Mistake(
            "input and forget gate exchanged",
            _lstm(order=(1, 0, 2, 3)),
            "the input gate and the forget gate have changed places. PyTorch's order is input, "
            "forget, cell, output.",
        ),
        Mistake(
            "output before cell",
            _lstm(order=(0, 1, 3, 2)),
            "you take the parts in the order input, forget, output, cell. PyTorch's order is "
            "input, forget, cell, output.",
        ),
        Mistake(
            "cells returned",
            _lstm(cells=True),
            "these are the cells c_t. The states h_t = o_t ⊙ tanh(c_t) are asked for.",
        ),
        Mistake(
            "cell in the gates",
            _lstm(from_cell=True),
            "the gates are made from the cell c_{t−1}. They are made from the state h_{t−1}.",
        ),
        Mistake(
            "state left out",
            _lstm(with_state=False),
            "the gates know the word alone: `w_state @ h` is missing, or h is never replaced.",
        ),
        Mistake(
            "nothing kept",
            _lstm(lambda i, f, g, o, c: (o * (i * g).tanh(), i * g)),
            "nothing of the old cell is kept: the term f_t ⊙ c_{t−1} is missing, or c is never "
            "replaced.",
        ),
        Mistake(
            "no tanh on the cell",
            _lstm(lambda i, f, g, o, c: (o * (f * c + i * g), f * c + i * g)),
            "the state shows the cell without tanh: h_t = o_t ⊙ tanh(c_t).",
        ),
        Mistake(
            "the old cell is shown",
            _lstm(lambda i, f, g, o, c: (o * c.tanh(), f * c + i * g)),
            "the state is made from the *old* cell. Replace c first, then h_t = o_t ⊙ tanh(c_t).",
        ),
    ],
    forbidden=[torch.nn.LSTM, torch.nn.LSTMCell],
    right="`lstm_states` is right: PyTorch's LSTM, from its formulas",
)
