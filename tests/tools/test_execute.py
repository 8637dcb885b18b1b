"""Chapters run in an order that wastes no time, and their memory is known afterwards."""

import os
import signal
import subprocess
import sys
import time

import psutil
import pytest
import yaml
from nbformat import read, write
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from tools.book import execute
from tools.book.notebook_form import CHECKED
from tools.verify import check

GREEDY = "import time\n\ndata = b'x' * 200_000_000\ntime.sleep(4)"


def chapter(folder, name, head, code="1"):
    path = folder / f"{name}.ipynb"
    path.parent.mkdir(exist_ok=True)
    write(new_notebook(cells=[new_markdown_cell(head), new_code_cell(code)]), path)
    return path


def book(folder, code):
    path = chapter(folder / "book", "02-page", "# Page", code)
    (folder / "_toc.yml").write_text("format: jb-book\nroot: book/02-page\n")
    (folder / "_config.yml").write_text(yaml.safe_dump({"execute": {"timeout": 100}}))
    return path


@pytest.mark.parametrize(
    ("gigabytes", "processors", "expected"), [(100, 2, 2), (4, 8, 2), (0.5, 8, 1), (100, 1, 1)]
)
def test_neither_processors_nor_memory_are_overbooked(monkeypatch, gigabytes, processors, expected):
    class Memory:
        available = gigabytes * 1e9

    monkeypatch.setattr(execute.psutil, "virtual_memory", Memory)
    monkeypatch.setattr(execute, "processors", lambda: processors)
    assert execute.at_a_time() == expected


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="Linux alone can withhold one")
def test_a_withheld_processor_is_not_counted():
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(allowed)})
    try:
        assert execute.processors() == 1
    finally:
        os.sched_setaffinity(0, allowed)


def test_a_line_that_a_kernel_sends_in_two_chunks_stays_one(tmp_path):
    halves = (
        "import time\nprint('silent in layers', end='', flush=True)\ntime.sleep(0.5)\nprint(' []')"
    )
    path = chapter(tmp_path, "02-page", "# Page", halves)
    [output] = execute.Chapter(path, timeout=100).run().cells[1].outputs
    assert output.text == "silent in layers []\n"


@pytest.mark.slow
def test_a_chapter_that_prints_something_else_or_takes_too_much_memory_fails_the_tests(
    tmp_path, monkeypatch, capsys
):
    path = book(tmp_path, GREEDY)
    before = check.chapters_stage(tmp_path)
    assert (before.passed, before.failed) == (0, 1)
    assert "has not been run" in capsys.readouterr().out

    assert execute.run_missing(tmp_path)
    assert check.chapters_stage(tmp_path).passed == 1
    monkeypatch.setattr(execute, "MEGABYTES", 200.0)
    after = check.chapters_stage(tmp_path)
    assert (after.passed, after.failed) == (0, 1)
    assert f"{path.name} took " in capsys.readouterr().out
    assert check.report([after]) == 1

    notebook = read(path, as_version=4)
    notebook.cells[1].metadata["tags"] = [CHECKED]
    notebook.cells[1].outputs = [new_output("stream", text="what git holds")]
    monkeypatch.undo()
    write(notebook, path)
    assert execute.run_missing(tmp_path)
    assert check.chapters_stage(tmp_path).failed == 1
    assert "git holds 'what git holds'" in capsys.readouterr().out


@pytest.mark.slow
def test_the_children_of_a_chapter_count(tmp_path):
    child = f"import subprocess, sys\n\nsubprocess.run([sys.executable, '-c', {GREEDY!r}])"
    book(tmp_path, child)
    assert execute.run_missing(tmp_path)
    [(_, record)] = execute.last_runs(tmp_path)
    assert record.data["megabytes"] > 200


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="Ctrl-C is sent otherwise there")
def test_an_interrupted_build_leaves_no_kernel_behind(tmp_path):
    book(
        tmp_path, "import os, time\n\nopen('../pid', 'w').write(str(os.getpid()))\ntime.sleep(600)"
    )
    # in the background an interrupt is ignored unless somebody asks for it
    run = (
        "import pathlib, signal\nfrom tools.book import execute\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        f"execute.run_missing(pathlib.Path({str(tmp_path)!r}))"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", run], cwd=check.ROOT, stderr=subprocess.DEVNULL
    )
    written = tmp_path / "pid"
    while not (written.exists() and written.read_text()):
        assert process.poll() is None
        time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    assert process.wait(1800) != 0
    kernel = int(written.read_text())
    for _ in range(600):  # a kernel looks for its parent every second
        if not psutil.pid_exists(kernel):
            break
        time.sleep(0.1)
    assert not psutil.pid_exists(kernel)
