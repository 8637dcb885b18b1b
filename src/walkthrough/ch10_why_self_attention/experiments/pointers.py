"""Experiment 10-looks: a question that needs two looks, one after the other (§4).

Every place of a sequence holds the number of a place: a pointer. Following it once takes one look.
Following it twice takes a second look, at a place that nobody knows before the first. One edge
joins any two places in both stacks: what differs is how many looks come one after another.
"""

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn

from transformer.config import TransformerConfig
from transformer.model import Encoder
from walkthrough.lab import Arm, Experiment, Job, Loaded, Outcome

PLACES = 8
D_MODEL = 48
TIMES = (1, 2, 3)
PEAK = 4e-3


class PointerReader(nn.Module):
    """The paper's encoder, and a linear map on top that answers for once, twice and three times."""

    def __init__(self, n_layers: int, d_ff: int) -> None:
        super().__init__()
        config = TransformerConfig(
            vocab_size=PLACES,
            d_model=D_MODEL,
            n_heads=4,
            n_layers=n_layers,
            d_ff=d_ff,
            dropout=0.0,
        )
        self.pointers = nn.Embedding(PLACES, D_MODEL)
        self.places = nn.Embedding(PLACES, D_MODEL)
        self.encoder = Encoder(config)
        self.read = nn.Linear(D_MODEL, len(TIMES) * PLACES)

    def forward(
        self, pointers: Int[Tensor, "batch places"]
    ) -> Float[Tensor, "batch places times end"]:
        """Return, for once, twice and three times, a score for every place a walk may end at."""
        x = self.pointers(pointers) + self.places.weight
        everyone = torch.ones_like(pointers, dtype=torch.bool)[:, None, None, :]
        scores: Tensor = self.read(self.encoder(x, everyone)[0])
        return scores.unflatten(-1, (len(TIMES), PLACES))


def follow(pointers: Int[Tensor, "batch places"], times: int) -> Int[Tensor, "batch places"]:
    """Return what stands where you arrive after following each pointer `times` times."""
    found = pointers
    for _ in range(times):
        found = pointers.gather(1, found)
    return found


def answers(pointers: Int[Tensor, "batch places"]) -> Int[Tensor, "batch places times"]:
    """Return what every place should answer for once, twice and three times."""
    return torch.stack([follow(pointers, times) for times in TIMES], dim=-1)


def sequences(n: int, generator: torch.Generator) -> Int[Tensor, "n places"]:
    """Draw pointers: any place may point to any place."""
    return torch.randint(PLACES, (n, PLACES), generator=generator)


def follow_pointers(job: Job) -> Outcome:
    """Train one reader; its figures are shares of right answers on new sequences."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(job.seed)
        model = PointerReader(**job.arm.model)
    optimizer = torch.optim.Adam(model.parameters(), lr=PEAK * job.key.rate, betas=(0.9, 0.98))
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda update: min((update + 1) / 50, 1.2 * (1 - update / job.length), 1.0)
    )
    generator = torch.Generator().manual_seed(job.seed)
    for _ in range(job.length):
        drawn = sequences(64, generator)
        loss = F.cross_entropy(model(drawn).flatten(0, 2), answers(drawn).flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
    new = sequences(1000, torch.Generator().manual_seed(10**6))
    with torch.no_grad():
        scores, ends = model.eval()(new), answers(new)
    right = (scores.argmax(-1) == ends).double().mean((0, 1)).tolist()
    shares = {
        f"new/-/{times}_accuracy": float(share)
        for times, share in zip(("once", "twice", "three_times"), right, strict=True)
    }
    on_new = F.cross_entropy(scores.flatten(0, 2), ends.flatten()).item()
    return Outcome(
        figures={**shares, "new/-/loss": on_new},
        parameters=sum(p.numel() for p in model.encoder.parameters()),
    )


EXPERIMENT = Experiment(
    name="10-looks",
    question="Does a question that needs two looks need two layers, or as many weights in one?",
    task=Loaded(),
    base="one wide layer",
    rival="one wide layer",  # as many weights
    arms=[
        Arm("one layer", model={"n_layers": 1, "d_ff": 96}, seeds=(1, 2, 3)),
        Arm("one wide layer", model={"n_layers": 1, "d_ff": 288}),
        Arm("two layers", model={"n_layers": 2, "d_ff": 96}),
    ],
    rates=(0.5, 1, 2, 4, 8),
    rate_seeds=(1, 2, 3),
    choose="new/-/loss",
    lengths=(200, 800),
    run=follow_pointers,
)
