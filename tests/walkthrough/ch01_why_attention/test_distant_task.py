"""The task of chapter 01 asks for the first word, and models differ in how they read alone."""

import pytest
import torch
from torch import nn

from walkthrough.ch01_why_attention.experiments import distant_task as task


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


def test_the_answer_is_the_first_word():
    tokens, answers = task.sentences(7, 50, generator())
    assert torch.equal(answers, tokens[:, 0])
    assert set(tokens.flatten().tolist()) == set(range(task.N_WORDS))


def test_an_oracle_is_always_right_and_the_last_word_says_nothing():
    class Oracle(nn.Module):
        def __init__(self, place):
            super().__init__()
            self.place = place

        def forward(self, tokens):
            return nn.functional.one_hot(tokens[:, self.place], task.N_WORDS).float()

    assert task.accuracy(Oracle(0), 9) == 1.0
    assert task.accuracy(Oracle(-1), 9) == pytest.approx(task.GUESSING, abs=0.04)


@pytest.mark.parametrize("length", [0, 1])
def test_a_length_without_distance_is_refused(length):
    with pytest.raises(ValueError, match=f"length must be at least 2, got {length}"):
        task.sentences(length, 1, generator())


@pytest.mark.usefixtures("as_users_run_it")
def test_an_unknown_kind_is_refused():
    with pytest.raises(ValueError, match=r"kind must be one of RNN, LSTM.*got 'CNN'"):
        task.train("CNN", length=5, seed=0)


def test_training_for_no_steps_is_refused():
    with pytest.raises(ValueError, match="steps must be at least 1, got 0"):
        task.train("RNN", length=5, seed=0, steps=0)


@pytest.mark.parametrize("kind", ["RNN", "LSTM", "LSTM, gate open", "GRU", "attention"])
def test_training_depends_on_the_seed_alone(kind):
    torch.manual_seed(5)
    one = task.train(kind, length=4, seed=3, steps=2)
    torch.manual_seed(6)
    other = task.train(kind, length=4, seed=3, steps=2)
    tokens, _ = task.sentences(6, 3, generator())
    assert torch.equal(one(tokens), other(tokens))


def test_an_open_gate_keeps_the_memory_and_leaves_the_rest_alone():
    torch.manual_seed(0)
    lstm = nn.LSTM(3, 4)
    before = lstm.bias_ih_l0.detach().clone()
    task.open_forget_gate(lstm, 30.0)
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


def test_attention_has_one_row_of_weights_a_sentence():
    model = task.make_model("attention", seed=0)
    tokens, _ = task.sentences(6, 3, generator())
    weights = model.weights(tokens)
    assert weights.shape == (3, 6)
    torch.testing.assert_close(weights.sum(-1), torch.ones(3))


def test_attention_learns_the_task_in_a_short_run():
    model = task.train("attention", length=6, seed=0, steps=120)
    assert task.accuracy(model, 6) > 0.8
