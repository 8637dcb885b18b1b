"""The command line with trees: train, translate and evaluate, two vocabularies all the way."""

import hashlib
import json
import re
from pathlib import Path

import pytest
import torch

from transformer.cli import main, training
from transformer.data.codec import codec_from_text
from transformer.parsing.codec import TreeCodec
from transformer.parsing.craft import FOLDER_VARIABLE, TREES
from transformer.training.checkpoint import load_checkpoint
from transformer.training.history import History

NOUNS, VERBS = ["cat", "dog", "bird", "mouse"], ["sleeps", "sings", "waits"]
TEXT = {
    "1": "".join(
        f"( (S (NP (DT the) (NN {noun})) (VP (VBZ {verb})) (. .)) )\n"
        for noun in NOUNS
        for verb in VERBS
    )
    * 2,
    "2": "( (S (NP (NN milk)) (VP (VBZ waits)) (. .)) )\n",
    "3": "( (S (NP (DT a) (NN dog)) (VP (VBZ sings)) (. .)) )\n",
}
FILES = {
    split: {name: hashlib.sha256(TEXT[name].encode()).hexdigest()}
    for split, name in {"train": "1", "dev": "2", "test": "3"}.items()
}
SMALL = [
    *("--set", "model.d_model=16", "--set", "model.n_heads=2", "--set", "model.n_layers=1"),
    *("--set", "model.d_ff=16", "--set", "training.warmup=1", "--set", "training.max_tokens=200"),
    *("--set", "training.valid_every=0", "--set", "training.save_every=0", "--quiet"),
]


@pytest.fixture
def craft(tmp_path: Path, monkeypatch) -> Path:
    folder = tmp_path / "craft" / TREES
    folder.mkdir(parents=True)
    for name, text in TEXT.items():
        (folder / f"{name}.tree").write_text(text)
    monkeypatch.setattr("transformer.parsing.craft.SHA256", FILES)
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path / "craft"))
    return tmp_path


def train(folder: Path, *options: str) -> int:
    arguments = ["--preset", "craft-trees", "--folder", str(folder), "--max-updates", "3"]
    return main(["train", *arguments, *SMALL, *options])


@pytest.mark.parametrize("tags", ["no", "yes"])
def test_train_translate_evaluate(craft: Path, capsys, tags: str) -> None:
    run = craft / "run"
    assert train(run, "--set", f"data.gold_tags={tags}") == 0
    checkpoint = load_checkpoint(next((run / "checkpoints").iterdir()))
    codec = codec_from_text(checkpoint.tokenizer or "")
    assert isinstance(codec, TreeCodec)
    assert checkpoint.config.vocab_sizes == (len(codec), codec.target_size)

    line = "the/DT dog/NN sings/VBZ ./." if tags == "yes" else "the dog sings ."
    (craft / "lines").write_text(f"{line}\n")
    words = ["--input", str(craft / "lines"), "--constrained", "--extra-tokens", "100"]
    assert main(["translate", str(run), *words]) == 0
    symbols = capsys.readouterr().out.strip()
    assert codec.tree(symbols, line)

    for constrained in ([], ["--constrained"]):
        assert main(["evaluate", str(run), "--extra-tokens", "100", *constrained]) == 0
        found = json.loads(capsys.readouterr().out)
        assert "bleu" not in found
        assert 0 <= found["f1"] <= 100
        assert found["constrained"] == bool(constrained)
    assert found["well_formed"] == 1
    assert found["sentences"] == 1


def test_training_says_how_large_both_vocabularies_are(craft: Path, monkeypatch, capsys) -> None:
    models = []

    def hand_over(model, *_: object, **__: object) -> History:
        models.append(model)
        return History()

    monkeypatch.setattr(training, "train", hand_over)
    loud = [option for option in SMALL if option != "--quiet"]
    assert main(["train", "--preset", "craft-trees", "--folder", str(craft / "run"), *loud]) == 0
    (words, symbols), size = models[0].config.vocab_sizes, models[0].n_parameters
    told = f"24 pairs, {words} words, {symbols} symbols, {size:,} parameters\n"
    assert capsys.readouterr().err == told


def test_a_run_is_resumed_with_its_vocabularies(craft: Path, dying_after_2) -> None:
    whole, again = craft / "whole", craft / "again"
    often = ("--set", "training.save_every=1")
    assert train(whole, *often) == 0
    dying_after_2(lambda: train(again, *often))
    assert train(again, *often, "--resume") == 0
    name = "checkpoints/000003.safetensors"
    expected = load_checkpoint(whole / name).model().state_dict()
    for part, value in load_checkpoint(again / name).model().state_dict().items():
        assert torch.equal(value, expected[part]), part


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--set", "model.tie_embeddings=yes"], "tie_embeddings must be off for trees"),
        (["--set", "model.target_vocab_size=9"], "target_vocab_size follows from the data"),
        (["--set", "data.bpe_dropout=0.1"], "got 0.1 and corpus 'craft'"),
        (["--set", "data.word_dropout=1"], r"word_dropout must lie in \[0, 1\), got 1"),
        (["--set", "data.max_sentences=0"], "max_sentences must be at least 1, got 0"),
        (["--set", "data.corpus=phrasebook"], 'word_dropout needs corpus "craft"'),
    ],
)
def test_settings_that_do_not_go_together(craft: Path, capsys, options, message) -> None:
    assert train(craft / "run", *options) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert re.search(message, error), error
    assert not (craft / "run").exists()


def test_a_translator_cannot_be_constrained(run: Path, capsys, tmp_path: Path) -> None:
    lines = tmp_path / "lines"
    lines.write_text("ein hund\n")
    assert main(["translate", str(run), "--constrained", "--input", str(lines)]) == 1
    assert "needs a model of trees" in capsys.readouterr().err


def test_a_parser_does_not_start_from_a_translator(craft: Path, run: Path, capsys) -> None:
    checkpoint = sorted((run / "checkpoints").iterdir())[-1]
    assert train(craft / "new", "--start-from", str(checkpoint)) == 1
    assert "another kind of text" in capsys.readouterr().err


def test_a_line_without_tags_is_named(craft: Path, capsys) -> None:
    assert train(craft / "run", "--set", "data.gold_tags=yes") == 0
    lines = craft / "lines"
    lines.write_text("the/DT dog/NN\nthe dog\nthe/FOO dog/NN\n")
    assert main(["translate", str(craft / "run"), "--input", str(lines), "--beam", "1"]) == 1
    told = capsys.readouterr().err.splitlines()
    assert told[0] == "error: line 2: this model reads word/TAG, as in cats/NNS; 'the' has no tag"
    assert told[1].startswith("error: line 3: unknown tag 'FOO'; training knows '' , -LRB-")
