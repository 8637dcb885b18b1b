"""A wheel of `transformer` alone trains on two text files and translates, without the rest."""

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
WORDS = Path("results", "phrasebook-translator.safetensors")
USED = """
import sys
from importlib.util import find_spec
from transformer import Translator
from transformer.cli import main

words, lines = sys.argv[1:]
assert not any(find_spec(name) for name in ("phrasebook", "walkthrough"))
settings = (
    f"data.corpus=files data.train_source={lines} data.train_target={lines} data.merges=10"
    " model.d_model=16 model.n_heads=2 model.n_layers=1 model.d_ff=16"
    " training.max_updates=2 training.save_every=2 training.max_tokens=200 training.warmup=1"
)
told = [f"--set={setting}" for setting in settings.split()]
assert main(["train", "--preset=multi30k-tiny", *told, "--folder=run", "--quiet"]) == 0
assert isinstance(Translator.load("run").translate("a cat"), str)
for command in (["train", "--preset=phrasebook", "--folder=other"], ["translate", words]):
    assert main(command) == 1
"""


@pytest.mark.slow
def test_the_model_needs_neither_phrasebook_nor_book(tmp_path):
    """Pip takes what pip has, so nothing is fetched; without `site`, no clone is on the path."""
    copy, site = tmp_path / "copy", tmp_path / "site"
    for folder in ("src/transformer", "tools/transformer_alone"):
        ignored = shutil.ignore_patterns("__pycache__", "build")
        shutil.copytree(ROOT / folder, copy / folder, ignore=ignored)
    shutil.copy(ROOT / "pyproject.toml", copy)
    offline = ("--no-deps", "--no-build-isolation", "--no-index", "--quiet", "--no-compile")
    pip = ("-m", "pip", "install", *offline, "--target", site, copy / "tools/transformer_alone")
    subprocess.run([sys.executable, *pip], check=True)
    lines = tmp_path / "lines.txt"
    lines.write_text("a cat sleeps\na dog sings\n" * 20, encoding="utf-8")
    path = os.pathsep.join([str(site), sysconfig.get_path("purelib")])
    used = subprocess.run(
        [sys.executable, "-S", "-c", USED, ROOT / WORDS, lines],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert used.returncode == 0, used.stderr
    told = "error: this needs the package phrasebook, which is not installed: pip install git+"
    assert [line.startswith(told) for line in used.stderr.splitlines()] == [True, True]
    assert not (tmp_path / "other").exists()
