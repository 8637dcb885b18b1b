"""The figures of chapter 09: Figure 1 to click on, and the line to the memory to cut."""

import re

import pytest
import torch

from transformer import Transformer, TransformerConfig
from walkthrough.ch09_encoder_and_decoder.experiments.blocks import (
    block_parameters,
    record_shapes,
    symbols,
)
from walkthrough.ch09_encoder_and_decoder.figures.blocks import CODE, Words, block_explorer
from walkthrough.ch09_encoder_and_decoder.figures.cut import cut_memory
from walkthrough.ch09_encoder_and_decoder.figures.stacks import stacks
from walkthrough.page.architecture import BLOCKS

SOURCE, TARGET = torch.full((2, 7), 5), torch.full((2, 6), 5)


@pytest.fixture(scope="module")
def recorded():
    config = TransformerConfig(
        vocab_size=90, d_model=24, n_heads=3, n_layers=4, d_ff=40, max_len=50
    )
    model = Transformer(config).eval()
    shapes = record_shapes(model, SOURCE, TARGET)
    return shapes, block_parameters(model), symbols(config, SOURCE, TARGET)


def panels(page):
    """The text of what a click on each block shows."""
    found = {}
    parts = re.split(r'<div class="blocks-panel" data-panel="([\w-]+)">', page)
    for name, body in zip(parts[1::2], parts[2::2], strict=True):
        found.setdefault(name, []).append(re.sub(r"<[^>]+>", " ", body))
    return found


def test_every_block_has_one_button_and_its_facts_and_code(recorded):
    page = block_explorer(*recorded)._repr_html_()
    assert re.findall(r'<input type="radio" name="blocks" value="([\w-]+)"', page) == list(BLOCKS)
    assert page.count(" checked>") == 1
    shown = panels(page)
    assert list(shown) == list(BLOCKS)
    assert {len(parts) for parts in shown.values()} == {2}
    facts, code = shown["cross-attention"]
    assert "(B, h, T, S)" in facts
    assert "(2, 3, 6, 7)" in facts
    assert "in all 4" in facts
    assert "cross_attention" in code


def test_a_click_shows_the_panel_that_belongs_to_it(recorded):
    style = block_explorer(*recorded)._repr_html_()
    for block in BLOCKS:
        rule = f'.blocks:has(input[value="{block}"]:checked) [data-panel="{block}"]'
        assert rule in style


def test_buttons_lie_on_the_blocks_of_the_drawing(recorded):
    page = block_explorer(*recorded)._repr_html_()
    places = re.findall(
        r'style="(left[^"]+)"[^>]*><input type="radio" name="\w+" value="([\w-]+)"', page
    )
    assert [block for _, block in places] == list(BLOCKS)
    for place, block in places:
        left, top, width, height = (float(n) for n in re.findall(r":([\d.]+)%", place))
        box = BLOCKS[block]
        assert left == pytest.approx(100 * box.x / 360, abs=0.01)
        assert top == pytest.approx(100 * box.y / 424, abs=0.01)
        assert left + width <= 100
        assert height == pytest.approx(100 * box.height / 424, abs=0.01)


def test_shared_and_missing_parameters_are_said_in_words(recorded):
    shown = panels(block_explorer(*recorded)._repr_html_())
    assert "none: nothing here is learned" in shown["source-positions"][0]
    for block in ("target-embedding", "projection"):
        assert "uses the matrix of “Source embedding”" in shown[block][0]


def test_code_is_the_packages_own_and_every_word_can_be_replaced(recorded):
    assert set(CODE) == set(BLOCKS)
    renamed = {block: ("Titel", "Satz") for block in BLOCKS}
    page = block_explorer(*recorded, words=Words(blocks=renamed, choose="Wähle"))._repr_html_()
    assert "Self-attention of the encoder" not in page
    assert 'aria-label="Wähle"' in page


def test_two_explorers_on_a_page_have_buttons_of_their_own(recorded):
    assert 'name="second"' in block_explorer(*recorded, name="second")._repr_html_()


def test_incomplete_explorers_are_refused(recorded):
    shapes, parameters, names = recorded
    with pytest.raises(ValueError, match=r"needs shapes: \['projection'\]"):
        block_explorer({k: v for k, v in shapes.items() if k != "projection"}, parameters, names)
    with pytest.raises(ValueError, match="got 'softmax'"):
        block_explorer(shapes, parameters, names, first="softmax")


def cut(words=("Jane", "</s>"), frames=4):
    predicted = [[(word, 0.9) for word in words]] * (frames - 1) + [[("the", 0.2)] * len(words)]
    return cut_memory(["Jane"], torch.randn(1, 8), ["<s>", "Jane"], predicted, ["Jane", "</s>"])


def test_a_cut_says_how_many_predictions_are_left():
    shown = cut()
    assert shown.description.startswith("2 of 2 are right")
    assert "0 of 2 are right. Nothing of the French" in shown.description
    assert [word for word in re.findall(r'<b class="off[^>]+>([^<]+)', shown.markup)] == ["the"] * 2


def test_a_line_is_faint_where_it_is_cut():
    first, second = re.findall(r'<path class="glides" style="([^"]+)"', cut().markup)
    assert [part.split(":")[1] for part in first.split(";")[1:]] == ["0.8", "0.08", "0.8", "0.08"]
    assert [part.split(":")[1] for part in second.split(";")[1:]] == ["0.8", "0.8", "0.08", "0.08"]


def test_a_cut_needs_four_frames_of_all_rows():
    with pytest.raises(ValueError, match="4 frames of 2 rows are needed, got 3"):
        cut(frames=3)
    with pytest.raises(ValueError, match="4 frames of 2 rows"):
        cut(words=("Jane", "visits", "</s>"))


@pytest.mark.parametrize("n_layers", [1, 6])
def test_an_arrow_leads_from_the_memory_to_every_decoder_layer(n_layers):
    drawn = stacks(n_layers).svg
    to_layers = re.findall(r'd="M172 (\S+?)H216"|V(\S+?)H216"', drawn)
    ends = sorted(float(first or last) for first, last in to_layers)
    tops = re.findall(r'<rect x="217" y="(\d+)"', drawn)[1:]  # the first is the output
    assert ends == sorted(float(top) + 10 for top in tops)
    assert len(ends) == n_layers
