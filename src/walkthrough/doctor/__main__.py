"""Examine the model of a file, or of every file of a folder. Their code is executed.

python -m walkthrough.doctor FILE[:NAME] [--pad 0] [--json]
python -m walkthrough.doctor --folder DIR --csv OUT

NAME is a module, or a class or function that builds one. The exit status is 1 where a bug is
seen, and 2 where nothing could be examined.
"""

import argparse
import csv
import sys
from pathlib import Path

from walkthrough.doctor import CannotCallError, Report, examine
from walkthrough.doctor.apart import each_apart, limited
from walkthrough.doctor.loading import NoModelError, load
from walkthrough.doctor.report import TITLES


def main(arguments: list[str], *, guarded: bool = False) -> int:
    """Run the command; `guarded` ends this process at the limits of time and memory."""
    parser = argparse.ArgumentParser("python -m walkthrough.doctor", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("file", nargs="?", metavar="FILE[:NAME]")
    parser.add_argument("--pad", type=int, nargs="+", default=[0], help="of source (and target)")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--folder", type=Path, help="examine every .py and .ipynb file in it")
    parser.add_argument("--csv", type=Path, help="a row for each file of the folder")
    parser.add_argument("--seconds", type=float, default=60.0, help="limit for one file")
    parser.add_argument("--gigabytes", type=float, default=4.0, help="limit for one file")
    given = parser.parse_args(arguments)
    if (given.file is None) == (given.folder is None) or len(given.pad) > 2:
        parser.error("expected either FILE[:NAME] or --folder DIR, and one or two ids of padding")
    if given.folder is not None:
        if not given.folder.is_dir() or given.csv is None:
            parser.error(f"expected --folder DIR --csv OUT, got {given.folder} and {given.csv}")
        return folder(given)
    if guarded:
        limited(given.seconds, given.gigabytes)
    path, _, name = given.file.partition(":")
    try:
        report = first_report(Path(path), name, (given.pad[0], given.pad[-1]))
    except (NoModelError, CannotCallError) as error:
        print(error, file=sys.stderr)
        return 2
    print(report.to_json() if given.json else report)
    return 1 if report.bugs else 0 if report.looked_for else 2


def first_report(path: Path, name: str, pads: tuple[int, int]) -> Report:
    """Examine the first model of the file that can be called."""
    refused: CannotCallError | None = None
    for model in load(path, name):
        try:
            return examine(model, pads[0] if pads[0] == pads[1] else pads)
        except CannotCallError as error:
            refused = refused or error
    raise refused or NoModelError(f"{path} holds no model")


def folder(given: argparse.Namespace) -> int:
    """Examine each file in a process of its own; write one row a file."""
    limits, options = (given.seconds, given.gigabytes), ["--pad", *map(str, given.pad)]
    any_bug = False
    with given.csv.open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(["file", "status", *TITLES, "said"])
        for path, told in each_apart(given.folder, ["walkthrough.doctor"], *limits, options):
            if isinstance(told, str):
                table.writerow([path.name, "not examined", *[""] * len(TITLES), told])
                continue
            names = ["; ".join(finding["name"] for finding in told[to]) for to in TITLES]
            status = "examined" if told["looked_for"] or told["bugs"] else "not examined"
            table.writerow([path.name, status, *names, told["verdict"]])
            any_bug = any_bug or bool(told["bugs"])
    return int(any_bug)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], guarded=True))
