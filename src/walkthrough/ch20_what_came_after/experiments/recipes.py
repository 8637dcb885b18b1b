"""Experiments 20-optimiser, 20-rates, 20-patience: how stacks are trained, and how deep ones."""

from itertools import product
from typing import Any

from walkthrough.ch20_what_came_after.experiments import BLOCKS, SMALL, block_run, load_corpus
from walkthrough.ch20_what_came_after.experiments.compared import BLOCK_PEAK, outcome, recipe_of
from walkthrough.lab import Arm, Experiment, Job, Loaded, Outcome

DEEP = 12


def optimiser(job: Job) -> Outcome:
    """Train the block of 2017 with one optimiser and one schedule."""
    name, schedule = job.arm.name.split(", ")
    recipe = recipe_of(job, BLOCK_PEAK, optimizer=name, schedule=schedule)
    return outcome(block_run(job.data, (), recipe, seed=job.seed))


def narrow(job: Job) -> Outcome:
    """Train a narrow stack of one kind of block; nothing is translated."""
    sizes = {**SMALL, "n_layers": job.arm.labels["layers"]}
    changes = BLOCKS[str(job.arm.labels["block"])]
    recipe = recipe_of(job, BLOCK_PEAK, max_tokens=256)
    return outcome(block_run(job.data, changes, recipe, seed=job.seed, decode=False, **sizes))


def _arm(block: str, layers: int) -> Arm:
    return Arm(f"{block}, {layers} layers", labels={"block": block, "layers": layers})


SAME: dict[str, Any] = {"task": Loaded(load_corpus), "seeds": (1, 2, 3), "run": narrow}
EXPERIMENTS = [
    Experiment(
        name="20-optimiser",
        question="Do other optimisers or schedules end lower than the paper's Adam and a line?",
        task=Loaded(load_corpus),
        base="Adam, linear",
        arms=[
            Arm(name)
            for name in (
                *("Adam, linear", "Adam, constant", "AdamW, linear"),
                *("AdamW, stable", "Muon, linear"),
            )
        ],
        seeds=range(1, 7),
        lengths=(250,),
        run=optimiser,
    ),
    Experiment(
        name="20-rates",
        question="How steep a rate may be, in shallow stacks and in deep ones?",
        base="2017, 2 layers",
        arms=[
            _arm(block, layers)
            for layers, block in product((2, DEEP), ("2017", "pre-norm", "pre-norm, RMSNorm"))
        ],
        rates=(0.3, 1, 3),
        lengths=(160,),
        **SAME,
    ),
    Experiment(
        name="20-patience",
        question="Does a deep stack of the paper's blocks learn with three times the updates?",
        arms=[_arm("2017", DEEP)],
        rates=(0.3, 1),
        lengths=(480,),
        **SAME,
    ),
]
