"""Experiment 12-optimiser: Adam's constants and the schedule on the copying task (§5.3)."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

import torch
from jaxtyping import Float
from torch import Tensor

from transformer.config import ResidualInit
from transformer.model import Transformer
from transformer.training.schedule import noam_rate
from walkthrough.lab import Arm, Experiment, Job, Outcome, Trained, copying
from walkthrough.lab.measures import copied
from walkthrough.lab.tasks import copying as copying_task

Rate = Callable[[int], float]
UPDATES = 200
RECORDED_UPDATES = 600
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


RECIPES: Mapping[str, Recipe] = {
    "baseline": Recipe(),
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
    """A trained model, its optimiser, and the loss of every update."""

    model: Transformer
    optimizer: torch.optim.Adam
    losses: list[float] = field(repr=False)


def train(recipe: Recipe, *, seed: int, updates: int = UPDATES, n_layers: int = 4) -> Run:
    """Train a post-norm model to copy, with Adam and the recipe's schedule (§5.3).

    Raises:
        ValueError: fewer than one update or layer.
    """
    if updates < 1:
        raise ValueError(f"updates must be at least 1, got {updates}")
    model = copying.new_model("post", recipe.start, seed=seed, n_layers=n_layers)
    generator = torch.Generator().manual_seed(seed)
    optimizer = torch.optim.Adam(
        model.parameters(), lr=0.0, betas=(0.9, recipe.beta2), eps=recipe.eps
    )
    losses = []
    for update in range(1, updates + 1):
        for parameters in optimizer.param_groups:
            parameters["lr"] = recipe.rate(update)
        loss = copying.copy_loss(model, copying.sentences(copying.BATCH, generator))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return Run(model.eval(), optimizer, losses)


def gradient_sizes(optimizer: torch.optim.Adam) -> Float[Tensor, " weights"]:
    """Return Adam's estimate of every weight's gradient size, √v̂ (§5.3).

    Raises:
        ValueError: the optimiser has not made a step.
    """
    sizes = []
    for group in optimizer.param_groups:
        for parameter in group["params"]:
            state = optimizer.state[parameter]
            if not state:
                raise ValueError("Adam knows no gradients before its first step; got 0 steps")
            correction = 1 - group["betas"][1] ** float(state["step"])
            sizes.append((state["exp_avg_sq"] / correction).sqrt().flatten())
    return torch.cat(sizes)


def learned(job: Job) -> Outcome:
    """Train with one recipe; its rates are multiplied by the run's."""
    recipe = RECIPES[job.arm.name]
    scaled = replace(recipe, rate=lambda update: job.key.rate * recipe.rate(update))
    run = train(scaled, seed=job.seed, updates=job.length)
    means = copying.smoothed(run.losses, width=min(10, job.length))
    curve = [(update, "train/-/loss", loss) for update, loss in means]
    (measure,) = job.experiment.measures
    found = measure.of(job, Trained(model=run.model, curve=curve))
    return replace(found, curve=curve, parameters=run.model.n_parameters)


EXPERIMENT = Experiment(
    name="12-optimiser",
    question="Do other constants of Adam, or another schedule, learn to copy later?",
    task=copying_task(),
    base="baseline",
    arms=[Arm(name) for name in RECIPES],
    seeds=range(10),
    lengths=(RECORDED_UPDATES,),
    measures=[copied()],
    run=learned,
)
