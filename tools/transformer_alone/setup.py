"""The model's package alone, without the phrasebook and the book.

    pip install ./tools/transformer_alone

Version and dependencies are those of the pyproject.toml at the top of the repository.
"""

import tomllib
from pathlib import Path

from setuptools import find_packages, setup

TOP = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((TOP / "pyproject.toml").read_text(encoding="utf-8"))["project"]

setup(
    name="transformer-alone",
    version=PROJECT["version"],
    description="The Transformer of “Attention Is All You Need”: train it, translate, measure",
    license="MIT",
    python_requires=PROJECT["requires-python"],
    install_requires=PROJECT["dependencies"],
    package_dir={"": "../../src"},
    packages=find_packages(str(TOP / "src"), include=["transformer", "transformer.*"]),
)
