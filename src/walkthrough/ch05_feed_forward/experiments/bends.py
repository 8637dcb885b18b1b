"""Experiment 05-bends: which conclusions a network reaches with each bend, and without."""

from itertools import product
from math import ceil

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from transformer.feed_forward import PositionwiseFeedForward
from walkthrough.ch05_feed_forward.experiments.width import LinearFeedForward
from walkthrough.lab import Arm, Experiment, Job, Loaded, Outcome

N_FEATURES = 8
BENDS = ("none", "ReLU", "GELU", "SwiGLU")
WIDTHS = (7, 28, 112)
WIDE = (0.25, 0.5, 1, 2, 4)
"""Rates of the ReLU, by which widths are compared."""
PEAK = 0.01


class Gated(nn.Module):
    """A feed-forward network with a gate: (silu(x W) ⊙ x V) W2, as SwiGLU has it."""

    def __init__(self, *, d_model: int, d_ff: int) -> None:
        super().__init__()
        self.expand = nn.Linear(d_model, d_ff)
        self.gate = nn.Linear(d_model, d_ff)
        self.contract = nn.Linear(d_ff, d_model)

    def forward(self, x: Float[Tensor, "*batch d_model"]) -> Float[Tensor, "*batch d_model"]:
        """Transform each position on its own."""
        result: Tensor = self.contract(F.silu(self.gate(x)) * self.expand(x))
        return result


def conclusions() -> tuple[Float[Tensor, "cases d_model"], Float[Tensor, "cases d_model"]]:
    """Return every word of eight features that are there or not, and what follows from each.

    A conclusion is "this feature and that one", for each of the 28 pairs. It has a component of its
    own, which is empty in the word.
    """
    features = torch.cartesian_prod(*[torch.tensor([0.0, 1.0])] * N_FEATURES)
    first, second = torch.combinations(torch.arange(N_FEATURES)).T
    follows = features[:, first] * features[:, second]
    words = torch.cat([features, torch.zeros_like(follows)], dim=1)
    return words, torch.cat([torch.zeros_like(features), follows], dim=1)


def new_network(bend: str, width: int, *, d_model: int) -> nn.Module:
    """Return a network with this bend. A gated one has two thirds of the units: as many weights."""
    if bend == "SwiGLU":
        return Gated(d_model=d_model, d_ff=ceil(2 * width / 3))
    if bend == "GELU":
        expand, contract = nn.Linear(d_model, width), nn.Linear(width, d_model)
        return nn.Sequential(expand, nn.GELU(), contract)
    kinds = {"ReLU": PositionwiseFeedForward, "none": LinearFeedForward}
    return kinds[bend](d_model=d_model, d_ff=width)


def missed(bend: str, width: int, *, seed: int, updates: int = 400, peak: float = PEAK) -> float:
    """Train one network on all words; return the share of the conclusions' variance it misses."""
    words, follows = conclusions()
    torch.manual_seed(seed)
    network = new_network(bend, width, d_model=words.shape[1])
    optimizer = torch.optim.Adam(network.parameters(), fused=True)
    for update in range(updates):
        optimizer.param_groups[0]["lr"] = peak * (1 - update / updates)
        loss = F.mse_loss(network(words), follows)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        error = (network(words) - follows).square().sum(1).mean()
    return float(error / follows.var(0, correction=0).sum())


def share_missed(job: Job) -> Outcome:
    """Train one network on all words; its error is the share of the variance that it misses."""
    labels = job.arm.labels
    error = missed(
        str(labels["bend"]),
        int(labels["width"]),
        seed=job.seed,
        updates=job.length,
        peak=PEAK * job.key.rate,
    )
    return Outcome(figures={"words/-/error": error})


EXPERIMENT = Experiment(
    name="05-bends",
    question="How many conclusions does a network of each width miss, with and without a bend?",
    task=Loaded(),
    base="ReLU, 28",
    rival="none, 112",  # four times the weights, and no bend
    arms=[
        Arm(
            f"{bend}, {width}",
            labels={"bend": bend, "width": width},
            rates=WIDE if bend == "ReLU" else (),
        )
        for bend, width in product(BENDS, WIDTHS)
    ],
    rates=(0.5, 1, 2),
    rate_seeds=(1, 2, 3),
    lengths=(400, 2000),
    run=share_missed,
)
