"""The models that commands open: which checkpoints, with which tokenizer, on how many threads."""

import argparse
import shutil
from pathlib import Path

import pytest
import torch

from transformer.cli.models import check_device, open_model
from transformer.cli.usage import UsageError
from transformer.data.codec import SubwordCodec
from transformer.training.checkpoint import average_checkpoints, load_checkpoint, save_checkpoint
from transformer.translator import run_checkpoints, start_codec


def options(model: Path, **changes: object) -> argparse.Namespace:
    defaults = {"average": 1, "best": False, "threads": None, "device": "cpu"}
    return argparse.Namespace(**{"model": str(model), **defaults, **changes})


def last_of(run: Path) -> Path:
    return run / "checkpoints" / "000004.safetensors"


def test_a_run_folder_stands_for_its_newest_checkpoint(run: Path) -> None:
    newest, _ = open_model(options(run))
    mean, _ = open_model(options(run, average=2))
    for found, expected in (
        (newest, load_checkpoint(last_of(run)).model()),
        (mean, average_checkpoints(run_checkpoints(run, 2)).model()),
    ):
        assert torch.equal(found.output_weight, expected.output_weight)
    assert not torch.equal(newest.output_weight, mean.output_weight)


def test_a_file_has_no_mean(run: Path) -> None:
    model, codec = open_model(options(last_of(run)))
    assert len(codec) == model.config.vocab_size
    with pytest.raises(UsageError, match=r"--average needs a run folder, .* is a file"):
        open_model(options(last_of(run), average=2))


def test_the_newest_ones_oldest_first(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="has 0 checkpoints, 1 are needed"):
        run_checkpoints(tmp_path, 1)
    (tmp_path / "checkpoints").mkdir()
    for name in ("999999", "000001", "1000000", "average", "000001-best"):
        (tmp_path / "checkpoints" / f"{name}.safetensors").touch()
    assert [path.stem for path in run_checkpoints(tmp_path, 2)] == ["999999", "1000000"]
    assert len(run_checkpoints(tmp_path, 3)) == 3
    assert len(run_checkpoints(tmp_path, 1)) == 1
    with pytest.raises(FileNotFoundError, match="has 3 checkpoints, 4 are needed"):
        run_checkpoints(tmp_path, 4)


def test_as_many_threads_as_asked_for(run: Path, monkeypatch) -> None:
    asked = []
    monkeypatch.setattr(torch, "set_num_threads", asked.append)
    open_model(options(run))
    assert asked == []
    open_model(options(run, threads=3))
    assert asked == [3]


def test_a_tokenizer_of_another_model(run: Path, tmp_path: Path) -> None:
    model = load_checkpoint(last_of(run)).model()
    other = SubwordCodec.train(["ein hund", "zwei hunde"], n_merges=1)
    save_checkpoint(tmp_path / "other.safetensors", model, tokenizer=other.to_text())
    with pytest.raises(ValueError, match="the tokenizer has 261 tokens, the model 290"):
        open_model(options(tmp_path / "other.safetensors"))


def test_a_checkpoint_without_a_tokenizer(run: Path, tmp_path: Path) -> None:
    save_checkpoint(tmp_path / "bare", load_checkpoint(last_of(run)).model())
    with pytest.raises(ValueError, match="bare holds no tokenizer"):
        start_codec(load_checkpoint(tmp_path / "bare"), "bare")


def test_a_device_that_holds_no_numbers() -> None:
    check_device("cpu")
    with pytest.raises(ValueError, match="got 'meta': it holds no numbers"):
        check_device("meta")


def test_the_best_checkpoint_is_a_file_of_its_own(run: Path, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    shutil.copytree(run, folder)
    first = min((folder / "checkpoints").iterdir())
    shutil.copy(first, folder / "best.safetensors")
    best, _ = open_model(options(folder, best=True))
    assert torch.equal(best.output_weight, open_model(options(first))[0].output_weight)
    with pytest.raises(UsageError, match=r"--best needs a run folder, .* is a file"):
        open_model(options(first, best=True))
    with pytest.raises(UsageError, match=r"does not go with --average 2"):
        open_model(options(folder, best=True, average=2))
