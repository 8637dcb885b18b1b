"""The command line: what a newcomer types, what a script can rely on, one line for each error."""

import json
import signal
import subprocess
import sys
import time
from importlib.metadata import version
from pathlib import Path

import pytest
import torch

from transformer.cli import main
from transformer.cli.plan import make_plan
from transformer.training.checkpoint import load_checkpoint
from transformer.training.history import History


def status(arguments: list[str]) -> int:
    try:
        return main(arguments)
    except SystemExit as stop:
        return stop.code


def failing(capsys, arguments: list[str], code: int = 1) -> str:
    assert status(arguments) == code
    error = capsys.readouterr().err
    assert error.startswith("error: ")
    assert error.count("\n") == 1, "an error is one line"
    return error


def test_run_folder_holds_what_the_help_says(run: Path) -> None:
    told = json.loads((run / "settings.json").read_text())
    assert told["training"]["max_updates"] == 4
    assert told["data"]["merges"] == 30
    assert told["model"]["d_model"] == 16
    results = json.loads((run / "results.json").read_text())
    assert results["training"][0]["update"] == 4
    assert (run / "log.csv").read_text().count("\n") == 5
    checkpoint = load_checkpoint(run / "checkpoints" / "000004.safetensors")
    assert json.loads(checkpoint.tokenizer)["kind"] == "subwords"


def test_training_ends_with_its_loss(files: Path, tmp_path: Path, capsys) -> None:
    command = ["train", "--settings", f"{files}/settings.toml", "--folder", f"{tmp_path}/run"]
    assert main(command) == 0
    said = capsys.readouterr().err.splitlines()[-1]
    (row,) = (tmp_path / "run" / "log.csv").read_text().splitlines()[-1:]
    loss, perplexity = float(row.split(",")[2]), float(row.split(",")[-1])
    assert said == f"done: loss {loss:.3f}, perplexity {perplexity}"


def test_a_run_starts_from_the_weights_of_a_checkpoint(run: Path, files: Path, tmp_path) -> None:
    before = sorted((run / "checkpoints").iterdir())[-1]
    options = ["--settings", f"{files}/settings.toml", "--start-from", str(before), "--quiet"]
    options += ["--max-updates", "1", "--set", "training.peak=1e-9", "--set", "model.dropout=0.3"]
    assert main(["train", *options, "--folder", f"{tmp_path}/next"]) == 0
    old, new = (
        load_checkpoint(before),
        load_checkpoint(tmp_path / "next/checkpoints/000001.safetensors"),
    )
    assert new.tokenizer == old.tokenizer
    assert new.config.dropout == 0.3 != old.config.dropout
    assert json.loads((tmp_path / "next/settings.json").read_text())["start_from"] == str(before)
    weights = new.model().state_dict()
    for name, value in old.model().state_dict().items():
        torch.testing.assert_close(weights[name], value, atol=1e-6, rtol=0)


def test_a_start_of_another_size_is_refused(run: Path, files: Path, tmp_path, capsys) -> None:
    before = sorted((run / "checkpoints").iterdir())[-1]
    options = ["--settings", f"{files}/settings.toml", "--start-from", str(before), "--quiet"]
    assert main(["train", *options, "--set", "model.d_ff=32", "--folder", f"{tmp_path}/no"]) == 1
    assert "d_ff (expected 32, found 24)" in capsys.readouterr().err
    assert not (tmp_path / "no").exists()


def test_merges_that_a_start_cannot_change(run: Path, files: Path, tmp_path, capsys) -> None:
    """They were ignored, and settings.json recorded them."""
    before = sorted((run / "checkpoints").iterdir())[-1]
    options = ["--settings", f"{files}/settings.toml", "--start-from", str(before), "--quiet"]
    words = ["train", *options, "--folder", f"{tmp_path}/no", "--set", "data.merges=33"]
    told = f"keeps the tokenizer of {before}, which has 30 merges, and data.merges is 33: "
    assert told in failing(capsys, words)
    assert not (tmp_path / "no").exists()


def test_errors_are_one_line_and_code_1(run: Path, files: Path, tmp_path: Path, capsys) -> None:
    toml = f"{files}/settings.toml"
    assert "already holds a run" in failing(
        capsys, ["train", "--settings", toml, "--folder", str(run)]
    )
    assert "no checkpoint at" in failing(capsys, ["translate", str(tmp_path / "nothing")])
    assert "has 2 checkpoints, 5 are needed" in failing(
        capsys, ["average", str(run), "--output", str(tmp_path / "m")]
    )
    new = ["train", "--folder", str(tmp_path / "new"), "--settings", toml]
    assert "data.merges: the corpus allows" in failing(capsys, [*new, "--set", "data.merges=99999"])
    missing = [*new, "--set", f"data.train_source={files}/nothing"]
    assert "nothing" in failing(capsys, missing)
    assert not (tmp_path / "new").exists(), "nothing is written before everything is checked"


