"""The checks of chapter 23 accept what is right and name what is wrong."""

import pytest
import torch
from soundness import assert_check_is_sound

from walkthrough.ch23_is_yours_right import checks, slips

ALL = [checks.moved_by_padding, checks.moved_by_company]


@pytest.mark.parametrize("check", ALL, ids=lambda check: check.name)
def test_check_names_every_mistake_it_lists(check):
    assert_check_is_sound(check)


def test_learners_own_ways_are_right():
    def moved_by_padding(model, source, target, pad):
        behind = torch.full((len(source), 3), pad)
        apart = model(torch.cat([source, behind], 1), target) - model(source, target)
        return max(apart.max().item(), -apart.min().item())

    def moved_by_company(model, source, target):
        others = source.clone(), target.clone()
        for ids in others:
            ids[1:] = ids[0]
        return (model(*others) - model(source, target))[0].abs().max()

    assert checks.moved_by_padding(moved_by_padding).status == "right"
    assert checks.moved_by_company(moved_by_company).status == "right"


SAYS = {
    "a merge without the exchange": "heads:",
    "a triangle one place too wide": "future:",
    "a look without its mask": "padding:",
    "one layer, twice": "one layer:",
    "doubled exponents": "positions:",
}


@pytest.mark.parametrize("left", slips.FIVE)
def test_the_slip_that_is_left_is_named(left):
    verdict = checks.mended(lambda text: slips.text_of(left))
    assert verdict.status == "wrong"
    assert SAYS[left] in verdict.message


def test_a_file_that_is_mended_is_right_and_one_that_lost_something_is_not():
    assert checks.mended(lambda text: slips.text_of()).status == "right"
    less = slips.text_of().replace(" * math.sqrt(self.d_model)", "")
    assert "√d_model" in checks.mended(lambda text: less).message


def test_what_is_no_file_is_told():
    assert checks.mended(lambda text: None).status == "nothing yet"
    assert checks.mended(lambda text: text).status == "nothing yet"
    assert "a string" in checks.mended(lambda text: 3).message
    assert "SyntaxError" in checks.mended(lambda text: "def f(:").message
    assert "KeyError" in checks.mended(lambda text: {}[text]).message
    assert "no class `Translator`" in checks.mended(lambda text: "x = 1").message
