"""Several processes under `torchrun`: who am I, my share of the batches, sums over all (§5.2).

The work is DistributedDataParallel's. Outside `torchrun` everything here is the identity.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any, TypeVar

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
    # what is told, in place of summed, goes through the memory of the CPU
    dist.init_process_group("cpu:gloo,cuda:nccl" if device_type == "cuda" else "gloo")
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


def gathered(value: T) -> list[T]:
    """Return the value of every process, in the order of their ranks."""
    values = [value] * world_size()
    if world_size() > 1:
        dist.all_gather_object(values, value)
    return values


def together(make: Callable[[], T]) -> T:
    """Return what `make` returns; where it raises in one process, all raise, and none waits."""
    error = None
    try:
        made = make()
    except Exception as raised:
        error = raised
    for failed in gathered(error):
        if failed is not None:
            raise failed
    return made


def from_first(make: Callable[[], T]) -> T:
    """Return what `make` returns in the first process, which alone calls it."""
    return gathered(together(lambda: make() if rank() == 0 else None))[0]  # type: ignore[return-value]


def agree(values: Mapping[str, Any]) -> None:
    """Raise ValueError, in every process, unless all have the same values.

    It names what differs, with both values: processes that draw from other lists of batches would
    train on some pairs twice, and never on others.
    """
    first, *others = gathered(dict(values))
    for number, other in enumerate(others, start=1):
        for name in first:
            if other[name] != first[name]:
                raise ValueError(
                    f"all processes must have the same {name}: process 0 has {first[name]}, "
                    f"process {number} {other[name]}"
                )


def send_from_first(tensors: Iterable[torch.Tensor]) -> None:
    """Let every process have the numbers of the first in these tensors."""
    if world_size() > 1:
        for tensor in tensors:
            dist.broadcast(tensor, src=0)
