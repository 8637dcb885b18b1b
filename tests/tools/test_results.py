"""Records that this code made are left alone; what they depend on is found, not listed."""

import json
import subprocess
from pathlib import Path

import pytest
import results

WIDTH = next(record for record in results.RECORDS if record.file == "phrasebook-trees.json")
CAPTIONS = next(r for r in results.RECORDS if r.file == "multi30k-variations.json")


@pytest.fixture
def repository(tmp_path, monkeypatch):
    """A repository with one tool, one module and a record made at its first commit."""
    (tmp_path / "src").mkdir()
    (tmp_path / "results").mkdir()
    (tmp_path / "src" / "used.py").write_text("A = 1\n")
    (tmp_path / "src" / "unused.py").write_text("B = 1\n")

    def git(*words):
        asked = ["git", "-c", "user.name=a", "-c", "user.email=a@b", *words]
        done = subprocess.run(asked, cwd=tmp_path, check=True, capture_output=True, text=True)
        return done.stdout.strip()

    git("init", "-q")
    git("add", "-A")
    git("commit", "-qm", "first")
    monkeypatch.setattr(results, "ROOT", tmp_path)
    monkeypatch.setattr(results, "RESULTS", tmp_path / "results")
    monkeypatch.setattr(results, "files", lambda record: ["src/used.py"])
    results.differing.cache_clear()
    yield tmp_path, git("rev-parse", "HEAD")
    results.differing.cache_clear()


def put(folder, **head):
    (folder / "results" / WIDTH.file).write_text(json.dumps(head))


def test_a_record_depends_on_its_tool_and_all_that_it_imports():
    found = results.files(WIDTH)
    assert {"tools/run_phrase_trees.py", "tools/records.py", "src/transformer/attention.py"} <= set(
        found
    )
    assert "src/walkthrough/__init__.py" in found
    assert "src/walkthrough/ch05_feed_forward/checks.py" not in found
    assert all((results.ROOT / path).is_file() for path in found)


def test_a_tool_that_starts_the_command_line_depends_on_it():
    assert "src/transformer/cli/commands.py" in results.files(CAPTIONS)


def test_a_record_counts_as_made_by_this_code_until_a_file_it_needs_changes(repository):
    folder, commit = repository
    put(folder, commit=commit, changed_since=[], runs=[{}])
    (folder / "src" / "unused.py").write_text("B = 2\n")
    assert results.changed_since(WIDTH) == []
    (folder / "src" / "used.py").write_text("A = 2\n")
    results.differing.cache_clear()
    assert results.changed_since(WIDTH) == ["src/used.py"]


def test_what_was_changed_when_it_was_recorded_counts_as_changed(repository):
    folder, commit = repository
    put(folder, commit=commit, changed_since=[" M src/used.py"], runs=[{}])
    assert results.changed_since(WIDTH) == ["src/used.py"]


def test_no_record_or_an_unknown_commit_count_as_changed(repository):
    folder, _ = repository
    assert results.changed_since(WIDTH) == ["src/used.py"]
    put(folder, commit="0" * 40, changed_since=[], runs=[{}])
    assert results.changed_since(WIDTH) == ["src/used.py"]


def test_every_run_of_a_record_counts(repository):
    folder, commit = repository
    put(folder, runs=[{"commit": commit}, {"commit": "0" * 40}])
    assert results.changed_since(WIDTH) == ["src/used.py"]


def test_only_what_has_changed_is_made_again(repository, monkeypatch, capsys):
    folder, commit = repository
    made = []
    put(folder, commit=commit, changed_since=[], runs=[{}])
    run = subprocess.run

    def instead(words, **named):
        if words[0] == "git":
            return run(words, **named)
        made.append(words[1:])
        return None

    monkeypatch.setattr(results.subprocess, "run", instead)
    assert results.main([WIDTH.file, NORM.file]) == 0
    assert made == [["tools/run_multi30k.py", "multi30k-norm"]]
    assert "phrasebook-trees.json: recorded by this code" in capsys.readouterr().out
    assert results.main([WIDTH.file, "--all"]) == 0
    assert made[-1] == [WIDTH.command]


def test_the_list_names_command_time_files_and_state(repository, capsys):
    folder, commit = repository
    put(
        folder, commit=commit, changed_since=[], runs=[{"cpu_seconds": 61.0}, {"cpu_seconds": 70.0}]
    )
    assert results.main(["--list", WIDTH.file]) == 0
    said = capsys.readouterr().out
    for part in (
        WIDTH.file,
        "tools/run_phrase_trees.py",
        "3 minutes",
        "1 files",
        "recorded by this code",
    ):
        assert part in said


def test_an_unknown_record_is_an_error(capsys):
    with pytest.raises(SystemExit):
        results.main(["none.json"])
    assert "no record 'none.json'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("minutes", "said"), [(1, "1 minute"), (20, "20 minutes"), (120, "2 hours"), (1320, "22 hours")]
)
def test_times_in_words(minutes, said):
    assert results.cost(minutes) == said


def test_stated_times_are_those_that_the_records_counted():
    for record in results.RECORDS:
        assert abs(results.minutes(record) - record.minutes) <= max(1, 0.3 * record.minutes)


def test_every_tool_exists():
    for record in results.RECORDS:
        assert (Path(results.ROOT) / record.command.split()[0]).is_file()
