"""A recurrent network written out, and what must wait for what, for chapter 01 (§1, §2)."""

from collections.abc import Callable

import torch
from jaxtyping import Float
from torch import Tensor, nn

Reader = Callable[[Float[Tensor, "batch length d_in"]], Float[Tensor, "batch d_out"]]
"""Reads sequences and returns one vector for each: what stands at the last position."""


def recurrent_states(
    x: Float[Tensor, "*batch length d_in"],
    w_state: Float[Tensor, "d_state d_state"],
    w_input: Float[Tensor, "d_state d_in"],
    *,
    bias: Float[Tensor, "d_state"] | None = None,
) -> Float[Tensor, "*batch length d_state"]:
    """Return h_1 … h_n with h_t = tanh(W h_{t−1} + U x_t + b) and h_0 = 0 (§1).

    Raises:
        ValueError: there are no words to read.
    """
    if x.shape[-2] == 0:
        raise ValueError(f"a recursion needs at least one step, got x of shape {tuple(x.shape)}")
    state = x.new_zeros(*x.shape[:-2], w_state.shape[0])
    states = []
    for word in x.unbind(dim=-2):  # no step can start before the one before it has ended
        state = state @ w_state.T + word @ w_input.T
        if bias is not None:
            state = state + bias
        state = torch.tanh(state)
        states.append(state)
    return torch.stack(states, dim=-2)


def gradient_by_place(
    reader: Reader, *, length: int, d_in: int, batch: int = 32, seed: int = 0
) -> Float[Tensor, "length"]:
    """Return how large a gradient comes back from the last position to each input.

    Random inputs in float64, a random direction of length 1 at the output; the mean over the batch
    is geometric, because such sizes differ by orders of magnitude.

    Raises:
        ValueError: there are no words to read.
    """
    if length < 1:
        raise ValueError(f"length must be at least 1, got {length}")
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(batch, length, d_in, generator=generator, dtype=torch.float64)
    output = reader(x.requires_grad_())
    direction = torch.randn(output.shape, generator=generator, dtype=torch.float64)
    direction = direction / direction.norm(dim=-1, keepdim=True)
    (gradient,) = torch.autograd.grad(output, x, direction)
    return gradient.norm(dim=-1).log().mean(dim=0).exp()


OPEN_GATE = 4.0
"""Start of the forget gate's bias: sigmoid(4) = 0.98 of the memory stays at each step."""


def open_forget_gate(lstm: nn.LSTM, bias: float = OPEN_GATE) -> nn.LSTM:
    """Let an LSTM of one layer start with a forget gate that keeps its memory.

    PyTorch stores the gates in the order input, forget, cell, output, with two biases that add up.
    """
    d = lstm.hidden_size
    with torch.no_grad():
        lstm.get_parameter("bias_ih_l0")[d : 2 * d] = bias
        lstm.get_parameter("bias_hh_l0")[d : 2 * d] = 0.0
    return lstm


def longest_chain(output: Tensor) -> int:
    """Return how many operations had to wait for each other to make `output`.

    PyTorch keeps what a result was computed from; this is the longest way through that record.

    Raises:
        ValueError: nothing was recorded, because no input requires a gradient.
    """
    if output.grad_fn is None:
        raise ValueError("longest_chain needs a tensor computed from one that requires_grad")
    order, seen = [], set()
    waiting = [(output.grad_fn, False)]
    while waiting:  # a loop of our own: chains are longer than Python lets functions nest
        node, done = waiting.pop()
        if done:
            order.append(node)
        elif node not in seen:
            seen.add(node)
            waiting.append((node, True))
            waiting += [(before, False) for before, _ in node.next_functions if before is not None]
    length: dict[object, int] = {}
    for node in order:
        befores = [length[before] for before, _ in node.next_functions if before is not None]
        is_operation = not type(node).__name__.startswith("AccumulateGrad")
        length[node] = max(befores, default=0) + is_operation
    return length[output.grad_fn]
