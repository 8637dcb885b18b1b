"""The graphs of chapter 10 are those of the layers, and their lengths those of Table 1."""

import math
from itertools import pairwise

import pytest
import torch

from transformer.analysis.cost import layer_cost, path_length
from transformer.masks import neighbourhood_mask
from walkthrough.ch10_why_self_attention.experiments import layer_types, wiring
from walkthrough.ch10_why_self_attention.experiments.layer_types import make_layer
from walkthrough.ch10_why_self_attention.experiments.wiring import KINDS

SIZES = {"k": 3, "r": 5}


def reads_from(layer, *, n, d):
    """Return which outputs (rows) depend on which inputs (columns), by gradients."""
    x = torch.randn(1, n, d, requires_grad=True)
    output = layer(x)[0]
    rows = [
        torch.autograd.grad(output[position].sum(), x, retain_graph=True)[0][0].abs().amax(-1) > 0
        for position in range(n)
    ]
    return torch.stack(rows)


def reached_in_the_graph(kind, n):
    """Output × input of one layer, through every edge of the graph."""
    reads = wiring.wiring(kind, n=n, **SIZES)
    return torch.tensor(
        [
            [bool(wiring.shortest_way(reads, (0, before), (1, after))) for before in range(n)]
            for after in range(n)
        ]
    )


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "dilated"])
def test_the_graph_of_a_layer_is_what_its_gradients_say(kind):
    torch.manual_seed(0)
    real = reads_from(make_layer(kind, 4, **SIZES), n=9, d=4)
    assert torch.equal(real, reached_in_the_graph(kind, 9))


def test_a_dilated_stack_is_what_its_gradients_say():
    torch.manual_seed(0)
    stack = torch.nn.Sequential(
        *(layer_types.Convolution(4, 3, dilation=3**layer) for layer in range(2))
    )
    reads = wiring.wiring("dilated", n=12, n_layers=2, k=3)
    real = reads_from(stack, n=12, d=4)
    for after in range(12):
        for before in range(12):
            way = wiring.shortest_way(reads, (0, before), (2, after))
            assert bool(way) == bool(real[after, before])


@pytest.mark.parametrize("n", [2, 5, 9, 10, 28])
@pytest.mark.parametrize("kind", KINDS)
def test_lengths_in_the_graph_agree_with_the_formulas(kind, n):
    cost = layer_cost(kind, n=n, d=8, **SIZES)
    assert max(wiring.steps(wiring.wiring(kind, n=n, **SIZES)).values()) == cost.sequential
    assert wiring.longest_shortest_way(kind, n=n, **SIZES) == cost.path
    assert cost.path == path_length(kind, n=n, **SIZES)


def test_a_way_is_shortest_and_follows_edges():
    reads = wiring.wiring("recurrent", n=5)
    assert wiring.shortest_way(reads, (0, 1), (1, 3)) == [(0, 1), (1, 1), (1, 2), (1, 3)]
    assert wiring.shortest_way(reads, (0, 3), (1, 1)) == []
    stack = wiring.wiring("convolutional", n=9, n_layers=4)
    way = wiring.shortest_way(stack, (0, 0), (4, 8))
    assert all(before in stack[after] for before, after in pairwise(way))


def test_steps_are_the_longest_chain_and_ways_the_shortest():
    assert wiring.steps(wiring.wiring("recurrent", n=4))[1, 3] == 4
    two = wiring.steps(wiring.wiring("recurrent", n=4, n_layers=2))
    assert two[2, 3] == 5  # the second layer can start while the first is still running
    assert wiring.steps(wiring.wiring("convolutional", n=9, n_layers=4))[4, 8] == 4


@pytest.mark.parametrize(
    ("changes", "rule"),
    [
        ({"kind": "mixer"}, "kind"),
        ({"n": 0}, "at least 1"),
        ({"k": 1}, "k must be at least 2"),
        ({"r": 4}, "odd"),
    ],
)
def test_what_cannot_be_wired_is_refused(changes, rule):
    with pytest.raises((ValueError, TypeError), match=rule):  # types are checked in tests
        wiring.wiring(**{"kind": "restricted", "n": 5, **changes})


FACTORS = {  # floating-point operations for one unit of Table 1
    "self-attention": 4,
    "recurrent": 4,
    "convolutional": 2,
    "dilated": 2,
    "separable": 2,
    "restricted": 4,
}


@pytest.mark.parametrize("kind", FACTORS)
def test_counted_operations_are_a_constant_times_table_1(kind):
    for n, d in [(16, 8), (32, 8), (16, 16), (40, 24)]:
        layer = make_layer(kind, d, k=3, r=5)
        claimed = layer_cost(kind, n=n, d=d, k=3, r=5).operations
        assert layer_types.counted(layer, n=n, d=d) == FACTORS[kind] * claimed


@pytest.mark.parametrize(
    ("kind", "chain"),
    [
        ("self-attention", lambda n: 2),
        ("recurrent", lambda n: n),
        ("convolutional", lambda n: 1),
        ("separable", lambda n: 2),
        ("restricted", lambda n: 2),
    ],
)
def test_only_the_recurrence_has_a_chain_that_grows(kind, chain):
    for n in (8, 40):
        assert layer_types.longest_chain(make_layer(kind, 4, r=5), n=n, d=4) == chain(n)


def test_windows_give_what_the_mask_gives():
    """A window that leaks padding in, or is shifted by one, differs."""
    torch.manual_seed(0)
    x = torch.randn(2, 11, 6)
    weights = (x @ x.mT / math.sqrt(6)).masked_fill(~neighbourhood_mask(11, 5)[0, 0], -math.inf)
    by_mask = weights.softmax(-1) @ x
    torch.testing.assert_close(make_layer("restricted", 6, r=5)(x), by_mask)


def test_projections_add_four_squares():
    layer = layer_types.WithProjections(16)
    assert layer_types.counted(layer, n=10, d=16) == 4 * 10 * 10 * 16 + 8 * 10 * 16 * 16


def test_an_unknown_layer_is_refused():
    with pytest.raises((ValueError, TypeError), match="kind"):
        make_layer("mixer", 4)
