"""The checks of chapter 01 accept what is right and name what is wrong."""

import math

import pytest
import torch
from soundness import assert_check_is_sound
from torch import nn

from walkthrough.ch01_why_attention import checks

ALL = [
    checks.both_ways,
    checks.gradient_to_start,
    checks.waiting_steps,
]


@pytest.mark.parametrize("check", ALL, ids=lambda check: check.name)
def test_check_names_every_mistake_it_lists(check):
    assert_check_is_sound(check)


def test_both_ways_by_pytorch_is_right():
    def both(x, forward, backward):
        rnn = nn.RNN(x.shape[1], forward[0].shape[0], bidirectional=True, bias=False)
        with torch.no_grad():
            for suffix, (w_state, w_input) in (("", forward), ("_reverse", backward)):
                rnn.get_parameter(f"weight_hh_l0{suffix}").copy_(w_state)
                rnn.get_parameter(f"weight_ih_l0{suffix}").copy_(w_input)
            return rnn(x)[0]

    assert checks.both_ways(both)


def test_the_gradient_by_autograd_is_the_same_number_and_forbidden():
    def gradient(w, states):
        # a start and inputs that give exactly these states
        before = start = torch.zeros((), dtype=torch.float64, requires_grad=True)
        for state in states:
            push = math.atanh(state) - w * before.detach()
            before = torch.tanh(w * before + push)
        (slope,) = torch.autograd.grad(before, start)
        return slope.item()

    verdict = checks.gradient_to_start(gradient)
    assert verdict.status == "wrong"
    assert "the result is right, but your function calls `grad`" in verdict.message


def test_the_waiting_steps_are_those_of_a_simulated_network():
    """Run every step as soon as what it reads is there, and count the rounds."""

    def rounds(n_words, n_layers):
        done, n_rounds = set(), 0
        while len(done) < n_words * n_layers:
            ready = {
                (layer, word)
                for layer in range(n_layers)
                for word in range(n_words)
                if (layer == 0 or (layer - 1, word) in done)
                and (word == 0 or (layer, word - 1) in done)
            }
            done |= ready
            n_rounds += 1
        return n_rounds

    assert checks.waiting_steps(rounds)


def test_a_tensor_turned_round_as_a_list_is_gets_a_hint():
    verdict = checks.both_ways(lambda x, forward, backward: x[::-1])
    assert "use `flip(0)`" in verdict.message
