"""What a page warns of is recognised in its own exercises, by name, and the verdict leads there."""

import json
import math
import re
from importlib import import_module
from pathlib import Path

import pytest
import torch

from walkthrough.ch01_why_attention import checks as ch01
from walkthrough.ch02_scaled_dot_product_attention import checks as ch02
from walkthrough.ch03_masks import checks as ch03
from walkthrough.ch04_multi_head_attention import checks as ch04
from walkthrough.checking import Mistake
from walkthrough.checking.verdict import Verdict

BOOK = Path(__file__).parents[3] / "book"
ROOMS = {
    "01": "ch01_why_attention",
    "02": "ch02_scaled_dot_product_attention",
    "03": "ch03_masks",
    "04": "ch04_multi_head_attention",
}
CANNOT_OCCUR = {
    "The last state of a padded sentence": "no exercise of 01 has a batch",
    "Dividing by √d_model": "no exercise of 02 is given d_model; 04 names it",
}


def headings(chapter):
    """The headings of a page, and those under “What goes wrong”."""
    (path,) = BOOK.glob(f"{chapter}-*.ipynb")
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    text = "\n".join("".join(c["source"]) for c in cells if c["cell_type"] == "markdown")
    wrong = text.partition("\n## What goes wrong\n")[2].partition("\n## ")[0]
    return set(re.findall(r"^#+ (.+)$", text, re.M)), set(re.findall(r"^### (.+)$", wrong, re.M))


def named(chapter):
    """Headings that the verdicts of a chapter lead to."""
    checks = import_module(f"walkthrough.{ROOMS[chapter]}.checks")
    every = [getattr(checks, name) for name in checks.__all__]
    return {one.where for check in every for one in (*check.mistakes, *check.symptoms) if one.where}


@pytest.mark.parametrize("chapter", ROOMS)
def test_every_warning_is_recognised_and_every_verdict_leads_somewhere(chapter):
    every, warnings = headings(chapter)
    assert warnings
    assert named(chapter) <= every
    assert warnings - set(CANNOT_OCCUR) <= named(chapter)


def test_what_cannot_occur_stands_on_a_page():
    warnings = set().union(*(headings(chapter)[1] for chapter in ROOMS))
    assert set(CANNOT_OCCUR) <= warnings


def softmax_over_columns(scores):
    powers = (scores - scores.max(dim=0).values).exp()
    return powers / powers.sum(dim=0)


def from_the_second_state(w, states):
    return math.prod(w * (1 - h**2) for h in states[1:])


def masked_over(dim):
    def attend(query, key, value, attend_mask):
        scores = query @ key.mT / math.sqrt(query.shape[-1])
        return scores.masked_fill(~attend_mask, -math.inf).softmax(dim) @ value

    return attend


def multi(keys="key", values="value", *, matrices="w_k", size=lambda q: q.shape[-1], mean=False):
    def multi_head(query, key, value, w_q, w_k, w_v, w_o):
        given = {"query": query, "key": key, "value": value, "w_q": w_q, "w_k": w_k}
        q, k, v = query @ w_q, given[keys] @ given[matrices], given[values] @ w_v
        w = (q @ k.mT / math.sqrt(size(q))).softmax(-1)
        w = w.mean(0) if mean else w
        return (w @ v).transpose(0, 1).flatten(1) @ w_o

    return multi_head


SLIPS = [
    (ch01.gradient_to_start, from_the_second_state, "a step left out"),
    (ch02.stable_softmax, softmax_over_columns, "over the queries"),
    (ch02.stable_softmax, lambda s: ch02.stable_softmax.reference(s.mT).mT, "over the queries"),
    (ch02.masked_attention, masked_over(0), "softmax over sentences"),
    (ch02.masked_attention, masked_over(1), "softmax over queries"),
    (ch03.decoding_mask, lambda q, k: torch.ones(q, k).triu(k - q + 1).bool(), "inverted"),
    (ch04.multi_head, multi(values="query"), "values from the queries"),
    (ch04.multi_head, multi(values="key"), "values from the keys"),
    (ch04.multi_head, multi(keys="value"), "keys from the values"),
    (ch04.multi_head, multi(matrices="w_q"), "the queries' matrices for the keys"),
    (ch04.multi_head, multi(mean=True), "one map for all heads"),
    (ch04.multi_head, multi(size=lambda q: len(q) * q.shape[-1]), "divides by √(h · d_k)"),
    (ch04.multi_head, multi(size=lambda q: q.shape[-1] ** 2), "divides by d_k without the root"),
]


@pytest.mark.parametrize(("check", "slip", "name"), SLIPS, ids=[name for *_, name in SLIPS])
def test_a_likely_slip_is_named(check, slip, name):
    assert check(slip).mistake == name


def test_a_right_answer_in_the_form_of_the_slips_is_right():
    assert ch04.multi_head(multi())


def test_variants_are_named_as_the_mistake_is():
    for room in (ch01, ch02, ch03, ch04):
        for check in (getattr(room, name) for name in room.__all__):
            for mistake in check.mistakes:
                assert isinstance(mistake, Mistake)
                for variant in mistake.also:
                    assert check(variant).mistake == mistake.name, (check.name, mistake.name)


def test_a_verdict_leads_to_the_heading_of_its_page():
    verdict = Verdict("wrong", "the queries compete.", "axis", "A zero in the scores")
    assert str(verdict).endswith("compete. This page shows it under “A zero in the scores”.")
    assert '“<a href="#A-zero-in-the-scores">A zero in the scores</a>”' in verdict._repr_html_()
