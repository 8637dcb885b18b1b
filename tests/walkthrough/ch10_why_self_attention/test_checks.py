"""The checks of chapter 10 accept what is right and name what is wrong."""

import math

import pytest
import torch
from soundness import assert_check_is_sound

from transformer.analysis.cost import forward_flops
from transformer.config import TransformerConfig
from walkthrough.ch10_why_self_attention import checks

ALL = [checks.decoder_products, checks.layers_needed]


@pytest.mark.parametrize("check", ALL, ids=lambda check: check.name)
def test_check_names_every_mistake_it_lists(check):
    assert_check_is_sound(check)


def test_products_written_out_are_right_and_are_half_the_packages_operations():
    def products(source_len, target_len, d, d_ff):
        s, t = source_len, target_len
        own = [(t, d, d)] * 4 + [(t, d, t), (t, t, d)]
        across = [(t, d, d)] * 2 + [(s, d, d)] * 2 + [(t, d, s), (t, s, d)]
        network = [(t, d, d_ff), (t, d_ff, d)]
        return sum(rows * inner * columns for rows, inner, columns in own + across + network)

    assert checks.decoder_products(products)
    config = TransformerConfig(vocab_size=9, d_model=16, n_heads=1, n_layers=1, d_ff=24)
    flops = forward_flops(config, source_len=7, target_len=5)
    decoder = flops.decoder_attention + flops.cross_attention + flops.decoder_feed_forward
    assert 2 * products(7, 5, 16, 24) == decoder


def test_a_count_of_products_with_a_slip_is_told_the_term():
    def wrong(source_len, target_len, d, d_ff):
        right = checks.decoder_products.reference(source_len, target_len, d, d_ff)
        return right - source_len * d * d

    message = checks.decoder_products(wrong).message
    assert "`S · d · d` is counted once; 2 times is right" in message


def blocks_and_strides(length):
    side = math.isqrt(length)
    word = torch.arange(length)
    same_block = word[:, None] // side == word // side
    return same_block | (word[:, None] % side == word % side)


def blocks_and_leaders(length):
    side = math.isqrt(length)
    word = torch.arange(length)
    return (word[:, None] // side == word // side) | (word % side == 0)


@pytest.mark.parametrize(
    "mask",
    [
        blocks_and_strides,
        blocks_and_leaders,
        lambda length: blocks_and_strides(length).tolist(),
        lambda length: blocks_and_strides(length).numpy(),
        lambda length: blocks_and_strides(length).double(),
        lambda length: blocks_and_strides(length)[None, None],
    ],
)
def test_several_sparse_masks_are_right(mask):
    assert checks.sparse_mask(mask)


@pytest.mark.parametrize(
    ("mask", "said"),
    [
        (lambda n: torch.ones(n, n, dtype=torch.bool), "word 0 sees 9 words, and 6 are allowed"),
        (lambda n: torch.eye(n, dtype=torch.bool), "it sees 0, and none of these sees 1"),
        (lambda n: blocks_and_strides(n).tril(), "look to both sides"),
        (lambda n: blocks_and_leaders(n).T, "are rows and columns exchanged"),
        (lambda n: ~blocks_and_strides(n), "inverted"),
        (lambda n: blocks_and_strides(n) & ~torch.eye(n, dtype=torch.bool), "see itself"),
        (lambda n: torch.zeros(n, n).masked_fill(~blocks_and_strides(n), -math.inf), "to add"),
        (lambda n: torch.full((n, n), 0.5), "other numbers"),
        (lambda n: torch.ones(n, dtype=torch.bool), "yours has the shape (4,)"),
        (lambda n: [[True] * i for i in range(n)], "your result is a list"),
        (lambda n: torch.ones(n)[n + 5], "stops with IndexError"),
        (lambda n: blocks_and_strides(n) if n == 4 else None, "for 9 words your function returns"),
        (lambda n: print(end=""), "`return` missing"),
        (3, "a function is expected"),
    ],
)
def test_a_sparse_mask_is_told_what_it_lacks(mask, said):
    verdict = checks.sparse_mask(mask)
    assert verdict.status == "wrong"
    assert said in verdict.message


def test_an_identity_is_not_told_that_it_looks_back_only():
    assert "both sides" not in checks.sparse_mask(torch.eye).message


def test_a_stub_of_a_mask_is_nothing_yet():
    def stub(length):
        """Return a mask."""

    def not_written(length):
        raise NotImplementedError

    for function in (None, ..., stub, not_written):
        assert checks.sparse_mask(function).status == "nothing yet"


def test_a_logarithm_rounded_down_is_not_told_that_a_gap_grows_too_early():
    def floored(n, k, dilated):
        return math.floor(math.log(n, k)) if dilated else math.ceil((n - 1) / (k - 1))

    assert "round up, not down" in checks.layers_needed(floored).message


def test_gaps_that_grow_before_they_are_used_are_not_taken_for_a_rounding():
    def early(n, k, dilated):
        reached, layers = 1, 0
        while reached < n:
            layers += 1
            reached += (k - 1) * (k**layers if dilated else 1)
        return layers

    verdict = checks.layers_needed(early)
    assert verdict.status == "wrong"
    assert "logarithm" not in verdict.message
