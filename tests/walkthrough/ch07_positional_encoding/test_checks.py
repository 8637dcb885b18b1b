"""The checks of chapter 07 accept the paper's encoding and name every mistake they list."""

import math

import pytest
import torch

from transformer.positional import sinusoidal_encoding
from walkthrough.ch07_positional_encoding import checks
from walkthrough.checking.soundness import assert_check_is_sound

ALL = [
    checks.encoding,
    checks.slow_pairs,
    checks.rotation,
    checks.add_positions,
    checks.mirror_accuracy,
]


@pytest.mark.parametrize("check", ALL, ids=lambda check: check.name)
def test_check_rejects_and_names_each_mistake(check):
    assert_check_is_sound(check)
    assert len(check.mistakes) >= 3


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


def test_a_table_with_a_row_for_each_dimension_is_named():
    verdict = checks.encoding(lambda length, d_model: sinusoidal_encoding(length, d_model).T)
    assert verdict.mistake == "dimensions in rows"


def test_a_position_too_early_is_named_though_the_first_word_then_has_none():
    def add(embedded, n_decoded):
        _, new_len, d_model = embedded.shape
        return embedded + sinusoidal_encoding(new_len, d_model, start=n_decoded - 1)

    assert "one too small" in checks.add_positions(add).message


def test_the_transposed_rotation_is_the_wrong_sign():
    verdict = checks.rotation(lambda k, d_model: checks.rotation.reference(k, d_model).T)
    assert verdict.mistake == "wrong sign"


def test_the_reference_rotation_moves_the_packages_encodings():
    table = sinusoidal_encoding(60, 16)
    for k in (-3, 1, 7):
        moved = table[10:40] @ checks.rotation.reference(k, 16).T
        torch.testing.assert_close(moved, table[10 + k : 40 + k], atol=1e-5, rtol=0)


def test_slow_pairs_agrees_with_a_count_on_the_table_itself():
    table = sinusoidal_encoding(101, 512)
    angle = torch.atan2(table[:, 0::2], table[:, 1::2]) % (2 * math.pi)
    turned = (angle.diff(dim=0) < 0).any(dim=0)  # the angle fell back: a turn was completed
    assert checks.slow_pairs.expected == int((~turned).sum())


def test_mirror_accuracy_by_counting_sentences():
    from itertools import permutations

    sentences = list(permutations(range(6)))
    mirrored = [s[5 - s.index(0)] for s in sentences]  # what stands opposite to word 0
    best = max(mirrored.count(word) for word in range(6)) / len(sentences)
    assert checks.mirror_accuracy(best).status == "right"
