"""How to train, in one frozen object (§5)."""

from dataclasses import asdict, dataclass, fields, replace
from typing import Any, Literal, get_args

from transformer.fields import check_types
from transformer.training.schedule import make_schedule

MOST_THREADS = 1024
"""Far more make the library of threads end the process without a word of its own."""

Precision = Literal["auto", "float32", "bfloat16", "float16"]


@dataclass(frozen=True, kw_only=True)
class TrainSettings:
    """Settings of one training run; the defaults are the paper's (§5.1–5.4).

    An *update* is one step of the optimiser: `accumulate` batches of at most `max_tokens` target
    tokens each, padding included. `schedule`, `warmup` and `peak` are explained in
    `transformer.training.schedule`. `valid_every`, `save_every` and `log_every` count updates;
    0 means only at the end. `keep` checkpoints stay, the newest. `threads=None` leaves the number
    of threads as it is. Precision `auto` is bfloat16 where the device gains from it, else float32.
    `r_drop` is the weight of R-Drop (Liang et al. 2021; not in the paper), off at 0. With
    `patience`, a run ends early, after so many validations without a lower perplexity.

    Raises:
        ValueError: a value of another type, or outside its range, with the name, the rule and
            the value.
    """

    max_updates: int = 100_000
    max_tokens: int = 25_000
    accumulate: int = 1
    schedule: str = "noam"
    warmup: int = 4000
    peak: float | None = None
    smoothing: float = 0.1
    clip: float | None = None
    seed: int = 1
    threads: int | None = None
    device: str = "cpu"
    precision: str = "auto"
    compile: bool = False
    log_every: int = 50
    valid_every: int = 1000
    save_every: int = 1000
    keep: int = 5
    r_drop: float = 0.0
    patience: int | None = None

    def __post_init__(self) -> None:
        """Check every value."""
        check_types(self)
        for name in ("max_updates", "max_tokens", "accumulate", "warmup", "keep", "log_every"):
            _require(getattr(self, name) >= 1, name, "at least 1", getattr(self, name))
        for name in ("valid_every", "save_every", "seed", "r_drop"):
            _require(getattr(self, name) >= 0, name, "at least 0", getattr(self, name))
        _require(self.seed < 2**63, "seed", "below 2**63", self.seed)
        _require(0 <= self.smoothing < 1, "smoothing", "in [0, 1)", self.smoothing)
        for name in ("peak", "clip"):
            value = getattr(self, name)
            _require(value is None or value > 0, name, "above 0, or None", value)
        for name in ("threads", "patience"):
            value = getattr(self, name)
            _require(value is None or value >= 1, name, "at least 1, or None", value)
        _require(self.threads is None or self.threads <= MOST_THREADS, "threads",
                 f"at most {MOST_THREADS}", self.threads)  # fmt: skip
        _require(not self.patience or self.valid_every >= 1, "valid_every",
                 "at least 1 with patience", self.valid_every)  # fmt: skip
        options = get_args(Precision)
        _require(self.precision in options, "precision", f"one of {options}", self.precision)
        self.rate(1, d_model=1)

    def rate(self, update: int, *, d_model: int) -> float:
        """Learning rate of an update, counted from 1."""
        schedule = make_schedule(
            self.schedule,
            d_model=d_model,
            warmup=self.warmup,
            total=self.max_updates,
            peak=self.peak,
        )
        return schedule(update)

    def replace(self, **changes: Any) -> "TrainSettings":
        """Return a copy with `changes`, checked."""
        return replace(self, **changes)

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as plain values, for JSON."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> "TrainSettings":
        """Rebuild the settings from `to_dict`.

        Raises:
            ValueError: a key is unknown, or a value is not allowed.
        """
        unknown = sorted(set(values) - {field.name for field in fields(cls)})
        if unknown:
            raise ValueError(f"unknown training settings: {unknown}")
        return cls(**values)


def _require(holds: bool, name: str, rule: str, value: object) -> None:
    if not holds:
        raise ValueError(f"{name} must be {rule}, got {value!r}")
