"""A feed-forward network in parts: each word goes through a few of them (mixture of experts)."""

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from transformer.feed_forward import PositionwiseFeedForward


class Experts(nn.Module):
    """Several small feed-forward networks, and a router that gives each word `n_used` of them.

    `bias` is added to a word's scores when experts are chosen, and only then. `balance` moves it.
    """

    def __init__(self, *, d_model: int, d_ff: int, n_experts: int, n_used: int) -> None:
        super().__init__()
        self.n_used = n_used
        self.router = nn.Linear(d_model, n_experts, bias=False)
        self.experts = nn.ModuleList(
            PositionwiseFeedForward(d_model=d_model, d_ff=d_ff) for _ in range(n_experts)
        )
        self.bias: Tensor
        self.register_buffer("bias", torch.zeros(n_experts))

    def forward(self, x: Float[Tensor, "words d_model"]) -> Float[Tensor, "words d_model"]:
        """Add up what the chosen experts say, by their weights."""
        chosen, weights = self.route(x)
        output = torch.zeros_like(x)
        for n, expert in enumerate(self.experts):
            word, place = (chosen == n).nonzero(as_tuple=True)
            said = weights[word, place, None] * expert(x[word])
            output = output.index_add(0, word, said)
        return output

    def route(
        self, x: Float[Tensor, "words d_model"]
    ) -> tuple[Int[Tensor, "words used"], Float[Tensor, "words used"]]:
        """Return each word's experts and their weights, which sum to 1."""
        scores = self.router(x)
        chosen = (scores + self.bias).topk(self.n_used, dim=-1).indices
        return chosen, scores.gather(-1, chosen).softmax(dim=-1)

    @torch.no_grad()
    def load(self, x: Float[Tensor, "words d_model"]) -> Float[Tensor, " experts"]:
        """Return the share of the work that each expert gets; they sum to 1."""
        chosen, _ = self.route(x)
        return chosen.flatten().bincount(minlength=len(self.experts)) / chosen.numel()

    @torch.no_grad()
    def weights(self, x: Float[Tensor, "words d_model"]) -> Float[Tensor, "words experts"]:
        """Return the weight of every expert for every word; 0 for those that do not run."""
        chosen, weights = self.route(x)
        return torch.zeros(len(x), len(self.experts)).scatter(-1, chosen, weights)

    def balance(self, x: Float[Tensor, "words d_model"], step: float) -> None:
        """Make experts that got too much a little harder to choose, and the others easier."""
        self.bias -= step * (self.load(x) - 1 / len(self.experts)).sign()
