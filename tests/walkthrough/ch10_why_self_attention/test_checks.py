"""The checks of chapter 10 accept what is right and name what is wrong."""

import pytest
import torch

from walkthrough.ch10_why_self_attention import checks
from walkthrough.checking.soundness import assert_check_is_sound

ALL = [checks.layer_products, checks.crossing, checks.neighbourhood, checks.layers_needed]


@pytest.mark.parametrize("check", ALL, ids=lambda check: check.name)
def test_check_names_every_mistake_it_lists(check):
    assert_check_is_sound(check)
    assert len(check.mistakes) >= 3


def test_products_written_out_are_right():
    def products(n, d):
        projections = [(n, d, d)] * 4
        pairs = [(n, d, n), (n, n, d)]
        return sum(rows * inner * columns for rows, inner, columns in projections + pairs)

    assert checks.layer_products(products)


def test_a_crossing_found_by_search_is_right():
    def search(pairs, d):
        n = 0
        while 4 * (n + 1) * d * d + 2 * (n + 1) ** 2 * d <= 2 * pairs * (n + 1) * d * d:
            n += 1
        return n

    assert checks.crossing(search)


def test_a_neighbourhood_by_bands_or_by_a_loop_is_right():
    def bands(length, r):
        ones = torch.ones(length, length, dtype=torch.bool)
        return ones.tril(r // 2) & ones.triu(-(r // 2))

    def loop(length, r):
        return torch.tensor(
            [[abs(query - key) <= r // 2 for key in range(length)] for query in range(length)]
        )

    assert checks.neighbourhood(bands)
    assert checks.neighbourhood(loop)


def test_a_neighbourhood_with_more_dimensions_is_named():
    def wrong(length, r):
        position = torch.arange(length)
        return ((position[:, None] - position).abs() <= r // 2)[None, None]

    assert "dimensions for sentences and heads" in checks.neighbourhood(wrong).message


def test_layers_counted_by_walking_are_right():
    def walk(n, k, dilated):
        reached, layers = 1, 0
        while reached < n:
            reached += (k - 1) * (k**layers if dilated else 1)
            layers += 1
        return layers

    assert checks.layers_needed(walk)
