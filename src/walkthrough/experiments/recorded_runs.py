"""What a record of training runs says, as rows for tables and points for curves (§6.1).

A record is what `tools/record_run.py` writes: `runs`, each with settings, curve and evaluations.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from transformer.analysis.cost import forward_flops
from transformer.config import TransformerConfig
from walkthrough.experiments.published import PublishedRun
from walkthrough.results import FOLDER, recorded

Run = Mapping[str, Any]
Record = Mapping[str, Any]
LANGUAGES = {"en": "English", "de": "German", "fr": "French"}


def direction(run: Run) -> str:
    """Return the languages of a run, as in "English–German"."""
    data = run["settings"]["data"]
    codes = data["source_language"], data["target_language"]
    return "–".join(LANGUAGES.get(code, code) for code in codes)


def labels(record: Record) -> list[str]:
    """Return one name a run, all different: direction and seed, the run's name where these agree.

    Raises:
        ValueError: the record has no runs.
    """
    runs = record["runs"]
    if not runs:
        raise ValueError("a record needs at least 1 run, got 0")
    plain = [f"{direction(run)}, seed {first_seed(run, record)}" for run in runs]
    return [
        f"{words} ({run.get('name') or f'run {number}'})" if plain.count(words) > 1 else words
        for number, (words, run) in enumerate(zip(plain, runs, strict=True), start=1)
    ]


def first_seed(run: Run, record: Record) -> int:
    """Return the seed a run began with: that of the run it continues, if it continues one."""
    named = {other.get("name"): other for other in record["runs"]}
    while run.get("continues") is not None:
        run = named[run["continues"]]
    return int(run["seed"])


def curves(
    record: Record, *, over: str = "tokens", name: str = "valid_perplexity"
) -> dict[str, list[tuple[float, float]]]:
    """Return the points of each run's curve: tokens (or `over`) and validation perplexity."""
    return {
        label: [(point[over], point[name]) for point in run["curve"]]
        for label, run in zip(labels(record), record["runs"], strict=True)
    }


def score_rows(record: Record) -> list[dict[str, Any]]:
    """Return one row an evaluation: how it was decoded and what it scored."""
    return [
        {
            "run": label,
            "test set": result["split"],
            "checkpoints": result["average"],
            "beam": result["beam"],
            "alpha": result["alpha"],
            "BLEU": result["bleu"],
            "chrF": result["chrf"],
            "brevity penalty": result["brevity_penalty"],
            "perplexity": result["perplexity"],
            "signature": result["bleu_signature"],
        }
        for label, run in zip(labels(record), record["runs"], strict=True)
        for result in run["evaluation"]
    ]


def comparable(
    record: Record,
    *,
    beam: int = 5,
    pair: str = "English–German",
    test_set: str = "test_2016_flickr",
) -> list[dict[str, Any]]:
    """Return the evaluations on one test set with that beam, most averaged checkpoints first.

    All of them: to keep the best would be to choose on the test set.
    """
    pairs = [direction(run) for run in record["runs"] for _ in run["evaluation"]]
    found = [
        row
        for row, name in zip(score_rows(record), pairs, strict=True)
        if name == pair and row["beam"] == beam and row["test set"] == test_set
    ]
    return sorted(found, key=lambda row: -row["checkpoints"])


def settings_of(run: Run, decoded: Mapping[str, Any]) -> dict[str, Any]:
    """Return a run's setting, decoded as in that row, by the names of `PublishedRun.settings`.

    Adam's constants are those of `transformer.training.trainer`; no setting changes them.
    """
    data, model, training = (run["settings"][part] for part in ("data", "model", "training"))
    schedule = {"linear": "linear, down to 0", "noam": "inverse square root"}
    scaled = {"scaled": "scaled by (2N)^−0.5", "xavier": "plain Xavier"}
    return {
        "layers": model["n_layers"],
        "d_model": model["d_model"],
        "d_ff": model["d_ff"],
        "heads": model["n_heads"],
        "norm": model["norm"],
        "start of the residual branches": scaled.get(
            model["residual_init"], model["residual_init"]
        ),
        "dropout": model["dropout"],
        "label smoothing": training["smoothing"],
        "merges, joint": data["merges"],
        "Adam's β1 and β2": "0.9 and 0.98",
        "schedule": schedule.get(training["schedule"], training["schedule"]),
        "peak rate": training["peak"],
        "warm-up updates": training["warmup"],
        "tokens an update": f"at most {training['max_tokens'] * training['accumulate']}",
        "updates": training["max_updates"],
        "checkpoints averaged": decoded["checkpoints"],
        "beam": decoded["beam"],
        "length penalty": f"α = {decoded['alpha']}",
    }


def setting_rows(published: PublishedRun, ours: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the two settings side by side, a row a name, and whether they agree.

    Raises:
        ValueError: the two name different settings.
    """
    if set(ours) != set(published.settings):
        raise ValueError(
            "both settings need the same names; they differ in "
            f"{sorted(set(ours) ^ set(published.settings))}"
        )
    return [
        {"setting": name, "published": value, "ours": ours[name], "same": value == ours[name]}
        for name, value in published.settings.items()
    ]


def run_flops(run: Run, *, length: int = 15) -> float:
    """Return a run's training FLOPs, counted: forward times 3, over all target tokens.

    Sources are taken to be as long as targets, and every sentence `length` tokens long; the length
    hardly matters.

    Raises:
        ValueError: the length is not positive.
    """
    config = TransformerConfig.from_dict(dict(run["settings"]["model"]))
    forward = forward_flops(config, source_len=length, target_len=length).total
    return 3 * forward * run["curve"][-1]["tokens"] / length


def quoted(name: str = "multi30k-translations", *, folder: Path = FOLDER) -> list[dict[str, Any]]:
    """Return the recorded handful of translations, or nothing where none are recorded.

    The corpus is not ours to pass on, so a copy of the book may come without them.
    """
    if not (folder / f"{name}.json").is_file():
        return []
    rows: list[dict[str, Any]] = recorded(name, folder=folder)["sentences"]
    return rows
