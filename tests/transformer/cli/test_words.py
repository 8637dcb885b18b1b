"""What a message says: which file and line, which setting, both values, and what to do."""

import json
from pathlib import Path

import pytest
import torch

from transformer.cli import main, training
from transformer.cli.models import check_device


@pytest.fixture
def told(files: Path, tmp_path: Path, capsys):
    """Run a command and return its exit code and what it says."""

    def run(*words: object) -> tuple[int, str]:
        try:
            code = main([str(word) for word in words])
        except SystemExit as stop:
            code = int(stop.code or 0)
        return code, capsys.readouterr().err

    return run


def training_of(files: Path, folder: Path, *options: str) -> list[object]:
    words = ["train", "--settings", files / "settings.toml", "--folder", folder]
    return [*words, *(word for option in options for word in ("--set", option))]


@pytest.mark.parametrize(
    ("options", "lines", "message"),
    [
        # counted from 1, by the file's name, before anything is trained
        (["training.max_tokens=30"], {3: "ein hund " * 20}, "train.de, line 4: a sentence of "),
        (
            ["training.max_tokens=30"],
            {3: "ein hund " * 20},
            "and training.max_tokens is 30",
        ),
        (
            ["model.positions=learned", "model.max_len=40"],
            {0: "ein hund " * 20},
            "train.de, line 1: a sentence of ",
        ),
        ([], {7: "\u200b"}, "train.de, line 8: every line must hold a sentence"),
    ],
)
def test_a_line_that_cannot_be_trained_on(
    files: Path, tmp_path: Path, told, options, lines, message: str
) -> None:
    text = (files / "train.de").read_text().splitlines()
    for number, line in lines.items():
        text[number] = line
    (tmp_path / "train.de").write_text("\n".join(text))
    options = [f"data.train_source={tmp_path}/train.de", *options]
    code, said = told(*training_of(files, tmp_path / "new", *options))
    assert (code, said.count("\n")) == (1, 1), said
    assert message in said
    assert not (tmp_path / "new").exists()


def test_a_file_that_is_not_there_is_named_with_its_setting(
    run: Path, files: Path, tmp_path: Path, told, monkeypatch
) -> None:
    monkeypatch.chdir(tmp_path)
    code, said = told("evaluate", run, "--set", "data.valid_source=moved.de")
    way = f"no such file in {tmp_path}: name it by --set data.valid_source=…"
    assert (code, said) == (1, f"error: data.valid_source names moved.de, and there is {way}\n")
    code, said = told(*training_of(files, tmp_path / "new", "data.train_target=~/x"))
    assert code == 1
    assert "data.train_target names ~/x, and there is no such file" in said
    assert "(~ stands for itself here)" in said
    assert not (tmp_path / "new").exists()


def test_a_path_as_typed_is_recorded_so_that_it_means_the_same_file_everywhere(
    files: Path, tmp_path: Path, told, monkeypatch
) -> None:
    words = training_of(files, tmp_path / "new", "data.valid_source=valid.de")
    monkeypatch.chdir(files)
    assert told(*words, "--quiet", "--max-updates", 2) == (0, "")
    (tmp_path / "valid.de").write_text("ein anderer satz\n")  # as many lines as it has not
    monkeypatch.chdir(tmp_path)
    recorded = json.loads((tmp_path / "new" / "settings.json").read_text())["data"]
    assert recorded["valid_source"] == str(files / "valid.de")
    assert (recorded["test_source"], recorded["folder"]) == (None, None)
    assert told("evaluate", "new", "--quiet") == (0, "")
    # typed again, it is the file of this folder: another one, and refused with both values
    code, said = told(*words, "--resume", "--max-updates", 3)
    assert code == 1
    assert "valid.de" in said


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"target": "source"}, "data.train_source and data.train_target hold the same lines"),
        ({"valid_source": "source"}, "data.train_source and data.valid_source hold the same lines"),
        ({"lines": "ein\thund"}, "source has a tab in every line: is it a table?"),
        ({"lines": '"ein, hund"'}, "source has quotes around every line"),
        ({"lines": "ein &quot;hund"}, "source, line 1: &quot; is trained on as it is"),
    ],
)
def test_what_is_rarely_meant_is_noted(
    files: Path, tmp_path: Path, told, monkeypatch, change: dict[str, str], message: str
) -> None:
    monkeypatch.setattr(training, "train", lambda *_, **__: training.History())
    line = change.get("lines", "ein hund auf dem dach")
    for name in ("source", "target", "valid_source", "valid_target"):
        text = line if change.get(name, name) == "source" else f"{name} auf dem dach"
        (tmp_path / name).write_text(40 * f"{text}\n")
    names = {"train_source": "source", "train_target": "target"}
    names |= {name: name for name in ("valid_source", "valid_target")}
    options = [f"data.{name}={tmp_path}/{file}" for name, file in names.items()]
    words = training_of(files, tmp_path / "new", *options, "data.merges=2")
    code, said = told(*words)
    notes = [line for line in said.splitlines() if line.startswith("note: ")]
    assert (code, len(notes)) == (0, 1), said
    assert message in notes[0]
    assert told(*words, "--quiet") == (0, "")


def test_a_run_folder_to_start_from_is_its_newest_checkpoint(
    run: Path, files: Path, tmp_path: Path, told
) -> None:
    words = [*training_of(files, tmp_path / "new"), "--quiet", "--max-updates", 2]
    assert told(*words, "--start-from", run) == (0, "")
    said = (tmp_path / "new" / "settings.json").read_text()
    assert f'"start_from": "{run}/checkpoints/000004.safetensors"' in said


def test_a_tokenizer_of_bleu_that_is_missing_is_told_before_training(
    files: Path, tmp_path: Path, told, monkeypatch
) -> None:
    def missing(_: str) -> None:
        raise ModuleNotFoundError("'ja-mecab' needs a package more")

    monkeypatch.setattr(training, "bleu_with", missing)
    words = training_of(files, tmp_path / "new", "data.bleu_tokenizer=ja-mecab")
    assert told(*words) == (1, "error: 'ja-mecab' needs a package more\n")


def test_of_a_device_the_reason_is_short(monkeypatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise RuntimeError("PyTorch is not linked with support for mps devices. " + "Advice. " * 60)

    monkeypatch.setattr(torch, "empty", refuse)
    told = "got 'mps': PyTorch is not linked with support for mps devices$"
    with pytest.raises(ValueError, match=told):
        check_device("mps")
