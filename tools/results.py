"""Make the records under results/ again where the code that they depend on has changed since.

    python tools/results.py --list              # every record: command, time, files, state
    python tools/results.py                     # those whose code has changed, one after another
    python tools/results.py phrasebook-trees.json --all

A record depends on its tool and on every module of this repository that the tool imports, directly
or through others. It counts as made by this code when none of these files differs from the commit
that it names. `RECORDS` is the one list: results/README.md is held to it.
"""

import argparse
import ast
import json
import shlex
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from math import ceil
from pathlib import Path
from typing import Any

import grimp

from transformer.training import load_checkpoint

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "results"
PACKAGES = ("transformer", "walkthrough")


@dataclass(frozen=True)
class Record:
    """A file under results/, the command that makes it, and its time on one core, in minutes.

    `programs` are modules that the tool starts instead of importing them.
    """

    file: str
    command: str
    minutes: int
    programs: tuple[str, ...] = ()


COMMAND_LINE = ("transformer.__main__",)
RECORDS = (
    Record("phrasebook.json", "tools/run_phrasebook.py", 6),
    Record("phrasebook-averaging.json", "tools/run_averaging.py", 3),
    Record("phrasebook-dropout.json", "tools/run_dropout.py", 6),
    Record("phrasebook-half-trained.safetensors", "tools/make_half_trained.py", 1),
    Record("phrasebook-modern.json", "tools/run_modern.py", 14),
    Record("phrasebook-heads.json", "tools/run_heads.py", 9),
    Record("phrasebook-heads-en-fr.safetensors", "tools/run_heads.py", 9),
    Record("phrasebook-heads-fr-en.safetensors", "tools/run_heads.py", 9),
    Record("phrasebook-recurrent.json", "tools/run_translators.py", 6),
    Record("phrasebook-smoothing.json", "tools/run_smoothing.py", 4),
    Record("phrasebook-translator.safetensors", "tools/make_page_translator.py", 2),
    Record("phrasebook-variations.json", "tools/run_variations.py", 35),
    Record("phrasebook-trees.json", "tools/run_phrase_trees.py", 4),
    Record(
        "craft-trees.json",
        "tools/run_trees.py baselines words tags curve --sizes 4525 9050",
        5 * 60,
        COMMAND_LINE,
    ),
    Record("multi30k-variations.json", "tools/run_variations.py multi30k", 5 * 60, COMMAND_LINE),
    Record("multi30k-heads.json", "tools/run_caption_heads.py", 18),
    Record("multi30k-sight.json", "tools/run_sight.py", 2),
)


def main(arguments: Sequence[str] | None = None) -> int:
    """List the records, or make again what this code did not make."""
    args = parsed(arguments)
    chosen = [record for record in RECORDS if not args.records or record.file in args.records]
    if args.list:
        print(table(chosen))
        return 0
    for record in chosen:
        since = changed_since(record)
        if not since and not args.all:
            print(f"{record.file}: recorded by this code")
            continue
        print(f"{record.file}: {record.command}, {cost(minutes(record))}", flush=True)
        subprocess.run([sys.executable, *shlex.split(record.command)], cwd=ROOT, check=True)
    return 0


