"""The checks of chapter 01 accept what is right and name what is wrong."""

import math

import pytest
import torch

from walkthrough.ch01_why_attention import checks
from walkthrough.checking.soundness import assert_check_is_sound

ALL = [checks.rnn_states, checks.gradient_to_start, checks.contexts, checks.waiting_steps]


@pytest.mark.parametrize("check", ALL, ids=lambda check: check.name)
def test_check_names_every_mistake_it_lists(check):
    assert_check_is_sound(check)
    assert len(check.mistakes) >= 3


def test_a_recursion_over_rows_is_right():
    def states(x, w_state, w_input):
        rows = [torch.zeros(1, w_state.shape[0])]
        for t in range(len(x)):
            rows.append(torch.tanh(rows[-1] @ w_state.T + x[t : t + 1] @ w_input.T))
        return torch.cat(rows[1:])

    assert checks.rnn_states(states)


def test_a_state_that_is_never_replaced_is_named():
    """The loop is there, but what it computes is not kept for the next step."""

    def states(x, w_state, w_input):
        state = torch.zeros(w_state.shape[0])
        return torch.stack([torch.tanh(w_state @ state + w_input @ word) for word in x])

    assert "never replaced" in checks.rnn_states(states).message


def test_a_list_that_begins_with_the_start_is_named():
    def states(x, w_state, w_input):
        found = [torch.zeros(w_state.shape[0])]
        for word in x:
            found.append(torch.tanh(w_state @ found[-1] + w_input @ word))
        return torch.stack(found)

    assert "first row is h_1" in checks.rnn_states(states).message


def test_the_gradient_by_autograd_is_right():
    def gradient(w, states):
        # a start and inputs that give exactly these states
        before = start = torch.zeros((), dtype=torch.float64, requires_grad=True)
        for state in states:
            push = math.atanh(state) - w * before.detach()
            before = torch.tanh(w * before + push)
        (slope,) = torch.autograd.grad(before, start)
        return slope.item()

    assert checks.gradient_to_start(gradient)


def test_contexts_one_query_at_a_time_are_right():
    def contexts(decoder_states, encoder_states):
        rows = []
        for query in decoder_states:
            powers = torch.exp(encoder_states @ query)
            rows.append((powers / powers.sum()) @ encoder_states)
        return torch.stack(rows)

    assert checks.contexts(contexts)


def test_contexts_with_one_row_a_source_word_are_named():
    def contexts(decoder_states, encoder_states):
        weights = (encoder_states @ decoder_states.T).softmax(0)
        return weights @ decoder_states

    assert "one row for each *source* word" in checks.contexts(contexts).message


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
