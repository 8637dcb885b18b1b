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
from tools.book import execute, forked_kernels
from tools.book.notebook_form import CHECKED
from tools.verify import check

GREEDY = "import time\n\ndata = b'x' * 200_000_000\ntime.sleep(4)"


def chapter(folder, name, code):
    path = folder / f"{name}.ipynb"
    path.parent.mkdir(exist_ok=True)
    write(new_notebook(cells=[new_markdown_cell("# Page"), new_code_cell(code)]), path)
    return path


def book(folder, *codes, timeout=100):
    first, *others = (chapter(folder / "book", f"0{n}", code) for n, code in enumerate(codes))
    toc = {"format": "jb-book", "root": f"book/{first.stem}"}
    toc |= {"chapters": [{"file": f"book/{path.stem}"} for path in others]} if others else {}
    (folder / "_toc.yml").write_text(yaml.safe_dump(toc))
    (folder / "_config.yml").write_text(yaml.safe_dump({"execute": {"timeout": timeout}}))
    return first


def run_all(folder):
    return execute.run_missing(folder, execute.names(folder))


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
    path = chapter(tmp_path, "02-page", halves)
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

    assert run_all(tmp_path)
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
    assert run_all(tmp_path)
    assert check.chapters_stage(tmp_path).failed == 1
    assert "git holds 'what git holds'" in capsys.readouterr().out


@pytest.mark.slow
def test_the_children_of_a_chapter_count(tmp_path):
    child = f"import subprocess, sys\n\nsubprocess.run([sys.executable, '-c', {GREEDY!r}])"
    book(tmp_path, child)
    assert run_all(tmp_path)
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
        f"execute.run_missing(pathlib.Path({str(tmp_path)!r}), ['book/00'])"
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


KERNEL = """
import os, sys, threading
import matplotlib.pyplot as plt, numpy as np
assert not sys.stdin.read()
plt.plot([1])
plt.show()
print(os.getcwd(), np.random.rand(), os.getpgrp() == os.getpid(), *sys.path, sep="\\n")
"""


def kernels_said(folder, *more):
    """What two equal kernels and a third write, the numbers of their processes apart."""
    folder.mkdir()
    codes = KERNEL, f"{KERNEL}# again", "import os; print(os.getppid())", *more
    book(folder, *codes, timeout=20 if more else 100)
    assert run_all(folder) != bool(more)
    cache, runs = execute.cache_of(folder), [run for _, run in execute.last_runs(folder) if run]
    first, second, parent = (cache.get_cache_bundle(r.pk).nb.cells[0].outputs for r in runs)
    where, number, *rest = first[-1].text.splitlines()
    assert where == str(folder / "book")
    assert number != second[-1].text.splitlines()[1]
    return [output["data"]["image/png"] for output in first[:-1]] + rest, int(parent[0].text)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere no kernel is forked")
def test_forked_kernels_are_as_those_that_start_by_themselves(tmp_path, monkeypatch, capfd):
    monkeypatch.setattr(execute, "processors", lambda: 1)
    alone, parent = kernels_said(tmp_path / "alone")
    assert parent == os.getpid()

    imported = ("ipykernel.kernelapp", "numpy", "matplotlib.pyplot")
    monkeypatch.setattr(forked_kernels, "IMPORTED", imported)
    monkeypatch.setattr(forked_kernels, "FEWEST", 1)
    dead, endless = "import os; os._exit(1)", "import time; time.sleep(300)"
    forked, parent = kernels_said(tmp_path / "forked", dead, endless)
    assert parent != os.getpid()
    assert forked == alone
    errors = capfd.readouterr().err
    assert "03.ipynb failed: DeadKernelError" in errors
    assert "04.ipynb failed: CellTimeoutError" in errors
    assert not psutil.pid_exists(parent)
