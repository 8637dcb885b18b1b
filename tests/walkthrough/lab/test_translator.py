"""The experiments of chapter 14: what is counted, at which row, and what a broken model is."""

import pytest
import torch

from transformer.config import EOS_ID
from transformer.inference import Decoding, translate
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
    assert (config.norm, config.tie_embeddings, config.scale_embeddings) == ("post", True, True)


def test_next_word_accuracy_leaves_padding_out(task, monkeypatch):
    pairs = task.pairs("test_sentences")
    model = translator.new_model(task, seed=0)

    def only_the_end(_source, target):
        logits = torch.zeros(*target.shape, len(task.codec))
        logits[:, 1:, EOS_ID] = 1.0
        return logits

    monkeypatch.setattr(model, "forward", only_the_end)
    tokens = sum(len(target) + 1 for _, target in pairs)
    assert translator.next_word_accuracy(model, pairs * 10) == pytest.approx(len(pairs) / tokens)


def test_translations_are_greedy(task):
    model, examples = translator.new_model(task, seed=0, max_len=64), task.book.valid[:5]
    lines = [example.source_text for example in examples]
    by_beam = {
        beam: [found[0].text for found in translate(model, task.codec, lines, Decoding(beam=beam))]
        for beam in (1, 4)
    }
    assert translator.translations(model, task, examples) == by_beam[1] != by_beam[4]
