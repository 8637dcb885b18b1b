"""The reader's own Transformer in one file: skeleton, checks, the book's weights, a grade (§3).

    python -m walkthrough.capstone new                     # writes my_transformer.py: ten stubs
    python -m walkthrough.capstone check                   # after each stub, in any order
    python -m walkthrough.capstone train
    python -m walkthrough.capstone see --sentence "Paul dort."
    python -m walkthrough.capstone export my_transformer.py WEIGHTS OUT
    python -m walkthrough.capstone grade FOLDER --csv OUT

In a notebook: `new(path)`, `check(path)` or `check(globals())`, and so `train`, `see(path,
sentence)` and `export(path, weights, out)`.
"""

from walkthrough.capstone.book import SENTENCE
from walkthrough.capstone.checkup import check
from walkthrough.capstone.panel import CannotExportError, as_package_model, export, see
from walkthrough.capstone.report import Result
from walkthrough.capstone.stubs import new
from walkthrough.capstone.training import Trained, TrainingError, train
from walkthrough.doctor.loading import NoModelError

__all__ = ["SENTENCE", "CannotExportError", "NoModelError", "Result", "Trained", "TrainingError",
           "as_package_model", "check", "export", "new", "see", "train"]  # fmt: skip
