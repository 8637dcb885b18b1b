"""What is typed wrongly is told in one line before any work, and never silently misread."""

import json
import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import torch

from transformer.cli import main
from transformer.cli.commands import add_results
from transformer.cli.plan import DataSettings, make_plan
from transformer.cli.usage import one_line
from transformer.fields import read_values
from transformer.training.checkpoint import load_checkpoint, save_checkpoint
from transformer.training.settings import TrainSettings
from transformer.translator import run_checkpoints


def refused(capsys, *arguments: object, code: int = 2) -> str:
    """The one line of a command that fails with that code."""
    try:
        found = main([str(argument) for argument in arguments])
    except SystemExit as stop:
        found = stop.code
    error = capsys.readouterr().err
    assert (found, error.count("\n")) == (code, 1), error
    assert error.startswith("error: ")
    return error


@pytest.mark.parametrize(
    ("option", "value"),
    [
        *((f"model.tie_embeddings={text}", False) for text in ("False", "no", "off", "0", "NO")),
        *((f"model.bias={text}", True) for text in ("true", "Yes", "on", "1")),
        ("data.tokenized=no", False),
        ("training.compile=false", False),
        ("training.max_updates=1e3", 1000),
        ("training.max_updates=1_000", 1000),
        ("training.peak=None", None),
        ("training.peak=2e-3", 2e-3),
        ("training.r_drop=2", 2.0),
        ("data.folder=2024", "2024"),
        ('data.folder="a b"', "a b"),
    ],
)
def test_an_option_is_read_as_its_field_says(option: str, value: object) -> None:
    corpus = "craft-trees" if option.startswith("data.folder") else "phrasebook"
    plan = make_plan(corpus, None, [option])
    section, name = option.partition("=")[0].split(".")
    found = plan.model[name] if section == "model" else getattr(getattr(plan, section), name)
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("model.causal=maybe", "model.causal must be true or false, got 'maybe'"),
        ("training.max_updates=1.5", "training.max_updates must be a whole number, got '1.5'"),
        ("training.max_updates=abc", "training.max_updates must be a whole number, got 'abc'"),
        ("training.seed=1.5", "training.seed must be a whole number, got '1.5'"),
        ("training.peak=nan", "training.peak must be a finite number, or none, got 'nan'"),
        ("training.peak=1" + 400 * "0", "must be a finite number"),
        ("model.layer_norm_eps=inf", "model.layer_norm_eps must be a finite number, got 'inf'"),
        ("model.d_model=15", "d_model must be a multiple"),
        ("model.vocab_size=9", "model.vocab_size follows from the data"),
        ("data.merges=-1", "merges must be at least 0, got -1"),
        ("training.max_update=3", "training has no ['max_update']; did you mean max_updates"),
        ("training.epochs=3", "training has no ['epochs']; known: accumulate,"),
        ("trainig.seed=1", "settings has no ['trainig']; did you mean training"),
        ("epochs", "expected section.name=value"),
        ("training.threads=1000000000", "threads must be at most 1024, got 1000000000"),
        ("training.device=gpu", "device must be one that torch can use here, got 'gpu'"),
    ],
)
def test_a_setting_that_cannot_be_meant_makes_no_folder(
    option: str, message: str, files: Path, tmp_path: Path, capsys
) -> None:
    new = ["train", "--settings", f"{files}/settings.toml", "--folder", tmp_path / "new"]
    assert message in refused(capsys, *new, "--set", option)
    assert not (tmp_path / "new").exists()


def test_named_options_take_the_same_path(files: Path, tmp_path: Path, capsys) -> None:
    new = ["train", "--settings", f"{files}/settings.toml", "--folder", tmp_path / "new"]
    assert "max_updates must be a whole number, got '1.5'" in refused(
        capsys, *new, "--max-updates", "1.5"
    )
    assert "seed must be a whole number, got 'x'" in refused(capsys, *new, "--seed", "x")


def test_a_toml_file_takes_the_same_path(tmp_path: Path) -> None:
    file = tmp_path / "s.toml"
    lines = ['\ufeffpreset = "phrasebook"', "[model]", 'bias = "off"', "[training]", "warmup = 1e2"]
    file.write_text("\n".join(lines))
    plan = make_plan(None, file)
    assert plan.model["bias"] is False
    assert (plan.training.warmup, type(plan.training.warmup)) == (100, int)
    for encoding in ("utf-16", "utf-16-le"):
        file.write_text("a = 1", encoding=encoding)
        with pytest.raises(ValueError, match=r"s\.toml is not a TOML file: .*: is this UTF-16"):
            make_plan(None, file)
    for line in ("d_model = 1.5", "dropout = nan", "bias = 1", "norm = 3", "n_heads = true"):
        file.write_text(f'preset = "phrasebook"\n[model]\n{line}\n')
        with pytest.raises(ValueError, match=rf"model\.{line.split()[0]} must be"):
            make_plan(None, file)


