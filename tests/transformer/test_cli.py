"""The command line: what a newcomer types, what a script can rely on, one line for each error."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch

from transformer.cli import main
from transformer.cli.plan import PRESETS, make_plan
from transformer.config import TransformerConfig
from transformer.training.checkpoint import load_checkpoint


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
    weights = new.model().state_dict()
    for name, value in old.model().state_dict().items():
        torch.testing.assert_close(weights[name], value, atol=1e-6, rtol=0)


def test_a_start_of_another_size_is_refused(run: Path, files: Path, tmp_path, capsys) -> None:
    before = sorted((run / "checkpoints").iterdir())[-1]
    options = ["--settings", f"{files}/settings.toml", "--start-from", str(before), "--quiet"]
    assert main(["train", *options, "--set", "model.d_ff=32", "--folder", f"{tmp_path}/no"]) == 1
    assert "d_ff (expected 32, found 24)" in capsys.readouterr().err
    assert not (tmp_path / "no").exists()


def test_translate_keeps_order_and_empty_lines(run: Path, tmp_path: Path, capsys) -> None:
    lines = ["ein hund", "", "zwei katzen im garten", "ein hund"]
    (tmp_path / "in.txt").write_text("\n".join(lines) + "\n")
    arguments = ["translate", str(run), "--input", f"{tmp_path}/in.txt", "--beam", "2"]
    assert main(arguments) == 0
    found = capsys.readouterr().out.split("\n")
    assert len(found) == 5
    assert found[1] == found[4] == ""
    assert found[0] == found[3]
    assert main([*arguments, "--window", "1"]) == 0
    assert capsys.readouterr().out.split("\n") == found


def test_n_best_with_scores_of_standard_input(run: Path, tmp_path, monkeypatch, capsys) -> None:
    (tmp_path / "in.txt").write_text("ein hund\n")
    with (tmp_path / "in.txt").open() as stdin:
        monkeypatch.setattr(sys, "stdin", stdin)
        assert main(["translate", str(run), "--n-best", "2", "--scores"]) == 0
    scores = [float(line.split("\t")[0]) for line in capsys.readouterr().out.splitlines()]
    assert len(scores) == 2
    assert scores[0] >= scores[1]


def test_evaluate_prints_and_keeps_results(run: Path, tmp_path: Path, capsys) -> None:
    output = tmp_path / "hypotheses.txt"
    code = main(["evaluate", str(run), "--beam", "1", "--average", "2", "--output", str(output)])
    assert code == 0
    results = json.loads(capsys.readouterr().out)
    assert 0 <= results["bleu"] <= 100
    assert "version" in results["bleu_signature"]
    assert results["perplexity"] > 1
    assert results["sentences"] == len(output.read_text().splitlines()) == 10
    kept = json.loads((run / "results.json").read_text())
    assert kept["evaluation"][-1] == results


def test_average_of_the_last_is_what_evaluate_uses(run: Path, tmp_path: Path, capsys) -> None:
    output = tmp_path / "mean.safetensors"
    assert main(["average", str(run), "--last", "2", "--output", str(output)]) == 0
    assert load_checkpoint(output).notes["average_of"] == [
        "000002.safetensors",
        "000004.safetensors",
    ]
    said = f"{output}: mean of 000002.safetensors, 000004.safetensors\n"
    assert capsys.readouterr().err == said
    assert main(["translate", str(output), "--input", "/dev/null"]) == 0


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
    assert "corpus allows n_merges" in failing(capsys, [*new, "--set", "data.merges=99999"])
    missing = [*new, "--set", f"data.train_source={files}/nothing"]
    assert "nothing" in failing(capsys, missing)
    assert not (tmp_path / "new").exists(), "nothing is written before everything is checked"


def test_files_of_different_length(files: Path, tmp_path: Path, capsys) -> None:
    (tmp_path / "short").write_text("ein hund\n")
    arguments = ["train", "--settings", f"{files}/settings.toml", "--folder", f"{tmp_path}/run"]
    error = failing(capsys, [*arguments, "--set", f"data.train_target={tmp_path}/short"])
    assert "same number of lines" in error


def test_input_that_is_not_utf8_names_the_line(run: Path, tmp_path: Path, capsys) -> None:
    (tmp_path / "in.txt").write_bytes(b"ein hund\nein h\xffnd\n")
    arguments = ["translate", str(run), "--input", f"{tmp_path}/in.txt", "--window", "1"]
    assert main(arguments) == 1
    found = capsys.readouterr()
    assert found.out.split("\n")[1:] == ["", ""], "its place is kept"
    assert found.err == "error: line 2: not UTF-8 (byte 0xff at column 6)\n"


def test_wrong_usage_is_code_2(capsys) -> None:
    for arguments in ([], ["train"], ["fly"], ["train", "--preset", "huge", "--folder", "x"]):
        with pytest.raises(SystemExit) as caught:
            main(arguments)
        assert caught.value.code == 2


@pytest.mark.parametrize("kind", ["", "train", "translate", "evaluate", "average", "export"])
def test_help_names_the_exit_codes(kind: str, capsys) -> None:
    with pytest.raises(SystemExit) as caught:
        main([*kind.split(), "--help"])
    assert caught.value.code == 0
    assert "Exit codes: 0 done, 1 failed" in " ".join(capsys.readouterr().out.split())


def test_presets_are_whole_plans() -> None:
    for name in PRESETS:
        options = ["data.train_source=a", "data.train_target=b"]
        plan = make_plan(name, None, options)
        assert plan.config(50_000).vocab_size == 50_000
    assert make_plan("base", None, options).config(37_000) == TransformerConfig.base(37_000)
    assert make_plan("big", None, options).config(37_000) == TransformerConfig.big(37_000)
    base = make_plan("base", None, options).training
    assert (base.schedule, base.warmup, base.smoothing, base.max_tokens) == (
        "noam",
        4000,
        0.1,
        25_000,
    )


def test_the_multi30k_preset_is_the_one_of_the_table_of_differences() -> None:
    training = make_plan("multi30k-tiny", None).training
    assert (training.accumulate, training.max_tokens, training.schedule) == (4, 512, "linear")


def test_later_settings_win(tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text('preset = "multi30k-tiny"\n[training]\nwarmup = 7\nseed = 3\n')
    plan = make_plan(None, tmp_path / "s.toml", ["training.seed=5", "model.norm=pre"])
    assert (plan.training.warmup, plan.training.seed, plan.training.peak) == (7, 5, 3e-3)
    assert plan.config(100).norm == "pre"
    (tmp_path / "bad.toml").write_text("a = = 1")
    with pytest.raises(ValueError, match="is not a TOML file"):
        make_plan(None, tmp_path / "bad.toml")
    with pytest.raises(ValueError, match=r"settings has no \['trainig'\]"):
        make_plan("phrasebook", None, ["trainig.seed=1"])
    with pytest.raises(ValueError, match="name a preset"):
        make_plan(None, None)


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
    output, _ = process.communicate(timeout=300)
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
    alone = [*options, "--set", "training.accumulate=2", "--folder", str(one)]
    assert main(["train", *alone]) == 0
    torchrun = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2"]
    words = [*torchrun, "-m", "transformer", "train", *options, "--folder", str(two)]
    subprocess.run([sys.executable, *words], check=True, timeout=300)
    last = Path("checkpoints") / "000004.safetensors"
    expected, trained = (load_checkpoint(folder / last).model() for folder in (one, two))
    for name, parameter in expected.named_parameters():
        torch.testing.assert_close(trained.get_parameter(name), parameter, atol=2e-5, rtol=1e-4)
    told = json.loads((two / "settings.json").read_text())
    assert told["command"].startswith("python " + " ".join(torchrun))
    assert len(json.loads((two / "results.json").read_text())["training"]) == 1
