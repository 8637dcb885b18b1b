"""The import rules of pyproject.toml hold, and each of them can fail."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
BROKEN = [
    ("transformer/model.py", "walkthrough.lab.copying"),
    ("transformer/data/codec.py", "phrasebook.codec"),
    ("phrasebook/grammar.py", "walkthrough.lab.measures"),
    ("transformer/attention.py", "transformer.model"),
    ("transformer/inference/beam.py", "transformer.training.loss"),
    ("walkthrough/ch03_masks/predictions.py", "walkthrough.ch05_feed_forward"),
    ("walkthrough/lab/peers.py", "walkthrough.ch03_masks.checks"),
    ("walkthrough/drawing/style.py", "walkthrough.checking.base"),
]


def checked(source):
    command = [str(Path(sys.executable).with_name("lint-imports")), "--no-cache", "--no-logo"]
    done = subprocess.run(
        [*command, "--config", str(ROOT / "pyproject.toml")],
        env={**os.environ, "PYTHONPATH": str(source)},
        cwd=source,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout + done.stderr


def test_the_rules_hold_and_every_import_against_them_is_reported(tmp_path):
    ignored = shutil.ignore_patterns("__pycache__", "*.egg-*")
    copy = shutil.copytree(ROOT / "src", tmp_path / "src", ignore=ignored)
    assert " 0 broken" in checked(copy)
    for file, imported in BROKEN:
        with (copy / file).open("a") as module:
            module.write(f"\nimport {imported}\n")
    (copy / "walkthrough" / "a_new_room.py").touch()
    said = checked(copy)
    for file, imported in BROKEN:
        assert f"- {file.removesuffix('.py').replace('/', '.')} -> {imported} " in said
    assert "- walkthrough.a_new_room\n" in said
