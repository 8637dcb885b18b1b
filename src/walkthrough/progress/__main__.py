"""Print which exercises are right, for folders of notebooks, as CSV.

python -m walkthrough.progress FOLDER ...     a folder for each reader
"""

import csv
import sys
from pathlib import Path

from walkthrough.progress import progress


def main(folders: list[str]) -> int:
    """Write the table; the exit status is 2 without a folder."""
    if not folders or not all(Path(folder).is_dir() for folder in folders):
        print((__doc__ or "").strip(), file=sys.stderr)
        return 2
    table = csv.writer(sys.stdout, lineterminator="\n")
    table.writerow(["folder", "notebook", "exercise", "status"])
    for folder in folders:
        name = Path(folder).resolve().name
        table.writerows(
            [name, one.notebook, one.exercise, one.status] for one in progress(folder).answers
        )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
