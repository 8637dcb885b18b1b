"""What chapter 14 trains beside its page, and asks of what it has trained."""

from dataclasses import replace

import pytest
import torch

from walkthrough.ch14_the_training_run import background, measuring
from walkthrough.lab import translator


@pytest.fixture(scope="module")
def task():
    return translator.load_task(train=1500, valid=20, test=30)


def brief(task):
    """The same task with a recipe of a few small updates."""
    training = task.plan.training.replace(warmup=1, max_tokens=100)
    return replace(task, plan=replace(task.plan, training=training))


def test_the_run_of_the_page_is_the_presets_with_less_text(task):
    preset = task.plan.training
    page = preset.replace(**background.PAGE)
    tokens = [run.max_updates * run.accumulate * run.max_tokens for run in (page, preset)]
    assert 0.25 < tokens[0] / tokens[1] < 0.35
    assert (page.schedule, page.peak, page.warmup) == (preset.schedule, preset.peak, 80)
    assert page.rate(page.max_updates, d_model=128) < page.peak / 200


def gold_maps(shift):
    """Attention that follows the gold alignment, `shift` rows below the row that predicts."""

    def maps(_model, _task, example):
        weights = torch.full((1, 2, len(example.target) + 1, len(example.source) + 1), 0.01)
        for source, target in example.alignment:
            weights[:, 0, target + shift, source] = 1.0
        weights[:, 1, :, -1] = 5.0  # the second head rests on the end token
        return weights

    return maps


def test_errors_are_read_at_the_row_that_predicts(task, monkeypatch):
    examples, model = task.book.test_sentences[:20], translator.new_model(task, seed=0)
    monkeypatch.setattr(measuring, "cross_attention", gold_maps(shift=0))
    right = measuring.head_errors(model, task, examples)
    wrong = measuring.head_errors(model, task, examples, row="reads")
    monkeypatch.setattr(measuring, "cross_attention", gold_maps(shift=1))
    shifted = measuring.head_errors(model, task, examples, row="reads")
    assert right[0, 0] < 0.1 < wrong[0, 0]
    assert shifted[0, 0] == right[0, 0]


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


@pytest.mark.slow  # a process starts
def test_runs_in_the_background_are_those_of_one_process(task):
    variants = {"whole": {}, "no mask": {"causal": False}}
    settings = brief(task).plan.training.replace(seed=3, max_updates=2)
    found = background.train_in_background(brief(task), variants, settings).result()
    for name, changes in variants.items():
        model, history = translator.train_model(
            brief(task), seed=3, updates=2, threads=1, **changes
        )
        beside, log = found[name]
        assert beside.config == model.config
        assert not beside.training
        assert torch.equal(beside.output_weight, model.output_weight)
        assert [record.loss for record in log.records] == [r.loss for r in history.records]
    assert not torch.equal(found["whole"][0].output_weight, found["no mask"][0].output_weight)


def test_a_variant_that_does_not_exist_is_refused_before_anything_is_trained(task):
    with pytest.raises(TypeError, match="no_such_switch"):
        background.train_in_background(task, {"odd": {"no_such_switch": True}}, task.plan.training)
