"""The figures of chapter 08 draw the wiring they name and the words they are given."""

import pytest
import torch

from walkthrough.ch08_residuals_and_layer_norm import figures

WORDS = ["Jane", "visits"]
ALIKE = torch.tensor([[[1.0, 0, 0, 0], [0, 0, 1.0, 0]], [[1.0, 0, 0, 0], [2.0, 0, 0, 0]]])


@pytest.mark.parametrize(
    ("kind", "order"),
    [
        ("no residual", "attention → norm → feed-forward → norm"),
        ("post-norm", "attention → + → norm → feed-forward → + → norm"),
        ("pre-norm", "norm → attention → + → norm → feed-forward → +"),
    ],
)
def test_a_layer_is_wired_as_its_formula_says(kind, order):
    shown = figures.wirings(kind)
    assert f">{order}</desc>" in shown.markup
    assert shown.markup.count('stroke-width="3"') == order.count("+")


def test_the_words_of_every_frame_are_drawn_and_their_likeness_is_told():
    frames = {"one": ALIKE, "other": ALIKE.flip(0)}
    shown = figures.passage("p", WORDS, frames, question="Which?", wires=list(figures.CHAINS)[:2])
    assert shown.markup.count('class="strip"') == 2 * 2 * 2
    assert shown.markup.count("<svg") == 2
    assert "One: two words, alike to −0.33 when they come in, are alike to 1.00" in str(shown)
    assert "Other: two words, alike to 1.00 when they come in, are alike to −0.33" in str(shown)
    assert "<svg" not in figures.passage("q", WORDS, frames, question="Which?").markup


def test_each_step_of_a_norm_tells_mean_and_variance():
    one = torch.tensor([1.0, -1.0])
    shown = figures.steps(["a", "b"], {"Jane": [one + 3, one]}, ["it comes", "centred"])
    assert "It comes: Jane has mean 3.00 and variance 1.00." in str(shown)
    assert "--a0:4.000;--a1:1.000" in shown.markup
    assert '<em class="at at-1">−1.00</em>' in shown.markup
