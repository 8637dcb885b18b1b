"""Records: `results/NN-name.jsonl`, one line a run, and `NN-name.counts.npz` beside it.

A finished run is appended at once, so a killed command loses the line that it was writing and no
other. Of two lines with one key the last one counts.
"""

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

import numpy as np
from filelock import FileLock

from transformer.fields import check_names
from transformer.training.checkpoint import write_atomically
from walkthrough.lab.keys import Key, Number, unknown
from walkthrough.page.results import FOLDER

SCHEMA = 1
"""Of the lines that this code writes; a record with a higher one is refused."""
PHASES = ("search", "claim", "trial")
DIGITS = 8
_TEXT, _NUMBER = (str,), (int, float)
_TYPES: dict[str, tuple[type, ...]] = {
    **dict.fromkeys(("experiment", "arm", "phase", "commit", "date"), _TEXT),
    **dict.fromkeys(("declaration", "sources", "failed"), (str, type(None))),
    **dict.fromkeys(("schema", "length", "seed"), (int,)),
    **dict.fromkeys(("parameters", "target_tokens"), (int, type(None))),
    **dict.fromkeys(("figures", "extra", "machine", "versions"), (dict,)),
    "rate": _NUMBER,
    "cpu_seconds": (*_NUMBER, type(None)),
    "curve": (list,),
}


class RecordError(ValueError):
    """A record that this code must not use: another experiment's, a newer one, a broken line."""


@dataclass(frozen=True, kw_only=True)
class Run:
    """One line of a record; it is checked when it is written and when it is read.

    `declaration` is a hash of what was declared of the arm (None: the run is older than the
    laboratory), `sources` one of the code, which older runs have. `failed` says why a run has no
    figures.
    """

    experiment: str
    arm: str
    rate: Number
    length: int
    seed: int
    phase: str
    figures: dict[str, Any] = field(default_factory=dict)
    commit: str
    date: str
    machine: dict[str, Any]
    versions: dict[str, str]
    parameters: int | None = None
    target_tokens: int | None = None
    cpu_seconds: Number | None = None
    curve: list[Any] = field(default_factory=list)
    extra: dict[str, Any]
    failed: str | None = None
    declaration: str | None = None
    sources: str | None = None
    schema: int = SCHEMA

    @property
    def key(self) -> Key:
        """What names the run."""
        return Key(self.arm, self.rate, self.length, self.seed)

    def to_line(self) -> str:
        """Return the run as one line of JSON; numbers have eight significant digits."""
        told = {
            n: v for n, v in asdict(self).items() if n == "extra" or v not in (None, {}, [], ())
        }
        return json.dumps(_short(told), ensure_ascii=False) + "\n"

    @classmethod
    def from_line(cls, line: str, where: str) -> "Run":
        """Read and check one line.

        Raises:
            RecordError: it is newer than this code, or not a run.
        """
        try:
            told = json.loads(line)
        except json.JSONDecodeError as error:
            raise RecordError(f"{where} is not JSON: {error}") from None
        if told.get("schema", 0) > SCHEMA:
            raise RecordError(
                f"{where} was written by a newer version (schema {told['schema']}; this code knows "
                f"{SCHEMA}): update the book, or name another file with --record"
            )
        try:
            check_names("a run", told, {f.name for f in fields(cls)})
            _check(told)
            return cls(**told)
        except (TypeError, ValueError) as error:
            raise RecordError(f"{where}: {error}") from None


def _check(told: Mapping[str, Any]) -> None:
    """Raise RecordError unless a line holds what a run holds.

    Figures are finite numbers, named `split/decode/measure`.
    """
    for name, value in told.items():
        kinds = _TYPES[name]
        if not isinstance(value, kinds) or isinstance(value, bool):
            named = " or ".join(kind.__name__ for kind in kinds)
            raise RecordError(f"{name} must be {named}, got {value!r}")
    if told.get("phase") not in PHASES:
        raise RecordError(f"phase must be one of {PHASES}, got {told.get('phase')!r}")
    figures, curve = told.get("figures", {}), told.get("curve", [])
    if any(not isinstance(point, list) or len(point) != 3 for point in curve):
        raise RecordError("a point of a curve is [update, figure, value]")
    for name, value in [*figures.items(), *(point[1:] for point in curve)]:
        if str(name).count("/") != 2:
            raise RecordError(f"a figure is split/decode/measure, got {name!r}")
        if not isinstance(value, _NUMBER) or not math.isfinite(value):
            raise RecordError(f"{name} must be a finite number, got {value!r}")
    if not figures and not told.get("failed"):
        raise RecordError("a run without figures must say why it `failed`")


def path_of(name: str, folder: Path | None = None) -> Path:
    """Return where the record of an experiment stands."""
    return (folder or FOLDER) / f"{name}.jsonl"


