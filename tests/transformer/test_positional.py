from math import cos, pi, sin

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from transformer import sinusoidal_encoding
from transformer.positional import LearnedEncoding, SinusoidalEncoding


def follows_the_formula(encoding) -> bool:
    """Compare with §3.5 written out, number by number."""
    length, d_model = 40, 8
    table = encoding(length, d_model)
    expected = [
        [
            (sin if dim % 2 == 0 else cos)(pos / 10000 ** ((dim - dim % 2) / d_model))
            for dim in range(d_model)
        ]
        for pos in range(length)
    ]
    return torch.allclose(table, torch.tensor(expected), atol=1e-6)


def base_1000(length, d_model):
    return sinusoidal_encoding(length, d_model, base=1000.0)


def sin_and_cos_swapped(length, d_model):
    return sinusoidal_encoding(length, d_model).unflatten(-1, (-1, 2)).flip(-1).flatten(-2)


def halves_side_by_side(length, d_model):
    table = sinusoidal_encoding(length, d_model)
    return torch.cat([table[:, 0::2], table[:, 1::2]], dim=-1)


def positions_from_one(length, d_model):
    return sinusoidal_encoding(length, d_model, start=1)


def every_position_zero(length, d_model):
    return sinusoidal_encoding(1, d_model).expand(length, -1)


def doubled_twice(length, d_model):
    """Exponent 2·(2i)/d_model: i was already counted in steps of two."""
    dims = torch.arange(0, d_model, 2)
    angle = torch.arange(length)[:, None] / 10000 ** (2 * dims / d_model)
    return torch.stack([angle.sin(), angle.cos()], -1).flatten(-2)


def one_frequency_a_dimension(length, d_model):
    dims = torch.arange(d_model)
    angle = torch.arange(length)[:, None] / 10000 ** (dims / d_model)
    return torch.where(dims % 2 == 0, angle.sin(), angle.cos())


def test_follows_the_formula():
    assert follows_the_formula(sinusoidal_encoding)


@pytest.mark.parametrize(
    "wrong",
    [
        base_1000,
        sin_and_cos_swapped,
        halves_side_by_side,
        positions_from_one,
        every_position_zero,
        doubled_twice,
        one_frequency_a_dimension,
    ],
    ids=lambda wrong: wrong.__name__,
)
def test_the_formula_rejects(wrong):
    assert not follows_the_formula(wrong)


@given(pos=st.integers(0, 300), k=st.integers(0, 300), pairs=st.integers(1, 16))
@settings(max_examples=50, deadline=None)
def test_moving_by_k_is_a_rotation_that_does_not_depend_on_the_position(pos, k, pairs):
    """§3.5: PE(pos + k) is a linear function of PE(pos)."""
    d_model = 2 * pairs
    here = sinusoidal_encoding(1, d_model, start=pos)[0].unflatten(-1, (-1, 2)).double()
    there = sinusoidal_encoding(1, d_model, start=pos + k)[0].unflatten(-1, (-1, 2)).double()
    angle = k / 10000 ** (torch.arange(pairs, dtype=torch.float64) / pairs)
    rotation = torch.stack(
        [torch.stack([angle.cos(), angle.sin()], -1), torch.stack([-angle.sin(), angle.cos()], -1)],
        dim=-2,
    )  # (pairs, 2, 2)
    torch.testing.assert_close((rotation @ here[..., None])[..., 0], there, rtol=0, atol=1e-5)


def test_the_shortest_wavelength_is_two_pi():
    pair = sinusoidal_encoding(2, 8)[:, :2]
    assert torch.atan2(pair[1, 0], pair[1, 1]).item() == pytest.approx(2 * pi / (2 * pi))


def test_far_positions_keep_their_precision():
    """Computed in float32 the angle of position 100 000 is wrong in the third decimal."""
    sines = sinusoidal_encoding(1, 6, start=100_000)[0, 0::2].tolist()
    expected = [sin(100_000 / 10000 ** (dim / 6)) for dim in (0, 2, 4)]
    assert sines == pytest.approx(expected, abs=1e-6)


def test_odd_d_model_ends_with_a_sine():
    table = sinusoidal_encoding(4, 5)
    assert table.shape == (4, 5)
    assert table[3, 4].item() == pytest.approx(sin(3 / 10000 ** (4 / 5)), abs=1e-7)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"length": -1, "d_model": 4}, "must not be negative, got -1 and 0"),
        ({"length": 3, "d_model": 4, "start": -2}, "must not be negative, got 3 and -2"),
        ({"length": 3, "d_model": 0}, "d_model must be at least 1, got 0"),
        ({"length": 3, "d_model": 4, "base": 0.0}, "base must be positive, got 0.0"),
    ],
)
def test_bad_sizes_name_the_rule_and_the_value(arguments, message):
    with pytest.raises(ValueError, match=message):
        sinusoidal_encoding(**arguments)


@pytest.mark.parametrize(("length", "start"), [(3, 0), (3, 4), (8, 3), (2, 100)])
def test_the_module_computes_on_past_its_table(length, start):
    module = SinusoidalEncoding(d_model=6, max_len=8)
    expected = sinusoidal_encoding(start + length, 6)[start:]
    torch.testing.assert_close(module(length, start), expected)
    assert not module.state_dict()  # nothing learned, nothing to save


def test_learned_positions_end_with_the_table():
    module = LearnedEncoding(d_model=6, max_len=8)
    assert torch.equal(module(3, 5), module.weight[5:8])
    with pytest.raises(ValueError, match="exist for 8 positions, got a sequence of 9"):
        module(4, 5)


def test_the_table_holds_five_thousand_positions_unless_it_is_told_otherwise():
    assert SinusoidalEncoding(d_model=2).table.shape == (5000, 2)
    assert SinusoidalEncoding(d_model=2, max_len=7).table.shape == (7, 2)


def test_the_smallest_sizes_are_allowed():
    assert sinusoidal_encoding(0, 4).shape == (0, 4)
    assert sinusoidal_encoding(3, 1)[:, 0].tolist() == pytest.approx([0.0, sin(1), sin(2)])
    assert sinusoidal_encoding(2, 4, base=0.5)[1, 2].item() == pytest.approx(sin(2**0.5))


def test_positions_start_with_the_first_unless_they_are_told_otherwise():
    assert torch.equal(SinusoidalEncoding(d_model=6, max_len=8)(3), sinusoidal_encoding(3, 6))
    learned = LearnedEncoding(d_model=6, max_len=8)
    assert torch.equal(learned(3), learned.weight[:3])


def test_the_whole_table_is_looked_up_not_computed_again():
    module = SinusoidalEncoding(d_model=6, max_len=8)
    assert module(8).data_ptr() == module.table.data_ptr()


def test_learned_positions_start_at_the_width_of_embeddings():
    torch.manual_seed(0)
    weight = LearnedEncoding(d_model=64, max_len=300).weight
    assert weight.std().item() == pytest.approx(1 / 8, rel=0.05)
