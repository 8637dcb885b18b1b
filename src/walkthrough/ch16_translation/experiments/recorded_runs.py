"""What a record says of how its runs were trained: settings, curves, cost (§6.1).

A record is what `tools/record_run.py` writes: `runs`, each with settings, curve and evaluations.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from transformer.analysis.cost import forward_flops, parameter_count
from transformer.config import TransformerConfig
from walkthrough.ch16_translation.experiments.published import UNKNOWN, PublishedRun
from walkthrough.page.results import FOLDER, recorded

Run = Mapping[str, Any]
Record = Mapping[str, Any]
Row = Mapping[str, Any]


def by_name(record: Record) -> dict[str, Run]:
    """Return the runs by name, which is that of the run's folder; "run 1" where a run has none.

    Raises:
        ValueError: two runs have the same name.
    """
    names = [run.get("name") or f"run {n}" for n, run in enumerate(record["runs"], start=1)]
    if len(set(names)) != len(names):
        raise ValueError(f"runs need different names, got {', '.join(names)}")
    return dict(zip(names, record["runs"], strict=True))


def first_seed(run: Run, record: Record) -> int:
    """Return the seed a run began with: that of the run it continues, if it continues one."""
    named = {other.get("name"): other for other in record["runs"]}
    while run.get("continues") is not None:
        run = named[run["continues"]]
    return int(run["seed"])


def curves(record: Record) -> dict[str, list[tuple[float, float]]]:
    """Return the points of each run's curve: target tokens in millions, validation perplexity."""
    return {
        name: [(point["tokens"] / 1e6, point["valid_perplexity"]) for point in run["curve"]]
        for name, run in by_name(record).items()
    }


def settings_of(run: Run, decoded: Row) -> dict[str, Any]:
    """Return a run's setting, decoded as in that row, by the names of `PublishedRun.settings`."""
    return _training_of(run) | {
        "checkpoints averaged": decoded["checkpoints"],
        "beam": decoded["beam"],
        "length penalty": "none" if decoded["α"] == "–" else f"α = {decoded['α']}",
    }


def _training_of(run: Run) -> dict[str, Any]:
    """Adam's constants are those of `transformer.training.trainer`: no setting changes them.

    The tokens of an update are counted, over all its batches and processes.
    """
    data, model, training = (run["settings"][part] for part in ("data", "model", "training"))
    schedule = {"linear": "linear, down to 0", "noam": "inverse square root"}
    start = {"scaled": "scaled by (2N)^−0.5", "xavier": "plain Xavier"}
    return {
        "layers": model["n_layers"],
        "d_model": model["d_model"],
        "d_ff": model["d_ff"],
        "heads": model["n_heads"],
        "norm": model["norm"],
        "start of the residual branches": start.get(model["residual_init"], model["residual_init"]),
        "dropout": model["dropout"],
        "label smoothing": training["smoothing"],
        "merges, joint": data["merges"],
        "Adam's β1 and β2": "0.9 and 0.98",
        "schedule": schedule.get(training["schedule"], training["schedule"]),
        "peak rate": training["peak"],
        "warm-up updates": training["warmup"],
        "tokens an update": _tokens_an_update(run, {"runs": [run]}),
        "updates": round(run["curve"][-1]["update"]),
    }


def _tokens_an_update(run: Run, record: Record) -> str:
    """Say the mean of the run's own stage, without what it went on from."""
    last, tokens, updates = run["curve"][-1], 0.0, 0.0
    for other in record["runs"]:
        if run.get("continues") and other.get("name") == run["continues"]:
            tokens, updates = (other["curve"][-1][name] for name in ("tokens", "update"))
    if last["update"] <= updates:  # a record cut short: nothing of its own to count
        tokens, updates = 0.0, 0.0
    mean = (last["tokens"] - tokens) / (last["update"] - updates)
    return f"about {round(mean, -2 if mean > 1000 else -1):.0f}"


