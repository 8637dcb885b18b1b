"""The package works without the repository: from a wheel, which is built from the sdist."""

import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from walkthrough.page import links
from walkthrough.page.results import FOLDER, records_folder

ROOT = Path(__file__).parents[3]
PARTS = ("pyproject.toml", "setup.py", "MANIFEST.in", "README.md", "LICENSE", "LICENSE-TEXT")
RECORDS = sorted(path.name for path in FOLDER.iterdir() if path.suffix != ".md")
ASK = """
import json
from transformer.attention import scaled_dot_product_attention
from walkthrough import show
from walkthrough.lab.half_trained import load_translator
from walkthrough.lab import frame
from walkthrough.page.results import FOLDER
load_translator()
names = sorted(path.name for path in FOLDER.iterdir())
read = [frame(name.removesuffix(".jsonl")) for name in names if name.endswith(".jsonl")]
page = show(scaled_dot_product_attention)._repr_html_()
print(json.dumps([str(FOLDER), names, len(read), page]))
"""


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """A folder with what the wheel holds."""
    copy, out = (tmp_path_factory.mktemp(name) for name in ("copy", "out"))
    for name in PARTS:
        shutil.copy(ROOT / name, copy)
    for name in ("src", "results"):
        ignored = shutil.ignore_patterns("__pycache__", "*.egg-info")
        shutil.copytree(ROOT / name, copy / name, ignore=ignored)
    build = [sys.executable, "-m", "build", "--outdir", str(out), str(copy)]
    done = subprocess.run(build, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    (wheel,) = out.glob("*.whl")
    folder = tmp_path_factory.mktemp("site")
    zipfile.ZipFile(wheel).extractall(folder)
    return folder


def run(installed, folder, *words):
    environ = os.environ | {"PYTHONPATH": str(installed)}
    command = [sys.executable, *words]
    done = subprocess.run(
        command, cwd=folder, env=environ, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
def test_records_weights_and_listings_come_along(installed, tmp_path):
    folder, names, read, page = json.loads(run(installed, tmp_path, "-c", ASK).splitlines()[-1])
    assert Path(folder) == installed / "walkthrough" / "results"
    assert names == RECORDS
    assert read == sum(name.endswith(".jsonl") for name in RECORDS)
    assert "/src/transformer/attention.py#L" in page


@pytest.mark.slow
def test_the_command_line_works(installed, tmp_path):
    assert "train a model" in run(installed, tmp_path, "-m", "transformer", "--help")


def test_a_clone_reads_its_own_records(tmp_path):
    assert FOLDER == ROOT / "results"
    package = tmp_path / "src" / "walkthrough"
    assert records_folder(package) == tmp_path / "results"
    (package / "results").mkdir(parents=True)
    assert records_folder(package) == package / "results"


class Installed:
    def __init__(self, origin):
        self.origin = origin

    def read_text(self, name):
        assert name == "direct_url.json"
        return self.origin


@pytest.mark.parametrize(
    ("origin", "revision"),
    [
        ('{"url": "…", "vcs_info": {"vcs": "git", "commit_id": "0123abc"}}', "0123abc"),
        ('{"url": "file:///home/me/clone", "dir_info": {"editable": true}}', links.BRANCH),
        (None, links.BRANCH),
    ],
)
def test_links_lead_to_what_is_installed(monkeypatch, origin, revision):
    monkeypatch.setattr(links, "distribution", lambda name: Installed(origin))
    links.installed_revision.cache_clear()
    try:
        assert f"/blob/{revision}/src/a.py#L1-L2" in links.source_url("src/a.py", 1, 2)
    finally:
        links.installed_revision.cache_clear()


def test_without_an_installation_links_lead_to_the_branch(monkeypatch):
    def missing(name):
        raise links.PackageNotFoundError(name)

    monkeypatch.setattr(links, "distribution", missing)
    links.installed_revision.cache_clear()
    try:
        assert links.installed_revision() == links.BRANCH
    finally:
        links.installed_revision.cache_clear()
