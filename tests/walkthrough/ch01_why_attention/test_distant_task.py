"""The task of chapter 01 asks for one distant word, and models differ in how they read alone."""

import pytest
import torch
from torch import nn

from walkthrough.ch01_why_attention.experiments import distant_task as task


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


@pytest.mark.parametrize(("distance", "place"), [(1, task.LENGTH - 2), (task.LENGTH - 1, 0)])
def test_the_answer_stands_at_its_distance(distance, place):
    tokens, answers = task.sentences(distance, 50, generator())
    assert torch.equal(answers, tokens[:, place])
    assert set(tokens.flatten().tolist()) == set(range(task.N_WORDS))


def test_an_oracle_is_always_right_and_the_last_word_says_nothing():
    class Oracle(nn.Module):
        def __init__(self, place):
            super().__init__()
            self.place = place

        def forward(self, tokens):
            return nn.functional.one_hot(tokens[:, self.place], task.N_WORDS).float()

    assert task.measured(Oracle(0), task.LENGTH - 1, seed=1)[1] == 1.0
    assert task.measured(Oracle(-1), 9, seed=1)[1] == pytest.approx(task.GUESSING, abs=0.03)


@pytest.mark.parametrize("distance", [0, task.LENGTH])
def test_a_distance_that_no_word_has_is_refused(distance):
    with pytest.raises(ValueError, match=f"distance must be from 1 to 19, got {distance}"):
        task.sentences(distance, 1, generator())


@pytest.mark.usefixtures("as_users_run_it")
def test_an_unknown_kind_is_refused():
    named = r"kind must be one of attention, RNN, LSTM, LSTM, open gate; got 'CNN'"
    with pytest.raises(ValueError, match=named):
        task.train("CNN", distance=5, seed=0)


def test_training_for_no_steps_is_refused():
    with pytest.raises(ValueError, match="steps must be at least 1, got 0"):
        task.train("RNN", distance=5, seed=0, steps=0)


@pytest.mark.parametrize("kind", task.KINDS)
def test_training_depends_on_the_seed_alone(kind):
    torch.manual_seed(5)
    one = task.train(kind, distance=4, seed=3, steps=2)
    torch.manual_seed(6)
    other = task.train(kind, distance=4, seed=3, steps=2)
    tokens, _ = task.sentences(6, 3, generator())
    assert torch.equal(one(tokens), other(tokens))


def test_an_open_gate_is_an_lstm_with_another_start():
    closed, opened = (task.make_model(kind, seed=1) for kind in ("LSTM", "LSTM, open gate"))
    differ = [
        name
        for (name, one), other in zip(closed.named_parameters(), opened.parameters(), strict=True)
        if not torch.equal(one, other)
    ]
    assert differ == ["layer.bias_ih_l0", "layer.bias_hh_l0"]


def test_attention_learns_the_task_in_a_short_run():
    model = task.train("attention", distance=12, seed=0, steps=150)
    assert task.measured(model, 12, seed=1)[1] > 0.8
