"""An experiment that takes no time: its figure is made of the key."""

import time

from walkthrough.lab import Arm, Experiment, Loaded, Outcome

PEAKS = {"slow": 1.0, "quick": 2.0}
"""At which multiple each arm is best."""


def made(job):
    """Loss falls with the length; "quick" is better by a tenth, at its own best rate."""
    if job.key.rate > 4:
        raise FloatingPointError("the loss is nan at update 3")
    time.sleep(job.arm.train.get("seconds", 0))
    distance = abs(job.key.rate - PEAKS[job.arm.name])
    loss = 1 + distance + 0.01 * (job.seed % 3) - 0.1 * (job.arm.name == "quick")
    return Outcome(
        figures={"valid/-/loss": loss + 1 / (1 + job.length)},
        curve=[(job.length, "train/-/loss", loss)],
        extra={"small": job.small},
        parameters=1,
        target_tokens=job.length,
    )


def toy(**changes):
    """Return the experiment with changes."""
    told = {
        "name": "01-toy",
        "question": "Is quick better than slow?",
        "task": Loaded(),
        "arms": [Arm("slow"), Arm("quick")],
        "base": "slow",
        "seeds": (1, 2, 3, 4, 5),
        "rates": (0.5, 1, 2, 4),
        "rate_seeds": (1, 2),
        "choose": "valid/loss",
        "lengths": (10, 100),
        "run": made,
    }
    return Experiment(**{**told, **changes})
