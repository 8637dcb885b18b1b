"""Training settings: the paper's defaults, and limits that hold on both sides."""

import re

import pytest

from transformer.training.settings import TrainSettings

LARGEST_SEED = 9223372036854775807


def test_the_defaults_are_the_papers() -> None:
    settings = TrainSettings()
    assert (settings.max_updates, settings.max_tokens, settings.accumulate) == (100_000, 25_000, 1)
    assert (settings.schedule, settings.warmup, settings.peak) == ("noam", 4000, None)
    assert (settings.smoothing, settings.clip, settings.r_drop) == (0.1, None, 0.0)
    assert (settings.seed, settings.keep) == (1, 5)  # §6.1 averages the last 5
    assert (settings.log_every, settings.valid_every, settings.save_every) == (50, 1000, 1000)
    assert (settings.device, settings.precision, settings.compile) == ("cpu", "auto", False)


@pytest.mark.parametrize(
    "allowed",
    [
        *({name: 1} for name in ("max_updates", "max_tokens", "accumulate", "keep", "log_every")),
        *({name: 0} for name in ("valid_every", "save_every", "seed")),
        *({name: 0.0} for name in ("r_drop", "smoothing")),
        {"seed": LARGEST_SEED},
        {"threads": 1},
        {"warmup": 1},
        {"peak": 1e-9},
        {"clip": 1e-9},
    ],
)
def test_the_ends_of_every_range_are_allowed(allowed: dict[str, float]) -> None:
    ((name, value),) = allowed.items()
    assert getattr(TrainSettings(**allowed), name) == value


@pytest.mark.parametrize(
    ("refused", "message"),
    [
        *(({n: 0}, "at least 1, got 0") for n in ("max_tokens", "warmup", "log_every", "keep")),
        *(({n: 0}, "at least 1, got 0") for n in ("max_updates", "accumulate")),
        ({"threads": 0}, "at least 1, or None, got 0"),
        ({"smoothing": 1.0}, "in [0, 1), got 1.0"),
        ({"clip": 0.0}, "above 0, or None, got 0.0"),
        ({"precision": "int8"}, "one of ('auto', 'float32', 'bfloat16', 'float16'), got 'int8'"),
        ({"max_updates": 12, "schedule": "linear"}, "at least warmup = 4000, got 12"),
        *(({n: -1}, "at least 0, got -1") for n in ("valid_every", "save_every", "seed")),
        ({"r_drop": -0.5}, "at least 0, got -0.5"),
        ({"seed": LARGEST_SEED + 1}, f"below 2**63, got {LARGEST_SEED + 1}"),
        ({"smoothing": -0.1}, "in [0, 1), got -0.1"),
        ({"peak": 0.0}, "above 0, or None, got 0.0"),
    ],
)
def test_what_lies_beyond_is_named(refused: dict[str, float], message: str) -> None:
    name, *_ = refused
    with pytest.raises(ValueError, match=re.escape(f"{name} must be {message}")):
        TrainSettings(**refused)


def test_unknown_settings() -> None:
    with pytest.raises(ValueError, match=r"unknown training settings: \['epochs'\]"):
        TrainSettings.from_dict({"epochs": 3})
