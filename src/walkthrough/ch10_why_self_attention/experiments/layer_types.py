"""The layers of Table 1 without anything around them, and what can be measured on them (§4).

Every layer maps (batch, n, d) to (batch, n, d). The attentions have no projections: Table 1 counts
what they do with queries, keys and values that are already there.
"""

from collections.abc import Callable
from typing import Literal

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn
from torch.utils.flop_counter import FlopCounterMode

from transformer.attention import MultiHeadAttention, scaled_dot_product_attention
from walkthrough.ch10_why_self_attention.experiments.wiring import Kind

Type = Kind | Literal["separable"]
Sequence = Float[Tensor, "batch n d"]
PRODUCTS = ("Mm", "Bmm", "Addmm", "Convolution")  # what autograd calls products of matrices


class SelfAttention(nn.Module):
    """Every position meets every position (§3.2.1)."""

    def forward(self, x: Sequence) -> Sequence:
        """Return softmax(xxᵀ/√d)x; the weights are kept, so that all products can be counted."""
        return scaled_dot_product_attention(x, x, x, need_weights=True)[0]


class RestrictedAttention(nn.Module):
    """Every position meets the r positions around it, and nothing else is computed (§4)."""

    def __init__(self, r: int) -> None:
        super().__init__()
        self.r = r

    def forward(self, x: Sequence) -> Sequence:
        """Cut a window of r positions around each position, and attend inside the windows."""
        half, n = self.r // 2, x.shape[-2]
        windows = F.pad(x, (0, 0, half, half)).unfold(-2, self.r, 1).mT  # (batch, n, r, d)
        inside = F.pad(torch.ones(n, dtype=torch.bool), (half, half)).unfold(-1, self.r, 1)
        query = x[..., None, :]  # (batch, n, 1, d): one query a window
        output, _ = scaled_dot_product_attention(
            query, windows, windows, inside[:, None, :], need_weights=True
        )
        return output.squeeze(-2)


class Recurrence(nn.Module):
    """h_t = tanh(W_x x_t + W_h h_{t−1}), PyTorch's own."""

    def __init__(self, d: int) -> None:
        super().__init__()
        self.rnn = nn.RNN(d, d, bias=False, batch_first=True)

    def forward(self, x: Sequence) -> Sequence:
        """Return the states."""
        states: Sequence = self.rnn(x)[0]
        return states


class Convolution(nn.Module):
    """Every position reads itself and k − 1 positions before it, `dilation` apart."""

    def __init__(self, d: int, k: int, *, dilation: int = 1, groups: int = 1) -> None:
        super().__init__()
        self.reach = (k - 1) * dilation
        self.conv = nn.Conv1d(d, d, k, dilation=dilation, groups=groups, bias=False)

    def forward(self, x: Sequence) -> Sequence:
        """Pad on the left, so that no position sees what comes after it."""
        convolved: Tensor = self.conv(F.pad(x.mT, (self.reach, 0)))
        return convolved.mT


def make_layer(kind: Type, d: int, *, k: int = 3, r: int = 33) -> nn.Module:
    """Return one layer of Table 1; a separable convolution is one by component, then 1 × 1.

    Raises:
        ValueError: an unknown kind.
    """
    makers: dict[str, Callable[[], nn.Module]] = {
        "self-attention": SelfAttention,
        "recurrent": lambda: Recurrence(d),
        "convolutional": lambda: Convolution(d, k),
        "dilated": lambda: Convolution(d, k, dilation=k),
        "separable": lambda: nn.Sequential(Convolution(d, k, groups=d), Convolution(d, 1)),
        "restricted": lambda: RestrictedAttention(r),
    }
    if kind not in makers:
        raise ValueError(f"kind must be one of {', '.join(makers)}, got {kind!r}")
    return makers[kind]()


class WithProjections(nn.Module):
    """Self-attention as the model has it: with W^Q, W^K, W^V and W^O (§3.2.2)."""

    def __init__(self, d: int) -> None:
        super().__init__()
        self.attention = MultiHeadAttention(d_model=d, n_heads=1, bias=False)

    def forward(self, x: Sequence) -> Sequence:
        """Attend from every position to every position."""
        output: Sequence = self.attention(x, x, x, need_weights=True)[0]
        return output


def counted(layer: nn.Module, *, n: int, d: int) -> int:
    """Return the floating-point operations of one call on one sentence, by PyTorch's counter."""
    x = torch.randn(1, n, d)
    with torch.no_grad(), FlopCounterMode(display=False) as counter:
        layer(x)
    return int(counter.get_total_flops())


def longest_chain(layer: nn.Module, *, n: int, d: int) -> int:
    """Return how many products of matrices have to wait for each other in one call.

    PyTorch keeps the graph of a calculation for its gradients. This walks back through it and
    counts the products on the longest chain.
    """
    output = layer(torch.randn(1, n, d, requires_grad=True))
    longest: dict[object, int] = {}
    pending = [output.grad_fn]
    while pending:
        node = pending[-1]
        inputs = [before for before, _ in node.next_functions if before is not None]
        waiting = [before for before in inputs if before not in longest]
        if waiting:
            pending += waiting
            continue
        is_product = node.name().removesuffix("Backward0") in PRODUCTS
        longest[node] = max((longest[before] for before in inputs), default=0) + is_product
        pending.pop()
    return longest[output.grad_fn]
