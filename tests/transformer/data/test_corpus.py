"""Guards against languages swapped, fields of different length, and BLEU on the wrong tokens."""

import dataclasses

import pytest

from transformer.data.corpus import Corpus


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
    assert corpus.alignments is None
    assert corpus.trees is None


def test_bleu_is_computed_on_the_tokens_of_a_tokenised_corpus(two_files):
    assert Corpus.from_text_files(*two_files).bleu_tokenizer == "13a"
    assert Corpus.from_text_files(*two_files, tokenized=True).bleu_tokenizer == "none"


@pytest.mark.parametrize(
    ("field", "value"), [("target", ("one",)), ("alignments", ()), ("trees", ("(S)",) * 3)]
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
