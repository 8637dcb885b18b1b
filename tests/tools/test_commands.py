"""The README's two commands without make, and make's own: the same steps, each only when needed."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from tools.environment.commands import COMMANDS
from tools.verify import check

ROOT = Path(__file__).resolve().parents[2]
COPIED = ("tools/__init__.py", "tools/__main__.py", "tools/environment", "Makefile")
INSTALL = "python -m pip install --quiet --quiet --no-compile -r requirements.txt"
FETCH = "npm ci --silent --ignore-scripts --no-audit --no-fund"
COPY = "python -m tools.site.vendor"
PACK = "python -m tools.site.live"
BUILD = "python -m tools.book.build"
EVERYTHING = [INSTALL, FETCH, COPY, PACK]
PAGES = ("book/02-attention.ipynb", "book/03-masks.ipynb", "book/glossary.md")
SOURCES = (
    *PAGES,
    "requirements.txt",
    "pyproject.toml",
    "book/web/package-lock.json",
    "book/web/live/a.js",
)
POSIX = pytest.mark.skipif(os.name == "nt", reason="the stubs are shell scripts")


@pytest.fixture
def house(tmp_path):
    """The commands alone, an environment whose programs write down that they were called."""
    for name in COPIED:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, tmp_path / name)
    for name in SOURCES:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    (tmp_path / "book/web/vendor/live").mkdir(parents=True)
    programs = tmp_path / ".venv" / "bin"
    programs.mkdir(parents=True)
    for name in ("python", "npm"):
        (programs / name).write_text(f'#!/bin/sh\necho "{name} $*" >> "{tmp_path}/called"\n')
        (programs / name).chmod(0o755)
    return tmp_path


def called(house, *words, by=(sys.executable, "-m", "tools"), path="/nowhere"):
    """What a command calls where there is neither make nor node, nor anything else."""
    log = house / "called"
    log.write_text("")
    env = {"PATH": path, "PYTHONDONTWRITEBYTECODE": "1"}
    subprocess.run([*by, *words], cwd=house, env=env, check=True, capture_output=True)
    return log.read_text().splitlines()


@POSIX
def test_the_two_steps_need_no_make_and_nothing_is_done_twice(house):
    assert called(house, "book") == [*EVERYTHING, BUILD]
    assert called(house, "book") == [BUILD]
    assert called(house, "test") == ["python -m tools.verify.check"]


@POSIX
def test_pages_are_made_by_number_or_name_and_a_wrong_one_stops_before_any_work(house):
    assert called(house, "book", "--chapters", "02 glossary")[-1] == (
        f"{BUILD} book/02-attention book/glossary"
    )
    log = (house / "called").read_text()
    wrong = [sys.executable, "-m", "tools", "book", "--chapters", "03 04"]
    done = subprocess.run(wrong, cwd=house, check=False, capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr == "CHAPTERS: no page is called 04; there are 02, 03, glossary\n"
    assert (house / "called").read_text() == log


@POSIX
@pytest.mark.parametrize(
    ("changed", "again"),
    [
        ("pyproject.toml", [INSTALL]),
        ("book/web/package-lock.json", [FETCH, COPY, PACK]),
        ("book/web/live/a.js", [PACK]),
    ],
)
def test_what_has_changed_is_made_again_and_no_more(house, changed, again):
    called(house, "book")
    later = (house / "book/web/vendor/live/manifest.js").stat().st_mtime + 5
    os.utime(house / changed, (later, later))
    assert called(house, "book") == [*again, BUILD]


@POSIX
def test_a_step_that_fails_ends_the_command_and_is_tried_again(house):
    (house / ".venv/bin/npm").write_text("#!/bin/sh\nexit 3\n")
    done = subprocess.run([sys.executable, "-m", "tools", "book"], cwd=house, check=False)
    assert done.returncode == 3
    assert not (house / "book/web/vendor/.copied").exists()


@POSIX
@pytest.mark.skipif(not shutil.which("make"), reason="there is no make")
def test_make_calls_the_same(house):
    by = (shutil.which("make"), "--silent", f"PYTHON={sys.executable}")
    lock = ".binder/requirements.txt"
    assert called(house, "book", f"REQUIREMENTS={lock}", by=by, path="/usr/bin:/bin") == [
        INSTALL.replace("requirements.txt", lock),
        *EVERYTHING[1:],
        BUILD,
    ]
    some = called(house, "book", "CHAPTERS=02 03", by=by, path="/usr/bin:/bin")
    assert some[-1] == f"{BUILD} book/02-attention book/03-masks"
    assert called(house, "test", "ARGS=lint types", by=by, path="/usr/bin:/bin") == [
        "python -m tools.verify.check lint types"
    ]


def test_make_has_every_command():
    (line,) = (one for one in (ROOT / "Makefile").read_text().splitlines() if "TARGETS :=" in one)
    assert line.split()[2:] == list(COMMANDS)


def test_before_a_commit_the_first_stages_run():
    config = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8"))
    entries = [hook["entry"] for repo in config["repos"] for hook in repo["hooks"]]
    stages = [entry.removeprefix("python -m tools test ") for entry in entries]
    assert stages == list(check.stages())[: len(stages)] == ["lint", "types"]
