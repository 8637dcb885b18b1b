"""Every benchmark runs to its ratio, here with one round. What it measures is not asserted."""

import re
import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import peers
import pytest
import torch

BENCHMARKS = Path(peers.__file__).parent
OPTIONS = {
    "pair_arrays": ["--pairs", "2000"],
    "train_step": ["--rounds", "1"],
    "translate_stream": ["--lines", "4", "--alone-lines", "1", "--rounds", "1"],
}


def test_every_benchmark_is_run_here():
    assert {path.stem for path in BENCHMARKS.glob("*.py")} == {"peers", *OPTIONS}


@pytest.mark.slow
@pytest.mark.parametrize("name", OPTIONS)
@pytest.mark.filterwarnings("default")  # of other people's packages
def test_benchmark_prints_a_ratio(name, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", [f"{name}.py", *OPTIONS[name]])
    monkeypatch.setattr(torch, "set_num_threads", lambda number: None)
    benchmark = import_module(name)
    benchmark.main()
    output = capsys.readouterr().out
    ratios = re.findall(r"^ratio .*: (\d+\.\d+)", output, re.MULTILINE)
    if name == "translate_stream":
        installed = [peer for peer, package in benchmark.PEERS.items() if find_spec(package)]
        assert len(re.findall("is not installed", output)) == len(benchmark.PEERS) - len(installed)
        assert len(ratios) == len(installed) + ("CTranslate2" in installed)  # float32 and int8
        assert output.count("layers of") == 8
    else:
        assert ratios
    assert all(float(ratio) > 0 for ratio in ratios)
