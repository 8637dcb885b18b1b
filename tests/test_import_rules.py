"""The import rules of pyproject.toml hold, and each of them can fail."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
BROKEN = [
    ("transformer/model.py", "from walkthrough.lab import copying", "knows nothing of the book"),
    ("transformer/attention.py", "from transformer.model import Decoder", "point one way"),
    ("transformer/inference/beam.py", "import transformer.training.loss", "point one way"),
    (
        "walkthrough/ch03_masks/predictions.py",
        "from walkthrough import ch05_feed_forward",
        "never each",
    ),
    ("walkthrough/lab/peers.py", "from walkthrough.ch03_masks import checks", "never each"),
    ("walkthrough/drawing/style.py", "import walkthrough.checking.base", "never each"),
    ("walkthrough/a_new_room.py", "", "never each"),
]


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    folder = tmp_path_factory.mktemp("rules") / "src"
    shutil.copytree(ROOT / "src", folder, ignore=shutil.ignore_patterns("__pycache__", "*.egg-*"))
    return folder


def checked(source):
    command = [str(Path(sys.executable).with_name("lint-imports")), "--no-cache", "--no-logo"]
    return subprocess.run(
        [*command, "--config", str(ROOT / "pyproject.toml")],
        env={**os.environ, "PYTHONPATH": str(source)},
        cwd=source,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.slow
@pytest.mark.parametrize(("file", "line", "rule"), BROKEN, ids=[case[0] for case in BROKEN])
def test_an_import_against_the_rules_is_reported(copy, file, line, rule):
    path = copy / file
    before = path.read_text() if path.exists() else None
    path.write_text(f"{before or ''}\n{line}\n")
    try:
        done = checked(copy)
    finally:
        path.unlink() if before is None else path.write_text(before)
    assert done.returncode == 1, done.stdout
    broken = [text for text in done.stdout.splitlines() if text.endswith("BROKEN")]
    assert any(rule in text for text in broken) or "exhaustive" in done.stdout, done.stdout


def test_the_rules_hold(copy):
    done = checked(copy)
    assert done.returncode == 0, done.stdout + done.stderr
