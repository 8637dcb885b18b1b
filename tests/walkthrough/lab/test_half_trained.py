"""The weights that ship: small, with their origin, half trained."""

from dataclasses import replace

import pytest

from transformer.training import load_checkpoint
from walkthrough.lab import half_trained, translator


def test_the_weights_are_small_and_say_how_they_were_made():
    assert half_trained.WEIGHTS.stat().st_size < 2_000_000
    notes = load_checkpoint(half_trained.WEIGHTS).notes
    assert notes["seed"] == half_trained.SEED
    assert notes["training"]["max_updates"] == half_trained.UPDATES
    assert notes["training"]["schedule"] == "linear"


def test_the_model_has_learnt_something_and_not_all():
    model, codec = half_trained.load_translator()
    task = replace(translator.load_task(train=300, valid=5, test=20), codec=codec)
    exact = translator.exact_match(model, task, task.book.splits()["test_sentences"])
    assert 0.15 <= exact <= 0.95


def test_another_kind_of_vocabulary_is_refused(monkeypatch):
    monkeypatch.setattr(half_trained, "codec_from_text", lambda text: "bytes")
    with pytest.raises(ValueError, match="should hold the words of the phrasebook"):
        half_trained.load_translator()
