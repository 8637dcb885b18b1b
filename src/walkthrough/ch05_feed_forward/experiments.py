"""How wide must the feed-forward network be? Small translators of the phrasebook (§3.3, Table 3 C).

One encoder layer and one decoder layer with d_model = 64: small enough that a few of them can be
trained while a page runs. `tools/run_width.py` trains them longer and with several seeds.
"""

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor, nn

from transformer.feed_forward import PositionwiseFeedForward
from transformer.model import Transformer
from transformer.training import History, perplexity, train
from walkthrough.lab import translator
from walkthrough.lab.one_layer import SIZES

PAGE_UPDATES = 150
"""Updates of the runs that a page can wait for; the recorded ones have the preset's number."""

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
