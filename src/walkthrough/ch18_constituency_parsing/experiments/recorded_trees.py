"""What the record of CRAFT says, row by row (`tools/run_trees.py`)."""

from __future__ import annotations

from collections.abc import Mapping
from statistics import fmean
from typing import Any, NamedTuple

Record = Mapping[str, Any]


class Row(NamedTuple):
    """What a parser scored on the test articles in one way of decoding; F1 for each seed."""

    parser: str
    sentences: int
    way: str
    f1: tuple[float, ...]
    exact: float
    well_formed: float


def table(record: Record, *, sentences: int | None = None) -> list[Row]:
    """Return a row for each parser and way of decoding; its seeds stand in it, in their order.

    With `sentences`, only what learned from so many sentences, or from none.
    """
    groups: dict[tuple[str, int, str], list[Mapping[str, Any]]] = {}
    for one in sorted(tested(record), key=lambda row: row["seed"] or 0):
        if sentences is not None and one["training sentences"] not in (0, sentences):
            continue
        key = (one["parser"], one["training sentences"], one["decoding"])
        groups.setdefault(key, []).append(one)
    return [
        Row(
            *key,
            f1=tuple(one["f1"] for one in group),
            exact=fmean(one["exact"] for one in group),
            well_formed=fmean(one["well formed"] for one in group),
        )
        for key, group in groups.items()
    ]


def tested(record: Record) -> list[dict[str, Any]]:
    """Return a row for every run on the test articles and way of decoding."""
    return [
        {
            "parser": run["row"],
            "seed": run["seed"],
            "training sentences": run["sentences"],
            "decoding": way,
            **{name: scores[name] for name in ("f1", "precision", "recall", "exact")},
            "well formed": scores["well_formed"],
        }
        for run in record["runs"]
        if "on dev" not in run["row"]
        for way, scores in run["scores"].items()
    ]


def on_dev(record: Record) -> dict[str, float]:
    """Return F1 on the dev articles of the grammars that were tried there."""
    return {
        run["row"].partition("dev, ")[2]: scores["f1"]
        for run in record["runs"]
        if run["row"].startswith("PCFG on dev")
        for scores in run["scores"].values()
    }


def best_scores(record: Record, row: str) -> Mapping[str, Any]:
    """Return what a parser scored in its last way of decoding, trained on all sentences.

    Raises:
        KeyError: the record has no such row.
    """
    found = [run for run in record["runs"] if run["row"] == row]
    if not found:
        known = ", ".join(dict.fromkeys(run["row"] for run in record["runs"]))
        raise KeyError(f"the record has no row {row!r}; there are {known}")
    largest = max(found, key=lambda run: (run["sentences"], -(run["seed"] or 0)))
    return list(largest["scores"].values())[-1]


def lengths(
    record: Record, lines: Mapping[str, tuple[str, str]], *, seed: int = 1
) -> dict[str, list[dict[str, Any]]]:
    """Return F1 by length for each line, a parser and its way of decoding, from all sentences.

    Where a parser has seeds, this one.

    Raises:
        KeyError: the record has no such row.
    """
    found = {}
    for name, (row, way) in lines.items():
        scores = [
            (run["sentences"], run["scores"][way]["by_length"])
            for run in record["runs"]
            if run["row"] == row and run["seed"] in (None, seed) and way in run["scores"]
        ]
        if not scores:
            raise KeyError(f"the record has no row {row!r} decoded {way!r} with seed {seed}")
        _, found[name] = max(scores, key=lambda one: one[0])
    return found


def by_sentences(record: Record, row: str, way: str) -> dict[int, float]:
    """Return F1 in one way of decoding by the number of training sentences, of the first seed.

    Raises:
        KeyError: the record has no such row.
    """
    found = sorted(
        (
            (one["training sentences"], one["seed"] or 0, one["f1"])
            for one in tested(record)
            if (one["parser"], one["decoding"]) == (row, way)
        ),
        reverse=True,  # so that the first seed is the last to be written
    )
    if not found:
        known = ", ".join(
            dict.fromkeys(f"{one['parser']}, {one['decoding']}" for one in tested(record))
        )
        raise KeyError(f"the record has no row {row!r} decoded {way!r}; there are {known}")
    return {sentences: f1 for sentences, _, f1 in found}
