import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from transformer import causal_mask, combine_masks, padding_mask
from transformer.masks import neighbourhood_mask


def test_padding_mask_allows_tokens_and_forbids_padding():
    """The inverted mask (True = forbidden) is PyTorch's habit in nn.MultiheadAttention."""
    mask = padding_mask(torch.tensor([[5, 6, 0], [7, 0, 0]]))
    assert mask.shape == (2, 1, 1, 3)
    assert mask[:, 0, 0].tolist() == [[True, True, False], [True, False, False]]


def test_causal_mask_sees_itself_and_the_past():
    """Off by one forbids the position itself; transposed shows only the future."""
    assert causal_mask(3)[0, 0].tolist() == [
        [True, False, False],
        [True, True, False],
        [True, True, True],
    ]


@given(st.integers(1, 8), st.integers(0, 8))
def test_causal_mask_with_stored_keys_is_the_end_of_the_full_mask(query_len, stored):
    full = causal_mask(query_len + stored)[0, 0]
    assert torch.equal(causal_mask(query_len, query_len + stored)[0, 0], full[stored:])


def test_causal_mask_refuses_fewer_keys_than_queries():
    with pytest.raises(ValueError, match="got 2 < 3"):
        causal_mask(3, 2)


@given(st.lists(st.lists(st.booleans(), min_size=4, max_size=4), min_size=1, max_size=3))
def test_combining_allows_what_all_allow_in_any_order(rows):
    masks = [torch.tensor(row) for row in rows]
    combined = combine_masks(*masks)
    assert combined.tolist() == [all(column) for column in zip(*rows, strict=True)]
    assert torch.equal(combined, combine_masks(*reversed(masks), None))


def test_combining_nothing_allows_everything():
    assert combine_masks(None, None) is None


def test_combining_broadcasts_and_refuses_what_does_not():
    both = combine_masks(causal_mask(3), padding_mask(torch.tensor([[5, 6, 0]])))
    assert both[0, 0].tolist() == [[1, 0, 0], [1, 1, 0], [1, 1, 0]]
    with pytest.raises(ValueError, match=r"\(1, 1, 3, 3\) and \(1, 1, 1, 4\)"):
        combine_masks(causal_mask(3), padding_mask(torch.ones(1, 4, dtype=torch.long)))


def test_a_neighbourhood_has_r_positions_with_the_position_in_the_middle():
    """r to each side, a wrap around the ends or a look back only are the usual slips."""
    assert neighbourhood_mask(5, 3)[0, 0].int().tolist() == [
        [1, 1, 0, 0, 0],
        [1, 1, 1, 0, 0],
        [0, 1, 1, 1, 0],
        [0, 0, 1, 1, 1],
        [0, 0, 0, 1, 1],
    ]
    assert neighbourhood_mask(9, 5)[0, 0].sum(-1).tolist() == [3, 4, 5, 5, 5, 5, 5, 4, 3]
    assert neighbourhood_mask(4, 7).all()


@pytest.mark.parametrize("r", [0, -1, 4])
def test_a_neighbourhood_without_a_middle_is_refused(r):
    with pytest.raises(ValueError, match=f"odd and at least 1, got {r}"):
        neighbourhood_mask(5, r)


def test_a_neighbourhood_of_one_is_the_position_itself():
    assert torch.equal(neighbourhood_mask(4, 1)[0, 0], torch.eye(4, dtype=torch.bool))


def test_a_mask_is_made_on_the_device_that_is_asked_for():
    with torch.device("meta"):  # the default now, and no place for values
        assert causal_mask(3, device="cpu").is_cpu
        assert neighbourhood_mask(5, 3, device="cpu").is_cpu
