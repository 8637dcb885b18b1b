"""A recurrent network written out, and what must wait for what, for chapter 01 (§1, §2)."""

from collections.abc import Callable

import torch
from jaxtyping import Float
from torch import Tensor

Reader = Callable[[Float[Tensor, "batch length d_in"]], Float[Tensor, "batch d_out"]]
"""Reads sequences and returns one vector for each: what stands at the last position."""


def recurrent_states(
    x: Float[Tensor, "*batch length d_in"],
    w_state: Float[Tensor, "d_state d_state"],
    w_input: Float[Tensor, "d_state d_in"],
    *,
    bias: Float[Tensor, "d_state"] | None = None,
    squash: bool = True,
) -> Float[Tensor, "*batch length d_state"]:
    """Return h_1 … h_n with h_t = tanh(W h_{t−1} + U x_t + b) and h_0 = 0 (§1).

    `squash=False` leaves tanh out: then the recursion is linear.

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
        if squash:
            state = torch.tanh(state)
        states.append(state)
    return torch.stack(states, dim=-2)


def stretched_rotation(d: int, factor: float, *, seed: int = 0) -> Float[Tensor, "d d"]:
    """Return a random matrix in float64 that makes every vector `factor` times as long.

    All its eigenvalues have this absolute value.
    """
    generator = torch.Generator().manual_seed(seed)
    square = torch.randn(d, d, generator=generator, dtype=torch.float64)
    return factor * torch.linalg.qr(square).Q


def gradient_at_start(
    reader: Reader,
    *,
    distance: int,
    d_in: int,
    input_scale: float = 1.0,
    batch: int = 32,
    seed: int = 0,
) -> float:
    """Return the size of the gradient that reaches the input at step 0 from `distance` steps later.

    Random inputs in float64, a random direction of length 1 at the output; the mean over the batch
    is geometric, because such sizes differ by orders of magnitude.

    Raises:
        ValueError: the distance is negative.
    """
    if distance < 0:
        raise ValueError(f"distance must be at least 0, got {distance}")
    generator = torch.Generator().manual_seed(seed)
    shape = (batch, distance + 1, d_in)
    x = input_scale * torch.randn(shape, generator=generator, dtype=torch.float64)
    x.requires_grad_()
    output = reader(x)
    direction = torch.randn(output.shape, generator=generator, dtype=torch.float64)
    direction = direction / direction.norm(dim=-1, keepdim=True)
    (gradient,) = torch.autograd.grad(output, x, direction)
    return float(gradient[:, 0].norm(dim=-1).log().mean().exp())


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
