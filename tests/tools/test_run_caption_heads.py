"""The heads of finished runs are measured at their last update; a missing run is named."""

import json
import re
from types import SimpleNamespace

import pytest
import run_caption_heads
import torch
from run_caption_heads import folder_name

from transformer.config import TransformerConfig
from transformer.data.codec import SubwordCodec
from transformer.data.corpus import Corpus
from transformer.model import Transformer
from transformer.training.checkpoint import load_checkpoint, save_checkpoint

ENGLISH = ("a dog runs .", "two dogs play in the snow .")
GERMAN = ("ein hund rennt .", "zwei hunde spielen im schnee .")
CORPUS = Corpus(
    name="multi30k",
    source_language="en",
    target_language="de",
    split="val",
    source=ENGLISH,
    target=GERMAN,
)


@pytest.fixture
def runs(tmp_path, monkeypatch):
    """Folders of two finished runs, each with a checkpoint of an earlier update, and no corpus."""
    codec = SubwordCodec.train([*ENGLISH, *GERMAN], n_merges=7)
    config = TransformerConfig(vocab_size=len(codec), d_model=16, n_heads=2, n_layers=2, d_ff=16)
    asked = []

    def small_corpus(split, *, source_language, target_language):
        asked.append((split, source_language, target_language))
        return CORPUS

    monkeypatch.setattr(run_caption_heads, "Corpus", SimpleNamespace(from_multi30k=small_corpus))
    for seed in (1, 2):
        folder = tmp_path / "runs" / folder_name(seed)
        for update in (2, 4):
            torch.manual_seed(10 * seed + update)
            path = folder / "checkpoints" / f"{update:06d}.safetensors"
            path.parent.mkdir(parents=True, exist_ok=True)
            save_checkpoint(path, Transformer(config), tokenizer=codec.to_text())
        (folder / "settings.json").write_text(json.dumps({"training": {"max_updates": 4}}))
    return SimpleNamespace(folder=tmp_path / "runs", output=tmp_path / "record.json", asked=asked)


def made(runs, *words):
    status = run_caption_heads.main(
        ["--folder", str(runs.folder), "--output", str(runs.output), *words]
    )
    assert status == 0
    return json.loads(runs.output.read_text(encoding="utf-8"))


def test_a_record_has_a_run_for_each_seed_in_order_and_none_is_lost(runs):
    made(runs, "--seeds", "2")
    first = made(runs, "--seeds", "2", "1", "--resume")
    assert [(run["run"], run["seed"], run["update"]) for run in first["runs"]] == [
        ("17-captions/base-1-1500-1", 1, 4),
        ("17-captions/base-1-1500-2", 2, 4),
    ]
    assert {"command", "commit", "date", "hardware", "versions", "threads"} <= set(first)
    assert first["settings"] == {"corpus": "multi30k", "split": "val", "sentences": 2}
    assert set(runs.asked) == {("val", "en", "de")}
    for run in first["runs"]:
        assert run["cpu_seconds"] > 0
        assert {"nothing", "one", "all but one", "layer", "kind"} == set(run["next_word"])
    again = made(runs, "--seeds", "1")
    for run in (*first["runs"], *again["runs"]):
        del run["cpu_seconds"]
    assert again["runs"] == first["runs"]


def test_what_is_measured_is_the_model_of_the_last_update(runs, monkeypatch):
    measured = []
    monkeypatch.setattr(
        run_caption_heads,
        "measure_captions",
        lambda model, pairs: (
            measured.append((model, pairs)) or {"next_word": {"nothing": 0.0}, "words": 0}
        ),
    )
    made(runs, "--seeds", "1")
    ((model, pairs),) = measured
    path = runs.folder / folder_name(1) / "checkpoints" / "000004.safetensors"
    for name, value in load_checkpoint(path).model().state_dict().items():
        torch.testing.assert_close(model.state_dict()[name], value, rtol=0, atol=0)
    assert len(pairs) == len(ENGLISH)


def test_no_word_of_the_corpus_is_kept(runs):
    made(runs, "--seeds", "1", "2")
    words = set(re.findall(r"\w+", runs.output.read_text(encoding="utf-8")))
    assert not words & {"dog", "dogs", "hund", "hunde", "snow", "schnee", "rennt", "zwei"}


def refused(runs, seed):
    with pytest.raises(SystemExit) as error:
        made(runs, "--seeds", "1", str(seed))
    assert not runs.output.exists()
    assert not runs.asked
    said = str(error.value)
    assert str(runs.folder / folder_name(seed)) in said
    assert f"run 17-captions --arms base --seeds {seed}" in said
    return said


def test_without_a_run_folder_it_says_how_to_make_it_before_anything_is_measured(runs):
    assert "no run" in refused(runs, 3)


def test_a_run_that_is_not_finished_is_refused(runs):
    (runs.folder / folder_name(2) / "checkpoints" / "000004.safetensors").unlink()
    assert "has not reached update 4" in refused(runs, 2)
