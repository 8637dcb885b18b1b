"""A verdict reads the same as text and as HTML, in light and dark."""

import pytest
from softmax_check import softmax_check, softmax_over_keys, softmax_over_queries

from walkthrough.checking.verdict import COLOURS
from walkthrough.drawing.style import contrast


@pytest.mark.parametrize(
    ("function", "kind"),
    [(softmax_over_keys, "right"), (softmax_over_queries, "wrong"), (None, "none")],
)
def test_html_says_the_same_in_its_own_class(function, kind):
    verdict = softmax_check()(function)
    page = verdict._repr_html_()
    assert f'class="verdict verdict-{kind}"' in page
    assert verdict.message in page


def test_html_escapes_what_the_reader_wrote():
    page = softmax_check()(lambda s: [][0] if s is not None else "<b>")._repr_html_()
    assert "<code>" in page
    assert "<b>" not in page


@pytest.mark.parametrize("kind", COLOURS)
def test_verdicts_are_readable_in_light_and_dark(kind):
    for background, ink, edge in COLOURS[kind]:
        assert contrast(background, ink) >= 4.5
        assert contrast(background, edge) >= 2.5
