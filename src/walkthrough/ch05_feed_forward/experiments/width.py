"""Experiment 05-width: small translators with a feed-forward network, without its bend, without it.

One encoder layer and one decoder layer with d_model = 64: a run takes a minute or two.
"""

from collections.abc import Callable, Mapping
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from transformer.feed_forward import PositionwiseFeedForward
from transformer.model import Transformer
from walkthrough.lab import Arm, Experiment, Job, Trained, translator
from walkthrough.lab.measures import exact, next_word, perplexity
from walkthrough.lab.one_layer import RECIPE, SIZES
from walkthrough.lab.tasks import phrasebook

WIDTH = 256


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
    """Return an untrained model whose feed-forward networks have `width` hidden units, 0 for none.

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


def network(width: int, *, relu: bool = True) -> Callable[[Job], Transformer]:
    """Return what builds a model whose feed-forward networks have `width` units, 0 for none."""

    def build(job: Job) -> Transformer:
        return new_model(job.data, width, seed=job.seed, relu=relu)

    return build


def feed_forward_parameters(model: Transformer) -> int:
    """Return the number of trained values in the model's feed-forward networks."""
    return sum(
        parameter.numel()
        for name, parameter in model.named_parameters()
        if ".feed_forward." in name
    )


def share_of_parameters(job: Job, trained: Trained) -> Mapping[str, Any]:
    """Return how many of the trained values lie in the networks."""
    return {"feed_forward_parameters": feed_forward_parameters(trained.model)}


def arm(name: str, width: int, *, relu: bool = True) -> Arm:
    """Return the arm of a width."""
    return Arm(
        name,
        model={"d_ff": width, "relu": relu},
        build=network(width, relu=relu),
        after=share_of_parameters,
    )


EXPERIMENT = Experiment(
    name="05-width",
    question="Does a translator gain from its feed-forward networks, and from their bend?",
    task=phrasebook(*(f"model.{name}={value}" for name, value in SIZES.items()), *RECIPE),
    base="none",
    rival="256, no ReLU",  # as many weights
    arms=[
        arm("none", 0),
        arm("256", WIDTH),
        arm("256, no ReLU", WIDTH, relu=False),
    ],
    rates=(0.5, 1, 2, 4),
    rate_seeds=(1, 2),
    lengths=(400, 2000),
    measures=[
        perplexity("valid"),
        next_word("valid"),
        exact("test_sentences", "test_combinations"),
    ],
)
