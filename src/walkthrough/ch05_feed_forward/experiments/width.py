"""Experiment 05-width: small translators with several widths of the feed-forward network."""

from collections.abc import Callable, Mapping
from typing import Any

from transformer.model import Transformer
from walkthrough.ch05_feed_forward.experiments import WIDTHS, feed_forward_parameters, new_model
from walkthrough.lab import Arm, Experiment, Job, Trained
from walkthrough.lab.measures import exact, next_word, perplexity
from walkthrough.lab.one_layer import RECIPE, SIZES
from walkthrough.lab.tasks import phrasebook

LINEAR_WIDTH = 256


def network(width: int, *, relu: bool = True) -> Callable[[Job], Transformer]:
    """Return what builds a model whose feed-forward networks have `width` units, 0 for none."""

    def build(job: Job) -> Transformer:
        return new_model(job.data, width, seed=job.seed, relu=relu)

    return build


def share_of_parameters(job: Job, trained: Trained) -> Mapping[str, Any]:
    """Return how many of the trained values lie in the networks."""
    return {"feed_forward_parameters": feed_forward_parameters(trained.model)}


def arm(width: int, *, relu: bool = True) -> Arm:
    """Return the arm of a width."""
    name = str(width) if width else "none"
    return Arm(
        name if relu else f"{name}, no ReLU",
        model={"d_ff": width, "relu": relu},
        build=network(width, relu=relu),
        after=share_of_parameters,
        labels={"width": width, "kind": "with ReLU" if relu else "without ReLU"},
    )


EXPERIMENT = Experiment(
    name="05-width",
    question="Does a wider feed-forward network translate more new combinations?",
    task=phrasebook(*(f"model.{name}={value}" for name, value in SIZES.items()), *RECIPE),
    base="none",
    arms=[*(arm(width) for width in WIDTHS), arm(LINEAR_WIDTH, relu=False)],
    seeds=range(1, 11),
    rates=(0.5, 1, 2),
    rate_seeds=(1, 2, 3),
    lengths=(400, 2000),
    measures=[
        perplexity("valid"),
        next_word("valid"),
        exact("test_sentences", "test_combinations"),
    ],
)
