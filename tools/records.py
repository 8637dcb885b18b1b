"""What the records under results/ have in common: how each was made, and how it is written."""

import json
import os
import platform
import re
import shlex
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from transformer.cli.surroundings import instructions, processor
from transformer.files import write_atomically

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "results"
DIGITS = 4


def heading(settings: dict[str, Any], **hardware: int) -> dict[str, Any]:
    """Return what the runs of one record share; `runs` is empty so far."""
    machine = {"processor": processor(), "instructions": instructions(), "cores": os.cpu_count()}
    return {
        **origin(),
        "hardware": {**machine, **hardware},
        "threads": torch.get_num_threads(),
        "settings": settings,
        "runs": [],
    }


def phrasebook_heading(task: Any, args: Any) -> dict[str, Any]:
    """Return what runs on the phrasebook share: the above, and the corpus."""
    if args.threads:
        torch.set_num_threads(args.threads)
    sizes = {name: len(split) for name, split in task.book.splits().items()}
    record = heading(
        {"model": task.plan.model, "training": task.plan.training.to_dict()}, jobs=args.jobs
    )
    corpus = {"seed": task.book.seed, "sizes": sizes, "vocabulary": len(task.codec)}
    return {**record, "corpus": corpus}


def origin() -> dict[str, Any]:
    """Return the command, the commit with the package's files that differ from it, and the date."""
    return {
        "command": shlex.join(["python", *sys.argv]),
        "commit": git("rev-parse", "HEAD"),
        "changed_since": git("status", "--porcelain", "--untracked-files=no", "src").splitlines(),
        "date": time.strftime("%Y-%m-%dT%H:%M:%S%z"),
        "versions": {"python": platform.python_version(), "torch": torch.__version__},
    }


def keep_runs(
    record: dict[str, Any], path: Path, *, resume: bool, again: Callable[[dict[str, Any]], bool]
) -> None:
    """Take over the runs of a file: all with `resume`, else those that are not made `again`.

    A run that an older commit made says so.
    """
    if not path.is_file():
        return
    old = json.loads(path.read_text(encoding="utf-8"))
    origin = {} if old["commit"] == record["commit"] else {"commit": old["commit"]}
    record["runs"] = [origin | run for run in old["runs"] if resume or not again(run)]


def rounded(value: Any) -> Any:
    """Return the record with few digits in its numbers; settings keep theirs."""
    if isinstance(value, dict):
        return {k: v if k == "settings" else rounded(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [rounded(part) for part in value]
    return round(value, DIGITS) if isinstance(value, float) else value


def write(path: Path, record: dict[str, Any], *, flat_from: int | None = None) -> None:
    """Write the record; what stood there stays until the new text is complete.

    An object whose entries are nested `flat_from` deep stands on one line, as do those inside it.
    """
    text = json.dumps(record, indent=1, ensure_ascii=False)
    if flat_from is not None:
        text = re.sub(rf"\n {{{flat_from},}}", " ", text)
        text = text.replace("\n" + " " * (flat_from - 1) + "}", " }")
    write_atomically(path, (text + "\n").encode())


def git(*words: str) -> str:
    """Return what git says, without the last line break."""
    found = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=True)
    return found.stdout.rstrip("\n")
