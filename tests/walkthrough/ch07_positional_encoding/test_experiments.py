"""The task of chapter 07 needs order, and its answers are what they say."""

import pytest
import torch

from transformer.config import BOS_ID
from transformer.positional import sinusoidal_encoding
from walkthrough.ch07_positional_encoding import experiments


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


def test_answers_are_the_words_before_and_words_differ():
    tokens, answers = experiments.sentences(7, 50, generator())
    assert (answers[:, 0] == BOS_ID).all()
    assert torch.equal(answers[:, 1:], tokens[:, :-1])
    assert all(len(set(row)) == 7 for row in tokens.tolist())
    assert tokens.min() >= experiments.FIRST_WORD
    assert tokens.max() < experiments.VOCAB_SIZE


@pytest.mark.parametrize("length", [0, experiments.LONGEST_TESTED + 1])
def test_a_length_without_enough_words_is_refused(length):
    with pytest.raises(ValueError, match=rf"length must lie in 1 … 32.*got {length}"):
        experiments.sentences(length, 1, generator())


@pytest.mark.parametrize("shape", [(31, 64), (40, 32)])
def test_a_table_that_does_not_fit_is_refused(shape):
    with pytest.raises(ValueError, match=r"at least 32 rows of 64 values, got shape"):
        experiments.OrderModel(torch.zeros(shape))


def test_training_for_no_steps_is_refused():
    with pytest.raises(ValueError, match="steps must be at least 1, got 0"):
        experiments.train("none", seed=0, steps=0)


def test_without_positions_the_answers_follow_the_words_and_never_the_order():
    torch.manual_seed(0)
    model = experiments.OrderModel("none").eval()
    tokens, _ = experiments.sentences(9, 5, generator())
    order = torch.randperm(9, generator=generator(1))
    torch.testing.assert_close(model(tokens[:, order]), model(tokens)[:, order])


def test_with_a_table_the_model_is_the_one_with_the_packages_encoding():
    torch.manual_seed(0)
    named = experiments.OrderModel("sinusoidal").eval()
    torch.manual_seed(0)
    given = experiments.OrderModel(sinusoidal_encoding(32, 64)).eval()
    tokens, _ = experiments.sentences(6, 3, generator())
    torch.testing.assert_close(named(tokens, 4), given(tokens, 4))
    assert not torch.allclose(named(tokens, 4), named(tokens, 0))


def test_training_depends_on_the_seed_alone():
    torch.manual_seed(5)
    one = experiments.train("sinusoidal", seed=3, steps=2)
    torch.manual_seed(6)
    other = experiments.train("sinusoidal", seed=3, steps=2)
    tokens, _ = experiments.sentences(6, 3, generator())
    assert torch.equal(one(tokens), other(tokens))


def test_an_oracle_reaches_everything_and_a_guess_one_in_length():
    class Oracle(torch.nn.Module):
        def forward(self, tokens):
            answers = torch.nn.functional.pad(tokens[:, :-1], (1, 0), value=BOS_ID)
            return torch.nn.functional.one_hot(answers, experiments.VOCAB_SIZE).float()

    assert experiments.accuracy_by_position(Oracle(), 6).tolist() == [1.0] * 6
    assert experiments.guessing(10) == pytest.approx(0.1)


@pytest.mark.parametrize("length", [experiments.SHORTEST, experiments.LONGEST_TRAINED])
def test_random_starts_stay_inside_and_meet_both_ends(length):
    draw = generator()
    starts = [experiments._start(length, draw) for _ in range(600)]
    last = experiments.LONGEST_TESTED - length
    assert set(starts) == set(range(last + 1))
    assert min(starts.count(0), starts.count(last)) > 600 / (last + 1)
