"""Is your Transformer right? An examination of somebody's encoder–decoder in PyTorch (§3).

    report = examine(model)                                   # takes two tensors of ids
    report = examine(model, pad=1)                            # its padding has another id
    report = examine(model, call=lambda source, target: model(source, target, masks(source)))
    report = examine(model, step=train_step)                  # opens loss, optimiser and rate
    print(report)                                             # or show it in a notebook

    python -m walkthrough.doctor FILE[:NAME] [--pad 0] [--json]
    python -m walkthrough.doctor --folder DIR --csv OUT

A report has four lists: `bugs`, `departures` from the paper, what is the `same` as the paper, and
what was `not_examined` and why. Each line is a `Finding` with its name, sentence, witness, section
of the paper, link into the book, and module. Nothing is trained, and nothing of the model is
changed: weights, buffers, modes, hooks, gradients and random numbers are as before.
"""

from walkthrough.doctor.calling import CannotCallError
from walkthrough.doctor.examination import examine
from walkthrough.doctor.report import Finding, Report

__all__ = ["CannotCallError", "Finding", "Report", "examine"]
