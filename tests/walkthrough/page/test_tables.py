"""Tables of one scale are tinted by value; others, stay as pandas has them."""

import re

import pandas as pd
import pytest
from IPython.testing.globalipapp import start_ipython

from walkthrough.page import tables

ONE_SCALE = pd.DataFrame([[0.5, 0.0], [-0.25, 0.1]], index=["a", "b"], columns=["x", "y"])


def strengths(html: str) -> list[tuple[str, str]]:
    return re.findall(r'<td style="background:rgba\((\d+), .*?, ([\d.]+)\)">', html)


def test_the_largest_value_is_strongest_and_a_zero_is_a_dot():
    html = tables.tinted(ONE_SCALE)
    assert strengths(html) == [("0", "0.62"), ("0", "0.00"), ("213", "0.31"), ("0", "0.12")]
    assert ">·</td>" in html
    assert ">−0.25</td>" in html


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame({"BLEU": [30.0, 31.0], "seconds": [900.0, 800.0]}),
        pd.DataFrame({"word": ["a", "b"], "weight": [0.1, 0.2]}),
        pd.DataFrame({"count": [1, 2], "more": [3, 4]}),
        pd.DataFrame([[0.0, 0.0]]),
    ],
)
def test_what_cannot_be_compared_has_no_tint(frame):
    assert tables.tinted(frame) == frame._repr_html_()


def test_a_notebook_shows_frames_so():
    shell = start_ipython()
    tables.register()
    assert shell.display_formatter.formatters["text/html"].lookup(ONE_SCALE) is tables.tinted
