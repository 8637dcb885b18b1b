"""A record of heads holds each direction and seed once, with every relation; runs are not lost."""

import json

import pytest
import run_heads
import torch
from jaxtyping import config

from walkthrough.ch19_what_the_heads_attend_to.experiments import asking, measuring


@pytest.fixture
def made(monkeypatch):
    """The translators that a run makes: small, untrained, from few sentences."""
    found = []

    def untrained(language, *, seed, updates=None, train=600):
        words = asking.distant_phrasebook(train=train).vocabulary()
        translator = asking.new_translator(language, words, seed=seed)
        with torch.no_grad():
            for weight in translator.model.parameters():
                weight.copy_(weight.half())
        found.append(translator)
        return translator

    monkeypatch.setattr(asking, "train_translator", untrained)
    monkeypatch.setattr(asking, "SIZES", {**asking.SIZES, "d_model": 8, "n_heads": 2, "d_ff": 8})
    monkeypatch.setattr(measuring, "N_SENTENCES", 3)
    config.update("jaxtyping_disable", True)  # some hundred thousand small calls
    yield found
    config.update("jaxtyping_disable", False)


def test_every_direction_and_seed_once_and_none_lost(made, monkeypatch, tmp_path):
    monkeypatch.setattr(measuring, "measure", lambda translator, n: {"exact": 0.5, "n": n})
    output = tmp_path / "record.json"
    words = ["--train", "600", "--questions", "4", "--output", str(output)]
    assert run_heads.main([*words, "--seeds", "1"]) == 0
    assert run_heads.main([*words, "--seeds", "1", "2", "--resume"]) == 0
    assert len(made) == 4
    record = json.loads(output.read_text())
    runs = [(run["source"], run["seed"], run["n"]) for run in record["runs"]]
    assert runs == [("en", 1, 4), ("fr", 1, 4), ("en", 2, 4), ("fr", 2, 4)]
    assert {"command", "commit", "date", "hardware", "settings", "corpus"} <= set(record)
    monkeypatch.setattr(asking, "FOLDER", tmp_path)
    for language, translator in zip(("en", "fr"), made, strict=False):
        shipped = asking.load_translator(language)
        assert shipped.codec.source_language == language
        for name, value in translator.model.state_dict().items():
            torch.testing.assert_close(shipped.model.state_dict()[name], value, rtol=0, atol=0)


@pytest.mark.parametrize("option", ["--updates", "--train", "--questions"])
def test_a_run_of_nothing_is_refused_before_it_begins(option, made, capsys, tmp_path):
    with pytest.raises(SystemExit):
        run_heads.main([option, "0", "--output", str(tmp_path / "record.json")])
    assert f"{option} must be at least 1, got 0" in capsys.readouterr().err
    assert not made


def test_what_is_measured_covers_every_relation_and_head(made):
    translator = asking.train_translator("fr", seed=1)
    found = measuring.measure(translator, n=3)
    assert list(found["relations"]) == measuring.relations_of("fr")
    for one in found["relations"].values():
        assert torch.tensor(one["hidden"]["by head"]).shape == (2, 2)
        assert {"edge", "neighbour", "cross", "decoder", "all three"} <= set(one["hidden"])
        for kind in ("encoder", "cross", "decoder"):
            assert torch.tensor(one[kind]["shares"]).shape == (2, 2)
            assert torch.tensor(one["without"]["one"][kind]).shape == (2, 2)
    assert {"trained", "untrained", "right-branching", "random"} <= set(found["trees"])
