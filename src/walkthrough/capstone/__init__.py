"""The reader's own Transformer in one file: skeleton, checks, the book's weights, a grade (§3).

    python -m walkthrough.capstone new                     # writes my_transformer.py: ten stubs
    python -m walkthrough.capstone check                   # after each stub, in any order
    python -m walkthrough.capstone train my_transformer.py
    python -m walkthrough.capstone grade FOLDER --csv OUT
    python -m walkthrough.capstone export my_transformer.py WEIGHTS OUT

In a notebook: `new(path)`, `check(path)` or `check(globals())`, and so `train` and
`export(path, weights, out)`.
"""

from walkthrough.capstone.checkup import check
from walkthrough.capstone.panel import CannotExportError, as_package_model, export
from walkthrough.capstone.report import Result
from walkthrough.capstone.stubs import new
from walkthrough.capstone.training import Trained, TrainingError, train
from walkthrough.doctor.loading import NoModelError

__all__ = [
    "CannotExportError",
    "NoModelError",
    "Result",
    "Trained",
    "TrainingError",
    "as_package_model",
    "check",
    "export",
    "new",
    "train",
]
