"""`python -m walkthrough.lab`: list the experiments, run them, compare their arms."""

import argparse
import math
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from walkthrough.lab import runner, store
from walkthrough.lab.comparison import Comparison, compare
from walkthrough.lab.discovery import declarations, find
from walkthrough.lab.experiment import Experiment
from walkthrough.lab.hooks import CommandLine, look
from walkthrough.lab.keys import Key
from walkthrough.lab.measures import comparable
from walkthrough.page.results import FOLDER

SHOWN = 12
"""Runs that are printed one by one."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Do what the command line asks; a refusal is one line and exit code 2."""
    args = parser().parse_args(arguments)
    try:
        code = COMMANDS[args.command](args)
        sys.stdout.flush()
        return code
    except BrokenPipeError:  # the reader of our output has gone, as `head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except (KeyError, ValueError, OSError) as error:
        print(f"error: {error.args[0] if isinstance(error, KeyError) else error}", file=sys.stderr)
        return 2


def parser() -> argparse.ArgumentParser:
    """Return what reads the command line."""
    top = argparse.ArgumentParser(prog="python -m walkthrough.lab", description=__doc__)
    commands = top.add_subparsers(dest="command", required=True)
    commands.add_parser("list", help="every experiment: question, arms, seeds, rates, lengths")
    run = commands.add_parser("run", help="make the runs that a record lacks")
    run.add_argument("name", metavar="NAME")
    run.add_argument("--arms", nargs="+", help="only these")
    run.add_argument("--seeds", nargs="+", type=int, help="these in place of the declared ones")
    run.add_argument("--rates", nargs="+", type=float, help="multiples of each arm's own peak")
    run.add_argument("--lengths", nargs="+", type=int, help="numbers of updates")
    run.add_argument("--share", type=float, default=1.0, help="of each length, to try it")
    run.add_argument("--record", type=Path, help="another file than results/NAME.jsonl")
    status = commands.add_parser("status", help="what is recorded, what is out of date")
    status.add_argument("names", nargs="*", metavar="NAME")
    again = commands.add_parser("again", help="run whatever is out of date")
    again.add_argument("names", nargs="*", metavar="NAME")
    for command in (run, again):
        command.add_argument("--jobs", type=int, default=1, help="processes, one thread each")
    told = commands.add_parser("compare", help="each arm with the base: effect, interval, verdict")
    told.add_argument("name", metavar="NAME")
    told.add_argument("arms", nargs="*", metavar="ARM")
    told.add_argument("--base")
    told.add_argument("--figure", help="by default each that all runs have")
    told.add_argument("--length", type=int)
    told.add_argument("--rate", type=float, help="of both arms; by default each one's best")
    told.add_argument("--record", type=Path)
    check = commands.add_parser("check", help="make the cheapest recorded run again and compare")
    check.add_argument("names", nargs="*", metavar="NAME")
    check.add_argument(
        "--seconds", type=float, default=60, help="the most that a run may have cost"
    )
    check.add_argument("--tolerance", type=float, default=0.05, help="relative, of each figure")
    look = commands.add_parser("look", help="read the test sets, once a run, with what was chosen")
    look.add_argument("name", metavar="NAME")
    return top


def list_command(args: argparse.Namespace) -> int:
    """Print every experiment."""
    for e in declarations().values():
        rates = ", ".join(f"{rate:g}" for rate in e.rates)
        lengths = ", ".join(map(str, e.lengths)) if any(e.lengths) else "–"
        print(f"{e.name}\n  {e.question}")
        print(f"  arms     {'; '.join(arm.name for arm in e.arms)}")
        print(f"  seeds    {len(e.seeds)}; rates × {rates}; updates {lengths}")
        print(f"  record   {_runs(len(_read(e)))}, {hours(e)}")
    return 0


def run_command(args: argparse.Namespace) -> int:
    """Make what is missing of one experiment."""
    e = find(args.name)
    only = {name: getattr(args, name) for name in ("arms", "seeds", "rates", "lengths")}
    for name in ("seeds", "rates", "lengths"):
        only[name] = only[name] and sorted(set(only[name]))
    made = runner.run(e, jobs=args.jobs, record=args.record, share=args.share, **only)
    folder = runner.TRIALS if args.share < 1 else None
    path = args.record or store.path_of(e.name, folder)
    print(f"{_runs(len(made))} made → {os.path.relpath(path)}")
    for run in made[:SHOWN]:
        print(f"  {run.key}: {_short(run.figures) if not run.failed else run.failed}")
    if len(made) > SHOWN:
        print(f"  … and {len(made) - SHOWN} more: `compare {e.name}` says what they show")
    return 0


