"""The folder of a run: who may write there, what a resumed run may change, what is kept."""

import json
import zlib
from pathlib import Path

import numpy as np
import pytest
import torch
from filelock import FileLock
from test_trainer import CONFIG, PAIRS, SETTINGS, make_model

from transformer.training import run_folder
from transformer.training.checkpoint import load_checkpoint, write_tensors
from transformer.training.history import History
from transformer.training.run_folder import (
    RunFolder,
    holds_run,
    refuse_run_in_use,
)
from transformer.training.same_run import FREE_TO_CHANGE, checksum


def begun(path: Path, **changes: object) -> RunFolder:
    folder = RunFolder(path, SETTINGS.replace(**changes))
    folder.begin(CONFIG, PAIRS, notes={"text": "größe"})
    return folder


def is_free(path: Path) -> bool:
    lock = FileLock(path / ".lock", timeout=0)
    try:
        lock.acquire()
    except run_folder.Timeout:
        return False
    lock.release()
    return True


def test_a_folder_is_held_from_begin_to_close(tmp_path: Path) -> None:
    folder = begun(tmp_path / "deep" / "run")
    assert not is_free(folder.path)
    with pytest.raises(BlockingIOError, match="in use"):
        refuse_run_in_use(folder.path)
    folder.close()
    assert is_free(folder.path)


def test_a_folder_that_is_refused_is_not_held(tmp_path: Path) -> None:
    begun(tmp_path).close()
    (tmp_path / "state.safetensors").touch()
    again = RunFolder(tmp_path, SETTINGS)
    with pytest.raises(FileExistsError, match="already holds a run"):
        again.begin(CONFIG, PAIRS)
    assert is_free(tmp_path)


def test_nobody_waits_for_a_run_to_end(tmp_path: Path, monkeypatch) -> None:
    waits = []

    class Lock(FileLock):
        def __init__(self, path: Path, timeout: float = -1) -> None:
            waits.append(timeout)
            super().__init__(path, timeout=0)

    monkeypatch.setattr(run_folder, "FileLock", Lock)
    folder = begun(tmp_path)
    with pytest.raises(BlockingIOError):
        refuse_run_in_use(tmp_path)
    folder.close()
    assert waits == [0, 0]


def test_notes_are_readable_as_they_are(tmp_path: Path) -> None:
    begun(tmp_path).close()
    assert '"größe"' in (tmp_path / "settings.json").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("schedule", "change", "allowed"),
    [
        *(("linear", name, True) for name in sorted(FREE_TO_CHANGE)),
        ("linear", "max_updates", False),  # the rate of every update depends on it
        ("noam", "max_updates", True),
        ("noam", "keep", True),
        ("noam", "seed", False),
    ],
)
def test_what_a_resumed_run_may_change(tmp_path: Path, schedule, change, allowed) -> None:
    begun(tmp_path, schedule=schedule).close()
    (tmp_path / "state.safetensors").touch()  # else the folder is begun anew
    value = True if change == "compile" else 77
    folder = RunFolder(tmp_path, SETTINGS.replace(schedule=schedule, **{change: value}))
    if allowed:
        folder.begin(CONFIG, PAIRS, resume=True)
        folder.close()
        assert json.loads((tmp_path / "settings.json").read_text())["training"][change] == value
    else:
        with pytest.raises(ValueError, match=rf"other settings: {change} \(.* in the folder, 77"):
            folder.begin(CONFIG, PAIRS, resume=True)


def test_a_checkpoint_says_after_which_update_it_was_written(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path, SETTINGS.replace(keep=1), tokenizer="words")
    for update in (7, 12):
        folder.save_checkpoint(make_model(), update)
    (path,) = folder.checkpoints
    assert path.name == "000012.safetensors"
    kept = load_checkpoint(path)
    assert (kept.notes, kept.tokenizer) == ({"update": 12}, "words")


@pytest.mark.parametrize("resume", [False, True])
def test_a_start_that_failed_does_not_keep_its_folder(tmp_path: Path, resume: bool) -> None:
    begun(tmp_path, max_tokens=3).close()
    folder = RunFolder(tmp_path, SETTINGS)
    folder.begin(CONFIG, PAIRS, resume=resume)
    folder.close()
    told = json.loads((tmp_path / "settings.json").read_text(encoding="utf-8"))
    assert told["training"]["max_tokens"] == SETTINGS.max_tokens
    assert not holds_run(tmp_path)
    folder.save_checkpoint(make_model(), 7)
    with pytest.raises(FileExistsError, match="already holds a run"):
        folder.begin(CONFIG, PAIRS)


def test_only_what_the_run_wrote_is_counted_and_dropped_by_number(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path, SETTINGS.replace(keep=3))
    (tmp_path / "checkpoints").mkdir()
    others = ["000100-best", "average", "12345", "１２３４５６"]
    for name in others:
        (tmp_path / "checkpoints" / f"{name}.safetensors").touch()
    for update in (999_998, 999_999, 1_000_000, 1_000_001):
        folder.save_checkpoint(make_model(), update)
    assert [path.stem for path in folder.checkpoints] == ["999999", "1000000", "1000001"]
    assert {path.stem for path in (tmp_path / "checkpoints").iterdir()} == {
        *others, "999999", "1000000", "1000001",
    }  # fmt: skip


def test_a_state_of_something_else_is_named(tmp_path: Path) -> None:
    model = make_model()
    optimizer = torch.optim.Adam(model.parameters())
    folder = RunFolder(tmp_path, SETTINGS)
    assert folder.load_state(model, optimizer) is None
    for metadata in ({}, {"position": "{"}, {"position": '{"update": 3}'}):
        write_tensors(tmp_path / "state.safetensors", {"x": torch.zeros(1)}, metadata)
        with pytest.raises(ValueError, match=r"state\.safetensors is no state of this run: "):
            folder.load_state(model, optimizer)


def test_the_state_is_restored_beside_its_log(tmp_path: Path) -> None:
    model, other = make_model(0), make_model(1)
    optimizers = [torch.optim.Adam(one.parameters()) for one in (model, other)]
    model.output_weight.sum().backward()
    for parameter in model.parameters():
        parameter.grad = torch.ones_like(parameter)
    optimizers[0].step()
    folder = RunFolder(tmp_path, SETTINGS)
    folder.save_state(model, optimizers[0], {"update": 3}, History(), {"tokens": 5})
    assert folder.load_state(other, optimizers[1]) == ({"update": 3}, History(), {"tokens": 5})
    assert (tmp_path / "log.csv").exists()
    for one, two in zip(model.parameters(), other.parameters(), strict=True):
        assert torch.equal(one, two)
        for key, value in optimizers[0].state[one].items():
            assert torch.equal(value, optimizers[1].state[two][key])


def test_the_checksum_of_recorded_runs() -> None:
    """CRC-32 of length, source and target of every pair, as 8 bytes each."""
    numbers = [2, 5, 6, 7, 1, 8, 9]
    assert checksum([([5, 6], [7]), ([8], [9])]) == zlib.crc32(np.array(numbers, "<i8").tobytes())
    assert checksum([([5, 6], [7])]) != checksum([([5], [6, 7])])
