"""Shapes and parameters of Figure 1's blocks: recorded, complete, adding up."""

import itertools

import pytest
import torch

from transformer import Transformer, TransformerConfig
from walkthrough.ch09_encoder_and_decoder.experiments.blocks import (
    block_parameters,
    in_symbols,
    record_shapes,
    symbols,
)
from walkthrough.page.architecture import BLOCKS

SIZES = {"d_model": 24, "n_heads": 3, "n_layers": 4, "d_ff": 40, "max_len": 50}
SOURCE = torch.full((2, 7), 5)
TARGET = torch.full((2, 6), 5)


def model(**changes):
    torch.manual_seed(0)
    return Transformer(TransformerConfig(vocab_size=90, **(SIZES | changes))).eval()


def test_every_block_of_figure_1_is_recorded():
    assert list(record_shapes(model(), SOURCE, TARGET)) == list(BLOCKS)
    assert set(block_parameters(model())) == set(BLOCKS)


def test_what_comes_out_of_one_block_goes_into_the_next():
    shapes = record_shapes(model(), SOURCE, TARGET)
    side = [name for name in BLOCKS if name.startswith(("source", "encoder"))]
    for one, following in itertools.pairwise(side):
        assert shapes[one]["out"] == shapes[following]["in"]
    assert shapes["cross-attention"]["memory"] == shapes[side[-1]]["out"]
    assert shapes["projection"]["out"] == (2, 6, 90)


def test_queries_come_from_the_target_and_keys_from_the_source():
    shapes = record_shapes(model(), SOURCE, TARGET)["cross-attention"]
    assert shapes["queries"] == (2, 3, 6, 8)
    assert shapes["keys"] == shapes["values"] == (2, 3, 7, 8)
    assert shapes["weights"] == (2, 3, 6, 7)


def test_recording_leaves_no_hooks_behind():
    ours = model()
    record_shapes(ours, SOURCE, TARGET)
    assert not any(module._forward_hooks for module in ours.modules())


@pytest.mark.parametrize("changes", [{}, {"tie_embeddings": False}, {"bias": False}], ids=str)
def test_parameters_of_the_blocks_add_up_to_the_model(changes):
    ours = model(**changes)
    counted = block_parameters(ours)
    assert sum(block.total for block in counted.values()) == ours.n_parameters
    tied = changes.get("tie_embeddings", True)
    assert counted["projection"].shared_with == ("source-embedding" if tied else None)


def test_a_shape_reads_in_symbols_and_numbers_with_two_meanings_are_refused():
    names = symbols(model().config, SOURCE, TARGET)
    assert in_symbols((2, 3, 6, 7), names) == "(B, h, T, S)"
    with pytest.raises(ValueError, match="all sizes must differ"):
        symbols(model().config, SOURCE, SOURCE)


def test_a_model_without_positions_has_not_these_blocks():
    with pytest.raises(ValueError, match="positions='none'"):
        record_shapes(model(positions="none"), SOURCE, TARGET)
