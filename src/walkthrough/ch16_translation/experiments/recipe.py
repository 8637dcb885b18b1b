"""The experiment of chapter 16, read from its record: rows, seeds, scores, what it cost (§6.1).

The record is what `tools/run_recipe.py` writes, with the third seeds of
`tools/run_third_seeds.py`. A row is a way to train; its runs differ by seed and are decoded alike,
as the validation captions chose with the row's first seed.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from walkthrough.ch16_translation.experiments.recorded_runs import run_flops

Record = Mapping[str, Any]
Run = Mapping[str, Any]
Result = Mapping[str, Any]
ROWS = {
    "recipe": "our recipe",
    "no-r-drop": "without R-Drop",
    "paper": "the paper's",
}
"""The rows from English to German, by their names in the record."""
BACK = "back"
"""The recipe from German to English: one run, in no comparison with the rows."""
FLICKR_2016 = "test_2016_flickr"
TESTS = {FLICKR_2016: "2016", "test_2017_flickr": "2017", "test_2017_mscoco": "COCO"}


@dataclass(frozen=True)
class Scores:
    """BLEU of a row's runs on one split, a score a seed."""

    row: str
    split: str
    bleu: tuple[float, ...]

    @property
    def mean(self) -> float:
        """The mean over the seeds."""
        return fmean(self.bleu)

    def __str__(self) -> str:
        """Say the mean, with the lowest and the highest score where there are several."""
        if len(self.bleu) == 1:
            return f"{self.mean:.2f}"
        return f"{self.mean:.2f} ({min(self.bleu):.2f}–{max(self.bleu):.2f})"


def joined(record: Record, more: Record) -> dict[str, Any]:
    """Return the experiment with the runs of another record, and the looks of both at a test set.

    Raises:
        ValueError: a run stands in both.
    """
    first, second = ({run["name"] for run in one["runs"]} for one in (record, more))
    if first & second:
        raise ValueError(f"runs that stand in both records: {', '.join(sorted(first & second))}")
    own = {name: part for name, part in record.items() if name != "differences"}  # of its own runs
    looks = record["looks"] + more["looks"]
    return {**own, "looks": looks, "runs": [*record["runs"], *more["runs"]]}


def runs_of(record: Record, row: str) -> list[Run]:
    """Return the runs of a row, first seed first.

    Raises:
        ValueError: the record has none.
    """
    found = [run for run in record["runs"] if run["name"].rpartition("-")[0] == row]
    if not found:
        raise ValueError(f"the record has no run of {row!r}")
    return sorted(found, key=lambda run: run["seed"])


def rows_in(record: Record) -> dict[str, str]:
    """Return the rows of `ROWS` that the record holds, in their order."""
    names = {run["name"].rpartition("-")[0] for run in record["runs"]}
    return {row: words for row, words in ROWS.items() if row in names}


def result(record: Record, run: Run, split: str, *, beam: int | None = None) -> Result:
    """Return what a run scored on a split, decoded as its row is; `beam` takes another beam.

    Raises:
        ValueError: it was not scored like that.
    """
    wanted = {**record["decoding"][run["name"].rpartition("-")[0]], "split": split}
    if beam is not None:
        wanted["beam"] = beam
    for found in run["evaluation"]:
        if all(found[name] == value for name, value in wanted.items()):
            return dict(found)
    raise ValueError(f"{run['name']} was not scored with {wanted}")


def scores(record: Record, row: str, split: str, *, beam: int | None = None) -> Scores:
    """Return the BLEU of each run of a row on a split."""
    found = [result(record, run, split, beam=beam)["bleu"] for run in runs_of(record, row)]
    return Scores(row, split, tuple(found))


def length(record: Record, row: str, split: str) -> float:
    """Return how long a row's outputs are, as a share of the references, over all its seeds."""
    found = [result(record, run, split) for run in runs_of(record, row)]
    return fmean(one["hypothesis_len"] / one["reference_len"] for one in found)


def score_table(record: Record, splits: Mapping[str, str]) -> str:
    """Return a line a row and split: BLEU of the seeds, and how long the outputs are."""
    lines = [["", "seeds", "", "BLEU", "", "length"]]
    for row, words in rows_in(record).items():
        names = [words, str(len(runs_of(record, row)))]
        for split, name in splits.items():
            mean, _, ends = str(scores(record, row, split)).partition(" ")
            lines.append([*names, name, mean, ends, f"{length(record, row, split):.3f}"])
            names = ["", ""]
    return aligned(lines)


def aligned(lines: Sequence[Sequence[str]]) -> str:
    """Return cells in columns, the first of them to the left."""
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join(
            cell.rjust(width) if place else cell.ljust(width)
            for place, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    )


def cost_rows(record: Record, *, base: float) -> list[dict[str, Any]]:
    """Return what each run of a row took, in the mean; `base` is the cost of another, in FLOPs."""
    found = []
    for row, words in rows_in(record).items():
        runs = runs_of(record, row)
        flops = fmean(run_flops(run) for run in runs)
        found.append(
            {
                "row": words,
                "runs": len(runs),
                "minutes": fmean(run["curve"][-1]["seconds"] for run in runs) / 60,
                "target tokens": fmean(run["curve"][-1]["tokens"] for run in runs),
                "FLOPs": flops,
                "base": base / flops,
            }
        )
    return found
