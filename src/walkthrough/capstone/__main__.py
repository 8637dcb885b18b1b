"""The reader's own Transformer in one file. Its code is executed.

python -m walkthrough.capstone new [FILE]
python -m walkthrough.capstone check [FILE] [--all] [--json] [--held-out PAIRS]
python -m walkthrough.capstone train [FILE] [--updates 400] [--minutes M] [--seed 1] [--out WEIGHTS]
python -m walkthrough.capstone grade FOLDER [--held-out PAIRS] [--csv OUT]
python -m walkthrough.capstone export FILE WEIGHTS OUT

FILE is my_transformer.py unless named. PAIRS has a French sentence, a tab and its translation in
each line. What `new`, `train` and `export` write is a new file: a name that exists is refused.
`COMMAND --help` explains the options. The exit status is 1 where something is wrong, 2 where
something cannot be told or done.
"""

import argparse
import csv
import json
import sys
from pathlib import Path
from typing import Any

from walkthrough.doctor import CannotCallError
from walkthrough.doctor.apart import each_apart, limited
from walkthrough.doctor.loading import NoModelError

DEFAULT = "my_transformer.py"


def main(arguments: list[str], *, guarded: bool = False) -> int:
    """Run the command; `guarded` ends this process at the limits of time and memory."""
    given = _parser().parse_args(arguments)
    if guarded and getattr(given, "seconds", None) and given.command == "check":
        limited(given.seconds, given.gigabytes)
    try:
        return int(COMMANDS[given.command](given))
    except (NoModelError, CannotCallError, ValueError, OSError, ImportError) as error:
        print(error, file=sys.stderr)
        return 2


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("python -m walkthrough.capstone", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    one = commands.add_parser("new", help="write the skeleton: ten stubs")
    one.add_argument("file", nargs="?", default=DEFAULT)
    one = commands.add_parser("check", help="which stubs are written, which are right")
    one.add_argument("file", nargs="?", default=DEFAULT)
    one.add_argument("--all", action="store_true", help="the doctor's whole report")
    one.add_argument("--json", action="store_true", help="everything, as JSON")
    one.add_argument("--held-out", type=Path, help="pairs to translate")
    one.add_argument("--seconds", type=float, help="limit for the file")
    one.add_argument("--gigabytes", type=float, default=4.0, help="limit for the file")
    one = commands.add_parser("train", help="run your loop on the phrasebook")
    one.add_argument("file", nargs="?", default=DEFAULT)
    one.add_argument("--updates", type=int, default=400, help="400 unless given")
    one.add_argument("--minutes", type=float, help="end the batches after that")
    one.add_argument("--seed", type=int, default=1, help="of weights, batches and dropout")
    one.add_argument("--out", type=Path, help="weights, a new file; FILE with .safetensors")
    one = commands.add_parser("grade", help="a row for each file of a folder")
    one.add_argument("folder", type=Path)
    one.add_argument("--held-out", type=Path, help="pairs that nobody has seen")
    one.add_argument("--csv", type=Path, help="where the rows go, over an old file; else printed")
    one.add_argument("--seconds", type=float, default=120.0, help="limit for one file")
    one.add_argument("--gigabytes", type=float, default=4.0, help="limit for one file")
    one = commands.add_parser("export", help="one file for the panel of chapter 21")
    for name in ("file", "weights", "out"):
        one.add_argument(name, help="a new file" if name == "out" else None)
    return parser


def _new(given: argparse.Namespace) -> int:
    from walkthrough.capstone import new

    path = new(given.file)
    print(f"{path}: ten stubs. Write one, then:  python -m walkthrough.capstone check {path}")
    return 0


def _check(given: argparse.Namespace) -> int:
    from walkthrough.capstone import check

    pairs = None if given.held_out is None else pairs_of(given.held_out)
    result = check(given.file)
    told = result.to_dict()
    if pairs is not None:
        told |= _held_out(result, Path(given.file).with_suffix(".safetensors"), pairs)
    shown = result.text(everything=given.all)
    print(json.dumps(told, indent=1, ensure_ascii=False) if given.json else shown)
    if pairs is not None and not given.json:
        print(f"\nHeld-out pairs translated exactly: {told['held_out']}")
    untold = any(part.status == "cannot tell" for part in result.parts.values())
    return 1 if result.wrong else 2 * untold


def _held_out(result: Any, weights: Path, pairs: list[tuple[str, str]]) -> dict[str, Any]:
    """Score the pairs with the weights beside the file, else with the book's."""
    from walkthrough.capstone.training import exact, load_weights

    if result.model is None:
        return {"held_out": None, "weights": ""}
    own = weights.exists()
    if own:
        load_weights(result.model, weights)
    return {"held_out": exact(result.model, pairs), "weights": weights.name if own else "book's"}


def pairs_of(path: Path) -> list[tuple[str, str]]:
    """Return the pairs of a file, a tab between the sentences of each line.

    Raises:
        ValueError: a line is no pair, or there is none.
    """
    pairs = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        parts = line.split("\t")
        if len(parts) != 2:
            raise ValueError(f"{path}, line {number}: a pair has one tab, got {len(parts) - 1}")
        pairs.append((parts[0].strip(), parts[1].strip()))
    if not pairs:
        raise ValueError(f"{path} has no pairs")
    return pairs


def _train(given: argparse.Namespace) -> int:
    from walkthrough.capstone import train

    out = given.out or Path(given.file).with_suffix(".safetensors")
    print(
        train(given.file, n_updates=given.updates, minutes=given.minutes, seed=given.seed, out=out)
    )
    return 0


def _grade(given: argparse.Namespace) -> int:
    folder = given.folder
    if not folder.is_dir():
        raise ValueError(f"{folder} is no folder")
    if not any(path.suffix in (".py", ".ipynb") for path in folder.iterdir()):
        raise ValueError(f"{folder} has no .py or .ipynb file")
    options = []
    if given.held_out is not None:
        pairs_of(given.held_out)
        options = ["--held-out", str(given.held_out)]
    out = sys.stdout if given.csv is None else given.csv.open("w", newline="", encoding="utf-8")
    table, any_wrong = csv.writer(out), False
    table.writerow(["file", "status", "right", *[f"stub {n}" for n in range(1, 11)], "translation",
                    "first block", "bugs", "held out", "weights", "said"])  # fmt: skip
    command = ["walkthrough.capstone", "check"]
    for path, told in each_apart(folder, command, given.seconds, given.gigabytes, options):
        table.writerow([path.name, *_row(told)])
        any_wrong = any_wrong or isinstance(told, str) or bool(told["wrong"])
    if given.csv is not None:
        out.close()
    return int(any_wrong)


def _row(told: dict[str, Any] | str) -> list[Any]:
    if isinstance(told, str):
        return ["not examined", *[""] * 16, told]
    status = [stub["status"] for stub in told["stubs"]]
    walk, doctor = told["walk"] or {}, told["doctor"] or {}
    bugs = "; ".join(dict.fromkeys(bug["name"] for bug in doctor.get("bugs", [])))
    held, weights = told.get("held_out"), told.get("weights", "")
    return ["examined", status.count("right"), *status, told["translation"],
            walk.get("first") or "", bugs, "" if held is None else round(held, 4), weights,
            " ".join(told["said"])]  # fmt: skip


def _export(given: argparse.Namespace) -> int:
    from walkthrough.capstone import export

    print(export(given.file, given.weights, given.out))
    return 0


COMMANDS = {"new": _new, "check": _check, "train": _train, "grade": _grade, "export": _export}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], guarded=True))
