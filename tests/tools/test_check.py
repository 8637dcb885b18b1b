"""What `make test` does with a browser that stops drawing."""

import subprocess
import sys
from pathlib import Path

from tools.verify.check import ONCE_MORE

FAILS_ONCE = '''
from pathlib import Path

import pytest
from playwright.sync_api import TimeoutError

FROZEN = """Locator.click: Timeout 60000ms exceeded.
Call log:
  - attempting click action
    - waiting for element to be visible, enabled and stable
"""
ERRORS = {
    "frozen": TimeoutError(FROZEN),
    "missing": TimeoutError("Locator.wait_for: Timeout 60000ms exceeded."),
    "outside": TimeoutError(FROZEN + "  - element is outside of the viewport"),
    "covered": TimeoutError(FROZEN + "  - <div> intercepts pointer events"),
    "moved": AssertionError("assert 0.14 < 0.1\\n +  where 0.14 = layout_shift(page)"),
    "small": AssertionError("11 px are less than 24"),
}

@pytest.mark.parametrize("name", ERRORS)
def test_once(name):
    seen = Path(__file__).with_name(name)
    if not seen.exists():
        seen.touch()
        raise ERRORS[name]
'''


def test_what_a_slow_browser_breaks_is_tried_once_more_and_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "test_once.py").write_text(FAILS_ONCE)
    command = [sys.executable, "-m", "pytest", "-q", "--tb=no", "-rARp", *ONCE_MORE]
    said = subprocess.run(command, cwd=tmp_path, check=False, capture_output=True, text=True)
    assert "PASSED test_once.py::test_once[frozen]" in said.stdout
    assert "4 failed, 2 passed, 2 rerun" in said.stdout