def setting_rows(published: PublishedRun, ours: Mapping[str, Any]) -> list[dict[str, str]]:
    """Return the two settings side by side in words, a row a name.

    `same` is "✓" or "✗", and "?" where the published one is not known.

    Raises:
        ValueError: the two name different settings.
    """
    if set(ours) != set(published.settings):
        raise ValueError(
            "both settings need the same names; they differ in "
            f"{sorted(set(ours) ^ set(published.settings))}"
        )
    return [
        {
            "same": _agreement(value, ours[name]),
            "setting": name,
            "published": str(value),
            "ours": str(ours[name]),
        }
        for name, value in published.settings.items()
    ]


def _agreement(published: object, ours: object) -> str:
    if published == UNKNOWN:
        return "?"
    return "✓" if published == ours else "✗"


def changes(record: Record) -> dict[str, list[str]]:
    """Return, for each run but the first, what its training has that the first one's has not.

    Updates and tokens of a run that goes on from another count from the beginning.
    """
    made = {name: _made(run, record) for name, run in by_name(record).items()}
    first, *others = made
    return {
        name: [
            f"{setting}: {made[first][setting]} → {value}"
            for setting, value in made[name].items()
            if value != made[first][setting]
        ]
        for name in others
    }


def _made(run: Run, record: Record) -> dict[str, Any]:
    several = re.search(r"--nproc-per-node=(\d+)", run.get("command", ""))
    processes = int(several[1]) if several else 1
    return _training_of(run) | {
        "tokens an update": _tokens_an_update(run, record),
        "processes": processes,
        "batches an update": run["settings"]["training"]["accumulate"] * processes,
        "seed at the start": first_seed(run, record),
        "goes on from": run.get("continues") or "nothing",
        "R-Drop": run["settings"]["training"].get("r_drop", 0.0) or "off",
    }


def n_parameters(run: Run) -> int:
    """Return the number of a run's parameters."""
    return parameter_count(TransformerConfig.from_dict(dict(run["settings"]["model"])))


def tokens_computed(run: Run, record: Record, *, until: float | None = None) -> float:
    """Return a run's target tokens, each counted as often as the model ran on it.

    R-Drop runs it twice. What a run goes on from counts as that was trained. `until` leaves out
    what came after that many target tokens.
    """
    tokens = [point["tokens"] for point in run["curve"]]
    start, earlier = 0.0, 0.0
    if run.get("continues") is not None:
        before = by_name(record)[run["continues"]]
        start = max({*tokens} & {point["tokens"] for point in before["curve"]})
        earlier = tokens_computed(before, record, until=start)
    passes = 2 if run["settings"]["training"].get("r_drop") else 1
    return earlier + passes * ((tokens[-1] if until is None else until) - start)


def run_flops(run: Run, record: Record, *, length: int = 15) -> float:
    """Return a run's training FLOPs, counted: forward times 3, over all target tokens.

    Sources are taken to be as long as targets, and every sentence `length` tokens long; the length
    hardly matters.

    Raises:
        ValueError: the length is not positive.
    """
    config = TransformerConfig.from_dict(dict(run["settings"]["model"]))
    forward = forward_flops(config, source_len=length, target_len=length).total
    return 3 * forward * tokens_computed(run, record) / length


def cost_rows(record: Record, *, base: float) -> list[dict[str, Any]]:
    """Return what each run took; `base` is how many times as much a run of `base` FLOPs costs."""
    return [
        {
            "run": name,
            "minutes": run["curve"][-1]["seconds"] / 60,
            "target tokens": run["curve"][-1]["tokens"],
            "FLOPs": run_flops(run, record),
            "base": base / run_flops(run, record),
            "MB": run.get("peak_memory_mb"),
        }
        for name, run in by_name(record).items()
    ]


def quoted(name: str = "multi30k-translations", *, folder: Path = FOLDER) -> list[dict[str, Any]]:
    """Return the recorded handful of translations, or nothing where none are recorded.

    The corpus is not ours to pass on, so a copy of the book may come without them.
    """
    if not (folder / f"{name}.json").is_file():
        return []
    rows: list[dict[str, Any]] = recorded(name, folder=folder)["sentences"]
    return rows
