"""The weights that ship: small, with their origin, half trained."""

import pytest

from transformer.inference import greedy_decode
from transformer.training import load_checkpoint
from walkthrough.ch15_decoding.experiments import source_batch
from walkthrough.lab import half_trained, translator


@pytest.fixture(scope="module")
def loaded():
    return half_trained.load_translator()


@pytest.fixture(scope="module")
def pairs(loaded):
    book = translator.load_task(train=300, valid=5, test=20).book
    return translator.encoded(book.splits()["test_sentences"], loaded[1])


def test_the_weights_are_small_and_say_how_they_were_made():
    assert half_trained.WEIGHTS.stat().st_size < 2_000_000
    notes = load_checkpoint(half_trained.WEIGHTS).notes
    assert (notes["seed"], notes["training"]["max_updates"]) == (
        half_trained.SEED,
        half_trained.UPDATES,
    )
    assert notes["training"]["schedule"] == "linear"


def test_the_model_has_learnt_something_and_not_all(loaded, pairs):
    model, _ = loaded
    outputs = greedy_decode(model, source_batch([source for source, _ in pairs]))
    exact = sum(found == target for found, (_, target) in zip(outputs, pairs, strict=True))
    assert 3 <= exact <= 19
