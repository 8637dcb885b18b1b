"""Experiments 12-sweep and 12-optimiser: rates, warm-up, Adam's constants, in copying (§5.3)."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

import torch
from torch import Tensor
from torch.func import functional_call, stack_module_state
from torch.nn.attention import SDPBackend, sdpa_kernel

from transformer.config import ResidualInit
from transformer.model import Transformer
from transformer.training.schedule import noam_rate
from walkthrough.lab import Arm, Experiment, Job, Outcome, Trained, copying
from walkthrough.lab.measures import copied
from walkthrough.lab.tasks import copying as copying_task

Rate = Callable[[int], float]
Tensors = dict[str, Tensor]
UPDATES = 600
"""Long enough for every seed of the baseline to learn the task."""
WARMUP = 50
SCALE = 0.2
ACCUMULATE = 4
D_MODEL = 32


def paper_rate(update: int) -> float:
    """Return Eq. 3 for the small model; its peak is that of chapter 08, 0.005."""
    return noam_rate(update, d_model=D_MODEL, warmup=WARMUP, scale=SCALE)


def no_warmup_rate(update: int) -> float:
    """Return the same curve with the rise cut off: the peak from the first update on."""
    return paper_rate(max(update, WARMUP))


def per_batch_rate(update: int) -> float:
    """Return the rate when the schedule moves with every batch, and 4 batches make an update."""
    return paper_rate(ACCUMULATE * update)


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """What one run does differently; the defaults are the paper's."""

    rate: Rate = paper_rate
    beta2: float = 0.98
    eps: float = 1e-9
    start: ResidualInit = "scaled"


BASELINE = Recipe()
RECIPES: Mapping[str, Recipe] = {
    "baseline": BASELINE,
    "β2 = 0.9": Recipe(beta2=0.9),
    "β2 = 0.999": Recipe(beta2=0.999),
    "ε = 1e-8": Recipe(eps=1e-8),
    "ε = 1e-4": Recipe(eps=1e-4),
    "ε = 1e-2": Recipe(eps=1e-2),
    "stepped per batch": Recipe(rate=per_batch_rate),
    "no warm-up": Recipe(rate=no_warmup_rate),
    "no warm-up, β2 = 0.999": Recipe(rate=no_warmup_rate, beta2=0.999),
    "full-size start": Recipe(start="xavier"),
    "full-size start, no warm-up": Recipe(start="xavier", rate=no_warmup_rate),
}


@dataclass(frozen=True)
class Run:
    """A trained model and the loss of every update."""

    model: Transformer
    losses: list[float] = field(repr=False)


def train(
    recipe: Recipe, *, seeds: Sequence[int], updates: int = UPDATES, n_layers: int = 4
) -> list[Run]:
    """Train a post-norm model a seed to copy, with Adam and the recipe's schedule (§5.3).

    The models share their passes and nothing else: their weights are stacked, and Adam treats each
    weight alone. Ten take little more than half the time of ten runs.

    Raises:
        ValueError: fewer than one update, seed or layer.
    """
    if updates < 1 or not seeds:
        raise ValueError(f"updates and seeds must be at least 1, got {updates} and {len(seeds)}")
    models = [copying.new_model("post", recipe.start, seed=s, n_layers=n_layers) for s in seeds]
    generators = [torch.Generator().manual_seed(seed) for seed in seeds]
    weights, buffers = stack_module_state(models)
    optimizer = torch.optim.Adam(
        weights.values(), lr=0.0, betas=(0.9, recipe.beta2), eps=recipe.eps
    )

    def loss_of(weights: Tensors, buffers: Tensors, words: Tensor) -> Tensor:
        def model(*inputs: Tensor) -> Any:
            return functional_call(models[0], (weights, buffers), inputs)

        return copying.copy_loss(model, words)

    losses = []
    for update in range(1, updates + 1):
        optimizer.param_groups[0]["lr"] = recipe.rate(update)
        optimizer.zero_grad()
        words = torch.stack([copying.sentences(copying.BATCH, each) for each in generators])
        with sdpa_kernel(SDPBackend.MATH):  # the others cannot be stacked
            loss = torch.vmap(loss_of)(weights, buffers, words)
        loss.sum().backward()
        optimizer.step()
        losses.append(loss.detach())
    for i, model in enumerate(models):
        model.load_state_dict({name: stacked[i] for name, stacked in weights.items()}, strict=False)
    curves = torch.stack(losses, dim=1).tolist()
    return [Run(model.eval(), curve) for model, curve in zip(models, curves, strict=True)]


@cache
def all_seeds(
    name: str, rate: float, updates: int, seeds: Sequence[int]
) -> tuple[list[Run], float]:
    """Return the runs of a recipe at a multiple of its rates, and the seconds that each took."""
    began, recipe = time.process_time(), RECIPES[name]
    scaled = replace(recipe, rate=lambda update: rate * recipe.rate(update))
    runs = train(scaled, seeds=seeds, updates=updates)
    return runs, (time.process_time() - began) / len(seeds)


def learned(job: Job) -> Outcome:
    """Return one of the runs that a recipe's seeds make together: the first waits for all.

    Any other seed runs alone.
    """
    declared = job.experiment.seeds
    seeds = declared if job.seed in declared else (job.seed,)
    runs, seconds = all_seeds(job.arm.name, job.key.rate, job.length, seeds)
    run = runs[seeds.index(job.seed)]
    means = copying.smoothed(run.losses, width=min(10, job.length))
    curve = [(update, "train/-/loss", loss) for update, loss in means]
    (measure,) = job.experiment.measures
    found = measure.of(job, Trained(model=run.model, curve=curve))
    return replace(found, curve=curve, parameters=run.model.n_parameters, cpu_seconds=seconds)


TOGETHER: dict[str, Any] = {
    "task": copying_task(),
    "rival": "guessing, a loss of ln 16: every arm is one model and one task, another recipe",
    "base": "baseline",
    "lengths": (UPDATES,),
    "measures": [copied()],
    "run": learned,
}
EXPERIMENTS = [
    Experiment(
        name="12-optimiser",
        question="Do other constants of Adam, or another schedule, learn to copy later?",
        arms=[Arm(name) for name in RECIPES],
        seeds=range(10),
        **TOGETHER,
    ),
    Experiment(
        name="12-sweep",
        question="How high may the learning rate be, with a warm-up and without?",
        arms=[Arm("baseline"), Arm("no warm-up"), Arm("β2 = 0.999", rates=(0.5, 1, 2))],
        seeds=range(10, 20),
        rates=(0.25, 0.5, 1, 1.5, 2),
        rate_seeds=range(10, 20),
        **TOGETHER,
    ),
]
