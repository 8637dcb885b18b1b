"""How the runs of a record score: a row an evaluation, means over seeds, a table (§6.1)."""

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

from walkthrough.ch16_translation.experiments.choosing import VALIDATION, best_on_validation
from walkthrough.ch16_translation.experiments.recorded_runs import Record, Row, by_name

TEST = "test_2016_flickr"
COLUMNS = {  # what matters most comes first: a phone shows the beginning of a line
    "mark": "{}",
    "run": "{}",
    "BLEU": "{:.2f}",
    "gap": "{:+z.2f}",
    "lowest": "{:.2f}",
    "highest": "{:.2f}",
    "penalty": "{:.3f}",
    "chrF": "{:.2f}",
    "beam": "{}",
    "checkpoints": "{}",
    "α": "{}",
}
CHOSEN = "→"


def score_rows(record: Record, split: str) -> list[dict[str, Any]]:
    """Return one row an evaluation on a split: how it was decoded and what it scored.

    All of them, not the best: to keep the best would be to choose on the test set. `chosen` is
    the decoding that had the highest BLEU on the validation split, for a run that has it there.
    """
    chosen = {
        name: _decoding(best)
        for name, run in by_name(record).items()
        if (best := best_on_validation(run["evaluation"]))
    }
    return [
        {
            "run": name,
            "beam": result["beam"],
            "checkpoints": result["average"],
            "α": str(result["alpha"]) if result["beam"] > 1 else "–",
            "BLEU": result["bleu"],
            "chrF": result["chrf"],
            "penalty": result["brevity_penalty"],
            "signatures": (result["bleu_signature"], result["chrf_signature"]),
            "chosen": _decoding(result) == chosen.get(name),
        }
        for name, run in by_name(record).items()
        for result in sorted(run["evaluation"], key=_decoding)
        if result["split"] == split
    ]


def _decoding(result: Mapping[str, Any]) -> tuple[int, int, float]:
    return result["beam"], result["average"], result["alpha"]


def over_seeds(rows: Sequence[Row], names: Sequence[str]) -> list[dict[str, Any]]:
    """Return the mean of these runs for each decoding that all of them have, as rows of scores.

    `lowest` and `highest` are of BLEU. `chosen` are the means over each run's own chosen decoding,
    which is a row of its own where the runs chose differently.

    Raises:
        ValueError: a run without rows, or one that chose no decoding.
    """
    groups: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        if row["run"] in names:
            groups.setdefault((row["beam"], row["checkpoints"], row["α"]), []).append(row)
    chosen = {row["run"]: row for group in groups.values() for row in group if row["chosen"]}
    if lacking := [name for name in names if name not in chosen]:
        raise ValueError(
            f"every run needs a decoding that its validation split chose; {', '.join(lacking)} "
            f"have none, {', '.join(chosen) or 'none'} have one"
        )
    together = [group for group in groups.values() if len(group) == len(names)]
    if not any(all(row["chosen"] for row in group) for group in together):
        together.append(list(chosen.values()))
    return [_mean_row(group) for group in together]


def _mean_row(rows: Sequence[Row]) -> dict[str, Any]:
    scores = [row["BLEU"] for row in rows]
    return {
        "run": f"mean of {len(rows)}",
        "lowest": min(scores),
        "highest": max(scores),
        **{name: fmean(row[name] for row in rows) for name in ("BLEU", "chrF", "penalty")},
        **{name: _all_values(rows, name) for name in ("beam", "checkpoints", "α")},
        "chosen": all(row["chosen"] for row in rows),
    }


def _all_values(rows: Sequence[Row], name: str) -> str:
    return ", ".join(dict.fromkeys(str(row[name]) for row in rows))


def score_table(rows: Sequence[Row], *, beside: float | None = None) -> str:
    """Return rows of `score_rows` as text, with an arrow before what the validation split chose.

    `gap` is the distance to the score `beside`.

    Raises:
        ValueError: there are no rows.
    """
    if not rows:
        raise ValueError("a table of scores needs at least 1 row, got 0")
    shown = [{**row, "mark": CHOSEN if row["chosen"] else ""} for row in rows]
    if beside is not None:
        shown = [{**row, "gap": row["BLEU"] - beside} for row in shown]
    columns = [
        ["" if column == "mark" else column, *(form.format(row[column]) for row in shown)]
        for column, form in COLUMNS.items()
        if column in shown[0]
    ]
    widths = [max(map(len, column)) for column in columns]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if place <= 1 else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(line, widths, strict=True))
        )
        for line in zip(*columns, strict=True)
    )
