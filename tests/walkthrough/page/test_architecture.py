"""The drawn architecture: every block is there, links go where told, colours come from the page."""

import re
from xml.etree import ElementTree

import pytest

from walkthrough.drawing.style import PALETTE, contrast
from walkthrough.page.architecture import (
    BLOCKS,
    BOX_WIDTH,
    HEIGHT,
    MARGIN,
    PARTS,
    SMALL_MAP_FONT,
    WIDTH,
    architecture,
    chapter_map,
)

SVG = "{http://www.w3.org/2000/svg}"


def drawn(drawing):
    return ElementTree.fromstring(drawing._repr_html_())


def lit(drawing):
    return {g.get("data-block") for g in drawn(drawing).iter(f"{SVG}g") if g.get("class") == "lit"}


def test_every_block_of_the_paper_is_drawn_once():
    names = [g.get("data-block") for g in drawn(architecture()).iter(f"{SVG}g")]
    assert sorted(names) == sorted(BLOCKS)


def test_blocks_stay_inside_the_drawing_and_apart():
    blocks = list(BLOCKS.values())
    for block in blocks:
        assert 0 <= block.x <= WIDTH - 136
        assert 0 <= block.y <= HEIGHT - block.height
    for one in blocks:
        for other in blocks:
            if one is not other and one.x == other.x:
                assert one.y >= other.y + other.height or other.y >= one.y + one.height


@pytest.mark.parametrize("part", PARTS)
def test_a_chapter_map_lights_its_part_and_nothing_else(part):
    assert lit(chapter_map(part)) == set(PARTS[part])


def test_decoder_attends_with_a_mask_and_to_the_encoder():
    assert PARTS["mask"] == ("decoder-attention",)
    assert "cross-attention" in PARTS["decoder"]
    assert not set(PARTS["encoder"]) & set(PARTS["decoder"])


def test_links_surround_their_blocks_and_the_more_specific_wins():
    links = {"attention": "04.html", "decoder-attention": "03.html", "norm": "08.html"}
    found = {}
    for anchor in drawn(architecture(links=links)).iter(f"{SVG}a"):
        found[anchor.find(f"{SVG}g").get("data-block")] = anchor.get("href")
    assert found["encoder-attention"] == "04.html"
    assert found["decoder-attention"] == "03.html"
    assert found["encoder-feed-forward-norm"] == "08.html"
    assert "projection" not in found


@pytest.mark.parametrize(("links", "role"), [(None, "img"), ({"model": "09.html"}, "group")])
def test_screen_readers_get_title_description_and_links(links, role):
    root = drawn(architecture(links=links))
    assert root.get("role") == role
    texts = {node.get("id"): node.text for node in root if node.get("id")}
    for label in root.get("aria-labelledby").split():
        assert len(texts[label]) > 20


def test_two_drawings_on_a_page_share_no_id():
    one, other = architecture()._repr_html_(), chapter_map("attention")._repr_html_()
    assert not set(re.findall(r'id="([^"]+)"', one)) & set(re.findall(r'id="([^"]+)"', other))
    for name in re.findall(r"url\(#([^)]+)\)", other):
        assert f'id="{name}"' in other


def test_ink_is_the_pages_own_except_on_lit_blocks():
    page = chapter_map("attention")._repr_html_()
    inks = set(re.findall(r'<text[^>]*fill="([^"]+)"', page))
    assert inks == {"currentColor", "#ffffff"}
    assert contrast(PALETTE["blue"], "#ffffff") >= 4.5


def test_words_are_11_px_or_more_on_a_phone_and_stay_inside():
    """A phone of 375 px leaves a drawing 343 px; a letter takes about 5.8."""
    for root in (drawn(architecture()), drawn(chapter_map("attention"))):
        widest = int(re.search(r"max-width:(\d+)px", root.get("style")).group(1))
        assert float(root.get("font-size")) * min(widest, 343) / WIDTH >= 11
        for node in root.iter(f"{SVG}text"):
            x, length = float(node.get("x")), 5.8 * len(node.text)
            start = x - length / 2 if node.get("text-anchor") == "middle" else x
            assert start >= 0
            assert start + length <= WIDTH, node.text


def test_words_of_the_small_map_have_12_px_in_the_margin_and_fit_their_blocks():
    assert SMALL_MAP_FONT * MARGIN / WIDTH >= 12
    words = [node.text for node in drawn(chapter_map("model")).iter(f"{SVG}text")]
    assert len(words) == len(BLOCKS)
    assert max(map(len, words)) * 0.43 * SMALL_MAP_FONT < BOX_WIDTH + 2


def test_unknown_parts_are_refused_by_name():
    with pytest.raises(ValueError, match="unknown part 'atention'; known: attention"):
        chapter_map("atention")
    with pytest.raises(ValueError, match="unknown part 'x'"):
        architecture(links={"x": "y.html"})


def test_text_stands_in_for_the_drawing():
    assert repr(architecture()).startswith("Drawing: The Transformer")
