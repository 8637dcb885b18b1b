"""The experiment of chapter 16: one recipe for Multi30k and its controls, three seeds each.

    python tools/run_recipe.py                # → results/multi30k-recipe.json, every step in order
    python tools/run_recipe.py screen         # → results/multi30k-screens.json: candidates, scored
                                              # on the validation split alone
    python tools/run_recipe.py train --only recipe-1
    python tools/run_recipe.py curve          # BLEU in the course of the first seeds, validation
    python tools/run_recipe.py choose         # how each row decodes: its first seed on validation
    python tools/run_recipe.py captions       # eight of our own, by the recipe's first seed
    python tools/run_recipe.py test           # every test set, once a run

`test` looks at no test set before the decoding that it uses is committed, and at none twice. Run
folders stand under runs/ (or --folder). A run that was interrupted goes on. The runs need not be
made at one time: what is scored stays in the record, with what BLEU counts of each sentence, and
its folder may go.
"""

import argparse
import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from itertools import combinations, product
from pathlib import Path
from typing import Any

import numpy as np
from record_run import run as read_run
from records import RESULTS, ROOT, write
from run_multi30k import Recipe, results_of, run, train

from transformer.cli.models import open_model
from transformer.data.corpus import Corpus
from transformer.training.run_folder import checkpoints_of
from walkthrough.ch16_translation.experiments.intervals import (
    difference_of_counts,
    sentence_counts,
)
from walkthrough.ch16_translation.experiments.own_captions import translated

RECORD = RESULTS / "multi30k-recipe.json"
SCREENED = RESULTS / "multi30k-screens.json"
STEPS = ("screen", "train", "curve", "choose", "captions", "test")
SEEDS = (1, 2, 3)
TESTS = ("test_2016_flickr", "test_2017_flickr", "test_2017_mscoco")
ALPHAS = (0.0, 0.6, 1.0, 1.4, 1.8, 2.2, 2.6)
AVERAGES = (1, 5, 10, 20, 30)
BEAM = 5
GREEDY = 1
CURVE_EVERY = 1000

# 70 % of the length of a run of the recipe, all of seed 1.
_SCREENED = "--seed 1 --max-updates 4200 --set training.accumulate=2 --set training.valid_every=600"
SCREENS = {
    "screen-03": f"{_SCREENED} --set training.r_drop=2",
    "screen-02": f"{_SCREENED} --set training.r_drop=2 --set model.dropout=0.2",
    "screen-02-bpe": (
        f"{_SCREENED} --set training.r_drop=2 --set model.dropout=0.2 --set data.bpe_dropout=0.1"
    ),
    "screen-02-5": f"{_SCREENED} --set training.r_drop=5 --set model.dropout=0.2",
}


@dataclass(frozen=True)
class Decoding:
    """How a row translates: beams, length penalty, checkpoints in the mean."""

    beam: int
    alpha: float
    average: int


@dataclass(frozen=True)
class Row:
    """A row of the table. `decoding` is what the row prescribes; None: chosen on validation.

    Rows from one language to the same other one are compared.
    """

    options: str
    languages: tuple[str, str] = ("en", "de")
    seeds: tuple[int, ...] = SEEDS
    decoding: Decoding | None = None
    tests: tuple[str, ...] = TESTS

    def runs(self, name: str) -> dict[str, Recipe]:
        """Return a run for each seed."""
        source, target = self.languages
        options = (
            f"--set data.source_language={source} --set data.target_language={target} "
            f"{self.options}"
        )
        return {f"{name}-{s}": Recipe(f"--seed {s} {options}") for s in self.seeds}


# The preset's 6 000 updates for every row, three quarters of an hour of one core. All checkpoints
# are kept: for the mean of the last ones, and for a curve in BLEU.
_LONG = "--set training.valid_every=300 --set training.save_every=200 --set training.keep=30"
_BOTH = f"{_LONG} --set model.dropout=0.2"
_RECIPE = f"{_BOTH} --set training.accumulate=2 --set training.r_drop=2"

