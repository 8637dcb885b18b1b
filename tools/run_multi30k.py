"""What the remaining tools train and measure on Multi30k with: the command line, in run folders.

A run that was interrupted goes on, a finished one is only measured where a measurement is missing.
"""

import json
import shlex
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

GREEDY = {"beam": 1, "alpha": 0.6}


@dataclass(frozen=True)
class Recipe:
    """Options of `train` that make one run, the split it is scored on, and whether with a beam."""

    options: str
    fully: bool = True
    split: str = "val"


def train(folder: Path, recipe: Recipe) -> None:
    """Train, or go on with the training, unless it is finished."""
    if results_of(folder).get("training"):
        return
    words = shlex.split(recipe.options.format(folder=folder.parent))
    command = ["-m", "transformer", "train", "--preset", "multi30k-tiny", "--threads", "1"]
    run([*command, *words, "--folder", str(folder), "--resume=auto"])


def evaluate(folder: Path, **settings: Any) -> None:
    """Measure once: a result that stands in the run folder is not made again."""
    done = results_of(folder).get("evaluation", [])
    if any(all(found[name] == value for name, value in settings.items()) for found in done):
        return
    options = [f"--{name}={value}" for name, value in settings.items()]
    run(["-m", "transformer", "evaluate", str(folder), "--threads=1", "--quiet", *options])


def results_of(folder: Path) -> dict[str, Any]:
    """Return what a run folder's results.json holds; nothing where there is none."""
    path = folder / "results.json"
    found: dict[str, Any] = json.loads(path.read_text("utf-8")) if path.exists() else {}
    return found


def run(words: Sequence[str]) -> None:
    """Run Python with these words, and end with its exit code when it fails."""
    print(shlex.join(["python", *words]), flush=True)
    code = subprocess.run([sys.executable, *words], check=False).returncode
    if code:
        raise SystemExit(code)
