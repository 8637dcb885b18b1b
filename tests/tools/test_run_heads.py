"""A record of heads holds each direction and seed once, with every relation; runs are not lost."""

import json

import pytest
import run_heads
import torch
from jaxtyping import config

from transformer.data.phrasebook.questions import RELATIONS
from walkthrough.ch19_what_the_heads_attend_to.experiments import asking, measuring


@pytest.fixture
def small(monkeypatch, tmp_path):
    """Few sentences, no training; the tool's words and where it writes."""

    def untrained(language, *, seed, updates, train):
        words = asking.distant_phrasebook(train=train).vocabulary()
        translator = asking.new_translator(language, words, seed=seed)
        with torch.no_grad():
            for weight in translator.model.parameters():
                weight.copy_(weight.half())
        return translator

    monkeypatch.setattr(asking, "train_translator", untrained)
    monkeypatch.setattr(asking, "SIZES", {**asking.SIZES, "d_model": 16, "n_heads": 2, "d_ff": 8})
    monkeypatch.setattr(measuring, "N_SENTENCES", 4)
    config.update("jaxtyping_disable", True)  # some hundred thousand small calls
    output = tmp_path / "record.json"
    words = ["--train", "600", "--questions", "4", "--output", str(output)]
    yield words, output
    config.update("jaxtyping_disable", False)


def test_every_direction_and_seed_with_every_relation(small):
    words, output = small
    assert run_heads.main([*words, "--seeds", "1"]) == 0
    assert run_heads.main([*words, "--seeds", "1", "2", "--resume"]) == 0
    record = json.loads(output.read_text())
    assert [(run["source"], run["seed"]) for run in record["runs"]] == [
        *(("en", 1), ("fr", 1), ("en", 2), ("fr", 2))
    ]
    asked = {name for run in record["runs"][:2] for name in run["relations"]}
    assert asked == set(RELATIONS)
    first = record["runs"][0]["relations"]["makes → fait, rend"]
    assert {"right", "hidden", "without", "encoder", "cross", "decoder"} <= set(first)
    assert torch.tensor(first["hidden"]["by head"]).shape == (2, 2)
    assert {"command", "commit", "date", "hardware", "settings", "corpus"} <= set(record)


def test_the_shipped_weights_are_the_measured_ones(small, monkeypatch):
    words, output = small
    made = []
    train = asking.train_translator
    monkeypatch.setattr(
        asking, "train_translator", lambda *a, **k: made.append(train(*a, **k)) or made[-1]
    )
    run_heads.main([*words, "--seeds", "1"])
    monkeypatch.setattr(asking, "FOLDER", output.parent)
    for language, translator in zip(("en", "fr"), made, strict=True):
        shipped = asking.load_translator(language)
        assert shipped.codec.source_language == language
        for name, value in translator.model.state_dict().items():
            torch.testing.assert_close(shipped.model.state_dict()[name], value, rtol=0, atol=0)
