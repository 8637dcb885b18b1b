"""The lock is installed without a resolver, and what a machine wants beyond it all the same.

Guards against a torch with CUDA, whose packages a lock compiled beside a CPU torch lacks: it
installs, and cannot be imported.
"""

import os
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest
from tools.environment import install

TOOL = Path(install.__file__)
WHEEL = "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"


def wheel(folder, name, code, wants=()):
    """A package of one line."""
    info = f"{name}-1.0.dist-info"
    metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n"
    metadata += "".join(f"Requires-Dist: {other}\n" for other in wants)
    files = {f"{name}.py": code, f"{info}/METADATA": metadata, f"{info}/WHEEL": WHEEL}
    record = "".join(f"{file},,\n" for file in [*files, f"{info}/RECORD"])
    with zipfile.ZipFile(folder / f"{name}-1.0-py3-none-any.whl", "w") as archive:
        for file, text in {**files, f"{info}/RECORD": record}.items():
            archive.writestr(file, text)


def run(python, lock):
    """The tool, in an environment that sees nothing but its own packages."""
    alone = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    words = [python, TOOL, lock]
    return subprocess.run(words, env=alone, capture_output=True, text=True, check=False)


def test_included_files_are_read_and_comments_left_out(tmp_path):
    (tmp_path / "inner").mkdir()
    (tmp_path / "lock.txt").write_text("one==1.0  # why\n\n# a remark\ntwo==2.0\n-e .\n")
    (tmp_path / "inner" / "all.txt").write_text("--option x\n-r ../lock.txt\n")
    found = install.lines_of(tmp_path / "inner" / "all.txt")
    assert found == ["--option x", "one==1.0", "two==2.0", "-e ."]


def test_every_share_has_the_options_and_every_package_is_in_one():
    lines = ["--option x", "one", "two", "three"]
    assert install.shares(lines, 2) == [["--option x", "one", "three"], ["--option x", "two"]]
    assert install.shares(lines[:2], 2) == [["--option x", "one"]]


@pytest.fixture(scope="module")
def python(tmp_path_factory):
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, with_pip=True, symlinks=True)
    return folder / "bin" / "python"


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="the folder is called Scripts there")
@pytest.mark.parametrize("wants_more", [False, True])
def test_torch_can_be_imported_whether_or_not_the_lock_has_all(tmp_path, python, wants_more):
    wheel(tmp_path, "torch", "import cuda\n" if wants_more else "", ["cuda"] if wants_more else [])
    wheel(tmp_path, "cuda", "")
    wheel(tmp_path, "other", "")
    lock = tmp_path / "lock.txt"
    lock.write_text(f"--no-index\n--find-links {tmp_path}\ntorch==1.0\nother==1.0\n")
    done = run(python, lock)
    assert done.returncode == 0, done.stdout + done.stderr
    assert ("wants more than the lock has" in done.stdout) is wants_more
    subprocess.run([python, "-c", "import torch, other"], check=True)
    uninstall = [python, "-m", "pip", "uninstall", "--quiet", "--yes", "torch", "other", "cuda"]
    subprocess.run(uninstall, check=True, capture_output=True)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="the folder is called Scripts there")
def test_a_package_that_is_nowhere_fails(tmp_path, python):
    lock = tmp_path / "lock.txt"
    lock.write_text("--no-index\nnowhere==1.0\n")
    done = run(python, lock)
    assert done.returncode != 0
    assert "nowhere" in done.stderr


def test_the_lock_has_what_pip_compile_leaves_out():
    """Torch wants a newer setuptools than an environment starts with."""
    lock = install.lines_of(TOOL.parents[2] / "requirements.txt")
    assert any(line.startswith("setuptools==") for line in lock)
    assert not any(line.startswith("pip==") for line in lock), "pip would replace itself"
