"""The rows of Table 3: none is lost, none changes more than it says, small ones are in scale."""

import pytest

from transformer.analysis.cost import parameter_count
from transformer.config import TransformerConfig
from walkthrough.ch17_variations.rows import (
    CONTROL,
    CONTROLS,
    PRINTED,
    ROWS,
    SMALL_ROWS,
    in_small,
    printed_difference,
)


def test_every_model_of_the_package_is_a_row_and_every_printed_row_is_there():
    assert set(TransformerConfig.table3()) <= set(ROWS)
    assert list(ROWS) == list(PRINTED)
    assert len(SMALL_ROWS) == 15
    assert "big" not in SMALL_ROWS


def test_printed_differences_are_those_of_the_paper():
    assert printed_difference("C N=2") == pytest.approx(21.66, abs=0.01)
    assert printed_difference("E learned positions") == 0


@pytest.mark.parametrize("name", SMALL_ROWS)
def test_a_small_row_keeps_the_proportions(name):
    large, small = ROWS[name].config, in_small(ROWS[name], width=8, depth=2, max_len=128)
    base = in_small(ROWS["base"], width=8, depth=2, max_len=128)
    for size in ("d_model", "d_ff", "d_k", "d_v", "n_layers", "n_heads"):
        ratio = getattr(large, size) / getattr(ROWS["base"].config, size)
        assert getattr(small, size) / getattr(base, size) == ratio
    assert (small.dropout, small.positions) == (large.dropout, large.positions)


def test_a_size_that_does_not_divide_is_refused():
    with pytest.raises(ValueError, match="C N=2: n_layers must be a multiple of 4, got 2"):
        in_small(ROWS["C N=2"], width=8, depth=4, max_len=128)


def test_the_control_has_small_keys_and_the_parameters_of_base():
    control, base = (
        in_small(row, width=8, depth=2, max_len=128).replace(vocab_size=514)
        for row in (CONTROLS[CONTROL], ROWS["base"])
    )
    assert control.d_k * 4 == base.d_k
    assert control.d_v == base.d_v
    assert parameter_count(control) == pytest.approx(parameter_count(base), rel=2e-3)