ROWS: dict[str, Row] = {
    # Settled on the validation split by the screens above, before the first of its runs began.
    "recipe": Row(_RECIPE),
    # The same computing without R-Drop: where the recipe passes a batch twice, this passes another
    # one. Nothing else differs.
    "no-r-drop": Row(f"{_BOTH} --set training.accumulate=4", seeds=(1, 2)),
    # §5.1–5.4 and §6.1 as printed, on this corpus and this size: Eq. 3 with 4 000 updates of
    # warm-up, dropout 0.1, label smoothing 0.1, beam 4, α = 0.6, the mean of 5 checkpoints.
    "paper": Row(
        f"{_LONG} --set model.dropout=0.1 --set training.schedule=noam "
        "--set training.warmup=4000 --set training.peak=none",
        seeds=(1, 2),
        decoding=Decoding(beam=4, alpha=0.6, average=5),
    ),
    "back": Row(_RECIPE, languages=("de", "en"), seeds=(1,)),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Do the steps that are asked for, each only where something is missing."""
    args = parsed(arguments)
    for step in args.steps or STEPS:
        if step == "screen":
            screen(args.folder, args.only)
        elif step == "train":
            done = scored()
            for name, recipe in all_runs().items():
                wanted = not args.only or name in args.only
                if wanted and name not in done:
                    train(args.folder / name, recipe)
        elif step == "curve":
            curve(args.folder)
        elif step == "choose":
            choose(args.folder)
        elif step == "captions":
            captions(args.folder)
        else:
            test(args.folder)
        if step != "screen":
            record(args.folder)
    return 0


def parsed(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("steps", nargs="*", metavar="STEP", help=f"of {', '.join(STEPS)}")
    parser.add_argument("--only", nargs="+", metavar="RUN", help="train or screen only these runs")
    parser.add_argument("--folder", type=Path, default=Path("runs"), help="place of run folders")
    args = parser.parse_args(arguments)
    for step in args.steps:
        if step not in STEPS:
            parser.error(f"no step {step}: choose from {', '.join(STEPS)}")
    known = [*SCREENS, *all_runs()]
    for name in args.only or ():
        if name not in known:
            parser.error(f"no run {name}: choose from {', '.join(known)}")
    return args


def all_runs() -> dict[str, Recipe]:
    """Return the runs of every row, by name."""
    return {name: recipe for row in ROWS for name, recipe in ROWS[row].runs(row).items()}


def screen(folder: Path, only: Sequence[str] | None) -> None:
    """Train the candidates and score each on the validation split, decoded alike."""
    for name, options in SCREENS.items():
        if only and name not in only:
            continue
        train(folder / name, Recipe(options))
        for alpha in (0.6, 1.0, 1.4):
            evaluate(folder / name, "val", Decoding(beam=BEAM, alpha=alpha, average=5))
    known = {one["name"]: one for one in recorded(SCREENED).get("runs", [])}
    known |= {name: as_recorded(folder / name) for name in SCREENS if is_measured(folder / name)}
    save({"runs": [known[name] for name in SCREENS if name in known]}, SCREENED)


def curve(folder: Path) -> None:
    """Score the checkpoints of each row's first seed on the validation split, one by one."""
    known = recorded().get("curves", {})
    for name, row in ROWS.items():
        first = next(iter(row.runs(name)))
        done = {point["update"] for point in known.get(first, [])}
        for checkpoint in checkpoints_of(folder / first):
            update = int(checkpoint.stem)
            if update % CURVE_EVERY or update in done:
                continue
            decoding = Decoding(beam=BEAM, alpha=1.0, average=1)
            found = measured(checkpoint, "val", decoding, row.languages)
            point = {"update": update, "bleu": found["bleu"]}
            known[first] = sorted([*known.get(first, []), point], key=lambda p: p["update"])
            save({**recorded(), "curves": known})


def choose(folder: Path) -> None:
    """Choose how each row decodes: the best BLEU of its first seed on the validation split.

    A row without a finished first run is left for later.

    Raises:
        ValueError: the best penalty is the first or the last that was tried, or the best mean is
            the longest one.
    """
    chosen = recorded().get("decoding", {})
    for name, row in ROWS.items():
        first = folder / next(iter(row.runs(name)))
        if name in chosen or not is_trained(first):
            continue
        if row.decoding is not None:
            chosen[name] = asdict(row.decoding)
            continue
        tried = [Decoding(BEAM, alpha, average) for alpha, average in product(ALPHAS, AVERAGES)]
        for decoding in tried:
            evaluate(first, "val", decoding)
        best = max(tried, key=lambda decoding: bleu(first, "val", decoding))
        if best.alpha in (ALPHAS[0], ALPHAS[-1]):
            raise ValueError(f"{name}: the best α is {best.alpha}, the edge of {ALPHAS}")
        if best.average == AVERAGES[-1]:
            raise ValueError(f"{name}: the best mean is the longest of {AVERAGES}")
        chosen[name] = asdict(best)
    save({**recorded(), "decoding": chosen})


def captions(folder: Path) -> None:
    """Translate our own captions with the recipe's first seed, decoded as chosen; once."""
    name = next(iter(ROWS["recipe"].runs("recipe")))
    chosen = recorded().get("decoding", {}).get("recipe")
    if "captions" in recorded() or chosen is None or not is_trained(folder / name):
        return
    asked = argparse.Namespace(
        model=str(folder / name), average=chosen["average"], threads=1, device="cpu"
    )
    model, codec = open_model(asked)
    sentences = translated(model, codec, beam=chosen["beam"], alpha=chosen["alpha"])
    save({**recorded(), "captions": {"run": name, **chosen, "sentences": sentences}})


def test(folder: Path) -> None:
    """Score every trained run on every test set of its row, once; then compare whole rows.

    On the validation split a run is scored greedily, too: that is no look at a test set.

    Raises:
        ValueError: the decoding is not chosen, or not committed.
    """
    chosen, done = recorded().get("decoding", {}), scored()
    left = {
        name: [r for r in row.runs(name) if r not in done and is_trained(folder / r)]
        for name, row in ROWS.items()
    }
    waiting = [name for name, runs in left.items() if runs]
    if missing := [name for name in waiting if name not in chosen]:
        raise ValueError(f"no decoding is chosen for {missing}: run the step choose")
    before = committed().get("decoding", {})
    if changed := [name for name in waiting if before.get(name) != chosen[name]]:
        raise ValueError(
            f"commit {RECORD.name} with the decoding of {changed} before a test is looked at"
        )
    for name in waiting:
        decoding = Decoding(**chosen[name])
        greedy = replace(decoding, beam=GREEDY)
        for run_name in left[name]:
            for without_test in (decoding, greedy):
                evaluate(folder / run_name, "val", without_test)
            for split in ROWS[name].tests:
                evaluate(folder / run_name, split, decoding, output=f"{split}.txt")
    record(folder)
    save({**recorded(), "differences": differences(recorded()["runs"])})


def scored() -> set[str]:
    """Return the runs whose tests stand in the record: they need no folder any more."""
    return {run["name"] for run in recorded().get("runs", []) if run.get("counts")}


def is_trained(folder: Path) -> bool:
    """Whether a run has made its last update."""
    return bool(results_of(folder).get("training"))


def differences(runs: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return how the means of two rows differ on each test set, with intervals over sentences.

    Rows that lack a seed are left out.
    """
    counts = {run["name"]: run["counts"] for run in runs if run.get("counts")}
    whole = {name: row for name, row in ROWS.items() if counts.keys() >= row.runs(name).keys()}
    found = []
    for (ours, one), (theirs, other) in combinations(whole.items(), 2):
        if one.languages != other.languages:
            continue
        for split in (s for s in one.tests if s in other.tests):
            sides = [
                [np.array(counts[run][split]) for run in runs]
                for runs in (one.runs(ours), other.runs(theirs))
            ]
            difference = asdict(difference_of_counts(*sides))
            found.append({"ours": ours, "theirs": theirs, "split": split, **difference})
    return found


def counted(folder: Path, row: Row) -> dict[str, list[list[int]]]:
    """Return what BLEU counts of each translated sentence, for the test sets that were scored."""
    source, target = row.languages
    found = {}
    for split in row.tests:
        if (lines := folder / f"{split}.txt").is_file():
            corpus = Corpus.from_multi30k(split, source_language=source, target_language=target)
            translated = lines.read_text("utf-8").splitlines()
            found[split] = sentence_counts(translated, corpus.target).tolist()
    return found


def evaluate(folder: Path, split: str, decoding: Decoding, *, output: str | None = None) -> None:
    """Measure once: what stands in the run folder is not made again."""
    if _found(folder, split, decoding):
        return
    options = [f"--output={folder / output}"] if output else []
    run(evaluating(folder, split, decoding) + options)


def measured(
    checkpoint: Path, split: str, decoding: Decoding, languages: tuple[str, str]
) -> dict[str, Any]:
    """Return what one checkpoint scores; its run folder keeps no such result."""
    source, target = (f"--set=data.{side}_language" for side in ("source", "target"))
    corpus = ["--preset=multi30k-tiny", f"{source}={languages[0]}", f"{target}={languages[1]}"]
    command = [sys.executable, *evaluating(checkpoint, split, decoding), *corpus]
    told = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    found: dict[str, Any] = json.loads(told)
    return found


def evaluating(model: Path, split: str, decoding: Decoding) -> list[str]:
    """Return the words of the command that measures a model on a split."""
    options = [f"--{name}={value}" for name, value in asdict(decoding).items()]
    words = ["-m", "transformer", "evaluate", str(model), "--threads=1", "--quiet"]
    return [*words, f"--split={split}", *options]


def bleu(folder: Path, split: str, decoding: Decoding) -> float:
    """Return the BLEU of a run on a split."""
    return float(_found(folder, split, decoding)[0]["bleu"])


def _found(folder: Path, split: str, decoding: Decoding) -> list[dict[str, Any]]:
    wanted = {"split": split, **asdict(decoding)}
    done = results_of(folder).get("evaluation", [])
    return [one for one in done if all(one[key] == value for key, value in wanted.items())]


def record(folder: Path) -> None:
    """Write every finished run into the record; runs that no folder holds stay as they are."""
    known = {one["name"]: one for one in recorded().get("runs", [])}
    done = scored()
    for row_name, row in ROWS.items():
        for name in row.runs(row_name):
            if name not in done and is_measured(folder / name):
                known[name] = as_recorded(folder / name)
                if counts := counted(folder / name, row):
                    known[name]["counts"] = counts
    runs = [known[name] for name in all_runs() if name in known]
    looks = sum(e["split"].startswith("test") for one in runs for e in one["evaluation"])
    save({**recorded(), "looks": looks, "runs": runs})


def is_measured(folder: Path) -> bool:
    """Whether a run has a score."""
    return bool(results_of(folder).get("evaluation"))


def as_recorded(folder: Path) -> dict[str, Any]:
    """Return what the record keeps of a run folder."""
    found = read_run(folder)
    found["settings"]["data"]["folder"] = None  # where the corpus lay says nothing
    return found


def recorded(path: Path | None = None) -> dict[str, Any]:
    """Return the record as it is; empty where there is none."""
    path = path or RECORD
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def committed() -> dict[str, Any]:
    """Return the record as the last commit has it; empty where it has none."""
    asked = ["git", "show", f"HEAD:{RECORD.relative_to(ROOT).as_posix()}"]
    found = subprocess.run(asked, cwd=ROOT, capture_output=True, text=True, check=False)
    return json.loads(found.stdout) if found.returncode == 0 else {}


def save(content: dict[str, Any], path: Path | None = None) -> None:
    """Write the record, what is short before what is long."""
    in_order = dict(sorted(content.items(), key=lambda item: item[0] == "runs"))
    write(path or RECORD, in_order, flat_from=5)


if __name__ == "__main__":
    raise SystemExit(main())
