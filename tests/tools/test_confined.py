"""A group of processes is held to its memory, by whichever fence there is, and leaves nothing."""

import os
import subprocess
import sys
import time

import psutil
import pytest
from tools.verify.confined import Confined, Fence, fence

LIMIT = 150_000_000
HUNGRY = "import time; big = bytearray(400_000_000); print('all', flush=True); time.sleep(300)"
MODEST = "import time; some = bytearray(60_000_000); time.sleep(5)"
PARENT = (
    f"import subprocess, sys; subprocess.run([sys.executable, '-c', {HUNGRY!r}]); print('left')"
)


def fence_number(index):
    """The fence of this machine, or the watchdog, which every machine has."""
    return Fence("watchdog", hard=False) if index else fence(LIMIT)


def run(code, by, seconds=120):
    words = [sys.executable, "-c", code]
    behind = Confined(words, limit=LIMIT, cores=1, by=by, stdout=subprocess.PIPE, text=True)
    with behind:
        try:
            text, _ = behind.process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            text = "still running"
    return behind, text


@pytest.mark.parametrize("index", [0, 1])
def test_what_a_child_takes_counts_and_is_stopped(index):
    by = fence_number(index)
    behind, text = run(PARENT, by)
    if by.hard:
        assert "all" not in text
    assert "still running" not in text
    assert by.how == "systemd-run --scope" or behind.overrun


@pytest.mark.parametrize("index", [0, 1])
def test_what_fits_runs_to_its_end_and_is_measured(index):
    behind, _ = run(MODEST, fence_number(index))
    assert behind.process.returncode == 0
    assert not behind.overrun
    assert 60e6 < behind.peak < LIMIT


def test_the_group_is_ended_with_the_block_and_its_fence_removed():
    by = fence(LIMIT)
    with Confined(["sleep", "60"], limit=LIMIT, cores=1, by=by) as behind:
        while not (members := behind.members()):
            assert behind.process.poll() is None
            time.sleep(0.1)
    assert not any(psutil.pid_exists(member.pid) for member in members)
    assert by.folder is None or not by.folder.exists()


def test_cores_are_held():
    code = "import os; print(len(os.sched_getaffinity(0)))"
    _, text = run(code, Fence("watchdog", hard=False))
    assert text.strip() == "1"
    assert len(os.sched_getaffinity(0)) >= 1
