"""Runs that train with `python -m transformer` in a run folder: Multi30k, CRAFT.

Such runs take hours, so their folders under `runs/` stay: an interrupted one goes on, a measure
that stands in `results.json` is not made again, and test sets are read from the folder later, by
`look`, once a run and only after what was chosen on validation is committed.
"""

import re
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import fmean
from typing import Any

from transformer.cli.corpora import load_corpus
from transformer.cli.plan import make_plan, read_data
from transformer.training.history import History
from transformer.training.run_folder import read_json
from walkthrough.lab import store
from walkthrough.lab.experiment import Experiment, Job, Measure, Outcome, Trained
from walkthrough.lab.keys import Key, Number
from walkthrough.lab.measures import scale_of, sentence_counts
from walkthrough.lab.rates import best_rate
from walkthrough.lab.runner import joined
from walkthrough.lab.tasks import settings_of
from walkthrough.page.results import FOLDER

CHOSEN = "chosen"
"""The name of the decoding that validation chose, in figures of a test set."""
_SCORES = ("bleu", "chrf", "exact", "brevity_penalty", "hypothesis_len", "reference_len")


@dataclass(frozen=True)
class CommandLine:
    """A preset of the command line, with changes to it such as "data.merges=8000".

    An arm's `model`, `train` and `data` become `--set` options; `processes` in `train` starts as
    many. An arm that `starts_from` another takes the last checkpoint of its run with that seed.
    """

    preset: str
    changes: tuple[str, ...] = ()
    folder: Path = field(default=FOLDER.parent / "runs", compare=False)  # says nothing of a run

    def load(self, *, small: bool) -> bool:
        """Nothing to load here: the command loads its corpus."""
        return small

    def train(self, job: Job) -> Trained:
        """Train, or go on, or only open what is trained.

        Raises:
            ValueError: a trial of an arm that says its own length, which no share can cut.
        """
        if job.small and not job.length:
            raise ValueError(f"{job.key}: say the length, as in --lengths 20 --record FILE")
        folder = self.folder_of(job.experiment, job.key)
        if not _results(folder).get("training"):
            _python(*self.command(job), "--folder", str(folder))
        return self.opened(job.experiment, job.key)

    def opened(self, experiment: Experiment, key: Key) -> Trained:
        """Return a finished run: its `model` is the folder.

        Raises:
            FileNotFoundError: there is none.
        """
        folder = self.folder_of(experiment, key)
        if not _results(folder).get("training"):
            raise FileNotFoundError(f"{folder} holds no finished run: train it first")
        curve: list[tuple[int, str, Number]] = []
        records = History.read(folder / "log.csv", up_to=sys.maxsize).records
        for record in records:
            if record.valid_perplexity is not None:
                curve.append((record.update, "train/-/loss", record.loss))
                curve.append((record.update, "valid/-/perplexity", record.valid_perplexity))
        return Trained(model=folder, curve=curve, target_tokens=records[-1].tokens)

    def command(self, job: Job) -> list[str]:
        """Return the words that train a run, but for its folder."""
        train = dict(job.arm.train)
        processes = train.pop("processes", 1)
        asked = {"model": job.arm.model, "data": job.arm.data, "training": train}
        options = [f"{part}.{n}={v}" for part, some in asked.items() for n, v in some.items()]
        plan = make_plan(self.preset, None, [*self.changes, *options])
        settings = settings_of(plan.training, replace(job.arm, train={}), job.key)
        options += [f"training.warmup={settings.warmup}"]
        options += [f"training.peak={settings.peak:.6g}"] if settings.peak is not None else []
        words = ["-m", "transformer", "train", "--preset", self.preset, "--threads", "1", "--quiet"]
        if processes > 1:
            many = f"--nproc-per-node={processes}"
            words = ["-m", "torch.distributed.run", "--standalone", many, *words]
        for option in [*self.changes, *options]:
            words += ["--set", option]
        words += ["--seed", str(job.seed), "--max-updates", str(settings.max_updates)]
        if job.arm.starts_from:
            words += ["--start-from", str(self._start(job))]
        begun = (self.folder_of(job.experiment, job.key) / "settings.json").exists()
        return [*words, *(["--resume"] if begun else [])]

    def folder_of(self, experiment: Experiment, key: Key) -> Path:
        """Return the folder of a run: `runs/16-recipe/no-r-drop-1-6000-2`."""
        arm = re.sub(r"[^\w.]+", "-", key.arm)
        return self.folder / experiment.name / f"{arm}-{key.rate:g}-{key.length}-{key.seed}"

    def _start(self, job: Job) -> Path:
        e, name = job.experiment, job.arm.starts_from
        runs = store.read(store.path_of(e.name), e.name)
        rate = best_rate(e, str(name), runs.values()).rate
        begun = [k for k in runs if (k.arm, k.rate, k.seed) == (name, rate, job.seed)]
        folder = self.folder_of(e, max(begun))
        return max((folder / "checkpoints").glob("*.safetensors"))


