"""Learning-rate schedules: Eq. 3 as printed, and the usual ways to get it wrong."""

import math
from itertools import pairwise

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from transformer.training.schedule import (
    inverse_sqrt_rate,
    linear_rate,
    make_schedule,
    noam_rate,
)


def eq3(step: int) -> float:
    return 512**-0.5 * min(step**-0.5, step * 4000**-1.5)


def test_noam_rate_is_eq3() -> None:
    for step in (1, 10, 3999, 4000, 4001, 100_000):
        assert noam_rate(step, d_model=512) == pytest.approx(eq3(step), rel=1e-12)
    assert noam_rate(4000, d_model=512) == pytest.approx(6.99e-4, rel=1e-3)


def without_d_model(step: int) -> float:
    return min(step**-0.5, step * 4000**-1.5)


def takes_the_larger(step: int) -> float:
    return 512**-0.5 * max(step**-0.5, step * 4000**-1.5)


def warmup_to_the_power_one(step: int) -> float:
    return 512**-0.5 * min(step**-0.5, step / 4000)


@pytest.mark.parametrize("wrong", [without_d_model, takes_the_larger, warmup_to_the_power_one])
def test_wrong_schedules_are_told_apart(wrong) -> None:
    ours = [noam_rate(step, d_model=512) for step in (1, 100, 4000, 40_000)]
    theirs = [wrong(step) for step in (1, 100, 4000, 40_000)]
    assert ours != pytest.approx(theirs, rel=1e-3)


@given(st.integers(1, 10**6), st.integers(1, 10**4), st.integers(1, 2048))
@settings(deadline=None)
def test_noam_is_inverse_sqrt_by_another_name(step: int, warmup: int, d_model: int) -> None:
    peak = noam_rate(warmup, d_model=d_model, warmup=warmup)
    assert noam_rate(step, d_model=d_model, warmup=warmup) == pytest.approx(
        inverse_sqrt_rate(step, peak=peak, warmup=warmup)
    )
    assert peak == pytest.approx((d_model * warmup) ** -0.5)


@given(st.integers(1, 100), st.integers(101, 400))
@settings(deadline=None, max_examples=30)
def test_linear_rises_to_the_peak_and_falls_to_zero(warmup: int, total: int) -> None:
    rates = [linear_rate(s, peak=2.0, warmup=warmup, total=total) for s in range(1, total + 3)]
    assert max(rates) == rates[warmup - 1] == 2.0
    assert rates[total - 1] == rates[total] == 0.0
    assert all(a < b for a, b in pairwise(rates[:warmup]))


def test_last_update_of_a_linear_run_still_moves() -> None:
    rate = make_schedule("linear", d_model=128, warmup=10, total=100, peak=1.0)
    assert 0 < rate(100) < 0.02


def test_peak_none_is_eq3() -> None:
    rate = make_schedule("noam", d_model=512, warmup=4000, total=100_000)
    assert rate(77) == noam_rate(77, d_model=512, warmup=4000)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: noam_rate(0, d_model=512), "step must be at least 1, got 0"),
        (lambda: noam_rate(1, d_model=0), "d_model must be at least 1, got 0"),
        (lambda: noam_rate(1, d_model=8, warmup=0), "warmup must be at least 1, got 0"),
        (
            lambda: linear_rate(1, peak=1.0, warmup=10, total=10),
            "total must be above warmup, got total 10 and warmup 10",
        ),
        (
            lambda: inverse_sqrt_rate(-1, peak=1.0, warmup=10),
            "step must be at least 1, got -1",
        ),
        (
            lambda: inverse_sqrt_rate(1, peak=1.0, warmup=0),
            "warmup must be at least 1, got 0",
        ),
        (
            lambda: linear_rate(0, peak=1.0, warmup=1, total=10),
            "step must be at least 1, got 0",
        ),
        (
            lambda: linear_rate(1, peak=1.0, warmup=0, total=10),
            "warmup must be at least 1, got 0",
        ),
        (
            lambda: make_schedule("constant", d_model=8, warmup=0, total=10, peak=1.0),
            "warmup must be at least 1, got 0",
        ),
        (
            lambda: make_schedule("constant", d_model=0, warmup=1, total=10, peak=1.0),
            "d_model must be at least 1, got 0",
        ),
        (
            lambda: make_schedule("cosine", d_model=8, warmup=1, total=10),
            r"must be one of \['constant', 'inverse_sqrt', 'linear', 'noam'\], got 'cosine'",
        ),
    ],
)
def test_bad_values(call, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()


def test_torch_scheduler_from_zero_is_the_off_by_one_we_refuse() -> None:
    # LambdaLR calls with 0 first: Eq. 3 has no value there, so it must not be given one silently
    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=1.0)
    with pytest.raises(ValueError, match="step must be at least 1, got 0"):
        torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: noam_rate(step, d_model=512))
    assert math.isfinite(noam_rate(1, d_model=512))


@pytest.mark.parametrize("peak", [0.5, None])
@pytest.mark.parametrize("name", ["noam", "inverse_sqrt", "linear", "constant"])
def test_every_schedule_rises_to_its_peak_and_goes_its_own_way_from_there(name, peak) -> None:
    rate = make_schedule(name, d_model=64, warmup=16, total=100, peak=peak)
    highest = (64 * 16) ** -0.5 if peak is None else peak
    later = {
        "noam": [0.5, 0.4],  # √(16/64), √(16/100)
        "inverse_sqrt": [0.5, 0.4],
        "linear": [37 / 85, 1 / 85],  # 0 at update 101
        "constant": [1.0, 1.0],
    }
    rates = [rate(update) / highest for update in (1, 4, 16, 64, 100)]
    assert rates == pytest.approx([1 / 16, 1 / 4, 1.0, *later[name]])
