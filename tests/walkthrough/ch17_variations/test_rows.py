"""The rows of Table 3: none is lost, none changes more than it says, small ones are in scale."""

import pytest

from transformer.analysis.cost import PAPER_PARAMETERS, parameter_count
from transformer.config import TransformerConfig
from walkthrough.ch17_variations.parameters import PARTS, by_part, part_of
from walkthrough.ch17_variations.rows import (
    CONTROL,
    CONTROLS,
    PRINTED,
    ROWS,
    SMALL_ROWS,
    in_small,
)


def test_every_model_of_the_package_is_a_row_and_every_printed_row_is_there():
    assert set(TransformerConfig.table3()) <= set(ROWS)
    assert list(ROWS) == list(PRINTED)
    assert len(SMALL_ROWS) == 19
    assert "big" not in SMALL_ROWS


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("base", {}),
        ("A h=1", {"n_heads": (8, 1), "d_k": (64, 512), "d_v": (64, 512)}),
        ("B d_k=16", {"d_k": (64, 16)}),
        ("C d_model=256", {"d_model": (512, 256), "d_k": (64, 32), "d_v": (64, 32)}),
        ("D smoothing=0.2", {"smoothing": (0.1, 0.2)}),
        ("E learned positions", {"positions": ("sinusoidal", "learned")}),
    ],
)
def test_a_row_knows_what_it_changes(name, changes):
    assert ROWS[name].changes == changes
    assert ROWS[name].group == name.split()[0]


def test_millions_are_those_that_the_package_states():
    printed = {name: row.millions for name, row in ROWS.items() if row.millions}
    assert printed == dict(PAPER_PARAMETERS)


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


@pytest.mark.parametrize("name", ["base", "A h=32", "B d_k=32", "C N=8", "E learned positions"])
def test_parts_add_up_to_the_whole(name):
    counts = by_part(ROWS[name].config)
    assert list(counts) == list(PARTS)
    assert sum(counts.values()) == parameter_count(ROWS[name].config)


def test_a_parameter_of_no_part_is_refused():
    with pytest.raises(ValueError, match="no part has a parameter called 'strange'"):
        part_of("strange")


def test_the_control_has_small_keys_and_the_parameters_of_base():
    control, base = (
        in_small(row, width=8, depth=2, max_len=128).replace(vocab_size=514)
        for row in (CONTROLS[CONTROL], ROWS["base"])
    )
    assert control.d_k * 4 == base.d_k
    assert control.d_v == base.d_v
    assert parameter_count(control) == pytest.approx(parameter_count(base), rel=2e-3)
