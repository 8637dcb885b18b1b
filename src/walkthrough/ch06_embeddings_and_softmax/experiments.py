"""Experiment 06-tying: what one shared matrix and the factor √d_model are worth (§3.4).

The models are small translators of the phrasebook with a layer a side, as in chapter 05. A kind
changes whether the matrix is one and whether the factor is there, and nothing else.
"""

from typing import Any

import torch
from torch import Tensor

from walkthrough.lab import Arm, Experiment
from walkthrough.lab.measures import next_word, perplexity
from walkthrough.lab.one_layer import RECIPE, SIZES
from walkthrough.lab.tasks import phrasebook

WIDTHS = {**SIZES, "d_ff": 256}

KINDS: dict[str, dict[str, Any]] = {
    "tied, factor": {},
    "tied, no factor": {"scale_embeddings": False},
    "untied, factor": {"tie_embeddings": False},
}
"""What each kind changes in the configuration; the first is the paper's."""

RATES = {"tied, no factor": (0.5, 1, 2, 4)}
"""Where the best of the rates would lie at their edge: this kind wants a lower one."""

EXPERIMENT = Experiment(
    name="06-tying",
    question="How fast do small translators learn with one matrix or three, with or without √d?",
    task=phrasebook(*RECIPE),
    base="tied, factor",
    rival="none: the arms are one model with a factor or a matrix more, all trained on one text",
    arms=[
        Arm(kind, model={**WIDTHS, **changes}, rates=RATES.get(kind, ()))
        for kind, changes in KINDS.items()
    ],
    rates=(1, 2, 4),
    rate_seeds=(1,),
    choose="valid/-/perplexity",
    lengths=(200, 800),
    measures=[perplexity("valid"), next_word("valid")],
)


@torch.no_grad()
def scales(
    d_model: int, *, std: float, factor: float, vocab_size: int = 1000, seed: int = 0
) -> dict[str, float]:
    """Return the size (root mean square) of what a matrix of this `std` makes, for one d_model.

    "embedding" is the matrix times the factor; "logits" are the products of the matrix with states
    of size 1, such as a layer norm gives.
    """
    generator = torch.Generator().manual_seed(seed)
    weight = torch.randn(vocab_size, d_model, generator=generator) * std
    states = torch.randn(200, d_model, generator=generator)
    return {"embedding": _size(factor * weight), "logits": _size(states @ weight.T)}


def _size(values: Tensor) -> float:
    return values.square().mean().sqrt().item()
