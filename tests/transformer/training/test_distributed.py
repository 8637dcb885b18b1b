"""Two gloo processes do what one process does with twice the batch."""

import os
import socket
import subprocess
import sys
from pathlib import Path

import torch
from safetensors.torch import load_file

from transformer.training.checkpoint import unique_weights
from transformer.training.settings import TrainSettings
from transformer.training.trainer import train

SCRIPT = """
import sys
sys.path.insert(0, {tests!r})
import torch
torch.set_num_threads(1)
from safetensors.torch import save_file
from test_distributed import SETTINGS
from test_trainer import PAIRS, make_model
from transformer.training.checkpoint import unique_weights
from transformer.training import distributed
from transformer.training.trainer import train
import os
model = make_model(dropout=0.0)
history = train(model, PAIRS, SETTINGS, progress=False, folder={folder!r}, valid=PAIRS[:5])
if os.environ["RANK"] == "0":
    weights = unique_weights(model)
    weights["losses"] = torch.tensor([r.loss for r in history.records], dtype=torch.float64)
    save_file(weights, {out!r})
"""

SETTINGS = TrainSettings(
    max_updates=6,
    max_tokens=40,
    warmup=2,
    schedule="linear",
    peak=1e-3,
    log_every=1,
    valid_every=3,
    save_every=3,
)


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


def run_two_processes(tmp_path: Path) -> dict[str, torch.Tensor]:
    script = SCRIPT.format(
        tests=str(Path(__file__).parent),
        folder=str(tmp_path / "run"),
        out=str(tmp_path / "two.safetensors"),
    )
    environment = {
        **os.environ,
        "WORLD_SIZE": "2",
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": str(free_port()),
    }
    workers = [
        subprocess.Popen(
            [sys.executable, "-c", script],
            env={**environment, "RANK": str(rank), "LOCAL_RANK": str(rank)},
        )
        for rank in range(2)
    ]
    assert [worker.wait(timeout=120) for worker in workers] == [0, 0]
    return load_file(tmp_path / "two.safetensors")


def test_two_processes_equal_one_with_twice_the_batch(tmp_path: Path) -> None:
    from test_trainer import PAIRS, make_model

    two = run_two_processes(tmp_path)
    one = make_model(dropout=0.0)
    history = train(one, PAIRS, SETTINGS.replace(accumulate=2), progress=False, valid=PAIRS[:5])
    losses = torch.tensor([r.loss for r in history.records], dtype=torch.float64)
    assert torch.allclose(two.pop("losses"), losses, atol=1e-5)
    for name, value in unique_weights(one).items():
        assert torch.allclose(two[name], value, atol=1e-5), name

    # the mistake: each process divides by its own tokens, or sees every batch
    half = make_model(dropout=0.0)
    history = train(half, PAIRS, SETTINGS, progress=False)
    wrong = torch.tensor([r.loss for r in history.records], dtype=torch.float64)
    assert not torch.allclose(wrong, losses, atol=1e-3)
    assert (tmp_path / "run" / "log.csv").exists()
