"""The checks of chapter 01 accept what is right and name what is wrong."""

import math

import pytest
import torch
from torch import nn

from walkthrough.ch01_why_attention import checks
from walkthrough.ch01_why_attention.experiments import recurrent_states
from walkthrough.checking.soundness import assert_check_is_sound

ALL = [
    checks.both_ways,
    checks.gradient_to_start,
    checks.waiting_steps,
    checks.gate_bias,
    checks.lstm_states,
]


@pytest.mark.parametrize("check", ALL, ids=lambda check: check.name)
def test_check_names_every_mistake_it_lists(check):
    assert_check_is_sound(check)
    assert len(check.mistakes) >= 3


def test_both_ways_by_pytorch_is_right():
    def both(x, forward, backward):
        rnn = nn.RNN(x.shape[1], forward[0].shape[0], bidirectional=True, bias=False)
        with torch.no_grad():
            for suffix, (w_state, w_input) in (("", forward), ("_reverse", backward)):
                rnn.get_parameter(f"weight_hh_l0{suffix}").copy_(w_state)
                rnn.get_parameter(f"weight_ih_l0{suffix}").copy_(w_input)
            return rnn(x)[0]

    assert checks.both_ways(both)


def test_a_backward_reader_that_forgets_to_turn_its_states_is_named():
    def both(x, forward, backward):
        back = recurrent_states(x[range(len(x) - 1, -1, -1)], *backward)
        return torch.cat((recurrent_states(x, *forward), back), dim=1)

    assert "Turn them round again" in checks.both_ways(both).message


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


@pytest.mark.parametrize(
    ("gradient", "words"),
    [
        (
            lambda w, states: math.prod(w * (1 - h * h) for h in [0, *states][: len(states)]),
            "states *before* each step",
        ),
        (
            lambda w, states: w ** (len(states) - 1) * math.prod(1 - h * h for h in states),
            "n − 1 times",
        ),
    ],
)
def test_what_reviewers_tried_on_the_gradient_is_named(gradient, words):
    assert words in checks.gradient_to_start(gradient).message


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


@pytest.mark.parametrize("steps", [3, 10, 100])
def test_the_bias_asked_for_leaves_half_the_memory(steps):
    gate = torch.tensor(checks.gate_bias.reference(steps)).double().sigmoid()
    assert gate.item() ** steps == pytest.approx(0.5, rel=1e-4)


def test_the_lstm_asked_for_is_pytorchs():
    def states(x, w_input, w_state, bias):
        lstm = nn.LSTM(x.shape[1], w_state.shape[1])
        with torch.no_grad():
            lstm.weight_ih_l0.copy_(w_input)
            lstm.weight_hh_l0.copy_(w_state)
            lstm.bias_ih_l0.copy_(bias)
            lstm.bias_hh_l0.zero_()
            return lstm(x)[0]

    verdict = checks.lstm_states(states)
    assert verdict.status == "wrong"
    assert "the result is right, but your function calls `LSTM`" in verdict.message


def test_a_cell_that_is_never_replaced_is_named():
    def states(x, w_input, w_state, bias):
        h = c = torch.zeros(w_state.shape[1])
        found = []
        for word in x:
            i, f, g, o = (w_input @ word + w_state @ h + bias).chunk(4)
            new = f.sigmoid() * c + i.sigmoid() * g.tanh()
            h = o.sigmoid() * new.tanh()
            found.append(h)
        return torch.stack(found)

    assert "c is never replaced" in checks.lstm_states(states).message


def as_two_results(x, forward, backward):
    there = recurrent_states(x, *forward)
    return there, recurrent_states(x.flip(0), *backward).flip(0)


WITHOUT_A_NAME_BEFORE = {
    "a factor for each step": (
        checks.gradient_to_start,
        lambda w, states: [w * (1 - h * h) for h in states],
        "one for each. Multiply them",
    ),
    "products so far": (
        checks.gradient_to_start,
        lambda w, states: torch.tensor([w * (1 - h * h) for h in states]).cumprod(0),
        "after one step, two steps",
    ),
    "two results": (checks.both_ways, as_two_results, "or in a tuple"),
    "a row too few": (
        checks.both_ways,
        lambda *given: torch.cat(as_two_results(*given), dim=-1)[:-1],
        "one row is missing",
    ),
    "a list of rounds": (
        checks.waiting_steps,
        lambda n_words, n_layers: list(range(1, n_words + n_layers)),
        "an entry for each round",
    ),
    "a tenth is left": (
        checks.gate_bias,
        lambda steps: math.log(0.1 ** (1 / steps) / (1 - 0.1 ** (1 / steps))),
        "less than half is left",
    ),
    "nine tenths are left": (
        checks.gate_bias,
        lambda steps: math.log(0.9 ** (1 / steps) / (1 - 0.9 ** (1 / steps))),
        "more than half is left",
    ),
    "output gate second": (
        checks.lstm_states,
        lambda x, w, u, b: checks.lstm_states.reference(
            x, *(torch.cat([m.chunk(4)[n] for n in (0, 2, 3, 1)]) for m in (w, u, b))
        ),
        "taken in another order",
    ),
    "states and cell": (
        checks.lstm_states,
        lambda *given: (checks.lstm_states.reference(*given), None),
        "two results are returned",
    ),
}


@pytest.mark.parametrize(
    ("check", "wrong", "said"), WITHOUT_A_NAME_BEFORE.values(), ids=list(WITHOUT_A_NAME_BEFORE)
)
def test_answers_that_got_only_numbers_hear_a_cause(check, wrong, said):
    verdict = check(wrong)
    assert verdict.status == "wrong"
    assert said in verdict.message


def test_a_list_of_one_number_is_not_called_once_the_number():
    def gradient(w, states):
        return [math.prod(w * (1 - state**2) for state in states)]

    verdict = checks.gradient_to_start(gradient)
    assert verdict.status == "wrong"
    assert "1 times" not in verdict.message


def test_a_tensor_turned_round_as_a_list_is_gets_a_hint():
    verdict = checks.both_ways(lambda x, forward, backward: x[::-1])
    assert "use `flip(0)`" in verdict.message
