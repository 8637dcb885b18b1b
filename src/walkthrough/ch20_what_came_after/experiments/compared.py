"""Experiments 20-block and 20-encoder: today's block, and no encoder, at their own rates."""

from collections.abc import Mapping
from typing import Any

from walkthrough.ch20_what_came_after.experiments import (
    BLOCKS,
    DECODERS,
    LATER,
    block_run,
    decoder_run,
    load_corpus,
)
from walkthrough.ch20_what_came_after.training import Recipe
from walkthrough.lab import Arm, Experiment, Job, Loaded, Outcome

BLOCK_PEAK, ENCODER_PEAK = 1e-2, 3e-3
PAPERS = "encoder and decoder"

FIGURES = {
    "valid_loss": "valid/-/loss",
    "loss": "test/-/loss",
    "exact": "test/greedy/exact",
    "longer_loss": "longer/-/loss",
    "longer_exact": "longer/greedy/exact",
}
"""What a run measures → the figure that it is recorded as."""
LATER_RATES = {
    "no positions, QK-norm": (0.5, 1, 2),
    "gate per head": (0.25, 0.5, 1),
    "gate per number": (0.25, 0.5, 1),
}
EXTRA = ("largest_score", "scores", "megaflops")


def recipe_of(job: Job, peak: float, **changes: Any) -> Recipe:
    """Return the recipe of a run; a tenth of the updates warms up."""
    warmup = max(1, job.length // 10)
    return Recipe(updates=job.length, warmup=warmup, peak=peak * job.key.rate, **changes)


def block(job: Job) -> Outcome:
    """Train one decoder-only model; translate short sentences and longer ones."""
    changes = {**BLOCKS, **LATER}[job.arm.name]
    return outcome(block_run(job.data, changes, recipe_of(job, BLOCK_PEAK), seed=job.seed))


def kind(job: Job) -> Outcome:
    """Train one kind of model on the same sentences; keep its curve and what an update costs."""
    recipe = recipe_of(job, ENCODER_PEAK)
    return outcome(decoder_run(job.data, job.arm.name, recipe, seed=job.seed))


def outcome(found: Mapping[str, Any]) -> Outcome:
    """Return what a run measured, by the names of figures."""
    return Outcome(
        figures={name: found[short] for short, name in FIGURES.items() if short in found},
        curve=[(update, "test/-/loss", loss) for update, loss in found.get("curve", ())],
        extra={name: found[name] for name in EXTRA if name in found},
        parameters=found["parameters"],
        cpu_seconds=found["cpu_seconds"],
    )


EXPERIMENTS = [
    Experiment(
        name="20-block",
        question="Does today's block, or one of its changes, beat the paper's, each at its rate?",
        task=Loaded(load_corpus),
        base="2017",
        rival="none: 2017's block of as many weights is what the others are held against",
        arms=[Arm(name) for name in BLOCKS]
        + [Arm(name, rates=LATER_RATES.get(name, ())) for name in LATER],
        rates=(0.1, 0.3, 1, 2, 3),
        choose="valid/loss",
        lengths=(250, 1000),
        run=block,
    ),
    Experiment(
        name="20-encoder",
        question="Does a decoder alone translate as well as encoder and decoder, each at its rate?",
        task=Loaded(load_corpus),
        base=PAPERS,
        rival="none: the paper's model has as many weights; the page prints operations",
        arms=[Arm(name) for name in (PAPERS, *DECODERS)],
        rates=(0.5, 1, 2, 4),
        rate_seeds=(1,),
        choose="valid/loss",
        lengths=(400, 1200),
        run=kind,
    ),
]
