"""What an experiment is: a question, arms that differ in one thing, and the runs that answer it."""

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, fields, is_dataclass
from functools import partial
from itertools import product
from typing import Any, NamedTuple, Protocol, runtime_checkable

from walkthrough.lab import store
from walkthrough.lab.keys import Key, Number, unknown

PER_CENT, POINTS, NATS = "per cent", "points", "nats"
Curve = Sequence[tuple[int, str, Number]]
"""Of (update, figure, value)."""


_NOT_OF_A_RUN = ("seeds", "rates", "labels")


@dataclass(frozen=True)
class Arm:
    """One side of a comparison: what it changes, and code where settings cannot say it.

    `model`, `train` and `data` go to the task. `build(job)` returns an untrained model, `run(job)`
    an outcome in place of the task's training and all measures, `after(job, trained)` nested extras
    (maps, heads), which are kept and never compared. An arm that `starts_from` another one waits
    for the run of that arm with the same seed. `seeds` and `rates` stand in place of the
    experiment's. `labels` become columns of `Experiment.frame()`.
    """

    name: str
    _: KW_ONLY
    model: Mapping[str, Any] = field(default_factory=dict)
    train: Mapping[str, Any] = field(default_factory=dict)
    data: Mapping[str, Any] = field(default_factory=dict)
    build: "Callable[[Job], Any] | None" = None
    run: "Callable[[Job], Outcome] | None" = None
    after: "Callable[[Job, Trained], Mapping[str, Any]] | None" = None
    starts_from: str | None = None
    seeds: Sequence[int] = ()
    rates: Sequence[Number] = ()
    labels: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Trained:
    """What a task's training returns; a curve holds (update, figure, value)."""

    model: Any
    curve: Curve = ()
    parameters: int | None = None
    target_tokens: int | None = None
    cpu_seconds: Number | None = None


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What one run found: figures named `split/decode/measure` ("-" where nothing is decoded).

    `counts` holds, by figure, a row of whole numbers for each sentence: what the score adds up.
    """

    figures: Mapping[str, Number] = field(default_factory=dict)
    curve: Curve = ()
    counts: Mapping[str, Any] = field(default_factory=dict)
    extra: Mapping[str, Any] = field(default_factory=dict)
    parameters: int | None = None
    target_tokens: int | None = None
    cpu_seconds: Number | None = None


@dataclass(frozen=True)
class Measure:
    """Something to measure of a trained model, and the figures that it gives.

    With `seeds`, it is measured for these alone: a choice of decoding needs one run.
    """

    figures: tuple[str, ...]
    of: "Callable[[Job, Trained], Outcome]"
    seeds: tuple[int, ...] | None = None

    def is_for(self, seed: int) -> bool:
        """Whether runs of this seed are measured."""
        return self.seeds is None or seed in self.seeds


@runtime_checkable
class Task(Protocol):
    """What arms are trained on. It is loaded once a process, so it must be hashable."""

    def load(self, *, small: bool) -> Any:
        """Return corpus and settings; `small` ones only show that everything runs."""

    def train(self, job: "Job") -> Trained:
        """Build and train the model of a run."""


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """A question and everything that it takes to answer it; see the guide in `walkthrough.lab`.

    With `choose`, a figure, every rate runs with `rate_seeds` at each of `lengths`, and all seeds
    at each arm's best one; without, all seeds run at rate 1. What is compared is compared at each
    arm's best rate by what is shown; `no_rate` says why rates have no part in it. `rival` is the
    cheapest thing that knows nothing and could look the same: an arm, or a sentence that says where
    it stands or why there is none. The claim is made at the last of `lengths`. `tests` are measures
    that a look at a test set costs (`python -m walkthrough.lab look`).

    Raises:
        ValueError: names that are not there or stand twice, rates or lengths out of order.
    """

    name: str
    question: str
    task: Task
    arms: Sequence[Arm]
    base: str | None = None
    seeds: Sequence[int] = range(1, 11)
    rates: Sequence[Number] = (1.0,)
    rate_seeds: Sequence[int] = (1, 2, 3)
    choose: str = ""
    no_rate: str = ""
    rival: str = ""
    lengths: Sequence[int] = (0,)
    measures: Sequence[Measure] = ()
    tests: Sequence[Measure] = ()
    run: "Callable[[Job], Outcome] | None" = None

    def __post_init__(self) -> None:
        """Check what a typing error would spoil only after hours."""
        if not re.fullmatch(r"\d\d-[a-z0-9-]+", self.name):
            raise ValueError(f"name must be like 05-width (chapter, words), got {self.name!r}")
        names = [arm.name for arm in self.arms]
        for what in ("seeds", "rates", "lengths"):
            given = list(getattr(self, what))
            if not given or given != sorted(set(given)):
                raise ValueError(f"{what} must rise, each once, got {given}")
        if len(set(names)) < len(names):
            raise ValueError(f"arms must have names of their own, got {names}")
        for arm in (self.base, *(arm.starts_from for arm in self.arms)):
            if arm is not None:
                self.arm(arm)
        if len(self.rates) > 1 and not self.choose and 1 not in self.rates:
            raise ValueError(f"without `choose` the claim is made at rate 1, got {self.rates}")

    def arm(self, name: str) -> Arm:
        """Return the arm of that name.

        Raises:
            KeyError: there is none, with the near ones.
        """
        arms = {arm.name: arm for arm in self.arms}
        if name not in arms:
            raise KeyError(unknown("arm", name, arms))
        return arms[name]

    def figures(self, seed: int) -> tuple[str, ...]:
        """Return what each run with a seed must have, as far as the declaration tells."""
        asked = (measure for measure in self.measures if measure.is_for(seed))
        return tuple(figure for measure in asked for figure in measure.figures)

    def fingerprint(self, arm: str) -> str:
        """Return a short hash of what is declared of an arm: task and settings, code by its name.

        Measures are left out: a run that lacks a figure says so itself. So are seeds, rates and
        lengths, which are in the key, and what code *does*, for which there is `lab check`.
        """
        told = {n: v for n, v in vars(self.arm(arm)).items() if n not in _NOT_OF_A_RUN}
        text = json.dumps([_told(self.task), _told(self.run), _told(told)], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:12]

    def frame(self, folder: Any = None) -> Any:
        """Return the runs of the declared arms as a table, with the columns that `labels` give."""
        frame = store.frame(self.name, folder=folder)
        order = [arm.name for arm in self.arms]
        frame = frame[frame["arm"].isin(order)].copy()
        for label in dict.fromkeys(label for arm in self.arms for label in arm.labels):
            frame[label] = [self.arm(name).labels.get(label) for name in frame["arm"]]
        frame["arm"] = frame["arm"].astype("category").cat.set_categories(order)
        sort = ["arm", "rate", "length", "seed"]
        return frame.sort_values(sort).astype({"arm": object}).reset_index(drop=True)


class Job(NamedTuple):
    """One run to make: what every hook gets. `data` is what the task loaded."""

    experiment: Experiment
    arm: Arm
    key: Key
    data: Any
    small: bool = False

    @property
    def seed(self) -> int:
        """The seed of the run."""
        return self.key.seed

    @property
    def length(self) -> int:
        """The number of updates of the run."""
        return self.key.length


def plan(
    experiment: Experiment,
    done: Iterable[Key],
    best: Callable[[str, int], Number],
    *,
    arms: Sequence[str] | None = None,
    seeds: Sequence[int] | None = None,
    rates: Sequence[Number] | None = None,
    lengths: Sequence[int] | None = None,
) -> list[Key]:
    """Return the runs that are missing and can be made now.

    For each arm and length first the rates, then its best one (`best`, which may refuse) with all
    seeds. Call it again when these are made: more may be due. With both `rates` and `lengths`
    nothing is chosen: these are the runs.
    """
    e, done = experiment, set(done)
    missing: dict[Key, None] = {}
    for name, length in product(arms or [arm.name for arm in e.arms], lengths or e.lengths):
        arm = e.arm(name)
        grid = tuple(rates or arm.rates or e.rates)
        claim_seeds = tuple(seeds or arm.seeds or e.seeds)
        few = [s for s in e.rate_seeds if not seeds or s in seeds] or list(claim_seeds)
        if e.choose and not (rates and lengths) and len({*e.rates, *grid}) > 1:
            keys = [Key(name, rate, length, seed) for rate in grid for seed in few]
            if done.issuperset(keys):
                keys = [Key(name, best(name, length), length, seed) for seed in claim_seeds]
        else:
            every = rates or len(grid) == 1  # with all seeds; else 1 alone
            keys = [
                Key(name, rate, length, seed)
                for rate in grid
                for seed in (claim_seeds if every or rate == 1 else few)
            ]
        for key in keys:
            begun = {k.seed for k in done if k.arm == arm.starts_from}
            if key not in done and (arm.starts_from is None or key.seed in begun):
                missing[key] = None
    return list(missing)


def _told(value: Any) -> Any:
    """Return a value as JSON can write it; code by its name, without the module it stands in."""
    if isinstance(value, partial):
        return ["partial", _told(value.func), _told(value.args), _told(value.keywords)]
    if is_dataclass(value) and not isinstance(value, type):
        return [
            type(value).__name__,
            {f.name: _told(getattr(value, f.name)) for f in fields(value) if f.compare},
        ]
    if isinstance(value, Mapping):
        return {str(name): _told(part) for name, part in value.items()}
    if isinstance(value, (list, tuple, range)):
        return [_told(part) for part in value]
    if callable(value):
        return getattr(value, "__qualname__", type(value).__name__)
    return value if value is None or isinstance(value, (bool, int, float, str)) else repr(value)
