"""Every command of the page on one's own sentences does what it says, on a tiny budget."""

import re
import shlex
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
import yaml

from transformer.cli import main
from transformer.cli.plan import make_plan
from transformer.config import TransformerConfig

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "book" / "own-sentences.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
COMMANDS = [text.strip() for kind, text in BLOCKS if not kind]
PAIRS, BESIDE, PYTHON = (text for kind, text in BLOCKS if kind == "python")
(SETTINGS,) = (text for kind, text in BLOCKS if kind == "toml")


def test_the_page_is_in_the_appendix():
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))
    assert "book/own-sentences" in [page["file"] for page in toc["parts"][-1]["chapters"]]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """What stands on the page, with few numbers and few updates."""
    folder = tmp_path_factory.mktemp("own")
    pairs = PAIRS.replace("5_400", "5_40").replace("5000", "500").replace("5200", "520")
    if find_spec("num2words") is None:  # the files have the page's names all the same
        stand_in = "def num2words(n, lang): return ' '.join(f'{lang}{d}' for d in str(n))"
        pairs = pairs.replace("from num2words import num2words", stand_in)
    (folder / "pairs.py").write_text(pairs, encoding="utf-8")
    settings = SETTINGS.replace("= 700", "= 3").replace("= 100", "= 1").replace("= 200", "= 20")
    (folder / "numbers.toml").write_text(settings, encoding="utf-8")
    return folder


@pytest.mark.slow
def test_every_command_runs_in_the_pages_order(folder, monkeypatch, capsys):
    monkeypatch.chdir(folder)
    install, words, make, *rest = COMMANDS
    assert install.splitlines()[-2:] == ["source .venv/bin/activate", "pip install ."]
    assert words == "pip install num2words scipy"
    assert make == "python pairs.py"
    subprocess.run([sys.executable, "pairs.py"], check=True)
    assert len(list(folder.glob("*.fr"))) == len(list(folder.glob("*.ko"))) == 3
    if find_spec("num2words"):  # BLEU counts runs of four words
        korean = (folder / "train.ko").read_text(encoding="utf-8").splitlines()
        assert max(len(line.split()) for line in korean) == 2
    for command in "\n".join(rest).splitlines():
        words = shlex.split(command)
        assert words[:3] == ["python", "-m", "transformer"]
        if "ctranslate2" not in words or find_spec("ctranslate2"):
            assert main(words[3:]) == 0, command
            capsys.readouterr()
    exec(BESIDE, {})
    assert re.search(r"right in one run alone: \d+ and \d+ lines", capsys.readouterr().out)
    exec(PYTHON, {})
    assert len(capsys.readouterr().out.splitlines()) == 3


def test_what_can_be_turned_is_a_setting(tmp_path):
    (tmp_path / "numbers.toml").write_text(SETTINGS, encoding="utf-8")
    plan = make_plan(None, tmp_path / "numbers.toml")
    named = set(re.findall(r"`(data|model|training)\.(\w+)", PAGE))
    assert len(named) > 7
    parts = {"data": plan.data, "model": TransformerConfig.base(), "training": plan.training}
    assert [one for one in named if not hasattr(parts[one[0]], one[1])] == []


def test_the_settings_are_the_pages(tmp_path):
    (tmp_path / "numbers.toml").write_text(SETTINGS, encoding="utf-8")
    plan = make_plan(None, tmp_path / "numbers.toml")
    assert (plan.data.test_target, plan.training.max_updates) == ("test.ko", 700)
