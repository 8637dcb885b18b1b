"""Puts the records of `results/` into the wheel; all else stands in pyproject.toml.

The records keep their place at the top of the repository. An installation that is not editable has
them in `walkthrough/results`, where `walkthrough.page.results` looks first.
"""

from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

RECORDS = sorted(
    path.as_posix()
    for pattern in ("*.json", "*.jsonl", "*.npz", "*.safetensors", "*.tar.xz")
    for path in Path("results").glob(pattern)
)


class BuildWithRecords(build_py):
    """Builds the packages and, unless the installation is editable, copies the records along."""

    def run(self) -> None:
        """Build as usual, then copy."""
        super().run()
        if self.editable_mode:
            return
        for record in RECORDS:
            target = Path(self.build_lib, "walkthrough", record)
            self.mkpath(str(target.parent))
            self.copy_file(record, str(target))

    def get_source_files(self) -> list[str]:
        """Return what a source distribution needs."""
        return [*super().get_source_files(), *RECORDS]


setup(cmdclass={"build_py": BuildWithRecords})
