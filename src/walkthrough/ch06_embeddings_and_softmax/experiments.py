"""Experiment 06-tying: what tying and the factor √d_model are worth (§3.4).

The models are small translators of the phrasebook, as in chapter 05, with d_ff = 256. Each kind
changes whether the matrix is one, whether the factor is there, how the matrix starts, and how far
Adam moves it in a step.
"""

from dataclasses import dataclass
from math import sqrt
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from transformer.model import Transformer
from transformer.training import History, perplexity
from transformer.training.trainer import Trainer
from walkthrough.lab import Arm, Experiment, Job, Key, Outcome, translator
from walkthrough.lab.one_layer import RECIPE, SIZES
from walkthrough.lab.tasks import phrasebook, settings_of

D_FF = 256
PAGE_UPDATES = 200
CURVE_EVERY = 20

ROOT = sqrt(SIZES["d_model"])


@dataclass(frozen=True)
class Kind:
    """One way to build embeddings and projection.

    `embedding_std` says how the embeddings start, the shared matrix included; None is the package's
    d_model^−0.5, which an output of its own always has. `step` multiplies each step
    that Adam takes with the matrix, or with the embeddings where they are apart.
    """

    name: str
    tied: bool = True
    factor: bool = True
    embedding_std: float | None = None
    step: float = 1.0

    @property
    def changes(self) -> dict[str, Any]:
        """Return what this kind changes in the configuration."""
        return {"tie_embeddings": self.tied, "scale_embeddings": self.factor}


KINDS = {
    kind.name: kind
    for kind in (
        Kind("tied, factor"),
        Kind("tied, no factor", factor=False),
        Kind("tied, no factor, start at 1", factor=False, embedding_std=1.0),
        Kind("untied, factor", tied=False),
        Kind("untied, no factor", tied=False, factor=False),
        Kind("untied, no factor, start at 1", tied=False, factor=False, embedding_std=1.0),
        Kind("untied, factor, start at 1/d", tied=False, embedding_std=ROOT**-2),
        Kind("tied, factor, steps / √d", step=1 / ROOT),
        Kind("tied, no factor, steps · √d", factor=False, step=ROOT),
    )
}
"""The kinds that chapter 06 compares; the first is the paper's. The last four tell size from step:

With the factor, an entry of the matrix counts √d-fold in the embedding, and so does Adam's step,
which does not depend on how large an entry or its gradient is. "untied, no factor, start at 1" has
the size that the factor gives and not the step, "untied, factor, start at 1/d" the step and not the
size.
"""


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
    model = translator.new_model(task, seed=seed, **SIZES, d_ff=D_FF, **kind.changes)
    if kind.embedding_std is not None:
        for weight in _embeddings(model):
            nn.init.normal_(weight, std=kind.embedding_std)
    return model


def train_kind(
    task: translator.Task, kind: Kind, *, seed: int, updates: int, rate: float = 1.0
) -> Trained:
    """Train one model for so many updates, at `rate` times the recipe's peak."""
    model = new_model(task, kind, seed=seed)
    start = model.output_weight.detach().clone()
    settings = task.plan.training.replace(log_every=10)
    settings = settings_of(settings, Arm(kind.name), Key(kind.name, rate, updates, seed))
    trainer = Trainer(model, task.pairs("train"), settings)
    if kind.step != 1.0:
        _multiply_steps(trainer.optimizer, _embeddings(model), kind.step)
    history = trainer.run(progress=False)
    valid = task.pairs("valid")
    return Trained(
        model, start, history, perplexity(model, valid), translator.next_word_accuracy(model, valid)
    )


def _embeddings(model: Transformer) -> list[nn.Parameter]:
    """Return the matrices of both embeddings, once where they are one."""
    ends = (model.source_embedding.weight, model.target_embedding.weight)
    return list({id(weight): weight for weight in ends}.values())


def _multiply_steps(
    optimizer: torch.optim.Optimizer, weights: list[nn.Parameter], times: float
) -> None:
    """Make each of the optimiser's steps so many times as long for these weights alone."""
    before: list[Tensor] = []

    @torch.no_grad()
    def remember(*_: Any) -> None:
        before[:] = [weight.detach().clone() for weight in weights]

    @torch.no_grad()
    def stretch(*_: Any) -> None:
        for weight, old in zip(weights, before, strict=True):
            weight.copy_(old + times * (weight - old))

    optimizer.register_step_pre_hook(remember)
    optimizer.register_step_post_hook(stretch)


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


def learned(job: Job) -> Outcome:
    """Train one kind."""
    rate, kind = job.key.rate, KINDS[job.arm.name]
    trained = train_kind(job.data, kind, seed=job.seed, updates=job.length, rate=rate)
    records = [one for one in trained.history.records if one.update % CURVE_EVERY == 0]
    return Outcome(
        figures={
            "valid/-/perplexity": trained.perplexity,
            "valid/-/next_word": trained.next_word,
        },
        curve=[(one.update, "train/-/loss", one.loss) for one in records],
        parameters=trained.model.n_parameters,
    )


EXPERIMENT = Experiment(
    name="06-tying",
    question="How fast do small translators learn with one matrix or three, with or without √d?",
    task=phrasebook(*RECIPE),
    base="tied, factor",
    arms=[Arm(kind.name) for kind in KINDS.values()],
    seeds=(1, 2, 3),
    lengths=(PAGE_UPDATES,),
    run=learned,
)
