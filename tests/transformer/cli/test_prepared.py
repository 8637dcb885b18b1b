"""Tokenizer and ids are made once: a run that goes on, and other processes, read them."""

import json
from pathlib import Path

import pytest

from transformer.cli import corpora, main, training
from transformer.cli.prepared import PAIRS, kept
from transformer.data.codec import codec_from_text
from transformer.training.checkpoint import map_arrays, write_arrays


class ReadError(Exception):
    """Something was made that is there already."""


def command(files: Path, folder: Path, *options: object) -> list[str]:
    words = ["train", "--settings", files / "settings.toml", "--folder", folder, "--quiet"]
    return [str(word) for word in (*words, *options)]


def origin_of(files: Path) -> dict:
    from transformer.cli.plan import make_plan

    return corpora.origin(make_plan(None, files / "settings.toml").data)


@pytest.fixture
def stopped(files: Path, tmp_path: Path, dying_after_2) -> Path:
    """The folder of a run that died after update 2."""
    dying_after_2(lambda: main(command(files, tmp_path / "run")))
    return tmp_path / "run"


def test_what_is_kept_is_the_spelling_of_every_line(run: Path, files: Path) -> None:
    made = kept(run, origin_of(files))
    codec = codec_from_text(made.tokenizer)
    for split, pairs in (("train", made.pairs), ("valid", made.valid)):
        sides = ((files / f"{split}.{end}").read_text().splitlines() for end in ("de", "xx"))
        assert pairs == [(codec.encode(s), codec.encode(t)) for s, t in zip(*sides, strict=True)]
    assert made.number == len(made.pairs) == 396


def test_a_run_goes_on_without_reading_its_corpus_again(
    stopped: Path, run: Path, files: Path, monkeypatch
) -> None:
    for name in ("lines_of", "learn_codec", "training_pairs"):
        monkeypatch.setattr(training, name, None)  # would fail if it were called
    assert main(command(files, stopped, "--resume")) == 0
    last = "checkpoints/000004.safetensors"
    assert (stopped / last).read_bytes() == (run / last).read_bytes()


@pytest.mark.parametrize("lost", ["missing", "damaged", "of a run of before"])
def test_without_them_it_makes_them_anew(stopped: Path, run: Path, files: Path, lost) -> None:
    path = stopped / PAIRS
    if lost == "damaged":
        path.write_bytes(path.read_bytes()[:-1] + b"x")
    elif lost == "missing":
        path.unlink()
    else:
        write_arrays(path, {}, {"tokenizer": "{}", "origin": json.dumps({"data.merges": 7})})
    assert main(command(files, stopped, "--resume=auto")) == 0
    last = "checkpoints/000004.safetensors"
    assert (stopped / last).read_bytes() == (run / last).read_bytes()


def test_another_corpus_is_refused_and_what_was_kept_stays(
    stopped: Path, files: Path, tmp_path: Path, capsys
) -> None:
    before = (stopped / PAIRS).read_bytes()
    lines = (files / "train.de").read_text().splitlines(keepends=True)
    (tmp_path / "other.de").write_text("".join(reversed(lines)))
    other = ("--set", f"data.train_source={tmp_path}/other.de")
    assert main(command(files, stopped, "--resume", *other)) == 1
    assert "checksum of the training pairs (" in capsys.readouterr().err
    assert (stopped / PAIRS).read_bytes() == before


def test_epochs_that_are_spelled_anew_have_their_tokenizer_kept(
    files: Path, tmp_path: Path
) -> None:
    words = command(files, tmp_path / "run", "--set", "data.bpe_dropout=0.1")
    assert main(words) == 0
    arrays, metadata = map_arrays(tmp_path / "run" / PAIRS)
    assert {name.partition(".")[0] for name in arrays} == {"valid"}
    assert json.loads(metadata["tokenizer"])["kind"] == "subwords"
    assert main([*words, "--resume", "--max-updates", "5"]) == 0


def test_a_damaged_file_of_arrays_is_named(run: Path, tmp_path: Path) -> None:
    path = tmp_path / PAIRS
    path.write_bytes((run / PAIRS).read_bytes().replace(b'"subwords', b'"subword5'))
    with pytest.raises(ValueError, match=f"{path} is damaged"):
        map_arrays(path)
