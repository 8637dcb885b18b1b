"""Several processes under `torchrun`: who am I, my share of the batches, sums over all (§5.2).

The work is DistributedDataParallel's. Outside `torchrun` everything here is the identity.
"""

import os
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TypeVar

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

T = TypeVar("T")


@contextmanager
def process_group(device_type: str) -> Iterator[None]:
    """Join the group that `torchrun` started, if it did, and leave it at the end."""
    if "WORLD_SIZE" not in os.environ or dist.is_initialized():
        yield
        return
    dist.init_process_group("nccl" if device_type == "cuda" else "gloo")
    try:
        yield
    finally:
        dist.destroy_process_group()


def rank() -> int:
    """Number of this process, from 0."""
    return dist.get_rank() if dist.is_initialized() else 0


def world_size() -> int:
    """Number of processes."""
    return dist.get_world_size() if dist.is_initialized() else 1


def local_device(device_type: str) -> torch.device:
    """Return the device of this process: on machines with several GPUs, one for each."""
    if device_type == "cuda":
        return torch.device("cuda", int(os.environ.get("LOCAL_RANK", 0)))
    return torch.device(device_type)


def distribute(module: nn.Module, device: torch.device) -> nn.Module:
    """Wrap the module so that its gradients are averaged over all processes."""
    if world_size() == 1:
        return module
    ids = [device.index] if device.type == "cuda" else None
    return DistributedDataParallel(module, device_ids=ids)


def exchanging(module: nn.Module, *, now: bool) -> AbstractContextManager[None]:
    """Run a batch forward and backward in this: its gradients are exchanged only `now`.

    So an update of several batches exchanges their sum, once, after the last of them.
    """
    if now or not isinstance(module, DistributedDataParallel):
        return nullcontext()
    return module.no_sync()


def share(items: Sequence[T]) -> list[T]:
    """Return the items of this process: every `world_size`-th, from its rank on."""
    return list(items[rank() :: world_size()])


def sum_over_processes(*values: float | int, device: torch.device) -> list[float]:
    """Add each value over all processes."""
    if world_size() == 1:
        return [float(value) for value in values]
    total = torch.tensor(values, dtype=torch.float64, device=device)
    dist.all_reduce(total)
    return total.tolist()


def each_process(value: float, *, device: torch.device) -> list[float]:
    """Return the value of every process, in the order of their ranks."""
    own = (value if number == rank() else 0.0 for number in range(world_size()))
    return sum_over_processes(*own, device=device)


def barrier() -> None:
    """Wait until every process is here."""
    if world_size() > 1:
        dist.barrier()
