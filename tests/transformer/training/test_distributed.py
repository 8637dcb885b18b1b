"""What several processes share; that two do what one does, `test_cli.py` tests."""

from contextlib import AbstractContextManager, nullcontext

import pytest
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from two_processes import free_port

from transformer.training import distributed
from transformer.training.settings import TrainSettings
from transformer.training.trainer import _Totals, train

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


def test_gradients_stay_with_a_process_until_they_are_exchanged() -> None:
    exchanged: list[int] = []

    def count(_: None, bucket: dist.GradBucket) -> torch.futures.Future[torch.Tensor]:
        exchanged.append(bucket.index())
        done: torch.futures.Future[torch.Tensor] = torch.futures.Future()
        done.set_result(bucket.buffer())
        return done

    dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    try:
        module = DistributedDataParallel(nn.Linear(2, 1))
        module.register_comm_hook(None, count)
        for now, exchanges in ((False, 0), (False, 0), (True, 1)):
            with distributed.exchanging(module, now=now):
                module(torch.ones(1, 2)).sum().backward()
            assert len(exchanged) == exchanges
        assert torch.equal(module.module.weight.grad, torch.full((1, 2), 3.0))  # of all three
    finally:
        dist.destroy_process_group()


def test_an_update_exchanges_after_its_last_batch_only(monkeypatch: pytest.MonkeyPatch) -> None:
    from test_trainer import PAIRS, make_model

    asked: list[bool] = []

    def exchanging(module: nn.Module, *, now: bool) -> AbstractContextManager[None]:
        asked.append(now)
        return nullcontext()

    monkeypatch.setattr(distributed, "exchanging", exchanging)
    settings = SETTINGS.replace(accumulate=3, max_updates=2, warmup=1)
    train(make_model(), PAIRS, settings, progress=False)
    assert asked == 2 * [False, False, True]


def test_the_group_is_left_when_the_run_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    """A group left open makes the next run of the process believe it is one of several."""
    alone = {"WORLD_SIZE": "1", "RANK": "0", "MASTER_ADDR": "127.0.0.1"}
    for name, value in {**alone, "MASTER_PORT": str(free_port())}.items():
        monkeypatch.setenv(name, value)
    with distributed.process_group("cpu"):
        assert dist.is_initialized()
        with distributed.process_group("cpu"):
            pass
        assert dist.is_initialized(), "only who joined it leaves it"
    assert not dist.is_initialized()
    monkeypatch.setenv("MASTER_PORT", str(free_port()))
    with pytest.raises(KeyError), distributed.process_group("cpu"):
        raise KeyError
    assert not dist.is_initialized()
    monkeypatch.delenv("WORLD_SIZE")
    with distributed.process_group("cpu"):
        assert not dist.is_initialized()


class TwoProcesses:
    """Stands for this process and its sibling, which has a loss of 3."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, rank: int) -> None:
        monkeypatch.setattr(distributed, "world_size", lambda: 2)
        monkeypatch.setattr(distributed, "rank", lambda: rank)
        monkeypatch.setattr(dist, "all_reduce", self.add_the_other)
        self.rank = rank

    def add_the_other(self, total: torch.Tensor) -> None:
        total[1 - self.rank] += 3.0


@pytest.mark.parametrize("rank", [0, 1])
def test_every_process_goes_on_from_its_own_loss(monkeypatch, rank: int) -> None:
    """Added up in another order, the last digits of a resumed run would differ."""
    TwoProcesses(monkeypatch, rank)
    totals = _Totals()
    totals.loss, totals.tokens, totals.seconds = torch.tensor(5.0), 7, 0.5
    saved = totals.to_dict(torch.device("cpu"))
    losses = [5.0, 3.0] if rank == 0 else [3.0, 5.0]
    assert saved == {"losses": losses, "tokens": 7, "seconds": 0.5}
    again = _Totals()
    again.restore(**saved)
    assert (again.loss, again.tokens, again.seconds) == (5.0, 7, 0.5)


def test_every_process_has_a_gpu_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LOCAL_RANK", raising=False)
    assert distributed.local_device("cuda") == torch.device("cuda", 0)
    monkeypatch.setenv("LOCAL_RANK", "3")
    assert distributed.local_device("cuda") == torch.device("cuda", 3)
    assert distributed.local_device("cpu") == torch.device("cpu")


@pytest.mark.parametrize(
    ("device", "ids"), [(torch.device("cuda", 3), [3]), (torch.device("cpu"), None)]
)
def test_a_wrapped_module_stays_on_its_device(monkeypatch, device, ids) -> None:
    TwoProcesses(monkeypatch, rank=1)
    wrapped = []

    def wrap(module: nn.Module, device_ids: list[int] | None = [0]) -> nn.Module:  # noqa: B006
        wrapped.append(device_ids)
        return module

    monkeypatch.setattr(distributed, "DistributedDataParallel", wrap)
    distributed.distribute(nn.Linear(2, 1), device)
    assert wrapped == [ids]


def test_sums_keep_every_token_of_a_long_update(monkeypatch: pytest.MonkeyPatch) -> None:
    """Single precision counts to 2²⁴."""
    TwoProcesses(monkeypatch, rank=0)
    tokens = 2.0**24 + 1
    assert distributed.sum_over_processes(tokens, 0.0, device=torch.device("cpu"))[0] == tokens


def test_sums_are_made_where_the_processes_meet(monkeypatch: pytest.MonkeyPatch) -> None:
    """NCCL adds tensors of GPUs only."""
    TwoProcesses(monkeypatch, rank=0)

    class ReachedError(Exception):
        pass

    def add(total: torch.Tensor) -> None:
        raise ReachedError(total.device.type)

    monkeypatch.setattr(dist, "all_reduce", add)
    with pytest.raises(ReachedError, match="meta"):
        distributed.sum_over_processes(1.0, device=torch.device("meta"))
