"""The experiments of chapter 14: what is counted, at which row, and what a broken model is."""

from dataclasses import replace

import pytest
import torch

from transformer.cli.plan import PRESETS
from transformer.config import EOS_ID
from transformer.training import TrainSettings
from walkthrough.lab import translator


@pytest.fixture(scope="module")
def task():
    return translator.load_task(train=1500, valid=20, test=30)


def test_the_phrasebook_recipe_is_the_one_that_the_table_of_differences_states(task):
    training, config = task.plan.training, translator.new_model(task, seed=0).config
    assert (training.schedule, training.warmup, training.peak) == ("linear", 150, 3e-3)
    assert training.rate(training.max_updates, d_model=128) < 1e-5
    assert TrainSettings().schedule == "noam"  # Eq. 3 stays the trainer's default
    assert (config.n_layers, config.d_model, config.d_ff) == (2, 128, 256)


def test_the_run_of_the_page_is_the_presets_with_less_text(task):
    preset = task.plan.training
    page = preset.replace(**translator.PAGE)
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


def brief(task):
    """The same task with a recipe of a few small updates."""
    training = task.plan.training.replace(warmup=1, max_tokens=100)
    return replace(task, plan=replace(task.plan, training=training))


def test_sizes_and_recipe_are_the_presets(task):
    preset = PRESETS["phrasebook"]
    config = translator.new_model(task, seed=0).config
    assert config.d_model == preset["model"]["d_model"]
    assert (config.norm, config.tie_embeddings, config.scale_embeddings) == ("post", True, True)
    assert task.plan.training.peak == preset["training"].get("peak")


def test_errors_are_read_at_the_row_that_predicts(task, monkeypatch):
    examples, model = task.book.test_sentences[:20], translator.new_model(task, seed=0)
    monkeypatch.setattr(translator, "cross_attention", gold_maps(shift=0))
    right = translator.head_errors(model, task, examples)
    wrong = translator.head_errors(model, task, examples, row="reads")
    monkeypatch.setattr(translator, "cross_attention", gold_maps(shift=1))
    shifted = translator.head_errors(model, task, examples, row="reads")
    assert right[0, 0] < 0.1 < wrong[0, 0]
    assert shifted[0, 0] == right[0, 0]


def test_attention_has_a_row_for_each_prediction(task):
    example, model = task.book.test_sentences[0], translator.new_model(task, seed=0)
    weights = translator.cross_attention(model, task, example)
    assert weights.shape == (2, 4, len(example.target) + 1, len(example.source) + 1)


def test_the_diagonal_is_no_perfect_alignment(task):
    assert 0.05 < translator.diagonal_error(task.book.test_sentences) < 0.6


def test_exact_matches_are_counted_by_kind_of_pair(task):
    examples = task.book.test_combinations
    right = [example.target_text for example in examples]
    counts = translator.exact_by_kind(right, examples, task.book)
    assert all(exact == total for exact, total in counts.values())
    assert sum(total for _, total in counts.values()) >= len(examples)
    nothing = translator.exact_by_kind([""] * len(examples), examples, task.book)
    assert all(exact == 0 for exact, _ in nothing.values())


def test_next_word_accuracy_leaves_padding_out(task, monkeypatch):
    pairs = task.pairs("test_sentences")
    model = translator.new_model(task, seed=0)

    def only_the_end(_source, target):
        logits = torch.zeros(*target.shape, len(task.codec))
        logits[..., EOS_ID] = 1.0
        return logits

    monkeypatch.setattr(model, "forward", only_the_end)
    tokens = sum(len(target) + 1 for _, target in pairs)
    assert translator.next_word_accuracy(model, pairs) == pytest.approx(len(pairs) / tokens)


def test_training_changes_one_thing_and_depends_on_the_seed_alone(task):
    torch.manual_seed(5)
    one, history = translator.train_model(brief(task), seed=3, updates=2, causal=False)
    torch.manual_seed(6)
    other, _ = translator.train_model(brief(task), seed=3, updates=2, causal=False)
    assert torch.equal(one.output_weight, other.output_weight)
    assert history.records[-1].update == 2
    assert one.config.replace(causal=True) == translator.new_model(task, seed=3).config
    whole, _ = translator.train_model(brief(task), seed=3, updates=2)
    assert not torch.equal(one.output_weight, whole.output_weight)


@pytest.mark.slow  # a process starts
def test_runs_in_the_background_are_those_of_one_process(task):
    variants = {"whole": {}, "no mask": {"causal": False}}
    settings = brief(task).plan.training.replace(seed=3, max_updates=2)
    found = translator.train_in_background(brief(task), variants, settings).result()
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
        translator.train_in_background(task, {"odd": {"no_such_switch": True}}, task.plan.training)


def test_a_configuration_that_does_not_exist_is_refused(task):
    with pytest.raises(TypeError, match="no_such_switch"):
        translator.train_model(task, seed=1, updates=1, no_such_switch=True)
