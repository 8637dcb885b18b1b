"""What chapter 14 asks of a translator that it has trained."""

import pytest
import torch

from walkthrough.ch14_the_training_run import measuring
from walkthrough.lab import translator


@pytest.fixture(scope="module")
def task():
    return translator.load_task(train=1500, valid=20, test=30)


def test_errors_are_read_at_the_row_that_predicts(task, monkeypatch):
    def maps(_model, _task, example):  # attention that follows the gold alignment
        weights = torch.full((1, 2, len(example.target) + 1, len(example.source) + 1), 0.01)
        for source, target in example.alignment:
            weights[:, 0, target, source] = 1.0
        weights[:, 1, :, -1] = 5.0  # the second head rests on the end token
        return weights

    examples, model = task.book.test_sentences[:20], translator.new_model(task, seed=0)
    monkeypatch.setattr(measuring, "cross_attention", maps)
    right = measuring.head_errors(model, task, examples)
    monkeypatch.setattr(measuring, "cross_attention", lambda *given: maps(*given).roll(1, 2))
    assert right[0, 0] < 0.1 < measuring.head_errors(model, task, examples)[0, 0]


def test_attention_has_a_row_for_each_prediction(task):
    example, model = task.book.test_sentences[0], translator.new_model(task, seed=0)
    weights = measuring.cross_attention(model, task, example)
    assert weights.shape == (2, 4, len(example.target) + 1, len(example.source) + 1)


def test_the_diagonal_is_no_perfect_alignment(task):
    assert 0.05 < measuring.diagonal_error(task.book.test_sentences) < 0.6


def test_exact_matches_are_counted_by_kind_of_pair(task):
    examples = task.book.test_combinations
    right = [example.target_text for example in examples]
    counts = measuring.exact_by_kind(right, examples, task.book)
    assert all(exact == total for exact, total in counts.values())
    assert sum(total for _, total in counts.values()) >= len(examples)
    nothing = measuring.exact_by_kind([""] * len(examples), examples, task.book)
    assert all(exact == 0 for exact, _ in nothing.values())
