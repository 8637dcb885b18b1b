"""Running: what is missing, one process a job, every finished run written at once."""

import math
import os
import re
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from tqdm import tqdm

from transformer.cli.surroundings import surroundings
from transformer.training.process import threads
from walkthrough.lab import store
from walkthrough.lab.experiment import Experiment, Job, Outcome, plan
from walkthrough.lab.keys import Key, Number
from walkthrough.lab.rates import best_rate
from walkthrough.lab.store import Run
from walkthrough.page.results import FOLDER

TRIALS = FOLDER.parent / "runs" / "lab"
"""Where the records of shortened runs stand: git does not keep them."""
SMALL_BELOW = 0.1
"""A share of the length below which the data shrink as well: such a run shows that it runs."""


def run(
    experiment: Experiment,
    *,
    jobs: int = 1,
    record: Path | None = None,
    share: Number = 1.0,
    progress: bool = True,
    **only: Any,
) -> list[Run]:
    """Make the runs that a record lacks and append each as it ends; return them.

    `only` narrows `arms`, `seeds`, `rates` and `lengths`. A `share` below 1 shortens every run;
    such runs go to `runs/lab`. A run that diverges is recorded as failed.

    Raises:
        ValueError: the best rate of an arm lies at the edge of the grid, a share, job, seed, rate
            or length that cannot be, or a book's record asked for from sources that no commit has.
        OSError: the record cannot be written; nothing has been run.
        RecordError: the file holds another experiment, or a newer version's runs.
    """
    _check(share, jobs, **only)
    trial = share < 1
    path = record or store.path_of(experiment.name, TRIALS if trial else None)
    if trial:
        lengths = only.pop("lengths", None) or experiment.lengths
        experiment = _shortened(experiment, lengths, share)
    made: list[Run] = []
    here = surroundings()
    commit = here["commit"] or "unknown"
    if path.resolve().parent == FOLDER.resolve() and not re.fullmatch("[0-9a-f]{40}", commit):
        raise ValueError(
            f"{path.name} keeps runs of committed sources, and these are {commit!r}: commit first, "
            "or name another file with --record"
        )
    store.try_to_write(path)
    told = {
        "commit": commit,
        "machine": {name: here[name] for name in ("processor", "instructions", "cores")},
        "versions": {name: here[name] for name in ("python", "torch")},
    }
    while keys := missing(experiment, store.read(path, experiment.name), **only):
        bar = tqdm(total=len(keys), unit="run", disable=not progress, desc=experiment.name)
        with bar:
            for key, outcome in executed(experiment, keys, jobs, small=share < SMALL_BELOW):
                phase = "trial" if trial else _phase(experiment, key)
                line = as_run(experiment, key, outcome, phase=phase, **told)
                store.append(path, line, {} if isinstance(outcome, str) else outcome.counts)
                made.append(line)
                bar.update()
                bar.set_postfix_str(str(key))
    return made


def _check(share: Number, jobs: int, **only: Any) -> None:
    """Refuse what no run can have, before any is made."""
    rules: dict[str, tuple[Any, Callable[[Any], bool]]] = {
        "share must lie in (0, 1]": ([share], lambda n: 0 < n <= 1),
        "jobs must be at least 1": ([jobs], lambda n: n >= 1),
        "seeds must lie in 0 … 2³² − 1": (only.get("seeds"), lambda n: 0 <= n < 2**32),
        "rates must be finite and above 0": (only.get("rates"), lambda n: 0 < n < math.inf),
        "lengths must be at least 0": (only.get("lengths"), lambda n: n >= 0),
    }
    for rule, (given, holds) in rules.items():
        if wrong := [value for value in given or () if not holds(value)]:
            raise ValueError(f"{rule}, got {wrong[0]}")


def missing(experiment: Experiment, runs: dict[Key, Run], **only: Any) -> list[Key]:
    """Return the runs to make: not in the record, declared otherwise by now, or short of a figure.

    Raises:
        ValueError: the best rate of an arm lies at the edge of the grid.
    """
    done = [key for key, run in runs.items() if not outdated(experiment, run)]

    def best(arm: str, length: int) -> Number:
        chosen = best_rate(experiment, arm, runs.values(), length=length)
        if chosen.fault == "edge of the rates":
            raise ValueError(
                f"{experiment.name}: the best rate of {arm!r} at length {length} is "
                f"{chosen.rate:g}, the edge of its rates: {chosen.hint} to `rates`"
            )
        return chosen.rate

    return plan(experiment, done, best, **only)