def command_line(preset: str, *changes: str) -> CommandLine:
    """Return a task of the command line: `command_line("multi30k-tiny", "model.dropout=0.2")`."""
    return CommandLine(preset, changes)


@dataclass(frozen=True)
class Decoding:
    """How a run translates: beams, length penalty (None: the mean per token), checkpoints meant."""

    beam: int = 1
    alpha: float | None = 0.6
    average: int = 1

    @property
    def name(self) -> str:
        """The middle part of its figures: "greedy", "beam5-a0.6-mean5", "beam5-per-token"."""
        penalty = "per-token" if self.alpha is None else f"a{self.alpha:g}"
        search = "greedy" if self.beam == 1 else f"beam{self.beam}-{penalty}"
        return search + (f"-mean{self.average}" if self.average > 1 else "")


def evaluated(
    split: str,
    decodings: Sequence[Decoding] = (Decoding(),),
    *,
    chosen_on: str | None = None,
    scores: Sequence[str] = _SCORES,
) -> Measure:
    """Measure a run folder with `python -m transformer evaluate`, each decoding once.

    With `chosen_on`, such as "val/bleu", it is decoded by the one of `decodings` that was best on
    that figure, and the figures are named `chosen`. BLEU's counts go with the first of `scores`.
    """
    names = [CHOSEN] if chosen_on else [decoding.name for decoding in decodings]

    def of(job: Job, trained: Trained) -> Outcome:
        if chosen_on is None:
            return joined(measured(trained.model, how, how.name) for how in decodings)
        decoding = chosen(job.experiment, job.arm.name, decodings, chosen_on)
        outcome = measured(trained.model, decoding, CHOSEN)
        return replace(outcome, extra={"decoding": decoding.name})

    def measured(folder: Path, decoding: Decoding, name: str) -> Outcome:
        entry, lines = evaluate(folder, split, decoding)
        data = read_data(read_json(folder / "settings.json")["data"])
        corpus = load_corpus(data, split, progress=False)
        cut = data.bleu_tokenizer or corpus.bleu_tokenizer
        return Outcome(
            figures={f"{split}/{name}/{score}": float(entry[score]) for score in scores},
            counts={
                f"{split}/{name}/{scores[0]}": sentence_counts(lines, corpus.target, tokenize=cut)
            },
        )

    return Measure(tuple(f"{split}/{n}/{s}" for n in names for s in scores), of)


def evaluate(folder: Path, split: str, decoding: Decoding) -> tuple[dict[str, Any], list[str]]:
    """Measure once: return the entry of `results.json` and the lines that were translated."""
    wanted = {"split": split, "beam": decoding.beam, "average": decoding.average}
    wanted |= {"alpha": decoding.alpha} if decoding.beam > 1 else {}
    lines = folder / f"{split}.{decoding.name}.txt"

    def there() -> list[dict[str, Any]]:
        done = _results(folder).get("evaluation", [])
        return [
            entry for entry in done if all(entry[name] == value for name, value in wanted.items())
        ]

    if not there() or not lines.is_file():
        alpha = "mean" if decoding.alpha is None else decoding.alpha
        how = [f"--beam={decoding.beam}", f"--alpha={alpha}", f"--average={decoding.average}"]
        how += ["--early-stopping"]  # the rule of all runs that are recorded, and of fairseq
        words = ["-m", "transformer", "evaluate", str(folder), "--threads=1", "--quiet", *how]
        _python(*words, f"--split={split}", f"--output={lines}")
    return there()[-1], lines.read_text("utf-8").splitlines()


