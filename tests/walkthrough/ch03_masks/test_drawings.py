"""The drawing of the three masks shows the masks that it is given."""

import pytest
import torch

from transformer.masks import causal_mask, combine_masks, padding_mask
from walkthrough.ch03_masks.drawings import masks_on_model

SOURCE, TARGET = ["Jane", "chante", "</s>", "<pad>"], ["<s>", "Jane", "sings"]
SOURCE_IDS, TARGET_IDS = torch.tensor([[5, 6, 2, 0]]), torch.tensor([[1, 5, 7]])


def drawn(**changes):
    own = combine_masks(padding_mask(TARGET_IDS), causal_mask(3))[0, 0]
    masks = {
        "encoder": padding_mask(SOURCE_IDS)[0, 0].expand(4, 4),
        "decoder": own,
        "cross": padding_mask(SOURCE_IDS)[0, 0].expand(3, 4),
        **changes,
    }
    return masks_on_model(**masks, source=SOURCE, target=TARGET)


def test_every_cell_is_drawn_open_or_closed():
    svg = drawn().svg
    assert svg.count('class="open"') - 1 == 12 + 6 + 9  # 1 in the legend
    assert svg.count('class="closed"') - 1 == 4 + 3 + 3


def test_it_says_in_words_what_it_shows_and_names_every_attention():
    svg = drawn().svg
    assert "masked decoder self-attention: 6 of 9 cells open" in svg
    assert "encoder–decoder attention: 9 of 12 cells open" in svg
    assert "&lt;pad&gt;" in svg
    assert 'role="img"' in svg


def test_a_mask_that_does_not_fit_its_words_is_refused(as_users_run_it):
    with pytest.raises(ValueError, match=r"expected \(3, 4\), got \(4, 4\)"):
        drawn(cross=torch.ones(4, 4, dtype=torch.bool))


def test_long_sentences_are_refused(as_users_run_it):
    mask = torch.ones(7, 7, dtype=torch.bool)
    with pytest.raises(ValueError, match="at most 6 tokens fit, got 7 and 7"):
        masks_on_model(mask, mask, mask, source=["a"] * 7, target=["b"] * 7)
