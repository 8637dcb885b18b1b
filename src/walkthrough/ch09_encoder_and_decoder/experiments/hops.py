"""A task that needs depth, for chapter 09: follow pointers from place to place (§3.1).

Every place of a sequence holds the number of a place: a pointer. The answer at a place is what
you read after following its pointer once, twice, … A layer of attention can look at one place at a
time; to know where to look next, it needs what the layer before has read. One reader answers for
once, twice and three times at the same time.
"""

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn

from transformer.config import TransformerConfig
from transformer.model import Encoder

PLACES = 8
D_MODEL = 48
TIMES = (1, 2, 3)
UPDATES = 200


class PointerReader(nn.Module):
    """The paper's encoder with N layers, and a linear map to the places on top (§3.1)."""

    def __init__(self, n_layers: int) -> None:
        super().__init__()
        config = TransformerConfig(
            vocab_size=PLACES,
            d_model=D_MODEL,
            n_heads=4,
            n_layers=n_layers,
            d_ff=2 * D_MODEL,
            dropout=0.0,
        )
        self.pointers = nn.Embedding(PLACES, D_MODEL)
        self.places = nn.Embedding(PLACES, D_MODEL)
        self.encoder = Encoder(config)
        self.read = nn.Linear(D_MODEL, len(TIMES) * PLACES)

    def forward(
        self, pointers: Int[Tensor, "batch places"]
    ) -> Float[Tensor, "batch places times end"]:
        """Return, for one, two and three times, a score for every place where a walk may end."""
        x = self.pointers(pointers) + self.places.weight
        everyone = torch.ones_like(pointers, dtype=torch.bool)[:, None, None, :]
        scores: Tensor = self.read(self.encoder(x, everyone)[0])
        return scores.unflatten(-1, (len(TIMES), PLACES))


def follow(pointers: Int[Tensor, "batch places"], times: int) -> Int[Tensor, "batch places"]:
    """Return what stands where you arrive after following each pointer `times` times.

    Raises:
        ValueError: times is negative.
    """
    if times < 0:
        raise ValueError(f"times must not be negative, got {times}")
    found = pointers
    for _ in range(times):
        found = pointers.gather(1, found)
    return found


def sequences(n: int, generator: torch.Generator) -> Int[Tensor, "n places"]:
    """Draw pointers: any place may point to any place."""
    return torch.randint(PLACES, (n, PLACES), generator=generator)


def answers(pointers: Int[Tensor, "batch places"]) -> Int[Tensor, "batch places times"]:
    """Return what every place should answer for one, two and three times."""
    return torch.stack([follow(pointers, times) for times in TIMES], dim=-1)


@torch.enable_grad()
def train(
    n_layers: int, *, seed: int = 0, updates: int = UPDATES, batch: int = 64
) -> PointerReader:
    """Train a reader with `n_layers` layers to follow pointers once, twice and three times."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = PointerReader(n_layers)
    optimizer = torch.optim.Adam(model.parameters(), lr=4e-3, betas=(0.9, 0.98))
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda update: min((update + 1) / 50, (updates - update) / updates * 1.2, 1.0)
    )
    generator = torch.Generator().manual_seed(seed)
    for _ in range(updates):
        pointers = sequences(batch, generator)
        loss = F.cross_entropy(model(pointers).flatten(0, 2), answers(pointers).flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
    return model.eval()


def best_with_one_look(times: int, *, n: int = 400_000) -> float:
    """Return the share of right answers of a reader who has looked once, and guesses best.

    The reader knows three things: its own place, the pointer there, and what stands at the place
    that it leads to. What is most often right for each of the 8³ cases is counted on drawn
    sequences, at place 0; all places are alike.
    """
    drawn = sequences(n, torch.Generator().manual_seed(2))
    known = drawn[:, 0] * PLACES + follow(drawn, 1)[:, 0]
    counts = torch.zeros(PLACES**2, PLACES)
    answers = follow(drawn, times)[:, 0]
    counts.index_put_((known, answers), torch.ones(n), accumulate=True)
    return float(counts.amax(-1).sum() / n)


@torch.no_grad()
def right_answers(model: PointerReader, *, n: int = 1000, circles: bool = True) -> dict[int, float]:
    """Return the share of right answers by times, on sequences that training did not draw.

    Without `circles` each place is pointed to once, so that short walks come back
    less often.
    """
    generator = torch.Generator().manual_seed(10**6)
    pointers = sequences(n, generator)
    if not circles:
        pointers = torch.rand(n, PLACES, generator=generator).argsort(-1)
    right = (model(pointers).argmax(-1) == answers(pointers)).float().mean((0, 1))
    return dict(zip(TIMES, right.tolist(), strict=True))


@torch.no_grad()
def looks(
    model: PointerReader, pointers: Int[Tensor, "1 places"]
) -> Float[Tensor, "layers places places"]:
    """Return each layer's attention weights, mean of the heads."""
    x = model.pointers(pointers) + model.places.weight
    everyone = torch.ones_like(pointers, dtype=torch.bool)[:, None, None, :]
    _, weights = model.encoder(x, everyone, need_weights=True)
    return torch.stack([layer[0].mean(0) for layer in weights if layer is not None])