def status_command(args: argparse.Namespace) -> int:
    """Print the state of the records, and what the rules refuse of the ledger's claims.

    The exit code is 1 where runs are missing or declared otherwise.
    """
    late, claims = False, list(asked_by_claims())
    for e in _asked(args.names):
        told, due = state(e)
        late |= due
        print(f"{e.name}: {told}", flush=True)
        for claim, how in claims:
            if how["experiment"] == e.name and (said := refused(how)):
                print(f"  {claim}: {said}")
    return int(late)


def asked_by_claims() -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield each claim of the ledger with what it compares; nothing where the book is not there."""
    path = FOLDER.parent / "book" / "claims.toml"
    if path.is_file():
        for claim in tomllib.loads(path.read_text(encoding="utf-8"))["claims"]:
            yield from ((claim["id"], dict(asked)) for asked in claim.get("compare", ()))


def refused(asked: dict[str, Any]) -> str:
    """Return in words why a comparison of a claim is told no further; "" where it is."""
    how = dict(asked)
    try:
        result = compare(how.pop("experiment"), how.pop("arm"), **how)
    except ValueError as error:
        return str(error)
    if result.verdict in ("better", "worse", "level", "ceiling"):
        return ""
    return f"{result.ours} against {result.base}, {result.by}: {result.phrase()} [{result.verdict}]"


def again_command(args: argparse.Namespace) -> int:
    """Run every experiment that is out of date."""
    for e in _asked(args.names):
        told, due = state(e)
        print(f"{e.name}: {told}", flush=True)
        if due:
            runner.run(e, jobs=args.jobs)
    return 0


def state(experiment: Experiment) -> tuple[str, bool]:
    """Return in words how a record stands to its declaration, and whether runs are missing.

    Out of date are runs that the declaration plans and the record lacks, that were declared
    otherwise (task, settings or the name of a builder have changed), or that lack a figure. Whether
    a change of code matters shows `lab check`, which makes the cheapest run again. Runs that nobody
    can repeat are told.
    """
    runs = _read(experiment)
    try:
        missing = f"at least {n} to make" if (n := len(runner.missing(experiment, runs))) else ""
    except ValueError as edge:  # of one experiment: the others have a state all the same
        missing = str(edge)
    told = [_runs(len(runs))]
    reasons = [why for run in runs.values() if (why := runner.outdated(experiment, run))]
    told += [f"{reasons.count(why)} {why}" for why in sorted(set(reasons))]
    told.append(missing or "up to date")
    commits = [run.commit for run in runs.values()]
    changed = sum(not re.fullmatch("[0-9a-f]{40}", commit) for commit in commits)
    told += [f"{_runs(changed)} of a changed tree"] if changed else []
    lost = sum(commit in _not_here(frozenset(commits)) for commit in commits)
    told += [f"{_runs(lost)} of a commit that is not here"] if lost else []
    return "; ".join(told), bool(missing)


@cache
def _not_here(commits: frozenset[str]) -> set[str]:
    """Those whole names of commits that git does not know; none in a shallow clone."""
    names = sorted(name for name in commits if re.fullmatch("[0-9a-f]{40}", name))
    git = ["git", "-C", str(FOLDER.parent)]
    how: dict[str, Any] = {"capture_output": True, "text": True}
    asked = subprocess.run([*git, "rev-parse", "--is-shallow-repository"], **how)
    if asked.stdout.strip() != "false":
        return set()
    known = subprocess.run([*git, "cat-file", "--batch-check"], input="\n".join(names), **how)
    return {line.split()[0] for line in known.stdout.splitlines() if line.endswith("missing")}


def compare_command(args: argparse.Namespace) -> int:
    """Print a line for each arm and figure."""
    e = find(args.name)
    base = args.base or e.base
    arms = args.arms or [arm.name for arm in e.arms if arm.name != base]
    measured = e.figures(e.seeds[0]) or _figures_of_all(args.record or store.path_of(e.name), e)
    if args.record and not args.record.is_file():
        raise ValueError(f"there is no record {args.record}")
    figures = [args.figure] if args.figure else list(filter(comparable, measured))
    if not figures:
        raise ValueError(f"{e.name} has no figure that all its runs share: name one with --figure")
    how = {"length": args.length, "rate": args.rate, "record": args.record}
    for figure in figures:
        results = [compare(e, arm, base, figure=figure, **how) for arm in arms]
        print(f"{results[0].figure}, base {results[0].base}")
        print("\n".join(f"  {row(result)}" for result in results))
    return 0


def row(result: Comparison) -> str:
    """Return a comparison as one line of a table."""
    interval = f"({result.low:+.2f} to {result.high:+.2f})" if result.n > 1 else "(one pair)"
    return (
        f"{result.ours:<24} {result.mean:+8.2f} {result.unit:<8} {interval:<20} "
        f"wins {result.wins} of {result.n}  {result.verdict}"
    )


def check_command(args: argparse.Namespace) -> int:
    """Make the cheapest recorded run of each experiment again; exit code 1 where a figure moved.

    Without names those are passed over that have no run below `--seconds`, or train in a folder.
    """
    moved = False
    for e in _asked(args.names):
        runs = [r for r in _read(e).values() if not r.failed and not runner.outdated(e, r)]
        if not args.names:
            cheap = () if isinstance(e.task, CommandLine) else runs
            runs = [r for r in cheap if 0 < (r.cpu_seconds or 0) <= args.seconds]
        elif not runs:
            raise ValueError(f"{e.name} has no run to check: run it first")
        if runs:
            cheapest = min(runs, key=lambda run: run.cpu_seconds or math.inf)
            moved |= _moved(e, cheapest, args.tolerance)
    return int(moved)


def _moved(e: Experiment, run: store.Run, tolerance: float) -> bool:
    cost = f"{run.cpu_seconds or 0:.0f} s of a core when it was recorded"
    print(f"{e.name}, {run.key}: {cost}", flush=True)
    _, outcome = runner.execute(e, run.key)
    if isinstance(outcome, str):
        raise ValueError(f"{run.key} fails now: {outcome}")
    moved = False
    for name, before in run.figures.items():
        if name in outcome.figures:
            now = float(outcome.figures[name])
            gap = abs(now - before) / max(abs(now), abs(before), 1e-12)
            moved |= gap > tolerance
            print(f"  {name:<36} {before:>10.5g} {now:>10.5g}  {gap:.1%} apart")
    return moved


def look_command(args: argparse.Namespace) -> int:
    """Read the test sets of what was trained, once a run."""
    print(f"{_runs(len(look(find(args.name))))} looked at")
    return 0


COMMANDS = {
    "list": list_command,
    "run": run_command,
    "status": status_command,
    "again": again_command,
    "compare": compare_command,
    "check": check_command,
    "look": look_command,
}


def _asked(names: Sequence[str]) -> list[Experiment]:
    return [find(name) for name in names] if names else list(declarations().values())


def _figures_of_all(record: Path, experiment: Experiment) -> list[str]:
    """The figures that every recorded run has, where a declaration names none."""
    runs = [run.figures for run in store.read(record, experiment.name).values() if not run.failed]
    return [name for name in (runs or [{}])[0] if all(name in figures for figures in runs)]


def _read(experiment: Experiment) -> dict[Key, store.Run]:
    return store.read(store.path_of(experiment.name), experiment.name)


def hours(experiment: Experiment) -> str:
    """Return in words what the recorded runs of an experiment have cost."""
    seconds = [run.cpu_seconds or 0 for run in _read(experiment).values()]
    if seconds and not any(seconds):
        return "time not recorded"
    minutes = sum(seconds) / 60
    return f"{minutes / 60:.1f} hours of a core" if minutes >= 120 else f"{minutes:.0f} minutes"


def _runs(number: int) -> str:
    return f"{number} run{'s' * (number != 1)}"


def _short(figures: dict[str, float]) -> str:
    return ", ".join(f"{name} {value:.4g}" for name, value in figures.items())


if __name__ == "__main__":
    sys.exit(main())
