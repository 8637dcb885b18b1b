"""The check of chapter 01 on an LSTM built from its formulas (§1)."""

import math
from collections.abc import Callable
from itertools import permutations

import torch
from torch import Tensor

from walkthrough.checking.base import Arguments, Case, Check, Mistake, Symptom, arguments

Gates = tuple[Tensor, Tensor, Tensor, Tensor]
Step = Callable[[Gates, Tensor, Tensor], tuple[Tensor, Tensor]]


def _sizes(gates: Gates) -> Gates:
    i, f, g, o = gates
    return i.sigmoid(), f.sigmoid(), g.tanh(), o.sigmoid()


def _usual(gates: Gates, h: Tensor, c: Tensor) -> tuple[Tensor, Tensor]:
    i, f, g, o = _sizes(gates)
    c = f * c + i * g
    return o * c.tanh(), c


def _lstm(
    step: Step = _usual,
    *,
    order: tuple[int, int, int, int] = (0, 1, 2, 3),
    with_bias: bool = True,
    with_state: bool = True,
    from_cell: bool = False,
    cells: bool = False,
    start: float = 0.0,
    by_turns: bool = False,
) -> Callable[..., Tensor]:
    """Return an LSTM; the keywords break it in one place."""

    def states(x: Tensor, w_input: Tensor, w_state: Tensor, bias: Tensor) -> Tensor:
        h = c = torch.full((w_state.shape[1],), start)
        found = []
        for word in x:
            total = w_input @ word
            total = total + (w_state @ (c if from_cell else h) if with_state else 0.0)
            total = total + (bias if with_bias else 0.0)
            parts = total.reshape(-1, 4).unbind(1) if by_turns else total.chunk(4)
            gates = (parts[order[0]], parts[order[1]], parts[order[2]], parts[order[3]])
            h, c = step(gates, h, c)
            found.append(c if cells else h)
        return torch.stack(found)

    return states


def _changed(change: Callable[[Gates, Tensor], tuple[Tensor, Tensor]]) -> Callable[..., Tensor]:
    """Return an LSTM whose step is `change(activated gates, cell)` → state, cell."""
    return _lstm(lambda gates, h, c: change(_sizes(gates), c))


def _closed_forget(gates: Gates, c: Tensor) -> tuple[Tensor, Tensor]:
    i, _, g, o = gates
    return o * (i * g).tanh(), i * g


def _never_forgets(gates: Gates, c: Tensor) -> tuple[Tensor, Tensor]:
    i, _, g, o = gates
    return o * (c + i * g).tanh(), c + i * g


def _coupled(gates: Gates, c: Tensor) -> tuple[Tensor, Tensor]:
    i, _, g, o = gates
    new = (1 - i) * c + i * g
    return o * new.tanh(), new


def _all_comes_in(gates: Gates, c: Tensor) -> tuple[Tensor, Tensor]:
    _, f, g, o = gates
    return o * (f * c + g).tanh(), f * c + g


def _forget_for_input(gates: Gates, c: Tensor) -> tuple[Tensor, Tensor]:
    _, f, g, o = gates
    new = f * c + (1 - f) * g
    return o * new.tanh(), new


def _forget_turned(gates: Gates, c: Tensor) -> tuple[Tensor, Tensor]:
    i, f, g, o = gates
    new = (1 - f) * c + i * g
    return o * new.tanh(), new


def _state_for_cell(gates: Gates, h: Tensor, c: Tensor) -> tuple[Tensor, Tensor]:
    i, f, g, o = _sizes(gates)
    new = f * h + i * g
    return o * new.tanh(), new


def _bare_cell(gates: Gates, c: Tensor) -> tuple[Tensor, Tensor]:
    i, f, g, o = gates
    return o * (f * c + i * g), f * c + i * g


def _no_output_gate(gates: Gates, c: Tensor) -> tuple[Tensor, Tensor]:
    i, f, g, _ = gates
    new = f * c + i * g
    return new.tanh(), new


def _old_cell_shown(gates: Gates, c: Tensor) -> tuple[Tensor, Tensor]:
    i, f, g, o = gates
    return o * c.tanh(), f * c + i * g


def _shown_cell_kept(gates: Gates, c: Tensor) -> tuple[Tensor, Tensor]:
    i, f, g, o = gates
    new = (f * c + i * g).tanh()
    return o * new, new


