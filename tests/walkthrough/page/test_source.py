"""`show` prints what stands in the repository, once, and links to the very lines."""

import functools
import html
import re
from pathlib import Path

import pytest

import walkthrough.page.source
from transformer.attention import MultiHeadAttention, scaled_dot_product_attention
from transformer.config import TransformerConfig
from walkthrough import show
from walkthrough.drawing.style import contrast
from walkthrough.page.links import BRANCH, REPOSITORY_URL, repository_path, source_url

ROOT = Path(__file__).parents[3]


def in_a_notebook(x: int) -> int:
    """Double x."""
    return 2 * x


@pytest.mark.parametrize(
    "thing",
    [
        scaled_dot_product_attention,
        MultiHeadAttention,
        MultiHeadAttention.forward,
        TransformerConfig.tiny,
        show,
    ],
)
def test_link_points_to_the_lines_that_are_printed(thing):
    source = show(thing)
    (link,) = re.findall(r'href="([^"]+)"', source._repr_html_())
    found = re.fullmatch(rf"{re.escape(REPOSITORY_URL)}/blob/{BRANCH}/(.+)#L(\d+)-L(\d+)", link)
    assert found, link
    path, first, last = found[1], int(found[2]), int(found[3])
    lines = (ROOT / path).read_text().splitlines()[first - 1 : last]
    assert [line.strip() for line in lines] == [line.strip() for line in str(source).splitlines()]


def test_header_names_the_object_and_its_lines():
    page = show(scaled_dot_product_attention)._repr_html_()
    assert "<code>transformer.attention.scaled_dot_product_attention</code>" in page
    assert re.search(r">src/transformer/attention\.py, lines \d+–\d+</a>", page)


def test_text_is_the_source_with_its_docstring_once():
    text = repr(show(scaled_dot_product_attention))
    assert text.startswith("def scaled_dot_product_attention(")
    first_line = scaled_dot_product_attention.__doc__.splitlines()[0]
    assert text.count(first_line) == 1
    assert show(scaled_dot_product_attention)._repr_html_().count(html.escape(first_line)) == 1


def test_html_holds_exactly_the_source():
    source = show(in_a_notebook)
    (code,) = re.findall(r"<pre[^>]*>(.*?)</pre>", source._repr_html_(), re.S)
    assert html.unescape(re.sub(r"<[^>]+>", "", code)).strip() == repr(source).strip()


def test_a_long_line_goes_on_below_its_beginning():
    page = show(in_a_notebook)._repr_html_()
    assert [int(n) for n in re.findall(r'class="line" style="--i:(\d+)ch"', page)] == [4, 8, 8]


def test_a_folded_source_says_what_it_is():
    page = show(MultiHeadAttention, folded=True)._repr_html_()
    assert "<summary>Read <code>MultiHeadAttention</code> in one piece</summary>" in page
    assert "<details>" not in show(MultiHeadAttention)._repr_html_()


def test_methods_are_dedented():
    assert repr(show(MultiHeadAttention.forward)).startswith("def forward(")


def test_several_objects_come_one_after_the_other():
    text = repr(show(in_a_notebook, scaled_dot_product_attention))
    assert text.index("in_a_notebook") < text.index("scaled_dot_product_attention")


def test_objects_outside_the_repository_have_no_link():
    assert "<a " not in show(in_a_notebook)._repr_html_()
    assert "<a " not in show(re.compile)._repr_html_()


def test_scrolling_region_can_be_reached_by_keyboard():
    (pre,) = re.findall(r"<pre[^>]*>", show(in_a_notebook)._repr_html_())
    assert 'tabindex="0"' in pre
    assert 'role="region"' in pre
    assert "aria-label=" in pre


def test_source_loads_nothing_from_elsewhere():
    page = show(scaled_dot_product_attention)._repr_html_()
    assert "<script" not in page
    assert "src=" not in page
    assert "@import" not in page
    assert "url(" not in page


@pytest.mark.parametrize("palette", [walkthrough.page.source.LIGHT, walkthrough.page.source.DARK])
def test_every_colour_of_the_code_is_readable(palette):
    for name, colour in palette.items():
        assert name == "bg" or contrast(colour, palette["bg"]) >= 4.5, name


@pytest.mark.parametrize("thing", [3, "text", len, functools.partial(show), int, None])
def test_things_without_source_are_refused_by_name(thing):
    with pytest.raises(TypeError, match=r"show\(\) prints functions, classes and methods"):
        show(thing)


def test_nothing_to_show_is_refused():
    with pytest.raises(TypeError, match="at least one"):
        show()


def test_repository_paths_are_ours_only():
    for path in ("src/transformer/attention.py", "src/phrasebook/lexicon.py"):
        assert repository_path(ROOT / path) == path
    assert repository_path(__file__) is None
    assert source_url("src/a.py", 3, 9).endswith("/blob/main/src/a.py#L3-L9")
