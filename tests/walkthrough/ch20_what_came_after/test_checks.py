"""The checks of chapter 20 accept what is right and name what is wrong."""

import pytest
import torch
from soundness import assert_check_is_sound
from torch import nn

from walkthrough.ch20_what_came_after import checks

ALL = [checks.image_tokens, checks.turn_at, checks.pool_heads]


@pytest.mark.parametrize("check", ALL, ids=lambda check: check.name)
def test_check_names_every_mistake_it_lists(check):
    assert_check_is_sound(check)


def test_patches_by_a_convolution_with_steps_are_right():
    def tokens(images, size, weight, bias, class_token, positions):
        kernel = weight.view(len(weight), images.shape[1], size, size)
        x = nn.functional.conv2d(images, kernel, bias, stride=size).flatten(2).transpose(1, 2)
        return torch.cat([class_token.expand(len(x), 1, -1), x], dim=1) + positions

    assert checks.image_tokens(tokens).status == "right"


def test_the_usual_rotate_half_is_right():
    def turn(x, positions):
        frequency = 10000.0 ** (-torch.arange(0, x.shape[-1], 2) / x.shape[-1])
        angle = (positions[:, None, :, None] * frequency).repeat(1, 1, 1, 2)
        a, b = x.chunk(2, dim=-1)
        return x * angle.cos() + torch.cat([-b, a], dim=-1) * angle.sin()

    assert checks.turn_at(turn).status == "right"


def test_a_table_of_512_positions_is_too_short():
    def turn(x, positions):
        return checks.turn_at.reference(x, positions % 512)

    assert "far on in a long text" in checks.turn_at(turn).message


def test_a_class_token_at_the_end_is_named():
    def tokens(images, size, weight, bias, class_token, positions):
        x = checks.image_tokens.reference(images, size, weight, bias, class_token, 0 * positions)
        return x.roll(-1, dims=1) + positions

    assert checks.image_tokens(tokens).mistake == "class token last"