@pytest.mark.parametrize(
    ("settings", "values"),
    [
        (TrainSettings, {"accumulate": 2.5}),
        (TrainSettings, {"seed": True}),
        (TrainSettings, {"compile": "no"}),
        (TrainSettings, {"clip": float("inf")}),
        (TrainSettings, {"max_updates": 10**400, "peak": 10**400}),
        (DataSettings, {"tokenized": "no"}),
        (DataSettings, {"merges": 1.5}),
        (DataSettings, {"folder": "a\ud800"}),
        (DataSettings, {"corpus_seed": None}),
    ],
)
@pytest.mark.usefixtures("as_users_run_it")
def test_from_python_a_value_must_have_its_type(settings, values) -> None:
    with pytest.raises(ValueError, match=r"must be (a |true|text)"):
        settings(**values)


def test_reading_leaves_what_is_read_alone() -> None:
    written = TrainSettings(peak=0.5, compile=True).to_dict()
    assert read_values("training", TrainSettings, written) == written


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("translate FILE --average 5", "--average needs a run folder"),
        ("translate RUN --scores --beam 1", "--scores needs --beam 2 or more"),
        ("translate RUN --n-best 3 --beam 2", "n_best must be at most beam = 2, got 3"),
        ("translate RUN --alpha nan", "argument --alpha: must be a number, or \"mean\", got 'nan'"),
        ("translate RUN --alpha inf", "argument --alpha: must be a number, or \"mean\", got 'inf'"),
        ("translate RUN --alpha x", "argument --alpha: must be a number, or \"mean\", got 'x'"),
        ("translate RUN --bea 2", "unrecognized arguments: --bea 2"),
        ("translate RUN --threads 1000000000", "at most 1024, got '1000000000'"),
        ("translate RUN --alpha 1e308", "alpha must lie between 0 and 10, got 1e+308"),
        ("translate RUN --device gpu", "device must be one that torch can use here, got 'gpu'"),
        ("translate RUN --device meta", "device must be one that torch can use here, got 'meta'"),
        ("evaluate RUN --alpha -1", "alpha must lie between 0 and 10, got -1.0"),
        ("evaluate RUN --output RUN", "--output must name a file"),
        ("evaluate RUN --set model.bias=no", "it has no use for 'model.bias=no'"),
        ("evaluate RUN --set data.tokenised=no", "did you mean tokenized"),
        (
            "evaluate FILE",
            "or your own files with --settings; a run's best",
        ),
        ("average FILE --last 2 --output m", "--last needs one run folder"),
        ("train --preset phrasebook --folder FILE", "--folder must name a folder"),
        ("export RUN --output -", "--output must name a folder, - is none"),
        ("train --preset phrasebook --folder runs/non --resume", "--resume goes on with a run"),
        ("train --preset base --folder x --set training.lr=1", "training has no ['lr']; known:"),
        ("train --preset phrasebook --folder x --max-updates 1", "at least warmup = 150, got 1"),
        ("train --preset huge --folder x", "invalid choice: 'huge'"),
    ],
)
def test_an_option_that_would_be_ignored_or_misread(
    words: str, message: str, run: Path, tmp_path: Path, monkeypatch, capsys
) -> None:
    monkeypatch.chdir(tmp_path)
    file = run / "checkpoints" / "000004.safetensors"
    places = {"RUN": run, "FILE": file}
    assert message in refused(capsys, *(places.get(word, word) for word in words.split()))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a CUDA device")
@pytest.mark.parametrize("kind", ["translate", "evaluate", "train"])
def test_cuda_where_there_is_none(kind: str, run: Path, tmp_path: Path, capsys) -> None:
    new = ["--preset", "phrasebook", "--folder", tmp_path / "new"]
    rest = new if kind == "train" else [run]
    message = refused(capsys, kind, *rest, "--device", "cuda")
    assert "device must be one that torch can use here, got 'cuda'" in message


def test_the_newest_none_are_not_all(run: Path) -> None:
    for last in (0, -1):
        with pytest.raises(ValueError, match=f"last must be at least 1, got {last}"):
            run_checkpoints(run, last)


def test_an_argument_that_is_not_utf8(run: Path, capsys) -> None:
    assert "arguments must be UTF-8" in refused(capsys, "translate", run, "--input", "a\udcff")


