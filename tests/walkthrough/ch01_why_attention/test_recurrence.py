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


def test_the_gradient_of_a_chain_is_the_product_of_its_factors():
    w, u = torch.tensor([[0.5]]).double(), torch.ones(1, 1).double()
    seen = []

    def reader(x):
        seen.append(recurrence.recurrent_states(x, w, u))
        return seen[0][:, -1]

    by_place = recurrence.gradient_by_place(reader, length=4, d_in=1, batch=3)
    slopes = (1 - seen[0].detach()[..., 0] ** 2).log()
    for place in range(4):
        expected = slopes[:, place:].sum(1) + (3 - place) * torch.tensor(0.5).log()
        torch.testing.assert_close(by_place[place], expected.mean().exp())


def test_nothing_to_read_back_to_is_refused():
    with pytest.raises(ValueError, match="length must be at least 1, got 0"):
        recurrence.gradient_by_place(lambda x: x[:, -1], length=0, d_in=8)


def test_an_open_gate_keeps_the_memory_and_leaves_the_rest_alone():
    torch.manual_seed(0)
    lstm = nn.LSTM(3, 4)
    before = lstm.bias_ih_l0.detach().clone()
    recurrence.open_forget_gate(lstm, 30.0)
    after = lstm.bias_ih_l0.detach()
    assert (after[4:8] == 30).all()
    assert torch.equal(after[:4], before[:4])
    assert torch.equal(after[8:], before[8:])
    with torch.no_grad():
        lstm.weight_ih_l0.zero_()
        lstm.weight_hh_l0.zero_()
        lstm.bias_ih_l0[:4] = -30.0  # nothing new comes in
        lstm.bias_hh_l0[:4] = 0.0
        memory = torch.ones(1, 1, 4)
        _, (_, kept) = lstm(torch.zeros(20, 1, 3), (torch.zeros_like(memory), memory))
    torch.testing.assert_close(kept, memory)


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
