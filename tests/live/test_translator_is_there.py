"""Without the packed translator a user's tests are skipped, and CI's fail: pytest is asked."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

CONFTEST = Path(__file__).parents[1] / "conftest.py"


@pytest.mark.parametrize(
    ("ci", "expected"), [("true", "1 error"), ("", "1 skipped")], ids=["ci", "a user"]
)
def test_a_missing_translator_is_an_error_in_ci(tmp_path, ci, expected):
    (tmp_path / "tests").mkdir()
    shutil.copy(CONFTEST, tmp_path / "tests")
    (tmp_path / "tests" / "test_it.py").write_text("def test_it(live_translator): pass\n")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", tmp_path / "tests"],
        cwd=tmp_path,
        env={**os.environ, "CI": ci},
        capture_output=True,
        text=True,
        check=False,
    )
    assert expected in done.stdout, done.stdout + done.stderr
