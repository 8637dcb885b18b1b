"""Guards against languages swapped, fields of different length, and BLEU on the wrong tokens."""

import dataclasses
import inspect

import pytest

from transformer.cli.corpora import load_corpus
from transformer.data import corpus as module
from transformer.data.corpus import Corpus
from transformer.data.craft import craft_trees
from transformer.data.download import fetch
from transformer.data.multi30k import multi30k_lines
from transformer.data.phrasebook import leaves, parse_brackets, tokenize
from transformer.data.trees import read_penn
from transformer.training import train
from transformer.training.trainer import Trainer

SMALL = {"train": 1500, "valid": 10, "test": 10}


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


def test_the_phrasebook_carries_gold_over_its_own_words():
    corpus = Corpus.from_phrasebook("test_sentences", **SMALL)
    source, target = next(iter(corpus))
    assert (source, target) == (
        "Jane visite l'Afrique en septembre.",
        "Jane visits Africa in September.",
    )
    french, english = tokenize(source, "fr"), tokenize(target, "en")
    assert corpus.alignments is not None
    links = {(french[s], english[t]) for s, t in corpus.alignments[0]}
    assert ("visite", "visits") in links
    assert ("Afrique", "Africa") in links
    assert corpus.source_trees is not None
    assert list(leaves(parse_brackets(corpus.source_trees[0]))) == french


def test_the_phrasebook_turned_around_turns_its_gold_around():
    there = Corpus.from_phrasebook("valid", **SMALL)
    back = Corpus.from_phrasebook("valid", source_language="en", target_language="fr", **SMALL)
    assert (back.source, back.target) == (there.target, there.source)
    assert (back.source_trees, back.target_trees) == (there.target_trees, there.source_trees)
    assert there.alignments is not None
    assert back.alignments is not None
    assert there.alignments != back.alignments
    assert back.alignments[0] == {(t, s) for s, t in there.alignments[0]}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"split": "test"}, "one of train, valid, test_sentences, .* got 'test'"),
        ({"split": "train", "source_language": "de"}, "French–English .* got 'de' to 'en'"),
        ({"split": "train", "target_language": "fr"}, "French–English .* got 'fr' to 'fr'"),
    ],
)
def test_what_the_phrasebook_does_not_have_is_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        Corpus.from_phrasebook(**arguments, **SMALL)


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


def test_bleu_of_the_phrasebook_is_computed_on_sentences_as_written():
    corpus = Corpus.from_phrasebook("valid", **SMALL)
    assert not corpus.tokenized
    assert corpus.bleu_tokenizer == "13a"


def test_the_phrasebook_is_the_one_of_seed_0_unless_another_is_asked_for():
    asked, default, other = (
        Corpus.from_phrasebook("train", **seed, **SMALL).source
        for seed in ({"seed": 0}, {}, {"seed": 1})
    )
    assert default == asked != other


@pytest.mark.parametrize(
    "function",
    [
        *(Corpus.from_multi30k, Corpus.from_craft, multi30k_lines, craft_trees),
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
def test_what_craft_is_asked_for_reaches_its_files(monkeypatch, options):
    asked = {}

    def trees(**options):
        asked.update(options)
        return {}

    monkeypatch.setattr(module, "craft_trees", trees)
    with pytest.raises(ValueError, match="CRAFT split must be one of"):
        Corpus.from_craft("dev", **options)
    assert asked == FETCHED | options


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


def test_the_sentences_drawn_from_craft_are_always_the_same(monkeypatch):
    """Those of the recorded runs, and not the first ones: these are of one article."""
    trees = tuple(read_penn(f"(NP (CD {number}))") for number in range(20))
    monkeypatch.setattr(module, "craft_trees", lambda **options: {"train": trees})
    drawn = Corpus.from_craft("train", max_sentences=6).source
    assert drawn == ("10", "18", "16", "14", "0", "17")
    assert Corpus.from_craft("train").source == tuple(str(number) for number in range(20))


def test_a_limit_for_long_lines_reaches_the_files(tmp_path):
    for name in ("a.en", "a.de"):
        (tmp_path / name).write_text("word " * 3 + "\n")
    paths = tmp_path / "a.en", tmp_path / "a.de"
    assert len(Corpus.from_text_files(*paths, max_words=3)) == 1
    with pytest.raises(ValueError, match="at most 2 words, got 3"):
        Corpus.from_text_files(*paths, max_words=2)
