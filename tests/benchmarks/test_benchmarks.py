"""Every benchmark runs to its ratio, here with one round. What it measures is not asserted."""

import re
import subprocess
import sys
from pathlib import Path

import greedy_decode
import pytest
import torch
import translate_stream
from peers import TorchTransformer

BENCHMARKS = Path(greedy_decode.__file__).parent
OPTIONS = {
    "greedy_decode": ["--batch", "4", "--steps", "5", "--rounds", "1"],
    "scaling": ["--rounds", "1"],
    "train_step": ["--rounds", "1"],
    "translate_stream": ["--lines", "20", "--rounds", "1"],
}


def test_every_benchmark_is_run_here():
    assert {path.stem for path in BENCHMARKS.glob("*.py")} == {"peers", *OPTIONS}


@pytest.mark.slow
@pytest.mark.parametrize("name", OPTIONS)
def test_benchmark_prints_a_ratio(name):
    if name == "translate_stream":
        pytest.importorskip("transformers")
    words = [sys.executable, str(BENCHMARKS / f"{name}.py"), *OPTIONS[name]]
    output = subprocess.run(words, check=True, capture_output=True, text=True).stdout
    ratios = re.findall(r"^ratio .*: (\d+\.\d+)", output, re.MULTILINE)
    assert ratios
    assert all(float(ratio) > 0 for ratio in ratios)


def test_the_stream_alone_tells_its_memory_without_the_peer(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["translate_stream.py", "--alone", "--lines", "20"])
    translate_stream.main()
    assert re.findall(r"^(\d+) lines: at most \d+ MB", capsys.readouterr().out, re.MULTILINE) == [
        str(number) for number in range(2, 21, 2)
    ]


def test_greedy_decoding_is_not_timed_against_a_peer_that_decodes_something_else(monkeypatch):
    copy_weights = TorchTransformer.copy_weights

    def copy_and_spoil(self, ours):
        copy_weights(self, ours)
        with torch.no_grad():
            self.embedding.weight.neg_()

    monkeypatch.setattr(TorchTransformer, "copy_weights", copy_and_spoil)
    monkeypatch.setattr(sys, "argv", ["greedy_decode.py", *OPTIONS["greedy_decode"]])
    with pytest.raises(AssertionError):
        greedy_decode.main()
