"""Still pictures: SVG in the page's ink, with alt text, that can stand twice on a page."""

import re
from xml.etree import ElementTree

import numpy as np
import pytest
from matplotlib.figure import Figure

from walkthrough.drawing.still import (
    FONT_SIZE,
    GROUND,
    INK,
    PHONE,
    SIGNED_COLOURS,
    canvas,
    page_style,
    still,
)
from walkthrough.drawing.style import PALETTE, SIGNED_SCHEME


def picture(alt="two points and a line"):
    with canvas(400, 200) as (figure, axes):
        axes.errorbar([1, 2], [3, 4], yerr=[0.1, 0.2], fmt="o", label="ours")
        axes.axhline(3.5, color="black")
        axes.scatter([1.5], [3.2], edgecolor="white")
        axes.text(1, 4, "on a cell", color="white")
        axes.text(1, 3, "a word")
        axes.set_title("What to see")
        axes.legend()
    return still(figure, alt=alt)


PICTURE = picture()


def elements(found, name):
    root = ElementTree.fromstring(found.svg)
    return [e for e in root.iter() if e.tag.endswith("}" + name)]


def test_it_is_one_svg_with_alt_text():
    root = ElementTree.fromstring(PICTURE.svg)
    assert root.get("role") == "img"
    assert root.get("aria-label") == "two points and a line"
    assert repr(PICTURE) == "Picture: two points and a line"
    shown = PICTURE._repr_html_()
    assert PICTURE.svg.split("<defs>", 1)[1] in shown  # the wide drawing, and
    assert shown.endswith(PICTURE.narrow)  # the one for phones


def test_nothing_is_kept_that_nobody_sees():
    assert "<g>" not in PICTURE.svg
    assert 'style="fill: none"/>' not in PICTURE.svg
    assert elements(PICTURE, "path")


def test_alt_text_is_escaped_and_needed():
    odd = picture('a "quoted" <word>')
    assert ElementTree.fromstring(odd.svg).get("aria-label") == 'a "quoted" <word>'
    with pytest.raises(ValueError, match="alt text"):
        picture("  \n ")


def test_black_is_the_pages_ink_and_white_its_ground():
    assert INK in PICTURE.svg
    assert GROUND in PICTURE.svg
    assert "#000000" not in PICTURE.svg
    assert PALETTE["blue"] in PICTURE.svg


def test_words_on_cells_keep_their_colour():
    (on_cell,) = [t for t in elements(PICTURE, "text") if t.text == "on a cell"]
    assert "fill: #ffffff" in on_cell.get("style")


def test_words_are_text_in_the_pages_font():
    words = {t.text for t in elements(PICTURE, "text")}
    assert {"What to see", "ours", "a word"} <= words
    assert "DejaVu" not in PICTURE.svg
    assert not re.search(r"font: ", PICTURE.svg)


def test_words_are_left_as_they_were_written():
    ticks = ["0.003", "#000000", "font: 12.345px serif"]
    with canvas(400, 200) as (figure, axes):
        axes.plot([0, 1, 2], [0, 1, 2])
        axes.set_xticks(range(3), ticks)
    found = still(figure, alt="ticks")
    assert set(ticks) <= {t.text for t in elements(found, "text")}
    tags = "".join(re.findall("<[^>]+>", found.svg))
    assert not re.search(r"\d\.\d{3}", tags)  # the places of shapes stay short


def test_two_pictures_share_no_id_and_every_reference_is_kept():
    other = picture("another")
    ids = [set(re.findall(r' id="([^"]+)"', p.svg)) for p in (PICTURE, other)]
    used = [set(re.findall(r'(?:url\(|href=")#([\w-]+)', p.svg)) for p in (PICTURE, other)]
    assert ids[0]
    assert not ids[0] & ids[1]
    assert ids == used


def test_it_grows_on_a_wide_screen_and_its_letters_never_shrink():
    style = ElementTree.fromstring(PICTURE.svg).get("style")
    assert "min-width:400px" in style
    assert "max-width:600px" in style
    assert FONT_SIZE >= 12


def wide(ticks):
    with canvas(600, 240) as (figure, axes):
        axes.plot(range(len(ticks)))
        axes.set_xticks(range(len(ticks)), ticks)
        axes.set_title("A title that is too long for one line of a phone, so that it is folded")
    return still(figure, alt="wide")


def test_a_phone_gets_a_drawing_of_its_own():
    found = wide(["one", "two", "three"])
    narrow = ElementTree.fromstring(found.narrow)
    assert narrow.get("viewBox").split()[2] == f"{PHONE}"
    assert len([t for t in narrow.iter() if (t.text or "").startswith("A title")]) == 1
    ids = [set(re.findall(r' id="([^"]+)"', svg)) for svg in (found.svg, found.narrow)]
    assert not ids[0] & ids[1]
    page = found._repr_html_()
    assert page.count("<svg") == 2
    assert "still-narrow{display:none" in page


def test_words_that_would_lie_on_each_other_stay_wide():
    alone = wide([f"a long word {number}" for number in range(8)])
    assert alone.narrow == ""
    assert "still-wide" not in alone.svg  # which another picture of the page hides on a phone


def test_an_author_may_draw_the_narrow_one():
    with canvas(600, 240) as (figure, _), canvas(PHONE, 400) as (narrow, _):
        pass
    assert 'viewBox="0 0 343 400"' in still(figure, alt="two", narrow=narrow).narrow


def test_the_same_picture_is_the_same_text():
    assert picture() == PICTURE


def test_it_is_small_and_an_image_stays_an_image():
    assert len(PICTURE.svg) < 12_000
    with canvas(400, 300) as (figure, axes):
        axes.imshow(np.random.default_rng(0).random((50, 1000)), aspect="auto")
    dense = still(figure, alt="dense")
    assert "data:image/png;base64," in dense.svg
    assert len(dense.svg) < 400_000  # noise, which no PNG makes small


def test_several_axes():
    with canvas(400, 200, ncols=2) as (figure, (left, right)):
        left.plot([1, 2])
        right.plot([2, 1])
    assert still(figure, alt="two").svg.count("<svg") == 1


def test_style_does_not_leak():
    before = Figure().subplots().spines["top"].get_visible()
    with page_style():
        assert not Figure().subplots().spines["top"].get_visible()
    assert Figure().subplots().spines["top"].get_visible() is before is True


def test_a_figure_of_pyplot_is_not_shown_twice():
    from matplotlib import pyplot

    still(pyplot.figure(), alt="empty")
    assert pyplot.get_fignums() == []


def test_signed_colours_are_those_of_the_charts():
    # https://vega.github.io/vega/docs/schemes/#blueorange: from blue over nearly white to orange
    low, middle, high = (np.array(SIGNED_COLOURS(value)[:3]) for value in (0.0, 0.5, 1.0))
    assert low[2] - low[0] > 0.4 < high[0] - high[2]
    assert min(middle) > 0.9
    assert SIGNED_COLOURS.name == SIGNED_SCHEME
