"""Guards against languages swapped, fields of different length, and BLEU on the wrong tokens."""

import dataclasses
import inspect

import pytest

from transformer.cli.corpora import load_corpus
from transformer.data import corpus as module
from transformer.data.corpus import Corpus
from transformer.data.download import fetch
from transformer.data.multi30k import multi30k_lines
from transformer.parsing.craft import craft_corpus, craft_trees
from transformer.training import train
from transformer.training.trainer import Trainer


@pytest.fixture
def two_files(tmp_path):
    (tmp_path / "a.en").write_text("a dog\na cat\n", encoding="utf-8")
    (tmp_path / "a.de").write_text("ein Hund\neine Katze\n", encoding="utf-8")
    return tmp_path / "a.en", tmp_path / "a.de"


def test_text_files_become_pairs_in_order(two_files):
    corpus = Corpus.from_text_files(*two_files, source_language="en", target_language="de")
    assert list(corpus) == [("a dog", "ein Hund"), ("a cat", "eine Katze")]
    assert len(corpus) == 2
    assert (corpus.source_language, corpus.target_language) == ("en", "de")
    assert (corpus.name, corpus.split) == ("a.en–a.de", "train")
    assert corpus.alignments is None
    assert corpus.source_trees is None


def test_bleu_is_computed_on_the_tokens_of_a_tokenised_corpus(two_files):
    assert Corpus.from_text_files(*two_files).bleu_tokenizer == "13a"
    assert Corpus.from_text_files(*two_files, tokenized=True).bleu_tokenizer == "none"


@pytest.mark.parametrize(
    ("field", "value"), [("target", ("one",)), ("alignments", ()), ("source_trees", ("(S)",) * 3)]
)
def test_fields_of_different_length_are_refused(two_files, field, value):
    corpus = Corpus.from_text_files(*two_files)
    message = f"{field} must have one entry for each of the 2 .* got {len(value)}"
    with pytest.raises(ValueError, match=message):
        dataclasses.replace(corpus, **{field: value})


def test_multi30k_has_the_languages_asked_for(multi30k_copy):
    there, back = (
        Corpus.from_multi30k(
            "val", source_language=a, target_language=b, folder=multi30k_copy, download=False
        )
        for a, b in (("en", "de"), ("de", "en"))
    )
    assert there.source == back.target
    assert there.target == back.source
    assert there.source != there.target
    assert there.bleu_tokenizer == "none"


def test_raw_multi30k_is_not_called_tokenised(multi30k_copy):
    raw = Corpus.from_multi30k("val", variant="raw", folder=multi30k_copy, download=False)
    assert raw.bleu_tokenizer == "13a"


def test_one_language_twice_is_refused():
    with pytest.raises(ValueError, match="must differ, got 'de' twice"):
        Corpus.from_multi30k("val", source_language="de", target_language="de")


@pytest.mark.parametrize(
    "function",
    [
        *(Corpus.from_multi30k, craft_corpus, multi30k_lines, craft_trees),
        *(fetch, load_corpus, train, Trainer.run),
    ],
    ids=lambda function: function.__qualname__,
)
def test_whoever_waits_sees_how_far_it_is_unless_he_asks_for_quiet(function):
    assert inspect.signature(function).parameters["progress"].default is True


FETCHED = {"folder": None, "download": True, "progress": True}
OPTIONS = [
    {},
    {"folder": "/a/copy", "download": True, "progress": True},
    {"folder": "/a/copy", "download": False, "progress": False},
]


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize(("variant", "bleu"), [("lc.norm.tok", "none"), ("raw", "13a")])
def test_what_multi30k_is_asked_for_reaches_its_files(monkeypatch, options, variant, bleu):
    asked = []

    def lines(language, split, **options):
        asked.append((language, split, options))
        return (f"a {language} sentence",)

    monkeypatch.setattr(module, "multi30k_lines", lines)
    kind = {} if variant == "lc.norm.tok" else {"variant": variant}
    corpus = Corpus.from_multi30k("val", **kind, **options)
    said = FETCHED | {"variant": variant} | options
    assert asked == [("en", "val", said), ("de", "val", said)]
    assert list(corpus) == [("a en sentence", "a de sentence")]
    assert (corpus.name, corpus.split) == ("multi30k", "val")
    assert (corpus.source_language, corpus.target_language) == ("en", "de")
    assert corpus.bleu_tokenizer == bleu


def test_a_limit_for_long_lines_reaches_the_files(tmp_path):
    for name in ("a.en", "a.de"):
        (tmp_path / name).write_text("word " * 3 + "\n")
    paths = tmp_path / "a.en", tmp_path / "a.de"
    assert len(Corpus.from_text_files(*paths, max_words=3)) == 1
    with pytest.raises(ValueError, match="at most 2 words, got 3"):
        Corpus.from_text_files(*paths, max_words=2)