def outdated(experiment: Experiment, run: Run) -> str:
    """Return in words why a recorded run is not what is declared now; "" where it is."""
    if run.arm not in {arm.name for arm in experiment.arms}:
        return "no such arm any more"
    if run.declaration != experiment.fingerprint(run.arm):
        return "declared otherwise"
    lacking = set() if run.failed else set(experiment.figures(run.seed)) - set(run.figures)
    return f"lacks {', '.join(sorted(lacking))}" if lacking else ""


def executed(
    experiment: Experiment, keys: Sequence[Key], jobs: int, *, small: bool = False
) -> Iterator[tuple[Key, Outcome | str]]:
    """Yield each run as it ends: its outcome, or why it failed."""
    if jobs == 1:
        yield from ((key, execute(experiment, key, small)[1]) for key in keys)
        return
    from joblib import Parallel, delayed, parallel_config

    with parallel_config(backend="loky", n_jobs=jobs, inner_max_num_threads=1):
        work = (delayed(execute)(experiment, key, small) for key in keys)
        yield from Parallel(return_as="generator_unordered")(work)


def execute(experiment: Experiment, key: Key, small: bool = False) -> tuple[Key, Outcome | str]:
    """Make one run, on one thread; a loss that is no number any more is a finding, not an error."""
    arm = experiment.arm(key.arm)
    task: Any = experiment.task  # hashable, which a protocol cannot say
    job = Job(experiment, arm, key, _loaded(task, small), small)
    began = _cpu_seconds()
    try:
        with threads(1):
            outcome = _outcome(job)
    except FloatingPointError as error:
        return key, str(error)
    if outcome.cpu_seconds is None:
        outcome = replace(outcome, cpu_seconds=_cpu_seconds() - began)
    return key, outcome


def _outcome(job: Job) -> Outcome:
    run = job.arm.run or job.experiment.run
    if run:
        return run(job)
    trained = job.experiment.task.train(job)
    outcome = joined(
        measure.of(job, trained) for measure in job.experiment.measures if measure.is_for(job.seed)
    )
    after = job.arm.after(job, trained) if job.arm.after else {}
    return replace(
        outcome,
        curve=[*trained.curve, *outcome.curve],
        extra={**outcome.extra, **after},
        parameters=trained.parameters,
        target_tokens=trained.target_tokens,
        cpu_seconds=trained.cpu_seconds,
    )


def joined(outcomes: Iterable[Outcome]) -> Outcome:
    """Return what several measures found as one outcome."""
    whole = list(outcomes)
    return Outcome(
        figures={name: value for outcome in whole for name, value in outcome.figures.items()},
        curve=[point for outcome in whole for point in outcome.curve],
        counts={name: rows for outcome in whole for name, rows in outcome.counts.items()},
        extra={name: value for outcome in whole for name, value in outcome.extra.items()},
    )


def as_run(experiment: Experiment, key: Key, outcome: Outcome | str, **told: Any) -> Run:
    """Return the line of a run; `told` is what no outcome says: phase, commit, machine."""
    failed = outcome if isinstance(outcome, str) else None
    result = Outcome() if isinstance(outcome, str) else outcome
    return Run(
        experiment=experiment.name,
        **key._asdict(),
        figures=dict(result.figures),
        curve=[list(point) for point in result.curve],
        extra=dict(result.extra),
        parameters=result.parameters,
        target_tokens=result.target_tokens,
        cpu_seconds=result.cpu_seconds,
        failed=failed,
        date=time.strftime("%Y-%m-%dT%H:%M:%S%z"),
        declaration=experiment.fingerprint(key.arm),
        **told,
    )


@cache
def _loaded(task: Any, small: bool) -> Any:
    return task.load(small=small)


def _phase(experiment: Experiment, key: Key) -> str:
    searching = experiment.choose and len(experiment.rates) > 1
    return "search" if searching and key.seed in experiment.rate_seeds else "claim"


def _shortened(experiment: Experiment, lengths: Iterable[int], share: Number) -> Experiment:
    short = sorted({max(1, round(share * length)) if length else 0 for length in lengths})
    return replace(experiment, lengths=short)


def _cpu_seconds() -> float:
    """Return the processor time of this process and of those that it started."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system
