"""The page on published translators names commands that exist, and stands where it is linked."""

import json
import re
import shlex
from pathlib import Path

import yaml

from transformer.cli.parser import make_parser

ROOT = Path(__file__).resolve().parents[2]
CELLS = json.loads((ROOT / "book" / "published-translator.ipynb").read_text("utf-8"))["cells"]
PROSE = "\n".join("".join(c["source"]) for c in CELLS if c["cell_type"] == "markdown")


def test_the_page_is_in_the_appendix():
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))
    assert "book/published-translator" in [page["file"] for page in toc["parts"][-1]["chapters"]]


def test_every_command_can_be_typed():
    found = re.findall(r"python -m transformer ([^`\n]+)", PROSE.replace("\\\n", ""))
    typed = [shlex.split(command) for command in found]
    assert [words[0] for words in typed] == ["import", "translate", "export"]
    for words in typed:
        make_parser().parse_args(words)


def test_the_page_says_what_it_does_not_run():
    assert "those commands did not run here" in PROSE
    assert "pip install sentencepiece huggingface_hub" in PROSE
