"""Two machines that share no disk train one model, or are told what they do not agree on."""

import shutil
from pathlib import Path

from two_processes import commands, needs_fork

from transformer.cli import main
from transformer.cli.corpora import origin
from transformer.cli.plan import make_plan
from transformer.cli.prepared import kept
from transformer.training.checkpoint import load_model
from transformer.training.history import History
from transformer.training.objective import perplexity

pytestmark = needs_fork


def command(files: Path, folder: Path, *options: object, updates: int = 6) -> list[object]:
    fixed = ["--quiet", "--threads", "1", "--set", "training.max_tokens=100"]
    named = ["--settings", files / "settings.toml", "--folder", folder, "--max-updates", updates]
    return ["train", *named, *fixed, *options]


def test_a_run_goes_on_from_the_first_machines_state(files: Path, tmp_path: Path, capsys) -> None:
    """Each had decided by its own disk: one model of update 4 was averaged with one of update 0."""
    whole, again, other = tmp_path / "whole", tmp_path / "again", tmp_path / "nothing-here"
    assert commands([command(files, whole), command(files, other)]) == [(0, "")] * 2
    for updates in (4, 6):
        words = [command(files, at, "--resume=auto", updates=updates) for at in (again, other)]
        assert commands(words) == [(0, "")] * 2
    assert not other.exists(), "the first alone writes"
    last = "checkpoints/000006.safetensors"
    assert (again / last).read_bytes() == (whole / last).read_bytes()
    rows = [History.read(folder / "log.csv", up_to=6).records for folder in (whole, again)]
    said = [[(row.update, row.loss, row.valid_perplexity) for row in some] for some in rows]
    assert said[0] == said[1]
    valid = kept(whole, origin(make_plan(None, files / "settings.toml").data)).valid
    assert perplexity(load_model(whole / last), valid, max_tokens=100) == said[0][-1][-1], (
        "each has validated its share"
    )
    assert main([str(word) for word in command(files, whole, "--resume", updates=7)]) == 1
    assert "holds a run of 2 processes, and now there is 1: an " in capsys.readouterr().err


def test_what_two_machines_do_not_agree_on(files: Path, tmp_path: Path) -> None:
    shorter = tmp_path / "shorter"
    shutil.copytree(files, shorter, ignore=shutil.ignore_patterns("run", "*process*"))
    for side in ("de", "xx"):
        lines = (files / f"train.{side}").read_text().splitlines(keepends=True)
        (shorter / f"train.{side}").write_text("".join(lines[1:]))
    own = [("--set", f"data.train_{side}={shorter}/train.{end}")
           for side, end in (("source", "de"), ("target", "xx"))]  # fmt: skip
    cases = [
        ([*own[0], *own[1]], "data.train_source: process 0 has 396 lines, SHA-256 "),
        (["--seed", "7"], "all processes must have the same settings: process 0 has "),
        (["--set", f"data.train_source={tmp_path}/nowhere"], "nowhere"),
    ]
    for options, message in cases:
        words = [command(files, tmp_path / "a"), command(files, tmp_path / "b", *options)]
        for code, error in commands(words):
            assert (code, error.count("\n")) == (1, 1), error
            assert message in error
    assert not (tmp_path / "a").exists()
    assert not (tmp_path / "b").exists()


def test_a_run_keeps_its_number_of_processes(run: Path, files: Path, tmp_path: Path) -> None:
    """Its place in the epoch is counted in updates, and an update has a batch from each."""
    shutil.copytree(run, tmp_path / "run")
    words = ["train", "--settings", files / "settings.toml", "--folder", tmp_path / "run"]
    for code, error in commands([[*words, "--quiet", "--resume"]] * 2):
        assert code == 1
        assert "holds a run of 1 process, and now there are 2: an update has 1 x max_tok" in error
        assert (
            f"Start 1, or begin a new run in another folder with --start-from {tmp_path}" in error
        )
