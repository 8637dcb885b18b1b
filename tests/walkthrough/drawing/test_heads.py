"""The drawing of all matrices computes what the package computes, and shows every number once."""

import re

import pytest
import torch

from transformer.attention import MultiHeadAttention
from walkthrough.drawing.heads import Head, all_the_way

WORDS, FEATURES = ["Jane", "visits", "Africa"], ["a", "b", "c", "d"]


def drawn(n_heads):
    torch.manual_seed(0)
    x, w_output = torch.randn(3, 4), torch.randn(2 * n_heads, 4)
    heads = [Head(torch.randn(4, 3), torch.randn(4, 3), torch.randn(4, 2)) for _ in range(n_heads)]
    return all_the_way("all", WORDS, FEATURES, x, heads, w_output), x, heads, w_output


def numbers(markup, symbol):
    (cells,) = re.findall(rf"<strong>{re.escape(symbol)}</strong>(.*?)</div>", markup)
    return [float(n.replace("−", "-")) for n in re.findall(r"<i [^>]*>([^<]+)</i>", cells)]


@pytest.mark.parametrize("n_heads", [1, 3])
def test_the_output_is_that_of_the_package(n_heads):
    shown, x, heads, w_output = drawn(n_heads)
    module = MultiHeadAttention(d_model=4, n_heads=n_heads, d_k=3, d_v=2, bias=False)
    matrices = {
        module.query_proj: torch.cat([head.w_query for head in heads], -1),
        module.key_proj: torch.cat([head.w_key for head in heads], -1),
        module.value_proj: torch.cat([head.w_value for head in heads], -1),
        module.output_proj: w_output,
    }
    with torch.no_grad():
        for linear, matrix in matrices.items():
            linear.weight.copy_(matrix.T)
        output, weights = module(x[None], x[None], x[None], need_weights=True)
    assert numbers(shown.markup, "output") == pytest.approx(output.flatten().tolist(), abs=0.006)
    index = "<sub>1</sub>" * (n_heads > 1)
    first = weights[0, 0].flatten().tolist()
    assert numbers(shown.markup, f"weights{index}") == pytest.approx(first, abs=0.006)


def test_every_matrix_is_a_button_and_a_product_stands_beside_its_factors():
    one, three = drawn(1)[0], drawn(3)[0]
    assert [scene.markup.count('type="radio"') for scene in (one, three)] == [12, 31]
    assert ("Concat" in one.markup, "Concat" in three.markup) == (False, True)
    q = re.search(r'value="m(\d+)"[^>]*aria-label="Q, 3 × 3"', one.markup)[1]
    seen = re.findall(rf'<div class="(?:f\d+ )*f{q}\b[^"]*">.*?<strong>(.*?)</strong>', one.markup)
    assert seen == ["x", "W<sup>Q</sup>", "Q"]
    assert "Q is 3 × 3" in one.description
    assert "<" not in three.description
    assert [scene.markup.count('class="lane"') for scene in (one, three)] == [1, 5]


def test_a_matrix_that_does_not_fit_is_named():
    _, x, heads, w_output = drawn(2)
    with pytest.raises(ValueError, match=r"w_output must have the shape \(4, 4\), got \(3, 4\)"):
        all_the_way("all", WORDS, FEATURES, x, heads, w_output[:3])
    with pytest.raises(ValueError, match=r"x must have the shape \(2, 4\), got \(3, 4\)"):
        all_the_way("all", WORDS[:2], FEATURES, x, heads, w_output)
