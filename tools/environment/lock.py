"""Compile requirements.txt, the one lock, from pyproject.toml."""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = "transformer-walkthrough"
OPTIONS = (
    "--extra=book",
    "--extra=dev",
    "--strip-extras",
    "--no-annotate",
    "--no-header",
    "--no-emit-find-links",
    "--no-emit-index-url",
    "--no-emit-trusted-host",
    "--unsafe-package=pip",  # it installs the lock; setuptools, which torch wants, is in it
    "--quiet",
)


def portable(compiled: str) -> str:
    """The lock for any machine: no local builds such as torch's `+cpu`; the package last.

    One extra asks for another, so the package stands there a second time, with this folder's path.
    """
    kept = [line for line in compiled.splitlines() if line.strip() and not line.startswith("#")]
    kept = [re.sub(r"^([\w.-]+==[^\s+;]+)\+[\w.]+", r"\1", line) for line in kept]
    others = [line for line in kept if line != "-e ." and not line.startswith(f"{PACKAGE} @ ")]
    return "\n".join([*others, "-e ."]) + "\n"


def main() -> int:
    """Write the lock, keeping versions that still fit."""
    lock = ROOT / "requirements.txt"
    before = lock.read_text("utf-8") if lock.exists() else ""
    # pip-compile keeps what its output file names; the editable line is ours, not its own.
    kept = (line for line in before.splitlines(True) if line.strip() != "-e .")
    lock.write_text("".join(kept), "utf-8")
    pip_compile = str(Path(sys.executable).parent / "pip-compile")
    command = [pip_compile, *OPTIONS, "--output-file", lock.name, "pyproject.toml"]
    status = subprocess.run(command, cwd=ROOT, check=False).returncode
    lock.write_text(before if status else portable(lock.read_text("utf-8")), "utf-8")
    return status


if __name__ == "__main__":
    sys.exit(main())
