"""Experiment 05-bends: which conclusions a network reaches with each bend, and without."""

from itertools import product

from walkthrough.ch05_feed_forward.experiments import BENDS, missed
from walkthrough.lab import Arm, Experiment, Job, Loaded, Outcome

WIDTHS = (7, 28, 112)
PEAK = 0.01


def nothing() -> None:
    """Load nothing: all words of the task are drawn from eight features."""


def share_missed(job: Job) -> Outcome:
    """Train one network on all words; its error is the share of the variance that it misses."""
    labels = job.arm.labels
    error = missed(
        str(labels["bend"]),
        int(labels["width"]),
        seed=job.seed,
        updates=job.length,
        peak=PEAK * job.key.rate,
    )
    return Outcome(figures={"words/-/error": error})


EXPERIMENT = Experiment(
    name="05-bends",
    question="How many conclusions does a network of each width miss, with and without a bend?",
    task=Loaded(nothing),
    base="ReLU, 28",
    arms=[
        Arm(f"{bend}, {width}", labels={"bend": bend, "width": width})
        for bend, width in product(BENDS, WIDTHS)
    ],
    seeds=range(1, 11),
    rates=(0.5, 1, 2),
    rate_seeds=(1, 2, 3),
    lengths=(400, 2000),
    run=share_missed,
)