def _with_gates(
    activate: Callable[[Gates], Gates],
) -> Callable[..., Tensor]:
    def step(gates: Gates, h: Tensor, c: Tensor) -> tuple[Tensor, Tensor]:
        i, f, g, o = activate(gates)
        new = f * c + i * g
        return o * new.tanh(), new

    return _lstm(step)


def _inputs(length: int, d_in: int, d: int) -> Callable[[torch.Generator], Arguments]:
    def make(generator: torch.Generator) -> Arguments:
        x = torch.randn(length, d_in, generator=generator)
        w_input = torch.randn(4 * d, d_in, generator=generator) / math.sqrt(d_in)
        w_state = torch.randn(4 * d, d, generator=generator) / math.sqrt(d)
        return arguments(x, w_input, w_state, torch.randn(4 * d, generator=generator))

    return make


def _rows_right(result: Tensor, expected: Tensor, n: int) -> bool:
    return result.shape == expected.shape and torch.allclose(result[:n], expected[:n], atol=1e-5)


def _in_another_order(result: Tensor, expected: Tensor, given: Arguments) -> bool:
    return any(
        torch.allclose(result, _lstm(order=(i, f, g, o))(*given.positional), atol=1e-5)
        for i, f, g, o in permutations(range(4))
    )


def _one_bare_gate(number: int) -> Callable[..., Tensor]:
    def activate(gates: Gates) -> Gates:
        i, f, g, o = (
            part if place == number else active
            for place, (part, active) in enumerate(zip(gates, _sizes(gates), strict=True))
        )
        return i, f, g, o

    return _with_gates(activate)


def _sigmoid_shown(gates: Gates, c: Tensor) -> tuple[Tensor, Tensor]:
    i, f, g, o = gates
    new = f * c + i * g
    return o * new.sigmoid(), new


def _gate_added(gates: Gates, c: Tensor) -> tuple[Tensor, Tensor]:
    i, f, g, o = gates
    new = f * c + i * g
    return o + new.tanh(), new


def _plain_recursion(x: Tensor, w_input: Tensor, w_state: Tensor, bias: Tensor) -> Tensor:
    h, found = torch.zeros(w_state.shape[1]), []
    for word in x:
        h = (w_input @ word + w_state @ h + bias).chunk(4)[0].tanh()
        found.append(h)
    return torch.stack(found)


