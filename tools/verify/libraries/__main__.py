"""How other libraries' Transformers differ from the paper's: measure them, and keep the record.

    python -m tools.verify.libraries [NAME …] [--environments FOLDER]

Each library of libraries.toml gets an environment of its own, in which pip installs it beside this
one's torch; there its adapter moves the paper's model, with random weights, into the library and
measures what it does by default. The rows stand in results/libraries.json, from which
`python -m tools.book.libraries` makes the page. It needs the network and takes an hour or more for
all, and is no part of the tests. How an installation or an import fails is a row, too.
"""

import argparse
import json
import os
import platform
import subprocess
import sys
import sysconfig
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tools.verify.libraries.inside import MARK

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
LIST = HERE / "libraries.toml"
RECORD = ROOT / "results/libraries.json"
TORCH = f"torch=={version('torch').partition('+')[0]}"


@dataclass(frozen=True, kw_only=True)
class Library:
    """A table of libraries.toml, which says what its fields mean."""

    name: str
    title: str
    package: str
    imports: str
    pins: Sequence[str]
    then: Sequence[str] = ()
    adapter: str = ""
    wheels_only: bool = False


def read_list() -> list[Library]:
    """Return the libraries in the page's order."""
    tables = tomllib.loads(LIST.read_text(encoding="utf-8"))["libraries"]
    return [Library(**table) for table in tables]


def read_record() -> dict[str, Any]:
    """Return the record: what it was made with, and a row a library."""
    return json.loads(RECORD.read_text(encoding="utf-8"))


class Environment:
    """A virtual environment that sees this one's packages, and ours, behind its own."""

    def __init__(self, folder: Path) -> None:
        self.python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
        if not self.python.exists():
            subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
            own = subprocess.run(
                [self.python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"],
                capture_output=True,
                text=True,
                check=True,
            ).stdout.strip()
            seen = (sysconfig.get_path("purelib"), ROOT / "src", ROOT)
            lines = "".join(f"{path}\n" for path in seen)
            Path(own, "beside.pth").write_text(lines, encoding="utf-8")
        self.constraints = folder / "constraints.txt"
        self.constraints.write_text(f"{TORCH}\n")

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run its Python from the project's folder, with one thread."""
        settings = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONWARNINGS": "ignore"}
        command = [str(self.python), *arguments]
        return subprocess.run(command, cwd=ROOT, env=settings, capture_output=True, text=True)

    def install(self, library: Library) -> tuple[bool, str]:
        """Install a library, with what it asks for if pip agrees; return if and how it is there."""
        if not library.pins:
            return True, "yes"
        pip = ("-m", "pip", "install", "--disable-pip-version-check")
        wheels = ("--only-binary", library.package) if library.wheels_only else ()
        made = self.run(*pip, *wheels, "-c", str(self.constraints), *library.pins)
        if made.returncode == 0:
            return True, "yes"
        if library.wheels_only:
            return False, "no wheel for this Python; its source was not built"
        wanted = [line.strip() for line in made.stdout.splitlines() if " depends on torch" in line]
        why = f"pip refuses: {min(wanted, key=len)}" if wanted else _last_line(made.stderr)
        if self.run(*pip, "--no-deps", *library.pins).returncode:
            return False, why
        return True, f"{why}; installed without what it asks for"

    def imports(self, library: Library) -> tuple[bool, str]:
        """Return if it can be imported in the end, and how an import failed before `then`."""
        failure = self._import(library)
        if not failure or not library.then:
            return not failure, failure
        self.run("-m", "pip", "install", "-c", str(self.constraints), *library.then)
        if self._import(library):
            return False, failure
        return True, f"{failure} – until {', '.join(library.then)} is installed by hand"

    def _import(self, library: Library) -> str:
        made = self.run("-c", f"import {library.imports}")
        return _last_line(made.stderr) if made.returncode else ""


def measure(library: Library, folder: Path) -> dict[str, Any]:
    """Return a library's row.

    Raises:
        RuntimeError: it is there, and its adapter fails.
    """
    here = Environment(folder)
    there, how = here.install(library)
    row: dict[str, Any] = {
        "version": library.pins[-1].partition("==")[2] if library.pins else version("torch"),
        "date": datetime.now(UTC).date().isoformat(),
        "installs": how,
    }
    if not there:
        return row
    there, failure = here.imports(library)
    if failure:
        row["import"] = failure
    if library.adapter and there:
        made = here.run("-m", "tools.verify.libraries.inside", library.adapter)
        found = [line for line in made.stdout.splitlines() if line.startswith(MARK)]
        if not found:
            raise RuntimeError(f"{library.name}: {_last_line(made.stderr)}")
        row |= json.loads(found[0].removeprefix(MARK))
    return row


def _last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1].removeprefix("ERROR: ") if lines else "no word"


def main() -> int:
    """Measure the libraries that are named, or all; return the exit status."""
    libraries = {library.name: library for library in read_list()}
    parser = argparse.ArgumentParser(prog="python -m tools.verify.libraries")
    parser.add_argument("names", nargs="*", metavar="NAME", help="of libraries.toml")
    parser.add_argument("--environments", type=Path, help="keep the environments in this folder")
    asked = parser.parse_args()
    if unknown := [name for name in asked.names if name not in libraries]:
        parser.error(f"no such library: {', '.join(unknown)}; there are {', '.join(libraries)}")
    record = read_record() if RECORD.exists() else {"rows": {}}
    record |= {"python": platform.python_version(), "torch": TORCH.partition("==")[2]}
    failed = 0
    for name in asked.names or libraries:
        print(f"{name} …", flush=True)
        with TemporaryDirectory() as folder:
            try:
                row = measure(libraries[name], (asked.environments or Path(folder)) / name)
            except RuntimeError as error:
                print(error, file=sys.stderr)
                failed = 1
                continue
        record["rows"] = {n: record["rows"].get(n) for n in libraries} | {name: row}
        record["rows"] = {n: r for n, r in record["rows"].items() if r}
        RECORD.write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return failed


if __name__ == "__main__":
    sys.exit(main())
