"""The checks of chapter 07 accept the paper's encoding and name every mistake they list."""

import math

import pytest
import torch
from soundness import assert_check_is_sound

from transformer.positional import SinusoidalEncoding, sinusoidal_encoding
from walkthrough.ch07_positional_encoding import checks

ALL = [
    checks.encoding,
    checks.rotation,
    checks.rotary_scores,
]


@pytest.mark.parametrize("check", ALL, ids=lambda check: check.name)
def test_check_rejects_and_names_each_mistake(check):
    assert_check_is_sound(check)


def test_a_learners_encoding_in_float32_is_right():
    def encode(length, d_model):
        table = torch.zeros(length, d_model)
        position = torch.arange(length).unsqueeze(1)
        frequency = torch.exp(torch.arange(0, d_model, 2) * -(math.log(10000.0) / d_model))
        table[:, 0::2] = torch.sin(position * frequency)
        table[:, 1::2] = torch.cos(position * frequency)
        return table

    assert checks.encoding(encode).status == "right"


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_a_position_that_is_multiplied_is_named_in_either_precision(dtype):
    def encode(length, d_model):
        table = torch.zeros(length, d_model)
        power = 10000 ** (torch.arange(0, d_model, 2, dtype=dtype) / d_model)
        angle = torch.arange(length)[:, None] * power
        table[:, 0::2], table[:, 1::2] = angle.sin(), angle.cos()
        return table

    assert checks.encoding(encode).mistake == "multiplied by the power"


def test_a_batch_of_one_is_not_taken_for_a_product():
    """At position 0 an angle is 0, multiplied or divided: a wrong shape decides nothing."""
    verdict = checks.encoding(lambda *sizes: checks.encoding.reference(*sizes)[None])
    assert verdict.mistake is None
    assert "the shape should be (5, 8), yours is (1, 5, 8)" in verdict.message


def test_the_packages_own_encoding_is_seen():
    def encode(length, d_model):
        return sinusoidal_encoding(length, d_model)

    def encode_by_class(length, d_model):
        return SinusoidalEncoding(d_model=d_model, max_len=length)(length)

    assert checks.encoding(encode).mistake == "forbidden"
    assert checks.encoding(encode_by_class).mistake == "forbidden"


def turned_as_complex_numbers(x, start=5):
    length, d = x.shape
    frequency = 10000 ** (-torch.arange(0, d, 2) / d)
    angle = torch.arange(start, start + length)[:, None] * frequency
    hands = torch.view_as_complex(x.reshape(length, d // 2, 2).contiguous())
    return torch.view_as_real(hands * torch.polar(torch.ones_like(angle), angle)).flatten(1)


def test_scores_of_turned_vectors_are_right_from_any_first_position():
    def scores(query, key):
        query, key = turned_as_complex_numbers(query), turned_as_complex_numbers(key)
        return query @ key.T / query.shape[-1] ** 0.5

    assert checks.rotary_scores(scores)


def test_scores_of_differences_without_turning_anything_twice_are_right():
    def scores(query, key):
        length, d = query.shape
        result = torch.zeros(length, length)
        for t in range(length):
            for s in range(length):
                back = checks.rotation.reference(t - s, d)
                result[t, s] = query[t] @ back @ key[s] / math.sqrt(d)
        return result

    assert checks.rotary_scores(scores)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (lambda k, d: torch.matrix_power(step(d), max(k, 0)), "A negative k turns back"),
        (lambda k, d: checks.rotation.reference(k or 1, d), "this is the identity"),
        (lambda k, d: checks.rotation.reference(k, d).flip(0, 1), "right for “k = 0”; wrong for"),
    ],
    ids=["a loop over range(k)", "k = 0 as 1", "flipped"],
)
def test_what_is_said_of_an_unforeseen_rotation_is_true(wrong, said):
    verdict = checks.rotation(wrong)
    assert verdict.mistake is None
    assert "leaves" not in verdict.message
    assert "turned back" not in verdict.message
    assert said in verdict.message


def step(d_model):
    return checks.rotation.reference(1, d_model)


def test_a_rotation_as_a_power_of_one_step_is_right():
    assert checks.rotation(lambda k, d: torch.linalg.matrix_power(step(d).double(), k).float())


def test_the_reference_rotation_moves_the_packages_encodings():
    table = sinusoidal_encoding(60, 16)
    for k in (-3, 1, 7):
        moved = table[10:40] @ checks.rotation.reference(k, 16).T
        torch.testing.assert_close(moved, table[10 + k : 40 + k], atol=1e-5, rtol=0)


def test_an_encoding_in_half_precision_is_not_said_to_be_in_another_order():
    half = checks.encoding(lambda *sizes: sinusoidal_encoding(*sizes).half())
    assert half.status == "wrong"
    assert "order" not in half.message