def test_the_version_is_the_installed_one(capsys) -> None:
    assert status(["--version"]) == 0
    assert capsys.readouterr().out == f"{version('transformer-walkthrough')}\n"


@pytest.mark.parametrize(
    "kind", ["", "train", "translate", "evaluate", "average", "export", "import"]
)
def test_help_names_the_exit_codes(kind: str, capsys) -> None:
    with pytest.raises(SystemExit) as caught:
        main([*kind.split(), "--help"])
    assert caught.value.code == 0
    assert "Exit codes: 0 done, 1 failed" in " ".join(capsys.readouterr().out.split())


def test_the_multi30k_preset_is_the_one_of_the_table_of_differences() -> None:
    training = make_plan("multi30k-tiny", None).training
    assert (training.accumulate, training.max_tokens, training.schedule) == (4, 512, "linear")


def test_later_settings_win(tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text('preset = "multi30k-tiny"\n[training]\nwarmup = 7\nseed = 3\n')
    plan = make_plan(None, tmp_path / "s.toml", ["training.seed=5", "model.norm=pre"])
    assert (plan.training.warmup, plan.training.seed, plan.training.peak) == (7, 5, 3e-3)
    assert plan.config(100).norm == "pre"


def test_interrupted_run_exits_143_and_resumes(files: Path) -> None:
    folder = files / "interrupted"
    arguments = [
        *("train", "--settings", f"{files}/settings.toml", "--folder", str(folder)),
        *("--max-updates", "100000", "--threads", "1", "--quiet"),
    ]
    process = subprocess.Popen(
        [sys.executable, "-m", "transformer", *arguments], stdout=subprocess.PIPE, text=True
    )
    while not (folder / "state.safetensors").exists():
        assert process.poll() is None
        time.sleep(0.05)
    process.send_signal(signal.SIGTERM)
    output, _ = process.communicate(timeout=1800)
    assert process.returncode == 143
    assert "go on with --resume" in output
    stopped = (folder / "log.csv").read_text().splitlines()[-1].split(",")[0]
    further = ["--resume", "--max-updates", str(int(stopped) + 2)]
    assert main([*arguments, *further]) == 0


def test_the_record_names_the_threads_of_the_training(files: Path) -> None:
    folder = files / "three-threads"
    options = ["--settings", f"{files}/settings.toml", "--quiet", "--max-updates", "1"]
    assert torch.get_num_threads() != 3
    assert main(["train", *options, "--threads", "3", "--folder", str(folder)]) == 0
    assert json.loads((folder / "settings.json").read_text())["threads"] == 3


def test_two_processes_train_what_one_does_with_twice_the_batches(files: Path) -> None:
    options = ["--settings", f"{files}/settings.toml", "--threads", "1", "--quiet"]
    options += ["--set", "model.dropout=0.0", "--set", "training.max_tokens=100"]
    one, two = files / "one-process", files / "two-processes"
    half, twice = (["--set", f"training.accumulate={number}"] for number in (2, 4))
    for folder, batches in ((one, twice), (files / "half", half)):
        assert main(["train", *options, *batches, "--folder", str(folder)]) == 0
    torchrun = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2"]
    words = [*torchrun, "-m", "transformer", "train", *options, *half, "--folder", str(two)]
    subprocess.run([sys.executable, *words], check=True, timeout=1800)
    last = Path("checkpoints") / "000004.safetensors"
    expected, trained = (load_checkpoint(folder / last).model() for folder in (one, two))
    for name, parameter in expected.named_parameters():
        if "key_proj.bias" in name:
            continue  # its gradient is 0 but for rounding, which Adam enlarges
        torch.testing.assert_close(trained.get_parameter(name), parameter, atol=2e-5, rtol=1e-4)
    losses = [
        [record.loss for record in History.read(folder / "log.csv", up_to=4).records]
        for folder in (one, two, files / "half")
    ]
    assert losses[1] == pytest.approx(losses[0], abs=1e-5)
    assert losses[2] != pytest.approx(losses[0], abs=1e-3), "the mistake: one process's share"
    told = json.loads((two / "settings.json").read_text())
    assert told["command"].startswith("python " + " ".join(torchrun))
    assert len(json.loads((two / "results.json").read_text())["training"]) == 1
