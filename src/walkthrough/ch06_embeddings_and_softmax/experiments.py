"""What tying and the factor √d_model are worth: small translators of the phrasebook (§3.4).

The models are those of chapter 05, with d_ff = 256. Each kind changes how the one matrix starts,
whether it is one, and whether the factor is there.
"""

from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from transformer.model import Transformer
from transformer.training import History, perplexity, train
from walkthrough.lab import translator
from walkthrough.lab.one_layer import SIZES, load_task

__all__ = ["KINDS", "Kind", "Trained", "load_task", "new_model", "train_kind"]


@dataclass(frozen=True)
class Kind:
    """One way to build embeddings and projection; `std` None is the package's d_model^−0.5."""

    name: str
    tied: bool = True
    factor: bool = True
    std: float | None = None

    @property
    def changes(self) -> dict[str, Any]:
        """Return what this kind changes in the configuration."""
        return {"tie_embeddings": self.tied, "scale_embeddings": self.factor}


KINDS = {
    kind.name: kind
    for kind in (
        Kind("tied, factor"),
        Kind("tied, no factor", factor=False),
        Kind("tied, no factor, start at 1", factor=False, std=1.0),
        Kind("untied, factor", tied=False),
        Kind("untied, no factor", tied=False, factor=False),
    )
}
"""The kinds that chapter 06 compares; the first is the paper's."""


@dataclass(frozen=True)
class Trained:
    """A trained model, its matrix before training, and what it scores on unseen sentences."""

    model: Transformer
    start: Float[Tensor, "vocab_size d_model"]
    history: History
    perplexity: float
    next_word: float


def new_model(task: translator.Task, kind: Kind, *, seed: int) -> Transformer:
    """Return an untrained model of this kind."""
    model = translator.new_model(task, seed=seed, **SIZES, d_ff=256, **kind.changes)
    if kind.std is not None:
        ends = (model.source_embedding.weight, model.target_embedding.weight, model.output_weight)
        for weight in {id(weight): weight for weight in ends}.values():
            nn.init.normal_(weight, std=kind.std)
    return model


def train_kind(
    task: translator.Task, kind: Kind, *, seed: int, updates: int | None = None
) -> Trained:
    """Train one model; `updates` makes the run, and its schedule, shorter.

    Raises:
        ValueError: there are fewer updates than the warm-up needs.
    """
    model = new_model(task, kind, seed=seed)
    start = model.output_weight.detach().clone()
    settings = task.plan.training.replace(seed=seed, threads=1)
    if updates is not None:  # short enough to be looked at closely
        settings = settings.replace(max_updates=updates, log_every=10)
    history = train(model, task.pairs("train"), settings, progress=False)
    valid = task.pairs("valid")
    return Trained(
        model, start, history, perplexity(model, valid), translator.next_word_accuracy(model, valid)
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
    return {
        "embedding": _size(factor * weight),
        "logits": _size(states @ weight.T),
    }


def _size(values: Tensor) -> float:
    return values.square().mean().sqrt().item()
