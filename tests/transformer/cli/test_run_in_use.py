"""A run folder that another process writes to, or was killed in."""

from pathlib import Path

from filelock import FileLock

from transformer.cli import commands, main
from transformer.cli.commands import add_results
from transformer.training.run_folder import RunFolder
from transformer.training.settings import TrainSettings


def test_a_second_resume_is_refused_before_anything_is_read(
    run: Path, files: Path, monkeypatch, capsys
) -> None:
    def read(*_, **__):
        raise AssertionError("the corpus was read")

    monkeypatch.setattr(commands, "load_corpus", read)
    before = (run / "settings.json").read_bytes()
    command = ["train", "--settings", f"{files}/settings.toml", "--folder", str(run), "--quiet"]
    with FileLock(run / ".lock"):
        assert main([*command, "--resume"]) == 1
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert "is in use: another process trains there" in error
    assert (run / "settings.json").read_bytes() == before


def test_a_run_in_use_is_refused_at_once(tmp_path: Path) -> None:
    """Whoever waited for it would wait for hours."""
    assert RunFolder(tmp_path, TrainSettings(max_updates=1))._lock.timeout == 0


def test_what_a_killed_write_left_is_removed(tmp_path: Path) -> None:
    (tmp_path / ".results.json.123.unfinished").write_text("{")
    (tmp_path / ".log.csv.123.unfinished").write_text("of a run that may be going on")
    add_results(tmp_path, "evaluation", {"bleu": 1.0})
    left = sorted(path.name for path in tmp_path.iterdir())
    assert left == [".log.csv.123.unfinished", ".results.json.lock", "results.json"]