lstm_states = Check(
    name="lstm_states",
    reference=_lstm(),
    cases=[
        Case("5 words of 3 numbers, states of 4", _inputs(5, 3, 4)),
        Case("7 words of 4 numbers, states of 4", _inputs(7, 4, 4)),
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
            "cell first",
            _lstm(order=(1, 2, 0, 3)),
            "you take the parts in the order cell, input, forget, output. PyTorch's order is "
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
        Mistake("no bias", _lstm(with_bias=False), "the bias is missing."),
        Mistake(
            "nothing kept",
            _changed(_closed_forget),
            "nothing of the old cell is kept: the term f_t ⊙ c_{t−1} is missing, or c is never "
            "replaced.",
        ),
        Mistake(
            "nothing forgotten",
            _changed(_never_forgets),
            "the old cell is added whole: multiply it by the forget gate. (This is the LSTM of "
            "1997, before it had one.)",
        ),
        Mistake(
            "coupled gates",
            _changed(_coupled),
            "1 − i_t stands for the forget gate, as in a GRU. An LSTM computes a forget gate of "
            "its own.",
        ),
        Mistake(
            "everything comes in",
            _changed(_all_comes_in),
            "the input gate is missing: what comes in is i_t ⊙ g_t.",
        ),
        Mistake(
            "one gate for both",
            _changed(_forget_for_input),
            "1 − f_t stands for the input gate. An LSTM computes an input gate of its own.",
        ),
        Mistake(
            "forget gate turned round",
            _changed(_forget_turned),
            "1 − f_t multiplies the old cell. The forget gate is the share that *stays*.",
        ),
        Mistake(
            "state for the cell",
            _lstm(_state_for_cell),
            "the forget gate multiplies the old *state*. It multiplies the old cell, c_{t−1}.",
        ),
        Mistake(
            "no tanh on the cell",
            _changed(_bare_cell),
            "the state shows the cell without tanh: h_t = o_t ⊙ tanh(c_t).",
        ),
        Mistake(
            "no output gate",
            _changed(_no_output_gate),
            "the output gate is missing: h_t = o_t ⊙ tanh(c_t).",
        ),
        Mistake(
            "the old cell is shown",
            _changed(_old_cell_shown),
            "the state is made from the *old* cell. Replace c first, then h_t = o_t ⊙ tanh(c_t).",
        ),
        Mistake(
            "tanh kept in the cell",
            _changed(_shown_cell_kept),
            "the cell itself goes through tanh and is kept so. tanh is only for what the state "
            "shows; along c nothing must squash.",
        ),
        Mistake(
            "sigmoid for what comes in",
            _with_gates(lambda gates: (*(part.sigmoid() for part in gates),)),  # type: ignore[arg-type,return-value]
            "g_t goes through sigmoid. It is no gate but what comes in, from −1 to 1: tanh.",
        ),
        Mistake(
            "tanh for the gates",
            _with_gates(lambda gates: (*(part.tanh() for part in gates),)),  # type: ignore[arg-type,return-value]
            "the gates go through tanh. A gate is a share between 0 and 1: sigmoid.",
        ),
        Mistake(
            "gates without sigmoid",
            _with_gates(lambda gates: (gates[0], gates[1], gates[2].tanh(), gates[3])),
            "the gates are used without sigmoid. A gate is a share between 0 and 1.",
        ),
        Mistake(
            "what comes in without tanh",
            _with_gates(
                lambda gates: (gates[0].sigmoid(), gates[1].sigmoid(), gates[2], gates[3].sigmoid())
            ),
            "g_t is used without tanh.",
        ),
        Mistake(
            "last state only",
            lambda *given: _lstm()(*given)[-1],
            "only the last state is returned. The result has one row a word.",
        ),
        Mistake(
            "starts from ones",
            _lstm(start=1.0),
            "the state and the cell start from 1. They start from 0.",
        ),
        Mistake(
            "parts by turns",
            _lstm(by_turns=True),
            "every fourth number is taken for one part. The parts stand one *below* the other: the "
            "first quarter is the input gate, as `chunk(4)` cuts it.",
        ),
        *(
            Mistake(
                f"{name} gate without sigmoid",
                _one_bare_gate(number),
                f"the {name} gate is used without sigmoid. A gate is a share between 0 and 1.",
            )
            for number, name in ((0, "input"), (1, "forget"), (3, "output"))
        ),
        Mistake(
            "relu for what comes in",
            _with_gates(lambda gates: (*_sizes(gates)[:2], gates[2].relu(), _sizes(gates)[3])),
            "g_t goes through relu. What comes in lies between −1 and 1: tanh.",
        ),
        Mistake(
            "sigmoid on the cell",
            _changed(_sigmoid_shown),
            "the state shows the cell through sigmoid: h_t = o_t ⊙ tanh(c_t).",
        ),
        Mistake(
            "output gate added",
            _changed(_gate_added),
            "the output gate is added. It multiplies: h_t = o_t ⊙ tanh(c_t).",
        ),
        Mistake(
            "read backward",
            lambda x, *matrices: _lstm()(x.flip(0), *matrices).flip(0),
            "the words are read from the last to the first.",
        ),
        Mistake(
            "plain recursion",
            _plain_recursion,
            "this is a plain recursion with the first quarter of the matrices: there are no gates "
            "and no cell.",
        ),
    ],
    forbidden=[torch.nn.LSTM, torch.nn.LSTMCell],
    symptoms=[
        Symptom(
            "another order",
            _in_another_order,
            "the four parts are taken in another order. PyTorch's order is input, forget, cell, "
            "output: `i, f, g, o = (…).chunk(4)`.",
        ),
        Symptom(
            "two results",
            lambda result, expected, given: (
                isinstance(result, tuple)
                or (isinstance(result, list) and len(result) == 2 != len(expected))
            ),
            "two results are returned. The states h_1, …, h_n alone are asked for.",
        ),
        Symptom(
            "first state right",
            lambda result, expected, given: len(expected) > 1 and _rows_right(result, expected, 1),
            "the state after the first word is right, the next ones are not: the step itself is "
            "in order, and what it takes over from the step before is not. Look at the forget "
            "gate, and at where h and c are replaced.",
        ),
        Symptom(
            "one row too many",
            lambda result, expected, given: len(result) == len(expected) + 1,
            "there is one row too many. The first row is the state after the first word, not h_0.",
        ),
    ],
    right="`lstm_states` is right: PyTorch's LSTM, from its formulas",
)
