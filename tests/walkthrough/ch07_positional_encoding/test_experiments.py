"""The task of chapter 07 needs order, and its answers are what they say."""

import pytest
import torch

from transformer.config import BOS_ID
from walkthrough.ch07_positional_encoding import experiments
from walkthrough.lab.experiment import Job, Key


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


def test_answers_are_the_words_before_and_words_differ():
    tokens, answers = experiments.sentences(7, 50, generator())
    assert (answers[:, 0] == BOS_ID).all()
    assert torch.equal(answers[:, 1:], tokens[:, :-1])
    assert all(len(set(row)) == 7 for row in tokens.tolist())
    assert tokens.min() >= experiments.FIRST_WORD
    assert tokens.max() < experiments.VOCAB_SIZE


def test_what_cannot_be_drawn_or_trained_is_refused():
    for length in (0, experiments.LONGEST_TESTED + 1):
        with pytest.raises(ValueError, match=rf"length must lie in 1 … 32.*got {length}"):
            experiments.sentences(length, 1, generator())
    with pytest.raises(ValueError, match="steps must be at least 1, got 0"):
        experiments.train("none", seed=0, steps=0)


def test_without_positions_the_answers_follow_the_words_and_never_the_order():
    torch.manual_seed(0)
    model = experiments.OrderModel("none").eval()
    tokens, _ = experiments.sentences(9, 5, generator())
    order = torch.randperm(9, generator=generator(1))
    torch.testing.assert_close(model(tokens[:, order]), model(tokens)[:, order])


def test_training_depends_on_the_seed_alone():
    torch.manual_seed(5)
    one = experiments.train("sinusoidal", seed=3, steps=2)
    torch.manual_seed(6)
    other = experiments.train("sinusoidal", seed=3, steps=2)
    tokens, _ = experiments.sentences(6, 3, generator())
    assert torch.equal(one(tokens), other(tokens))
    assert not torch.allclose(one(tokens, 4), one(tokens, 0))


def test_an_oracle_reaches_everything():
    class Oracle(torch.nn.Module):
        def forward(self, tokens, start):
            answers = torch.nn.functional.pad(tokens[:, :-1], (1, 0), value=BOS_ID)
            return torch.nn.functional.one_hot(answers, experiments.VOCAB_SIZE).float()

    assert experiments.accuracy_by_position(Oracle(), 6, start=3).tolist() == [1.0] * 6


@pytest.mark.parametrize("room", [24, 32])
def test_random_starts_stay_in_their_room_and_meet_both_ends(room):
    draw, last = generator(), room - experiments.LONGEST_TRAINED
    starts = [experiments._start(last, draw) for _ in range(600)]
    assert set(starts) == set(range(last + 1))
    assert min(starts.count(0), starts.count(last)) > 600 / (last + 1)


def test_a_run_says_what_was_right_where_it_looked_and_what_other_tables_do():
    arm = experiments.EXPERIMENT.arm("sinusoidal")
    job = Job(experiments.EXPERIMENT, arm, Key(arm.name, 1.0, 3, 1), None)
    found = experiments.name_the_word_before(job)
    assert all(0 <= share <= 1 for share in found.figures.values())
    assert len(found.extra["by_position"][20]) == 20
    assert len(found.extra["one_back"]) == 4
    assert found.extra["mixed"].keys() == experiments.other_tables().keys()


def test_the_weight_one_back_is_read_below_the_diagonal():
    model = experiments.OrderModel("learned")
    tokens, _ = experiments.sentences(5, 100, generator(10_000))
    weights = model.weights(tokens)
    below = torch.stack([weights[:, :, i, i - 1] for i in range(1, 5)]).mean(dim=(0, 1))
    torch.testing.assert_close(torch.tensor(experiments.weight_one_back(model, 5)), below)


def test_swapped_hands_are_those_of_the_places_they_are_taken_from():
    fast = 2 * experiments.N_FAST
    table = experiments.sinusoidal_encoding(60, experiments.D_MODEL)
    for is_fast, is_slow in ((False, False), (True, False), (False, True)):
        handed = experiments.hands(50, fast=is_fast, slow=is_slow)
        places = {True: table[:10], False: table[50:]}
        assert torch.equal(handed[:, :fast], places[is_fast][:, :fast])
        assert torch.equal(handed[:, fast:], places[is_slow][:, fast:])


def test_all_arms_ask_one_model_and_it_knows_the_places_that_it_was_trained_on():
    found = {}
    for arm in experiments.HANDS.arms:
        job = Job(experiments.HANDS, arm, Key(arm.name, 1.0, 3, 1), None)
        found[arm.name] = arm.run(job)
    assert experiments.of_seed.cache_info().misses == 1
    model = experiments.train("sinusoidal", seed=1, steps=3)
    by_start = found["all new"].extra["by_start"]
    assert by_start[0] == round(float(experiments.accuracy_by_position(model, 10).mean()), 3)
    assert found["all new"].figures["10 words from 22/-/accuracy"] == pytest.approx(
        by_start[22], abs=6e-4
    )
