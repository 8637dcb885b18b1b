"""Install the lock into the environment that runs this.

    python -m tools.environment.install [REQUIREMENTS]

The lock is complete, so pip need not look for dependencies; two run side by side, each with half of
it, and files are compiled when they are first imported.

"Complete" holds for the machine that the lock was compiled on. Elsewhere a package may want more:
torch with CUDA does, and cannot be imported without. So pip says afterwards whether all is there,
and where it is not, installs once more with dependencies, which adds what is missing.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

PIP = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
QUIET = ("--quiet", "--quiet")  # errors alone: pip warns of what a machine is set to
SIDE_BY_SIDE = 2


def lines_of(path: Path) -> list[str]:
    """The lines of a requirements file and of those that it includes, without comments."""
    found = []
    for line in path.read_text(encoding="utf-8").splitlines():
        said = line.partition(" #")[0].strip()
        if said.startswith("-r "):
            found += lines_of(path.parent / said[3:].strip())
        elif said and not said.startswith("#"):
            found.append(said)
    return found


def shares(lines: list[str], number: int) -> list[list[str]]:
    """The packages in so many parts, each with all the options."""
    options = [line for line in lines if line.startswith("--")]
    packages = [line for line in lines if not line.startswith("--")]
    return [options + packages[start::number] for start in range(min(number, len(packages)))]


def install_shares(lines: list[str]) -> bool:
    """Install the packages without looking at what they depend on; whether pip managed."""
    with tempfile.TemporaryDirectory() as folder:
        running = []
        for number, share in enumerate(shares(lines, SIDE_BY_SIDE)):
            part = Path(folder) / f"part-{number}.txt"
            part.write_text("\n".join(share) + "\n", encoding="utf-8")
            options = ["install", *QUIET, "--no-deps", "--no-compile"]
            running.append(subprocess.Popen([*PIP, *options, "-r", str(part)]))
        return not any([process.wait() for process in running])


def complete() -> str:
    """What is missing, in pip's words, or torch's: empty when nothing is."""
    for command in ([*PIP, "check"], [sys.executable, "-c", "import torch"]):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            return (done.stdout + done.stderr).strip()
    return ""


def main() -> int:
    """Install, check, and install what is missing."""
    requirements = Path(sys.argv[1] if len(sys.argv) > 1 else "requirements.txt")
    if install_shares(lines_of(requirements)):
        missing = complete()
        if not missing:
            return 0
        print(f"This machine wants more than the lock has:\n{missing}\nInstalling it …", flush=True)
    plainly = [*PIP, "install", *QUIET, "-r", str(requirements)]
    return subprocess.run(plainly, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
