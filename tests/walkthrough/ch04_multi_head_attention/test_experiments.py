"""The task of chapter 04 asks for two words at once, and its answers are what they say."""

import pytest
import torch
from torch import nn

from walkthrough.ch04_multi_head_attention import experiments
from walkthrough.lab.experiment import Job, Key


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


def test_answers_are_the_neighbours_of_the_inner_words():
    tokens, answers = experiments.sentences(20, generator())
    assert answers.shape == (20, experiments.LENGTH - 2, 2)
    for i in range(1, experiments.LENGTH - 1):
        assert torch.equal(answers[:, i - 1, 0], tokens[:, i - 1])
        assert torch.equal(answers[:, i - 1, 1], tokens[:, i + 1])


def test_an_oracle_is_always_right_and_a_reader_of_one_word_half_the_time():
    class Oracle(nn.Module):
        def __init__(self, *sides):
            super().__init__()
            self.sides = sides

        def forward(self, tokens):
            words = torch.stack([tokens[:, :-2], tokens[:, 2:]], dim=-1)[..., list(self.sides)]
            return nn.functional.one_hot(words, experiments.N_WORDS).float()

    assert experiments.right_answers(Oracle(0, 1)).tolist() == [1.0, 1.0]
    before, after = experiments.right_answers(Oracle(0, 0)).tolist()
    assert before == 1.0
    assert after == pytest.approx(experiments.GUESSING, abs=0.03)


def test_one_and_two_heads_have_equally_many_parameters():
    sizes = [sum(p.numel() for p in experiments.TwoRelations(n).parameters()) for n in (1, 2)]
    assert sizes[0] == sizes[1]


def test_training_depends_on_the_seed_alone():
    torch.manual_seed(5)
    one = experiments.train(2, seed=3, steps=3)
    torch.manual_seed(6)
    other = experiments.train(2, seed=3, steps=3)
    tokens, _ = experiments.sentences(4, generator())
    assert torch.equal(one(tokens), other(tokens))


def test_training_for_no_steps_is_refused():
    with pytest.raises(ValueError, match="steps must be at least 1, got 0"):
        experiments.train(1, seed=0, steps=0)


def test_weights_on_neighbours_are_read_at_the_right_places():
    model = experiments.TwoRelations(2)
    tokens, _ = experiments.sentences(100, generator(10_000))
    weights = model.weights(tokens)
    before = torch.stack([weights[:, i, i - 1] for i in range(1, experiments.LENGTH - 1)]).mean(0)
    after = torch.stack([weights[:, i, i + 1] for i in range(1, experiments.LENGTH - 1)]).mean(0)
    found = experiments.neighbour_weights(model)
    torch.testing.assert_close(found, torch.stack([before, after], dim=-1))
    assert found.shape == (2, 2)


class Says(nn.Module):
    """Answers with one neighbour first and the other second, for both relations."""

    def __init__(self, first):
        super().__init__()
        self.first = first

    def forward(self, tokens):
        before, after = (
            nn.functional.one_hot(t, experiments.N_WORDS).float()
            for t in (tokens[:, :-2], tokens[:, 2:])
        )
        logits = 2 * before + after if self.first == "before" else before + 2 * after
        return torch.stack([logits, logits], dim=-2)


@pytest.mark.parametrize("first", ["before", "after"])
def test_a_reader_that_cannot_tell_the_neighbours_apart_names_the_other_one(first):
    assert experiments.other_neighbour(Says(first), size=50) == 1.0


def test_a_run_says_what_the_model_answers_and_where_it_looks():
    arm = experiments.EXPERIMENT.arms[1]
    key = Key(arm.name, 1.0, 3, 1)
    job = Job(experiments.EXPERIMENT, arm, key, None)
    found = experiments.answer_both(job)
    assert 0 <= found.figures["new/-/worse_accuracy"] <= 1
    assert [len(head) for head in found.extra["weights"]] == [2, 2]