@pytest.mark.parametrize(
    "tokenizer",
    [
        "{",
        "[]",
        "{}",
        '{"kind": "subwords", "tokenizer": {"model": 3}}',
        '{"kind": "subwords"}',
        '{"kind": "words", "words": 3, "languages": ["fr", "en"]}',
        '{"kind": "words", "words": ["<pad>", "<s>", "</s>", "<unk>"], "languages": ["fr"]}',
        '{"kind": "words", "words": ["<pad>", "<s>", "</s>", "<unk>", 7], "languages": ["f", "e"]}',
    ],
)
def test_a_damaged_tokenizer_names_the_file(tokenizer: str, run: Path, tmp_path, capsys) -> None:
    model = load_checkpoint(run / "checkpoints" / "000004.safetensors").model()
    path = tmp_path / "damaged.safetensors"
    save_checkpoint(path, model, tokenizer=tokenizer)
    assert f"{path}: the tokenizer is damaged" in refused(
        capsys, "translate", path, "--input", "/dev/null", code=1
    )


@pytest.mark.parametrize(
    "content", ["{", "[]", '{"training": {}}', '{"data": 3}', '{"data": {"x": 1}}']
)
def test_settings_that_are_no_settings(content: str, run: Path, tmp_path: Path, capsys) -> None:
    copied = tmp_path / "run"
    copied.mkdir()
    (copied / "checkpoints").symlink_to(run / "checkpoints")
    (copied / "settings.json").write_text(content)
    code = 1 if content in ("{", "[]") else 2
    error = refused(capsys, "evaluate", copied, code=code)
    assert str(copied) in error or "data has no ['x']" in error


def evaluated(run: Path, capsys, *options: object) -> tuple[dict, str]:
    """What `evaluate` prints when it cannot file its results."""
    assert main(["evaluate", str(run), "--beam", "1", "--quiet", *map(str, options)]) == 1
    found = capsys.readouterr()
    assert found.err.count("\n") == 1
    return json.loads(found.out), found.err


def test_results_are_printed_before_they_are_filed(run: Path, tmp_path: Path, capsys) -> None:
    copied = tmp_path / "run"
    copied.mkdir()
    (copied / "checkpoints").symlink_to(run / "checkpoints")
    (copied / "settings.json").write_text((run / "settings.json").read_text())
    output = tmp_path / "hypotheses"
    for damaged in ("{", "[]", '{"evaluation": {}}'):
        (copied / "results.json").write_text(damaged)
        results, error = evaluated(copied, capsys, "--output", output)
        assert results["sentences"] == len(output.read_text().splitlines()) == 10
        assert f"{copied}/results.json" in error
        assert (copied / "results.json").read_text() == damaged
        output.unlink()


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("two\nlines  and \t spaces", "two lines and spaces"),
        ("x" * 500, "x" * 500),
        ("x" * 501, "x" * 500 + " …"),
        ("", "OSError"),
    ],
)
def test_an_error_is_one_line_that_is_not_too_long(message: str, expected: str) -> None:
    assert one_line(OSError(message)) == expected


def test_results_filed_at_once_are_all_kept(tmp_path: Path) -> None:
    def file_ten(first: int) -> None:
        for number in range(first, first + 10):
            add_results(tmp_path, "evaluation", {"number": number})

    with ThreadPoolExecutor(4) as workers:
        list(workers.map(file_ten, (0, 10, 20, 30)))
    kept = json.loads((tmp_path / "results.json").read_text())["evaluation"]
    assert sorted(result["number"] for result in kept) == list(range(40))


def test_ctrl_c_while_torch_is_loaded() -> None:
    words = [sys.executable, "-v", "-m", "transformer", "--help"]
    options = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE}
    if os.name != "nt":  # a shell's background jobs, and their children, ignore Ctrl-C
        options["preexec_fn"] = lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)
    with subprocess.Popen(words, **options) as process:
        assert any(line.startswith(b"import 'torch.version'") for line in process.stderr)
        process.send_signal(signal.SIGINT)
        rest = process.stderr.read()
    assert process.returncode == 130
    assert b"interrupted\n" in rest
    assert b"Traceback" not in rest


@pytest.mark.parametrize(
    ("words", "closed", "message"),
    [
        ("translate RUN", "stdin", "input is closed: name a file with --input"),
        ("translate RUN", "stdout", "output is closed: translations have no place to go"),
        ("average RUN --output -", "stdout", "output is closed: name a file with --output"),
    ],
)
def test_a_closed_stream(run: Path, words: str, closed: str, message: str, monkeypatch, capsys):
    monkeypatch.setattr(sys, closed, None)  # as Python starts after `<&-` and `>&-`
    told = refused(capsys, *(run if word == "RUN" else word for word in words.split()))
    assert told == f"error: standard {message}\n"
