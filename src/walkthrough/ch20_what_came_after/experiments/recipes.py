"""What came after Adam and a line, on the block of 2017: 20-optimiser (chapter 12) and 20-clip."""

from walkthrough.ch20_what_came_after.experiments import block_run, load_corpus
from walkthrough.ch20_what_came_after.experiments.compared import BLOCK_PEAK, outcome, recipe_of
from walkthrough.ch20_what_came_after.training import MUON_RATE
from walkthrough.lab import Arm, Experiment, Job, Loaded, Outcome

BOUNDS = (8, 16)


def optimiser(job: Job) -> Outcome:
    """Train the block of 2017 with one optimiser and one schedule."""
    name, schedule = job.arm.name.split(", ")
    recipe = recipe_of(job, BLOCK_PEAK, optimizer=name, schedule=schedule)
    return outcome(block_run(job.data, (), recipe, seed=job.seed))


def clipped(job: Job) -> Outcome:
    """Train the block of 2017 with Muon, as it is or with a bound on the scores."""
    peak = MUON_RATE * job.key.rate
    recipe = recipe_of(job, BLOCK_PEAK, optimizer="Muon", muon_peak=peak, **job.arm.train)
    return outcome(block_run(job.data, (), recipe, seed=job.seed))


EXPERIMENTS = [
    Experiment(
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
    ),
    Experiment(
        name="20-clip",
        question="What does a bound on the scores cost Muon, and does it keep them below?",
        task=Loaded(load_corpus),
        base="Muon",
        rival="none: the same recipe without the bound is the base",
        arms=[
            Arm("Muon"),
            *(Arm(f"Muon, scores to {n}", train={"score_bound": n}) for n in BOUNDS),
        ],
        rates=(0.5, 1, 2, 4),
        choose="valid/-/loss",
        lengths=(250,),
        run=clipped,
    ),
]
