"""The reader's own Transformer in one file. Its code is executed.

python -m walkthrough.capstone new [FILE]
python -m walkthrough.capstone check [FILE] [--all] [--json] [--held-out PAIRS]
python -m walkthrough.capstone train [FILE] [--updates 400] [--minutes M] [--seed 1] [--out WEIGHTS]
python -m walkthrough.capstone see [FILE] [--sentence "…"] [--weights WEIGHTS] [--out PAGE]
python -m walkthrough.capstone export FILE WEIGHTS OUT
python -m walkthrough.capstone grade FOLDER [--held-out PAIRS] [--csv OUT]

FILE is my_transformer.py unless named, WEIGHTS and PAGE are FILE with .safetensors and .html. PAIRS
has a French sentence, a tab and its translation in each line. What `new`, `train` and `export`
write is a new file: a name that exists is refused; `see` writes over a page of its own.
`COMMAND --help` explains the options. The exit status is 1 where something is wrong, 2 where
something cannot be told or done.
"""

import argparse
import csv
import json
import sys
from pathlib import Path
from typing import Any

from walkthrough import capstone
from walkthrough.capstone.training import exact, load_weights
from walkthrough.doctor import CannotCallError
from walkthrough.doctor.apart import each_apart, limited

FILE: dict[str, Any] = {"nargs": "?", "default": "my_transformer.py"}
HELD_OUT: dict[str, Any] = {"type": Path, "help": "pairs that nobody has seen, to translate"}
GIGABYTES: dict[str, Any] = {"type": float, "default": 4.0, "help": "limit for one file"}
OPTIONS: dict[str, tuple[str, dict[str, dict[str, Any]]]] = {
    "new": ("write the skeleton: ten stubs", {"file": FILE}),
    "check": ("which stubs are written, which are right", {
        "file": FILE,
        "--all": {"action": "store_true", "help": "the doctor's whole report"},
        "--json": {"action": "store_true", "help": "everything, as JSON"},
        "--held-out": HELD_OUT,
        "--seconds": {"type": float, "help": "limit for one file"},
        "--gigabytes": GIGABYTES,
    }),
    "train": ("run your loop on the phrasebook", {
        "file": FILE,
        "--updates": {"type": int, "default": 400, "help": "400 unless given"},
        "--minutes": {"type": float, "help": "end the batches after that"},
        "--seed": {"type": int, "default": 1, "help": "of weights, batches and dropout"},
        "--out": {"type": Path, "help": "weights, a new file"},
    }),
    "see": ("chapter 00's pictures of your model and sentence", {
        "file": FILE,
        "--sentence": {"default": capstone.SENTENCE, "help": "in French, of known words"},
        "--weights": {"type": Path, "help": "what `train` wrote"},
        "--out": {"type": Path, "help": "one page of HTML"},
    }),
    "export": ("one file for the panel of chapter 21", {
        "file": {}, "weights": {}, "out": {"help": "a new file"},
    }),
    "grade": ("a row for each file of a folder", {
        "folder": {"type": Path},
        "--held-out": HELD_OUT,
        "--csv": {"type": Path, "help": "where the rows go, over an old file; else printed"},
        "--seconds": {"type": float, "default": 120.0, "help": "limit for one file"},
        "--gigabytes": GIGABYTES,
    }),
}  # fmt: skip


def main(arguments: list[str], *, guarded: bool = False) -> int:
    """Run the command; `guarded` ends this process at the limits of time and memory."""
    parser = argparse.ArgumentParser("python -m walkthrough.capstone", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, (said, options) in OPTIONS.items():
        one = commands.add_parser(name, help=said)
        for option, more in options.items():
            one.add_argument(option, **more)
    given = parser.parse_args(arguments)
    if guarded and given.command == "check" and given.seconds:
        limited(given.seconds, given.gigabytes)
    try:
        return int(globals()[f"_{given.command}"](given) or 0)
    except (CannotCallError, ValueError, OSError, ImportError) as error:
        print(error, file=sys.stderr)
        return 2


def _new(given: argparse.Namespace) -> None:
    path = capstone.new(given.file)
    print(f"{path}: ten stubs. Write one, then:  python -m walkthrough.capstone check {path}")


def _check(given: argparse.Namespace) -> int:
    pairs = given.held_out and pairs_of(given.held_out)
    result = capstone.check(given.file)
    told = result.to_dict()
    if pairs:  # translated with the weights beside the file, else with the book's
        told |= {"held_out": None, "weights": ""}
        if result.model is not None:
            weights = Path(given.file).with_suffix(".safetensors")
            if own := weights.exists():
                load_weights(result.model, weights)
            told |= {"held_out": exact(result.model, pairs)}
            told |= {"weights": weights.name if own else "book's"}
    if given.json:
        print(json.dumps(told, indent=1, ensure_ascii=False))
    else:
        print(result.text(everything=given.all))
        if pairs:
            print(f"\nHeld-out pairs translated exactly: {told['held_out']}")
    untold = any(part.status == "cannot tell" for part in result.parts.values())
    return 1 if result.wrong else 2 * untold


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


def _train(given: argparse.Namespace) -> None:
    out = given.out or Path(given.file).with_suffix(".safetensors")
    options = {"n_updates": given.updates, "minutes": given.minutes, "seed": given.seed}
    print(capstone.train(given.file, **options, out=out))


def _see(given: argparse.Namespace) -> None:
    out = given.out or Path(given.file).with_suffix(".html")
    found = capstone.see(given.file, given.sentence, weights=given.weights, out=out)
    print(f"{given.sentence} → {found}\n{out}: open it in a browser")


def _export(given: argparse.Namespace) -> None:
    print(capstone.export(given.file, given.weights, given.out))


def _grade(given: argparse.Namespace) -> int:
    folder = given.folder
    if not folder.is_dir():
        raise ValueError(f"{folder} is no folder")
    if not any(path.suffix in (".py", ".ipynb") for path in folder.iterdir()):
        raise ValueError(f"{folder} has no .py or .ipynb file")
    if given.held_out is not None:
        pairs_of(given.held_out)
    options = [] if given.held_out is None else ["--held-out", str(given.held_out)]
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


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], guarded=True))
