"""What `export` writes is read by the other engines, which then translate as we do."""

import os
from importlib import import_module
from pathlib import Path

import pytest
import torch

from transformer.cli import main
from transformer.config import EOS_ID, TransformerConfig
from transformer.data.codec import SubwordCodec
from transformer.data.corpus import Corpus
from transformer.engines import (
    CTranslate2,
    check_portable,
    export_ctranslate2,
    tokens_of,
)
from transformer.model import Transformer
from transformer.translator import Translator

CHECKPOINT = Path(__file__).parents[2] / "results" / "phrasebook-translator.safetensors"
CASES = [
    {"beam": 1},
    {"beam": 4, "alpha": 0.0},
    {"beam": 4},
    {"beam": 4, "alpha": None},
]


@pytest.fixture(scope="module")
def ours() -> Translator:
    return Translator.load(CHECKPOINT)


@pytest.fixture(scope="module")
def sentences() -> list[str]:
    return list(Corpus.from_phrasebook("test_sentences").source)


@pytest.fixture(scope="module")
def subwords() -> Translator:
    """A random model, whose positions are learned and whose outputs reach their limit."""
    codec = SubwordCodec.train(["ein hund", "zwei hunde", "ein hund und zwei hunde"], n_merges=5)
    torch.manual_seed(0)
    config = TransformerConfig.tiny(len(codec), d_model=16, n_heads=2, d_ff=24)
    model = Transformer(config.replace(positions="learned", max_len=40))
    return Translator(model.eval(), codec)


def installed(name: str):
    """Skip where an engine of the extra is missing; warnings about their insides are theirs."""
    pytest.importorskip(name, reason=f"the extra `engines` is not installed: no {name}")
    return import_module(name)


@pytest.mark.slow
@pytest.mark.parametrize("options", CASES, ids=str)
def test_ctranslate2_translates_1000_sentences_as_we_do(ours, sentences, options) -> None:
    installed("ctranslate2")
    theirs = Translator(ours.model, ours.codec, search=CTranslate2(ours.model, ours.codec))
    assert len(sentences) == 1000
    found = [[best[0] for best in one.n_best(sentences, **options)] for one in (ours, theirs)]
    pairs = list(zip(*found, strict=True))
    others = [(own, other) for own, other in pairs if own.text != other.text]
    if options["beam"] == 1:
        assert others == []
        return
    assert len(others) <= 5
    assert all(own.score < other.score for own, other in others)  # it went on for longer
    same = [(own.score, other.score) for own, other in pairs if own.text == other.text]
    assert [own for own, _ in same] == pytest.approx([other for _, other in same], abs=0.05)


def test_ctranslate2_keeps_limits_order_empty_lines_and_n(subwords) -> None:
    installed("ctranslate2")
    search = CTranslate2(subwords.model, subwords.codec)
    theirs = Translator(subwords.model, subwords.codec, search=search)
    lines = ["zwei hunde", "", "ein", "hund und hund"]
    for options in ({"beam": 1}, {"beam": 1, "extra_tokens": 3}, {"beam": 1, "max_len": 4}):
        assert theirs.translate(lines, **options) == subwords.translate(lines, **options)
    found = theirs.n_best(lines, beam=3, n_best=2, max_len=4)
    assert [len(best) for best in found] == [2] * 4
    assert [best[0].text == "" for best in found].count(True) >= 1
    with pytest.raises(ValueError, match="constrained decoding needs this package's own search"):
        search(torch.tensor([[5, EOS_ID]]), decoding_of(constrained=True))


def test_ctranslate2_can_compute_with_8_bits(ours) -> None:
    installed("ctranslate2")
    search = CTranslate2(ours.model, ours.codec, compute_type="int8")
    assert search.engine.compute_type.startswith("int8")
    theirs = Translator(ours.model, ours.codec, search=search)
    lines = ["Jane visite l'Afrique en septembre"]
    assert theirs.translate(lines, beam=1) == ours.translate(lines, beam=1)


def decoding_of(**options):
    return import_module("transformer.inference").Decoding(**options)


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"norm": "pre"}, "norm = pre"),
        ({"bias": False}, "bias = False"),
        ({"positions": "none"}, "positions = none"),
        ({"d_k": 3}, "d_k = 3"),
        ({"tie_embeddings": False}, "tie_embeddings = False"),
    ],
)
def test_another_model_than_the_papers_is_refused(subwords, changes, told) -> None:
    config = subwords.model.config.replace(**changes)
    with pytest.raises(ValueError, match=f"hold the paper's model; this one has {told}$"):
        check_portable(config, subwords.codec)


def test_the_command_writes_every_format_and_translates(subwords, tmp_path, capsys) -> None:
    from transformer.training.checkpoint import save_checkpoint

    path = tmp_path / "m.safetensors"
    save_checkpoint(path, subwords.model, tokenizer=subwords.codec.to_text())
    assert main(["export", str(path), "--format", "marian", "--output", f"{tmp_path}/m"]) == 1
    assert "learned ones would be lost" in capsys.readouterr().err
    installed("ctranslate2")
    assert main(["export", str(path), "--format", "ctranslate2", "--output", f"{tmp_path}/c"]) == 0
    assert sorted(os.listdir(tmp_path / "c")) == [
        "config.json",
        "model.bin",
        "shared_vocabulary.json",
    ]
    (tmp_path / "in.txt").write_text("zwei hunde\n")
    words = ["translate", str(path), "--input", f"{tmp_path}/in.txt", "--beam", "1"]
    assert main([*words, "--engine", "ctranslate2"]) == 0
    theirs = capsys.readouterr().out
    assert main(words) == 0
    assert theirs == capsys.readouterr().out


def test_a_missing_engine_is_told(subwords, monkeypatch, tmp_path, capsys) -> None:
    monkeypatch.setattr("transformer.engines.find_spec", lambda name: None)
    with pytest.raises(ModuleNotFoundError, match="pip install ctranslate2"):
        export_ctranslate2(subwords.model, subwords.codec, tmp_path)
    assert main(["translate", "nothing.safetensors", "--engine", "ctranslate2"]) == 1
    assert "pip install ctranslate2" in capsys.readouterr().err


def test_tokens_in_the_order_of_their_ids(subwords) -> None:
    tokens = tokens_of(subwords.codec)
    assert len(set(tokens)) == len(tokens) == len(subwords.codec)
    ids = subwords.codec.encode("zwei hunde")
    assert "".join(tokens[number] for number in ids).replace("Ġ", " ") == " zwei hunde"
