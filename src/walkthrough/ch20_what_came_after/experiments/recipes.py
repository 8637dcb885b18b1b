"""Experiment 20-optimiser: what came after Adam and a line, on the block of 2017 (chapter 12)."""

from walkthrough.ch20_what_came_after.experiments import block_run, load_corpus
from walkthrough.ch20_what_came_after.experiments.compared import BLOCK_PEAK, outcome, recipe_of
from walkthrough.lab import Arm, Experiment, Job, Loaded, Outcome


def optimiser(job: Job) -> Outcome:
    """Train the block of 2017 with one optimiser and one schedule."""
    name, schedule = job.arm.name.split(", ")
    recipe = recipe_of(job, BLOCK_PEAK, optimizer=name, schedule=schedule)
    return outcome(block_run(job.data, (), recipe, seed=job.seed))


EXPERIMENT = Experiment(
    name="20-optimiser",
    question="Do other optimisers or schedules end lower than the paper's Adam and a line?",
    task=Loaded(load_corpus),
    base="Adam, linear",
    rival="none: one model, other recipes",
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
)
