"""What the README, the licences and the automation say is so."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml
from tools.environment.commands import COMMANDS
from tools.site import plain_notebooks

from walkthrough.page.links import BRANCH, REPOSITORY_URL

ROOT = Path(__file__).resolve().parents[2]
README, CONTRIBUTING = (
    (ROOT / name).read_text(encoding="utf-8") for name in ("README.md", "CONTRIBUTING.md")
)
SLUG = REPOSITORY_URL.removeprefix("https://github.com/")
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
CPU_WHEELS = "https://download.pytorch.org/whl/cpu"


def text(name):
    return (ROOT / name).read_text(encoding="utf-8")


def unlike_ours(content):
    """Addresses of a repository on GitHub, Binder or Colab that is not ours."""
    pattern = r"(?:github\.com|mybinder\.org/v2/gh|google\.com/github)/([\w.-]+/[\w-]+)"
    return {found for found in re.findall(pattern, content) if found != SLUG}


def missing_targets(content, commands):
    """Commands that a text names, with make or without, and the house lacks."""
    named = re.findall(r"(?:^|`)(?:make|\S*python3? -m tools) (\w+)", content, re.MULTILINE)
    return set(named) - {"help", *commands}


def dead_links(content):
    """Relative links of a text at the top that lead to no file."""
    links = re.findall(r"\]\(([\w./-]+)\)", content)
    return [link for link in links if not (ROOT / link).exists()]


@pytest.mark.parametrize("name", ["README.md", "CITATION.cff", "_config.yml"])
def test_one_repository_address(name):
    assert unlike_ours(text(name)) == set()
    assert SLUG in text(name)


def test_badges_open_the_branch_that_source_links_name():
    assert f"{SLUG}/{BRANCH}?" in README
    assert f"{SLUG}/blob/{plain_notebooks.BRANCH}/" in README


def test_another_repository_is_noticed():
    assert unlike_ours("see https://mybinder.org/v2/gh/other/book/main") == {"other/book"}


@pytest.mark.parametrize("content", [README, CONTRIBUTING], ids=["readers", "writers"])
def test_both_pages_name_commands_files_and_tools_that_exist(content):
    assert missing_targets(content, COMMANDS) == set()
    assert dead_links(content) == []
    named = re.findall(r"(?:tools|src|tests|book)/[\w/.-]+\.(?:py|toml|md|ipynb)", content)
    modules = re.findall(r"-m (tools(?:\.[a-z]+)+)", content)
    for path in (module.replace(".", "/") for module in modules):
        named.append(f"{path}/__main__.py" if (ROOT / path).is_dir() else f"{path}.py")
    new = {"book/05-feed-forward.ipynb"}
    assert [name for name in named if name not in new and not (ROOT / name).exists()] == []


def test_missing_targets_and_files_are_noticed():
    said = "make book\n`make coffee`\npython -m tools tea"
    assert missing_targets(said, ["book"]) == {"coffee", "tea"}
    assert dead_links("[x](no/such.file)") == ["no/such.file"]


def test_ci_runs_the_readmes_two_commands():
    assert os.access(ROOT / ".ci" / "run", os.X_OK)
    commands = re.findall(r"^make \w+", text(".ci/run"), re.MULTILINE)
    assert commands == ["make book", "make test"]
    assert all(re.search(rf"^{command}\b", README, re.MULTILINE) for command in commands)
    subprocess.run(["bash", "-n", str(ROOT / ".ci" / "run")], check=True)


def test_ci_stops_at_the_first_failure(tmp_path):
    for name in ("bash", "dirname", "chromium"):
        (tmp_path / name).symlink_to(shutil.which("bash" if name == "chromium" else name))
    (tmp_path / "make").write_text(f"#!{tmp_path}/bash\nexit 3\n")
    (tmp_path / "make").chmod(0o755)
    command = [str(tmp_path / "bash"), str(ROOT / ".ci" / "run")]
    done = subprocess.run(command, env={"PATH": str(tmp_path)}, check=False)
    assert done.returncode == 3


def test_binder_takes_the_same_lock_and_adds_the_cpu_wheels_only():
    lines = [line for line in text(".binder/requirements.txt").splitlines() if line[:1] != "#"]
    assert lines == [f"--extra-index-url {CPU_WHEELS}", "-r ../requirements.txt"]
    assert text("requirements.txt").splitlines()[-1] == "-e ."


def test_the_lock_names_no_index_and_no_local_build():
    lock = text("requirements.txt")
    assert "://" not in lock
    assert not re.search(r"==[^\s;]*\+", lock)


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_workflow_can_be_read(path):
    workflow = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert workflow["permissions"] == {"contents": "read"}
    for job in workflow["jobs"].values():
        for step in job["steps"]:
            assert ("uses" in step) != ("run" in step)


def test_licences_are_what_the_readme_says():
    assert text("LICENSE").startswith("MIT License")
    assert "Creative Commons Attribution 4.0 International Public License" in text("LICENSE-TEXT")
    assert {"MIT", "CC-BY-4.0"} == set(yaml.safe_load(text("CITATION.cff"))["license"])
