"""The limits of a chapter are those the book states, and passing one is an error."""

import measure_chapters
import pytest
from measure_chapters import Measured, measure
from nbformat import write
from nbformat.v4 import new_code_cell, new_notebook


@pytest.mark.parametrize(
    ("name", "seconds", "megabytes", "succeeded", "fits"),
    [
        ("02-a", 59.0, 1400.0, True, True),
        ("02-a", 61.0, 1400.0, True, False),
        ("02-a", 59.0, 1600.0, True, False),
        ("02-a", 59.0, 1400.0, False, False),
        ("14-a", 119.0, 1190.0, True, True),
        ("14-a", 119.0, 1210.0, True, False),
        ("14-a", 121.0, 1190.0, True, False),
    ],
)
def test_limits(name, seconds, megabytes, succeeded, fits):
    assert Measured(name, seconds, megabytes, succeeded).fits is fits


def test_memory_of_the_kernel_is_seen_and_a_failing_cell_too(tmp_path):
    path = tmp_path / "00-page.ipynb"
    source = "import time\n\ndata = b'x' * 200_000_000\ntime.sleep(3)\n1 / 0"
    write(new_notebook(cells=[new_code_cell(source)]), path)
    result = measure(path)
    assert result.megabytes > 200
    assert not result.succeeded


def test_over_a_limit_is_an_exit_status_only_when_asked(tmp_path, monkeypatch, capsys):
    over = Measured("02-a", 61.0, 100.0, True)
    monkeypatch.setattr(measure_chapters, "measure", lambda path: over)
    for words, status in ((["x.ipynb"], 0), (["--strict", "x.ipynb"], 1)):
        monkeypatch.setattr("sys.argv", ["measure_chapters.py", *words])
        assert measure_chapters.main() == status
        assert "over a limit" in capsys.readouterr().out
