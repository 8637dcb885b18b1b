"""Token embeddings, scaled by √d_model (§3.4)."""

from math import sqrt

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn


class TokenEmbedding(nn.Module):
    """A learned vector for every token, multiplied by √d_model (§3.4).

    The matrix starts with standard deviation d_model^−0.5, so that it can serve as the output
    projection too: logits are then of order 1, and the factor brings embeddings to order 1.
    """

    def __init__(self, *, vocab_size: int, d_model: int, scale: bool = True) -> None:
        super().__init__()
        self.scale = sqrt(d_model) if scale else 1.0
        self.weight = nn.Parameter(torch.empty(vocab_size, d_model))
        nn.init.normal_(self.weight, std=d_model**-0.5)

    def forward(self, tokens: Int[Tensor, "*batch"]) -> Float[Tensor, "*batch d_model"]:
        """Look every token up and scale.

        Raises:
            ValueError: a token id lies outside the vocabulary (checked on the CPU).
        """
        try:
            return F.embedding(tokens, self.weight) * self.scale
        except IndexError:
            raise ValueError(
                f"token ids must lie in [0, {len(self.weight)}), "
                f"got ids from {int(tokens.min())} to {int(tokens.max())}"
            ) from None
