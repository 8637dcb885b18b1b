"""What `export` writes is read by the other engines, which then translate as we do."""

import os
from importlib import import_module
from types import SimpleNamespace

import pytest
import torch

from transformer.cli import main
from transformer.config import EOS_ID, TransformerConfig
from transformer.data.codec import SubwordCodec
from transformer.engines import (
    CTranslate2,
    check_portable,
    export_ctranslate2,
    tokens_of,
)
from transformer.model import Transformer
from transformer.translator import Translator

CASES = [
    {"beam": 1},
    {"beam": 4, "alpha": 0.0},
    {"beam": 4},
    {"beam": 4, "alpha": None},
]


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
    assert [own.text for own, _ in pairs] == [other.text for _, other in pairs]
    if options["beam"] > 1:  # its scores are a little higher
        assert all(own.score - 1e-4 <= other.score < own.score + 0.05 for own, other in pairs)


def test_ctranslate2_is_asked_for_our_rules(ours) -> None:
    """Its arguments, without the engine: when it ends, how many it returns, the empty output."""
    asked = []

    def translate_batch(lines, **arguments):
        asked.append(arguments)
        found = [[], ["Jane"]] * (arguments["num_hypotheses"] // 2) or [["Jane"]]
        scores = [-2.0 - 0.1 * place for place in range(len(found))]
        result = SimpleNamespace(hypotheses=found, scores=scores * arguments["return_scores"])
        return [result for _ in lines]

    search = object.__new__(CTranslate2)
    search.engine = SimpleNamespace(translate_batch=translate_batch)
    search.config, search.tokens = ours.model.config, tokens_of(ours.codec)
    search.ids = {token: number for number, token in enumerate(search.tokens)}
    source = torch.tensor([[*ours.codec.encode("Jane visite l'Afrique."), EOS_ID]])
    rules = [
        ({"beam": 1}, (1e-9, 1, 1)),
        ({"alpha": 0.0}, (0, 1, 4)),  # ends when nothing open has a higher log P
        ({}, (1e-9, 2, 8)),  # a longer one may win: on, and all are ranked by our α
        ({"alpha": None}, (1e-9, 2, 8)),
        ({"early_stopping": True}, (1e-9, 1, 4)),
        ({"alpha": 0.0, "early_stopping": True}, (1e-9, 1, 4)),
    ]
    for options, expected in rules:
        (best,) = search(source, decoding_of(**options))
        told = [asked[-1][name] for name in ("length_penalty", "patience", "num_hypotheses")]
        assert tuple(told) == expected
        assert asked[-1]["min_decoding_length"] == 0
        assert len(best) == 1
    assert best[0].tokens == []  # −2 is the best log P; by α = 0.6 it is not
    assert search(source, decoding_of())[0][0].tokens == ours.codec.encode_target("Jane")


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
