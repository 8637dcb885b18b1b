"""The position-wise feed-forward network (§3.3)."""

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

ACTIVATIONS = {"relu": torch.relu, "swish": F.silu}


class PositionwiseFeedForward(nn.Module):
    """max(0, x W1 + b1) W2 + b2, the same at every position of one layer (§3.3, Eq. 2).

    `activation="swish"` puts x · sigmoid(x) in the place of max(0, x), as published models do.
    """

    def __init__(
        self, *, d_model: int, d_ff: int, bias: bool = True, activation: str = "relu"
    ) -> None:
        super().__init__()
        self.activation = ACTIVATIONS[activation]
        self.expand = nn.Linear(d_model, d_ff, bias=bias)  # W1, b1
        self.contract = nn.Linear(d_ff, d_model, bias=bias)  # W2, b2

    def forward(self, x: Float[Tensor, "*batch d_model"]) -> Float[Tensor, "*batch d_model"]:
        """Transform each position on its own."""
        return self.contract(self.activation(self.expand(x)))
