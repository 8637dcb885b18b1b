"""A model in use, from Python: the same path as the command's."""

from pathlib import Path

import pytest
import torch

import transformer
from transformer.cli import main
from transformer.training.checkpoint import average_checkpoints
from transformer.translator import Translator, run_checkpoints

LINES = ["ein hund auf", "", "zwei katzen auf dem dach"]


def test_a_sentence_or_many_as_the_command_translates_them(run: Path, tmp_path, capsys) -> None:
    (tmp_path / "in.txt").write_text("".join(f"{line}\n" for line in LINES))
    words = ["--input", f"{tmp_path}/in.txt", "--beam", "3", "--alpha", "0.2", "--average", "2"]
    assert main(["translate", str(run), *words]) == 0
    printed = capsys.readouterr().out.splitlines()
    translator = transformer.Translator.load(run, average=2)
    assert translator.translate(LINES, beam=3, alpha=0.2) == printed
    assert translator.translate(LINES[0], beam=3, alpha=0.2) == printed[0] != ""


def test_which_checkpoints(run: Path) -> None:
    newest, file, mean = (
        Translator.load(run),
        Translator.load(run_checkpoints(run, 1)[0]),
        Translator.load(run, average=2),
    )
    assert torch.equal(newest.model.output_weight, file.model.output_weight)
    assert not torch.equal(newest.model.output_weight, mean.model.output_weight)
    wanted = average_checkpoints(run_checkpoints(run, 2)).model().output_weight
    assert torch.equal(mean.model.output_weight, wanted)
    assert Translator.load(run, best=True).model.config == newest.model.config


def test_n_best_have_scores(run: Path) -> None:
    found = Translator.load(run).n_best(LINES[:1], beam=3, n_best=2)
    assert found[0][0].score >= found[0][1].score


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        (b"ein hund", "lines must be text, got the bytes b'ein hund'"),
        ([None], "lines must be text, line 1 is None"),
        (["ein hund", float("nan")], "lines must be text, line 2 is nan"),
        ([["ein", "hund"]], r"lines must be text, line 1 is \['ein', 'hund'\]"),
    ],
)
@pytest.mark.usefixtures("as_users_run_it")
def test_lines_that_are_no_text(run: Path, lines, told: str) -> None:
    translator = Translator.load(run)
    with pytest.raises(TypeError, match=told):
        translator.translate(lines)
    with pytest.raises(TypeError, match=told):
        list(translator.stream(lines))


def test_options_that_would_be_ignored(run: Path) -> None:
    file = run / "best.safetensors"
    with pytest.raises(ValueError, match=f"average=5 needs a run folder, {file} is a file"):
        Translator.load(file, average=5)
    with pytest.raises(ValueError, match=f"best needs a run folder, {file} is a file"):
        Translator.load(file, best=True)
    with pytest.raises(ValueError, match="best is one checkpoint: it does not go with average=3"):
        Translator.load(run, best=True, average=3)


def test_wrong_options_and_files(run: Path, tmp_path) -> None:
    with pytest.raises(ValueError, match="n_best must be at most beam = 2, got 3"):
        Translator.load(run).n_best(LINES, beam=2, n_best=3)
    with pytest.raises(FileNotFoundError):
        Translator.load(tmp_path / "nothing")
