"""A chapter that takes more than Binder has is ended with all it started, and what fits is weighed.

Guards against counting the process alone: chapters start others.
"""

import os
import sys

import psutil
import pytest
from tools.verify.binder import watched

HUNGRY = "big = bytearray(400_000_000); print('all', flush=True); import time; time.sleep(60)"
PARENT = f"""
import subprocess, sys
child = subprocess.Popen([sys.executable, "-c", {HUNGRY!r}])
print(child.pid, flush=True)
child.wait()
print("left")
"""
MODEST = (
    "import os, time; some = bytearray(60_000_000); time.sleep(1); "
    "print(len(os.sched_getaffinity(0)))"
)

pytestmark = pytest.mark.skipif(
    not hasattr(os, "sched_setaffinity"), reason="Linux alone can withhold a core"
)


@pytest.mark.slow
def test_what_a_child_takes_counts_and_all_are_ended():
    ran = watched([sys.executable, "-c", PARENT], limit=150, cores=1)
    assert ran.peak > 150
    assert ran.status != 0
    assert "left" not in ran.log
    assert not psutil.pid_exists(int(ran.log.split()[0]))


@pytest.mark.slow
def test_what_fits_runs_to_its_end_on_the_cores_it_may_use():
    ran = watched([sys.executable, "-c", MODEST], limit=150, cores=1)
    assert ran.status == 0
    assert 60 < ran.peak < 150
    assert ran.log == "1\n"
