"""With `step`: what the loss says of labels and padding, and what the optimiser holds (§5)."""

from typing import Any

from walkthrough.doctor.examination import Examination


def with_step(x: Examination, step: Any) -> bool | None:
    """Run the step, and see."""
    if step is None:
        x.unseen("labels.unseen")
    return None
