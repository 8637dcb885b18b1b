"""The workflows, which run nowhere here, hold to GitHub's schema and give nothing away."""

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
BIN = Path(sys.executable).parent
FOLDER = ROOT / ".github" / "workflows"
WORKFLOWS = sorted(FOLDER.glob("*.yml"))
ALLOWED = {"Informational", "Low"}


def run(*words):
    command = [str(BIN / words[0]), *map(str, words[1:])]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def findings(*paths):
    """What zizmor finds above low, each as its rule and severity."""
    done = run("zizmor", "--offline", "--no-exit-codes", "--format", "json", *paths)
    assert done.returncode == 0, done.stderr
    found = [(one["ident"], one["determinations"]["severity"]) for one in json.loads(done.stdout)]
    return [finding for finding in found if finding[1] not in ALLOWED]


def schema_errors(*paths, schema="vendor.github-workflows"):
    done = run("check-jsonschema", "--builtin-schema", schema, *paths)
    return done.stdout if done.returncode else ""


def test_workflows_have_githubs_form():
    assert schema_errors(*WORKFLOWS) == ""


def test_the_citation_has_its_form_and_our_version():
    path = ROOT / "CITATION.cff"
    assert schema_errors(path, schema="vendor.citation-file-format") == ""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert yaml.safe_load(path.read_text(encoding="utf-8"))["version"] == project["version"]


def test_readme_binder_and_workflows_name_the_pythons_of_the_package():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    least, beyond = map(int, re.findall(r"3\.(\d+)", project["requires-python"]))
    named = f"Python 3.{least} to 3.{beyond - 1}"
    assert named in (ROOT / "README.md").read_text(encoding="utf-8")
    assert (ROOT / ".binder" / "runtime.txt").read_text().strip() == f"python-3.{least}"
    weekly = yaml.safe_load((FOLDER / "weekly.yml").read_text(encoding="utf-8"))
    steps = [step.get("run") for step in weekly["jobs"]["records"]["steps"]]
    assert "python -m walkthrough.lab check" in steps  # fails where a figure has moved
    others = [f"3.{minor}" for minor in range(least + 1, beyond)]
    assert weekly["jobs"]["pythons"]["strategy"]["matrix"]["python"] == others


def test_workflows_give_nothing_away():
    assert findings(FOLDER) == []


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_every_job_has_a_time_limit(path):
    jobs = yaml.safe_load(path.read_text(encoding="utf-8"))["jobs"]
    assert all(0 < job["timeout-minutes"] <= 90 for job in jobs.values())


def test_what_they_must_not_do_is_noticed(tmp_path):
    path = tmp_path / ".github" / "workflows" / "test.yml"
    path.parent.mkdir(parents=True)
    good = WORKFLOWS[1].read_text(encoding="utf-8")
    path.write_text(good.replace("persist-credentials: false", "fetch-depth: 1"))
    assert ("artipacked", "Medium") in findings(path)
    path.write_text(good.replace("actions/checkout@v4", "somebody/checkout@v4"))
    assert ("unpinned-uses", "High") in findings(path)
    path.write_text(good.replace("runs-on:", "runs-at:"))
    assert "runs-at" in schema_errors(path)
