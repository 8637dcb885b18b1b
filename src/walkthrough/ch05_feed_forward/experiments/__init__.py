"""What the feed-forward network is worth: in small translators, and alone (§3.3, Table 3 C).

One encoder layer and one decoder layer with d_model = 64: small enough that a few of them can be
trained while a page runs. `width` trains them longer and with several seeds.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn

from transformer.config import PAD_ID
from transformer.data.batching import Pair, collate
from transformer.feed_forward import PositionwiseFeedForward
from transformer.model import Transformer
from transformer.training import History, perplexity, train
from walkthrough.lab import translator
from walkthrough.lab.one_layer import SIZES

PAGE_UPDATES = 300
"""Updates of the run that a page can wait for; the recorded ones have the preset's number."""

WIDTHS = (0, 16, 64, 256, 1024)
"""Sizes of d_ff; 0 stands for no feed-forward network."""


@dataclass(frozen=True)
class Trained:
    """A trained model and what it scores on sentences that it did not see."""

    model: Transformer
    history: History
    perplexity: float
    next_word: float


class Silent(nn.Module):
    """A sub-layer that adds nothing: the model without feed-forward networks."""

    def forward(self, x: Float[Tensor, "*batch d_model"]) -> Float[Tensor, "*batch d_model"]:
        """Return zeros."""
        return torch.zeros_like(x)


class LinearFeedForward(PositionwiseFeedForward):
    """The feed-forward network without its ReLU: as many parameters, no bend."""

    def forward(self, x: Float[Tensor, "*batch d_model"]) -> Float[Tensor, "*batch d_model"]:
        """Apply both maps and nothing between them."""
        result: Tensor = self.contract(self.expand(x))
        return result


def new_model(task: translator.Task, width: int, *, seed: int, relu: bool = True) -> Transformer:
    """Return an untrained model whose feed-forward networks have `width` hidden units.

    Raises:
        ValueError: width is negative, or 0 without ReLU (there is nothing to bend).
    """
    if width < 0 or (width == 0 and not relu):
        raise ValueError(f"width must be at least {0 if relu else 1} with relu={relu}, got {width}")
    model = translator.new_model(task, seed=seed, **SIZES, d_ff=max(width, 1))
    for layer in [*model.encoder.layers, *model.decoder.layers]:
        if width == 0:
            layer.feed_forward = Silent()
        elif not relu:
            layer.feed_forward.__class__ = LinearFeedForward  # the same weights, another forward
    return model


def train_width(
    task: translator.Task, width: int, *, seed: int, updates: int | None = None, relu: bool = True
) -> Trained:
    """Train one model; `updates` makes the run, and its schedule, shorter.

    Raises:
        ValueError: as `new_model`, or there are fewer updates than the warm-up needs.
    """
    model = new_model(task, width, seed=seed, relu=relu)
    settings = task.plan.training.replace(seed=seed, threads=1)
    if updates is not None:
        settings = settings.replace(max_updates=updates)
    history = train(model, task.pairs("train"), settings, progress=False)
    valid = task.pairs("valid")
    return Trained(
        model, history, perplexity(model, valid), translator.next_word_accuracy(model, valid)
    )


def feed_forward_parameters(model: Transformer) -> int:
    """Return the number of trained values in the model's feed-forward networks."""
    return sum(
        parameter.numel()
        for name, parameter in model.named_parameters()
        if ".feed_forward." in name
    )


N_FEATURES = 8
BENDS = ("none", "ReLU", "GELU", "SwiGLU")


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


def missed(bend: str, width: int, *, seed: int, updates: int = 400, peak: float = 0.01) -> float:
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


@dataclass(frozen=True)
class Units:
    """What the hidden units of one layer do on a corpus: a row for each source token of it."""

    hidden: Float[Tensor, "tokens d_ff"]
    words: Int[Tensor, " tokens"]

    @property
    def awake(self) -> Float[Tensor, " d_ff"]:
        """Return the share of the tokens at which each unit is above zero."""
        return (self.hidden > 0).float().mean(0)

    def means(self, vocab_size: int) -> Float[Tensor, "vocab_size d_ff"]:
        """Return each unit's mean over the places where a word stands; 0 for an absent word."""
        total = torch.zeros(vocab_size, self.hidden.shape[1])
        total.index_add_(0, self.words, self.hidden)
        return total / self.counts(vocab_size).clamp(min=1)[:, None]

    def counts(self, vocab_size: int) -> Int[Tensor, " vocab_size"]:
        """Return how often each word stands in the corpus."""
        return torch.bincount(self.words, minlength=vocab_size)

    def explained_by_word(self) -> Float[Tensor, " d_ff"]:
        """Return the share of each unit's variance that the word alone explains, 0 to 1.

        At 1 a unit does the same wherever the word stands, whatever the other words are.
        """
        means = self.means(int(self.words.max()) + 1)[self.words]
        whole = self.hidden.var(0, correction=0)
        return means.var(0, correction=0) / whole.clamp(min=1e-12)


@torch.no_grad()
def encoder_units(model: Transformer, pairs: Sequence[Pair]) -> Units:
    """Run a model's first encoder layer on the sources; return what its hidden units do."""
    seen: list[Tensor] = []
    expand = model.encoder.layers[0].get_submodule("feed_forward.expand")
    hook = expand.register_forward_hook(lambda _m, _i, out: seen.append(torch.relu(out)))
    batch = collate(pairs)
    model.eval()
    try:
        model(batch.source, batch.target_in)
    finally:
        hook.remove()
    is_token = batch.source != PAD_ID
    return Units(seen[0][is_token], batch.source[is_token])
