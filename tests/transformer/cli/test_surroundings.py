"""A record says on what it was made: last digits depend on it."""

import platform
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

from transformer.cli import surroundings as module
from transformer.cli.surroundings import command_line, commit, peak_memory_mb, surroundings

CPU = "processor\t: 0\nmodel name\t: {} CPU @ 3.00GHz\nflags\t\t: fpu avx2\n"


def test_a_record_names_processor_and_instructions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        Path, "read_text", lambda path, **_: CPU.format("Some") + CPU.format("Other")
    )
    told = surroundings()
    assert told["processor"] == "Some CPU @ 3.00GHz"
    assert told["instructions"] == torch.backends.cpu.get_cpu_capability()
    assert told["torch"] == torch.__version__
    assert told["threads"] == torch.get_num_threads()
    assert told["cores"] >= 1
    assert told.keys() >= {"commit", "date", "python", "machine"}


def test_a_system_that_does_not_name_its_processor(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Path, "read_text", lambda path, **_: "processor\t: 0\n")
    assert module.processor() == platform.machine()

    def nothing(path: Path, **_: str) -> str:
        raise FileNotFoundError(path)

    monkeypatch.setattr(Path, "read_text", nothing)
    monkeypatch.setattr(platform, "processor", lambda: "arm")
    assert module.processor() == "arm"
    monkeypatch.setattr(platform, "processor", lambda: "")
    assert module.processor() == platform.machine()


def test_the_command_is_the_one_a_person_types(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["…/__main__.py", "train", "--folder", "my runs/one"])
    monkeypatch.delenv("LOCAL_WORLD_SIZE", raising=False)
    assert command_line() == "python -m transformer train --folder 'my runs/one'"
    monkeypatch.setenv("LOCAL_WORLD_SIZE", "2")
    assert command_line().startswith(
        "python -m torch.distributed.run --standalone --nproc-per-node=2 -m transformer train "
    )


def test_the_commit_is_the_packages_wherever_the_command_is_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    names = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    for command in (["init", "-q"], [*names, "commit", "-q", "--allow-empty", "-m", "first"]):
        subprocess.run(["git", *command], check=True)
    told = subprocess.run(["git", "rev-parse", "HEAD"], capture_output=True, text=True, check=True)
    assert commit() != told.stdout.strip()
    monkeypatch.setattr(module, "__file__", str(tmp_path / "surroundings.py"))
    assert commit() == told.stdout.strip()


@pytest.mark.parametrize(("edited", "ending"), [("results", ""), ("src", "-dirty")])
def test_a_commit_is_marked_where_more_than_the_records_was_edited(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, edited: str, ending: str
) -> None:
    for folder in ("results", "src/transformer"):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "file").write_text("as committed")
    names = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    for command in (["init", "-q"], ["add", "."], [*names, "commit", "-q", "-m", "first"]):
        subprocess.run(["git", *command], cwd=tmp_path, check=True)
    monkeypatch.setattr(module, "__file__", str(tmp_path / "src/transformer/surroundings.py"))
    clean = commit()
    assert clean is not None
    assert "dirty" not in clean
    (file,) = (tmp_path / edited).rglob("file")
    file.write_text("edited")
    assert commit() == clean + ending


def test_an_installed_package_has_no_commit(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    monkeypatch.setattr(module, "__file__", str(tmp_path / "surroundings.py"))
    assert commit() is None


def test_without_git_there_is_no_commit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module.shutil, "which", lambda name: None)
    assert commit() is None


def test_memory_is_counted_in_megabytes() -> None:
    held = peak_memory_mb()
    assert held is None or 50 < held < 50_000  # this process has torch in it


@pytest.mark.skipif(sys.platform == "win32", reason="Windows does not tell")
@pytest.mark.parametrize(("system", "told"), [("linux", 3 * 1024**2), ("darwin", 3 * 1024**3)])
def test_linux_tells_its_memory_in_kilobytes_and_macos_in_bytes(monkeypatch, system, told) -> None:
    import resource

    monkeypatch.setattr(sys, "platform", system)
    monkeypatch.setattr(resource, "getrusage", lambda _: SimpleNamespace(ru_maxrss=told))
    assert peak_memory_mb() == 3 * 1024
