"""The laboratory's page has a section for every declaration, with what came out of it."""

import re
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import unquote
from xml.etree import ElementTree

import yaml
from tools.site import laboratory

from walkthrough.lab import compare, store
from walkthrough.lab.discovery import declarations

ROOT = Path(__file__).parents[2]
WIDTH = {"experiment": "05-width", "figure": "test_combinations/exact"}


def test_every_declaration_has_its_section_with_question_command_and_files(tmp_path, monkeypatch):
    monkeypatch.setattr(store, "FOLDER", tmp_path)  # without cards: those of one are drawn below
    text = laboratory.sections(declarations().values())
    assert re.findall(r"^## (.+)$", text, re.MULTILINE) == list(declarations())
    for e in declarations().values():
        assert f"*{e.question}*" in text
        assert text.count(f'<span id="{e.name}"></span>') == 1  # where links of other pages land
        assert f"`python -m walkthrough.lab run {e.name}`" in text
        assert f"results/{e.name}.jsonl)" in text
    for path in re.findall(r"\[declaration\]\(\S+?/main/(\S+)\)", text):
        assert (ROOT / path).is_file(), path


def test_a_table_at_the_top_has_question_verdict_and_size():
    e = declarations()["05-width"]
    asked = [{**WIDTH, "arm": "256", "base": "none"}]
    head, _, line, *_ = laboratory.sections([e], asked).splitlines()
    assert head == "| Experiment | Question | Verdict | Size |"
    name, question, verdict, size = line.strip("| ").split(" | ")
    assert (name, question) == ("[05-width](#05-width)", e.question)
    assert verdict == compare(e, "256", base="none", figure=WIDTH["figure"]).verdict
    assert size.startswith(laboratory.state(e)[0])


def test_the_cards_are_those_of_the_ledger():
    asked = [{**WIDTH, "arm": "256", "base": base} for base in ("none", "256, no ReLU")]
    text = laboratory.sections([declarations()["05-width"]], asked)
    assert text.count('<figure class="evidence">') == 2
    assert "Exact on test combinations, greedy, after 2000 updates: 256 0." in text


def test_a_card_is_a_picture_for_phones_and_one_for_pages():
    asked = [{**WIDTH, "arm": "256", "base": "none"}]
    text = laboratory.sections([declarations()["05-width"]], asked)
    narrow, wide = re.findall(r'(?:srcset|src)="data:image/svg\+xml,([^"\s]+)"', text)
    assert text.count("<svg") == 2  # one in each picture's address
    assert narrow != wide
    for drawn in map(unquote, (narrow, wide)):
        assert ElementTree.fromstring(drawn).tag.endswith("svg")
        assert "still-" not in drawn.partition(">")[0]
    assert 'alt="Exact on test combinations, greedy, after 2000 updates: 256 0.' in text


def test_an_arm_that_cannot_be_compared_says_why(tmp_path, monkeypatch):
    monkeypatch.setattr(store, "FOLDER", tmp_path)
    text = laboratory.sections([declarations()["05-width"]])
    assert "**Recorded:** 0 runs" in text
    assert text.endswith("Not compared yet: nothing is recorded, and so for 1 more.")


def test_only_this_page_is_filled_and_it_says_where():
    source = [laboratory.MARK]
    laboratory.fill(SimpleNamespace(), "book/ledger", source)
    assert source == [laboratory.MARK]
    assert (ROOT / f"{laboratory.PAGE}.md").read_text("utf-8").count(laboratory.MARK) == 1
    config = yaml.safe_load((ROOT / "_config.yml").read_text("utf-8"))["sphinx"]
    assert "tools.site.laboratory" in config["config"]["extensions"]