def chosen(
    experiment: Experiment, arm: str, decodings: Sequence[Decoding], figure: str
) -> Decoding:
    """Return the decoding that was best on a validation figure, over the runs that have all.

    Raises:
        ValueError: no run of the arm was measured with each of them.
    """
    split, measure = figure.split("/")
    runs = [r for r in _runs(experiment).values() if r.arm == arm]
    names = {decoding: f"{split}/{decoding.name}/{measure}" for decoding in decodings}
    whole = [run for run in runs if set(names.values()) <= set(run.figures)]
    if not whole:
        raise ValueError(f"{experiment.name}: no run of {arm!r} has {figure} for each decoding")
    best = min if scale_of(figure).lower_is_better else max
    return best(decodings, key=lambda how: fmean(run.figures[names[how]] for run in whole))


def look(experiment: Experiment) -> list[store.Run]:
    """Read the test sets of an experiment for the runs that the claim is made with, once each.

    Raises:
        ValueError: what was measured on validation, by which rates and decodings are chosen, is not
            committed as it stands; or there are no `tests`.
    """
    task = experiment.task
    if not experiment.tests or not isinstance(task, CommandLine):
        raise ValueError(f"{experiment.name} declares no tests to look at")
    e, path, runs = experiment, store.path_of(experiment.name), _runs(experiment)
    tests = {figure for measure in e.tests for figure in measure.figures}
    before = {key: _without(run, tests) for key, run in _committed(path).items()}
    open_ones = [k for k, run in runs.items() if _without(run, tests) != before.get(k)]
    if open_ones:
        raise ValueError(
            f"commit {path.name} before a test set is looked at: {len(open_ones)} of its runs are "
            f"not in the last commit ({open_ones[0]})"
        )
    looked = []
    for key, run in runs.items():
        is_claim = (
            key.length == e.lengths[-1] and key.rate == best_rate(e, key.arm, runs.values()).rate
        )
        if not is_claim or tests & set(run.figures):
            continue
        job = Job(e, e.arm(key.arm), key, False)
        trained = task.opened(e, key)
        new = joined(measure.of(job, trained) for measure in e.tests if measure.is_for(key.seed))
        figures, extra = {**run.figures, **new.figures}, {**run.extra, **new.extra}
        looked.append(replace(run, figures=figures, extra=extra))
        store.append(path, looked[-1], new.counts)
    return looked


def _runs(experiment: Experiment) -> dict[Key, store.Run]:
    return store.read(store.path_of(experiment.name), experiment.name)


def _without(run: store.Run, tests: set[str]) -> dict[str, float]:
    return {name: value for name, value in run.figures.items() if name not in tests}


def _committed(path: Path) -> dict[Key, store.Run]:
    """Return every run as the last commit has it; none where it has no record."""
    asked = ["git", "show", f"HEAD:./{path.name}"]
    shown = subprocess.run(asked, cwd=path.parent, capture_output=True, text=True)
    lines = shown.stdout.splitlines() if shown.returncode == 0 else []
    runs = (store.Run.from_line(line, f"{path} as committed") for line in lines)
    return {run.key: run for run in runs}


def _results(folder: Path) -> dict[str, Any]:
    path = folder / "results.json"
    return dict(read_json(path)) if path.exists() else {}


def _python(*words: str) -> None:
    """Run Python with these words.

    Raises:
        RuntimeError: it failed.
    """
    done = subprocess.run([sys.executable, *words])
    if done.returncode:
        raise RuntimeError(f"python {' '.join(words)} ended with {done.returncode}")