def parsed(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    names = [record.file for record in RECORDS]
    parser.add_argument("records", nargs="*", metavar="FILE", help="only these records")
    parser.add_argument("--list", action="store_true", help="print the records, run nothing")
    parser.add_argument("--all", action="store_true", help="run what this code made, too")
    args = parser.parse_args(arguments)
    unknown = [name for name in args.records if name not in names]
    if unknown:
        parser.error(f"no record {unknown[0]!r}; there are {', '.join(names)}")
    return args


def table(records: Iterable[Record]) -> str:
    """Return the list of records as text."""
    lines = []
    for record in records:
        since, n_files = changed_since(record), len(files(record))
        lines += [
            f"{record.file}",
            f"    command     {record.command}",
            f"    one core    {cost(minutes(record))}",
            f"    depends on  {n_files} files: {', '.join(rooms(files(record)))}",
            f"    state       {state(since)}",
        ]
    return "\n".join(lines)


def state(since: Sequence[str]) -> str:
    """Return in words whether this code made a record."""
    if not since:
        return "recorded by this code"
    more = f" and {len(since) - 2} more" if len(since) > 2 else ""
    return f"code changed since: {', '.join(since[:2])}{more}"


def rooms(paths: Iterable[str]) -> list[str]:
    """Return where files stand: the tools, the model's package, the rooms of the book's."""
    found = set()
    for path in paths:
        parts = Path(path.removeprefix("src/")).parent.parts
        found.add("/".join(parts[: 2 if "walkthrough" in parts else 1]))
    return sorted(found - {"", "walkthrough"})


def cost(n_minutes: int) -> str:
    """Return a time in words."""
    number, unit = (n_minutes // 60, "hour") if n_minutes >= 120 else (n_minutes, "minute")
    return f"{number} {unit}{'s' if number > 1 else ''}"


def minutes(record: Record) -> int:
    """Return the processor time that the record itself counted; else what `RECORDS` states."""
    spent = [run["cpu_seconds"] for run in runs(record) if "cpu_seconds" in run]
    return ceil(sum(spent) / 60) if spent else record.minutes


# What a record depends on ------------------------------------------------------------------------


def files(record: Record) -> list[str]:
    """Return the files of this repository that run when a record is made, by their paths."""
    tools, found = scripts(record.command.split()[0]), set(record.programs)
    for tool in tools:
        found |= {name for name in map(module_of, imports(ROOT / tool)) if name}
    graph = modules()
    for name in list(found):
        found |= graph.find_upstream_modules(name)
    found |= {package for name in found for package in packages_around(name)}
    return sorted({*tools, *map(path_of, found)})


def scripts(tool: str) -> list[str]:
    """Return a tool and the tools that it imports."""
    found, open_ones = set(), [tool]
    while open_ones:
        path = open_ones.pop()
        if path not in found and (ROOT / path).is_file():
            found.add(path)
            open_ones += [f"tools/{name.split('.')[0]}.py" for name in imports(ROOT / path)]
    return sorted(found)


def imports(path: Path) -> Iterator[str]:
    """Yield the names that a file imports, each with the module it comes from."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


@cache
def modules() -> Any:
    """Return who imports whom in the packages of this repository."""
    return grimp.build_graph(*PACKAGES, cache_dir=None)


def module_of(name: str) -> str | None:
    """Return the module of the packages that an imported name is, or stands in."""
    if name.split(".")[0] not in PACKAGES:
        return None
    return name if name in modules().modules else name.rpartition(".")[0]


def packages_around(name: str) -> list[str]:
    """Return the packages that a module stands in: their `__init__` runs as well."""
    parts = name.split(".")
    return [".".join(parts[:n]) for n in range(1, len(parts))]


def path_of(module: str) -> str:
    """Return the file of a module."""
    path = Path("src", *module.split("."))
    return str(path / "__init__.py" if (ROOT / path).is_dir() else path.with_suffix(".py"))


# What has changed since --------------------------------------------------------------------------


def changed_since(record: Record) -> list[str]:
    """Return the files that differ from those that made a record; all, if nobody can know."""
    needed, found = files(record), set()
    if not runs(record):
        return needed
    for run in runs(record):
        found |= set(run.get("changed_since", [])) & set(needed)
        found |= set(differing(run["commit"], tuple(needed)))
    return sorted(found)


@cache
def differing(commit: str, paths: tuple[str, ...]) -> list[str]:
    """Return which of these files differ from a commit; all, where it is not in this clone."""
    asked = ["git", "diff", "--name-only", commit, "--", *paths]
    found = subprocess.run(asked, cwd=ROOT, capture_output=True, text=True, check=False)
    return found.stdout.splitlines() if found.returncode == 0 else list(paths)


def runs(record: Record) -> list[dict[str, Any]]:
    """Return the runs of a record, each with the commit and the changed files it was made with."""
    path = RESULTS / record.file
    if not path.is_file():
        return []
    if path.suffix == ".json":
        head = json.loads(path.read_text(encoding="utf-8"))
    else:
        head = dict(load_checkpoint(path).notes)
    origin = {
        "commit": head.get("commit"),
        "changed_since": [line.split()[-1] for line in head.get("changed_since", [])],
    }
    return [{**origin, **run} for run in head.get("runs") or [{}]]


if __name__ == "__main__":
    sys.exit(main())