def read(path: Path, experiment: str | None = None) -> dict[Key, Run]:
    """Return the runs of a file by key, the last line of each; nothing where there is no file.

    A last line without its end, which a killed command leaves, is passed over.

    Raises:
        RecordError: it holds another experiment, a newer schema, or a line that is no run.
    """
    if not path.is_file():
        return {}
    lines = path.read_text(encoding="utf-8").split("\n")[:-1]  # what follows the last end is torn
    runs: dict[Key, Run] = {}
    for number, line in enumerate(lines, start=1):
        run = Run.from_line(line, f"{path}, line {number}")
        if experiment is not None and run.experiment != experiment:
            raise RecordError(
                f"{path}, line {number} is a run of {run.experiment!r}, not of {experiment!r}: "
                "name another file with --record"
            )
        runs[run.key] = run
    return runs


def append(path: Path, run: Run, counts: Mapping[str, Any] | None = None) -> None:
    """Add one run to a file, and what its scores count a sentence to the one beside it.

    Raises:
        RecordError: the line could not be read again.
    """
    line = run.to_line()
    Run.from_line(line, f"{run.experiment}, {run.key}")
    with FileLock(path.with_name(f".{path.name}.lock")):  # makes the folder, too
        if counts:
            _add_counts(path, run.key, counts)
        with path.open("ab+") as file:
            file.seek(0)
            whole = file.read().rfind(b"\n") + 1
            file.truncate(whole)  # a torn line goes
            file.write(line.encode())


def try_to_write(path: Path) -> None:
    """Raise the OSError now that a record would raise when its first run is done."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.open("ab").close()
    if not path.stat().st_size:
        path.unlink()


def counts(path: Path, key: Key, figure: str) -> Any:
    """Return what a figure counts of each sentence, a row a sentence, or None."""
    beside = _counts_path(path)
    if not beside.is_file():
        return None
    with np.load(beside) as stored:
        name = _counts_name(key, figure)
        return stored.get(name)


def frame(name: str, *, folder: Path | None = None) -> Any:
    """Return a record as a pandas table: a row a run, a column a figure.

    Raises:
        FileNotFoundError: there is none of that name.
    """
    import pandas as pd  # half a second

    rows = []
    for run in _runs(name, folder):
        told = {f.name: getattr(run, f.name) for f in fields(run) if f.name != "figures"}
        rows.append({**told, **run.figures})
    return pd.DataFrame(rows)


def scores(name: str, *, folder: Path | None = None) -> Any:
    """Return a record in long form: the key, split, decode, measure, value."""
    import pandas as pd

    return pd.DataFrame(
        [
            {**run.key._asdict(), **_parts(figure), "value": value}
            for run in _runs(name, folder)
            for figure, value in run.figures.items()
        ]
    )


def curves(name: str, *, folder: Path | None = None) -> Any:
    """Return a record's curves in long form: the key, update, split, decode, measure, value."""
    import pandas as pd

    return pd.DataFrame(
        [
            {**run.key._asdict(), "update": update, **_parts(figure), "value": value}
            for run in _runs(name, folder)
            for update, figure, value in run.curve
        ]
    )


def resolve(figure: str, known: Iterable[str]) -> str:
    """Return the one figure that has these parts in this order, so `valid/perplexity` is enough.

    Raises:
        KeyError: none has, or more than one.
    """
    names = list(dict.fromkeys(known))
    if figure in names:
        return figure
    fitting = []
    for name in names:
        parts = iter(name.split("/"))
        if all(part in parts for part in figure.split("/")):
            fitting.append(name)
    if len(fitting) > 1:
        raise KeyError(f"figure {figure!r} may be {' or '.join(fitting)}: say which")
    if not fitting:
        raise KeyError(unknown("figure", figure, names))
    return fitting[0]


def _runs(name: str, folder: Path | None) -> list[Run]:
    path = path_of(name, folder)
    if not path.is_file():
        known = sorted(other.stem for other in path.parent.glob("*.jsonl"))
        raise FileNotFoundError(f"{path}: {unknown('record', name, known)}")
    return list(read(path, name).values())


def _parts(figure: str) -> dict[str, str]:
    return dict(zip(("split", "decode", "measure"), figure.split("/"), strict=True))


def _short(value: Any) -> Any:
    """Return a value with few digits in its numbers; NumPy's and torch's become Python's."""
    if isinstance(value, dict):
        return {str(name): _short(part) for name, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_short(part) for part in value]
    if isinstance(value, (bool, int, str)) or value is None:
        return value
    return float(f"{float(value):.{DIGITS}g}")


def _counts_path(path: Path) -> Path:
    return path.with_name(f"{path.stem}.counts.npz")


def _counts_name(key: Key, figure: str) -> str:
    return f"{key.arm}@{key.rate:g}@{key.length}@{key.seed}@{figure}".replace("/", "|")


def _add_counts(path: Path, key: Key, counts: Mapping[str, Any]) -> None:
    import io

    beside = _counts_path(path)
    stored = dict(np.load(beside)) if beside.is_file() else {}
    stored |= {_counts_name(key, figure): np.asarray(rows) for figure, rows in counts.items()}
    file = io.BytesIO()
    np.savez_compressed(file, **stored)
    write_atomically(beside, file.getvalue())
