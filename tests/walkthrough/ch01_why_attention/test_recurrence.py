"""The recursion of chapter 01 is PyTorch's, and its gradients and chains are measured right."""

import pytest
import torch
from torch import nn

from transformer.attention import scaled_dot_product_attention
from walkthrough.ch01_why_attention.experiments import recurrence


def inputs(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def test_states_equal_torch_with_copied_weights():
    torch.manual_seed(0)
    rnn = nn.RNN(3, 4, batch_first=True)
    x = inputs(2, 6, 3)
    expected, _ = rnn(x)
    states = recurrence.recurrent_states(
        x, rnn.weight_hh_l0, rnn.weight_ih_l0, bias=rnn.bias_hh_l0 + rnn.bias_ih_l0
    )
    torch.testing.assert_close(states, expected)


def test_one_sequence_and_a_batch_agree():
    w, u, x = inputs(4, 4), inputs(4, 3, seed=1), inputs(2, 6, 3, seed=2)
    together = recurrence.recurrent_states(x, w, u)
    torch.testing.assert_close(recurrence.recurrent_states(x[1], w, u), together[1])


def test_nothing_to_read_is_refused():
    with pytest.raises(ValueError, match=r"at least one step, got x of shape \(0, 3\)"):
        recurrence.recurrent_states(torch.zeros(0, 3), torch.eye(4), torch.zeros(4, 3))


@pytest.mark.parametrize("factor", [0.5, 1.0, 1.3])
def test_a_stretched_rotation_stretches_every_vector_alike(factor):
    w = recurrence.stretched_rotation(6, factor)
    x = inputs(10, 6).double()
    torch.testing.assert_close((x @ w.T).norm(dim=-1), factor * x.norm(dim=-1))


def linear(factor):
    w, u = recurrence.stretched_rotation(8, factor), torch.eye(8, dtype=torch.float64)
    return lambda x: recurrence.recurrent_states(x, w, u, squash=False)[:, -1]


@pytest.mark.parametrize("factor", [0.5, 1.0, 1.5])
@pytest.mark.parametrize("distance", [0, 1, 30])
def test_without_tanh_the_gradient_is_the_power_of_the_factor(factor, distance):
    size = recurrence.gradient_at_start(linear(factor), distance=distance, d_in=8)
    assert size == pytest.approx(factor**distance, rel=1e-9)


def test_tanh_makes_the_gradient_smaller():
    w, u = recurrence.stretched_rotation(8, 1.0), torch.eye(8, dtype=torch.float64)
    sizes = [
        recurrence.gradient_at_start(
            lambda x: recurrence.recurrent_states(x, w, u)[:, -1],
            distance=10,
            d_in=8,
            input_scale=scale,
        )
        for scale in (0.01, 1.0)
    ]
    assert 0.9 < sizes[0] < 1
    assert sizes[1] < 0.1


def test_a_negative_distance_is_refused():
    with pytest.raises(ValueError, match="distance must be at least 0, got -1"):
        recurrence.gradient_at_start(linear(1.0), distance=-1, d_in=8)


def test_the_chain_of_a_recursion_grows_by_three_a_word_and_that_of_attention_not():
    w, u = inputs(4, 4), inputs(4, 4, seed=1)
    recurrent, attention = [], []
    for n in (2, 5, 2000):
        x = inputs(1, n, 4).requires_grad_()
        recurrent.append(recurrence.longest_chain(recurrence.recurrent_states(x, w, u)))
        output, _ = scaled_dot_product_attention(x, x, x, need_weights=True)
        attention.append(recurrence.longest_chain(output))
    assert recurrent[1] - recurrent[0] == 3 * 3  # product, sum and tanh for each of three words
    assert recurrent[2] - recurrent[1] == 3 * 1995
    assert len(set(attention)) == 1


def test_a_chain_takes_the_longest_way_and_counts_operations_only():
    x = torch.ones(3, requires_grad=True)
    assert recurrence.longest_chain(x + x.exp().log()) == 3


def test_a_tensor_without_a_record_is_refused():
    with pytest.raises(ValueError, match="requires_grad"):
        recurrence.longest_chain(torch.ones(3) * 2)
