"""The corpora of the command line: which lines, in which languages, spelled how."""

import dataclasses
from pathlib import Path

import pytest

from transformer.cli import commands, corpora, main
from transformer.cli.corpora import (
    TEST_SPLIT,
    VALID_SPLIT,
    encode_pairs,
    exact_matches,
    has_valid,
    learn_codec,
    load_corpus,
    spell_with_dropout,
)
from transformer.cli.plan import DataSettings
from transformer.data import corpus as corpus_module
from transformer.data.codec import PhrasebookCodec, SubwordCodec
from transformer.data.corpus import Corpus
from transformer.data.phrasebook import phrasebook

LINES = {
    "en": ["a dog runs", "two dogs run", "a cat sleeps", "two cats sleep"] * 3,
    "de": ["ein hund läuft", "zwei hunde laufen", "eine katze schläft", "zwei katzen schlafen"] * 3,
}


@pytest.fixture
def small_multi30k(monkeypatch):
    """Multi30k in a dozen lines, which says what it was asked for."""
    asked = []

    def lines(language, split, **options):
        asked.append((language, split, options))
        return tuple(LINES[language])

    monkeypatch.setattr(corpus_module, "multi30k_lines", lines)
    return asked


@pytest.fixture
def small_phrasebook(monkeypatch):
    """The phrasebook in a few sentences: all of it takes seconds."""
    sizes = {"train": 1500, "valid": 10, "test": 10}
    monkeypatch.setattr(corpora, "phrasebook", lambda seed: phrasebook(seed, **sizes))
    monkeypatch.setattr(corpus_module, "phrasebook", lambda seed: phrasebook(seed, **sizes))


@pytest.mark.parametrize(("source", "target"), [("en", "de"), ("de", "en")])
def test_multi30k_in_the_languages_and_from_the_folder_asked_for(
    small_multi30k, source: str, target: str
) -> None:
    data = DataSettings(
        corpus="multi30k", source_language=source, target_language=target, folder="/some/copy"
    )
    corpus = load_corpus(data, "val", progress=False)
    assert list(corpus) == list(zip(LINES[source], LINES[target], strict=True))
    assert (corpus.source_language, corpus.target_language) == (source, target)
    assert [(language, split) for language, split, _ in small_multi30k] == [
        (source, "val"),
        (target, "val"),
    ]
    for _, _, options in small_multi30k:
        assert options["folder"] == "/some/copy"
        assert options["variant"] == "lc.norm.tok"
        assert options["progress"] is False


@pytest.mark.parametrize("progress", [True, False])
def test_a_download_shows_its_progress_where_it_is_asked_to(small_multi30k, progress) -> None:
    data = DataSettings(corpus="multi30k", source_language="en", target_language="de")
    load_corpus(data, "val", progress=progress)
    assert [options["progress"] for *_, options in small_multi30k] == [progress, progress]


@pytest.mark.parametrize("progress", [True, False])
def test_trees_show_their_progress_too(monkeypatch, progress) -> None:
    asked = []

    def trees(split, **options):
        asked.append(options["progress"])
        return Corpus.from_phrasebook(split, source_language="en", target_language="fr")

    monkeypatch.setattr(Corpus, "from_craft", trees)
    load_corpus(DataSettings(corpus="craft"), "valid", progress=progress)
    assert asked == [progress]


@pytest.mark.parametrize("options", [[], ["--quiet"]])
def test_training_shows_what_it_downloads_unless_it_is_to_be_quiet(
    monkeypatch, tmp_path, options: list[str]
) -> None:
    asked = []

    def load(data, split, *, progress):
        asked.append(progress)
        raise ValueError("this test trains nothing")

    monkeypatch.setattr(commands, "load_corpus", load)
    command = ["train", "--preset", "multi30k-tiny", "--folder", f"{tmp_path}/run", *options]
    assert main(command) == 1
    assert asked == [not options]


def test_multi30k_has_one_vocabulary_of_subwords_for_both_languages(small_multi30k) -> None:
    data = DataSettings(corpus="multi30k", source_language="en", target_language="de", merges=20)
    corpus = load_corpus(data, "train")
    codec = learn_codec(data, corpus)
    assert isinstance(codec, SubwordCodec)
    assert len(codec.tokenizer.merges) == 20
    both = SubwordCodec.train([*LINES["en"], *LINES["de"]], n_merges=20)
    assert codec.tokenizer.fingerprint == both.tokenizer.fingerprint
    for (source, target), ids in zip(corpus, encode_pairs(codec, corpus), strict=True):
        assert (codec.decode(ids[0]), codec.decode(ids[1])) == (source, target)


@pytest.mark.parametrize(("source", "target"), [("fr", "en"), ("en", "fr")])
def test_the_phrasebook_has_words_in_both_directions(
    small_phrasebook, source: str, target: str
) -> None:
    data = DataSettings(source_language=source, target_language=target)
    corpus = load_corpus(data, VALID_SPLIT["phrasebook"])
    assert (corpus.name, corpus.split) == ("phrasebook", "valid")
    assert (corpus.source_language, corpus.target_language) == (source, target)
    codec = learn_codec(data, corpus)
    assert isinstance(codec, PhrasebookCodec)
    assert (codec.source_language, codec.target_language) == (source, target)
    assert len(codec) == len(phrasebook(0, train=1500, valid=10, test=10).vocabulary())
    for (_, line), (_, ids) in zip(corpus, encode_pairs(codec, corpus), strict=True):
        assert codec.decode(ids) == line


def test_another_seed_is_another_phrasebook(small_phrasebook) -> None:
    data = DataSettings(source_language="fr", target_language="en")
    other = dataclasses.replace(data, corpus_seed=1)
    assert data.corpus_seed == 0
    assert load_corpus(data, "train").source != load_corpus(other, "train").source


def test_every_corpus_has_a_split_to_validate_on_and_one_to_test_on(small_phrasebook) -> None:
    expected = {"phrasebook": "valid", "multi30k": "val", "craft": "dev", "files": "valid"}
    assert expected == VALID_SPLIT
    assert (TEST_SPLIT["multi30k"], TEST_SPLIT["craft"]) == ("test_2016_flickr", "test")
    assert len(load_corpus(DataSettings(source_language="fr", target_language="en"), "valid")) == 10
    test = TEST_SPLIT["phrasebook"]
    assert load_corpus(DataSettings(source_language="fr", target_language="en"), test).split == test


def test_own_files_and_the_ones_that_are_missing(tmp_path: Path) -> None:
    for name, lines in LINES.items():
        (tmp_path / f"train.{name}").write_text("\n".join(lines), encoding="utf-8")
    data = DataSettings(
        corpus="files",
        source_language="en",
        target_language="de",
        train_source=f"{tmp_path}/train.en",
        train_target=f"{tmp_path}/train.de",
        tokenized=True,
    )
    corpus = load_corpus(data, "train")
    assert (list(corpus.source), list(corpus.target)) == (LINES["en"], LINES["de"])
    assert (corpus.split, corpus.tokenized) == ("train", True)
    assert not has_valid(data)
    message = r"data.valid_source and data.valid_target must name text files, got None and None"
    with pytest.raises(ValueError, match=message):
        load_corpus(data, "valid")
    with pytest.raises(ValueError, match="got None and None"):
        load_corpus(data, "test")
    half = dataclasses.replace(data, valid_source="some.en")
    assert has_valid(half)
    with pytest.raises(ValueError, match=r"got some\.en and None"):
        load_corpus(half, "valid")
    assert has_valid(DataSettings(source_language="fr", target_language="en"))


def test_bpe_dropout_spells_another_way_each_epoch_and_never_another_text(small_multi30k) -> None:
    data = DataSettings(corpus="multi30k", source_language="en", target_language="de", merges=20)
    corpus = load_corpus(data, "train")
    codec = learn_codec(data, corpus)
    spell = spell_with_dropout(codec, corpus, dropout=0.5, seed=1)
    first, second = spell(0), spell(1)
    assert first != second
    assert spell(0) == first, "an epoch that is resumed is spelled as it was"
    assert spell_with_dropout(codec, corpus, dropout=0.5, seed=2)(0) != first
    for pairs in (first, second):
        for (source, target), (source_ids, target_ids) in zip(corpus, pairs, strict=True):
            assert (codec.decode(source_ids), codec.decode(target_ids)) == (source, target)
    same = dataclasses.replace(corpus, target=corpus.source)
    sides = spell_with_dropout(codec, same, dropout=0.5, seed=1)(0)
    assert any(source != target for source, target in sides), "each side draws its own"


def test_exact_matches_is_a_share() -> None:
    assert exact_matches(["a", "b", "c", "d"], ["a", "x", "c", "y"]) == 0.5
    with pytest.raises(ValueError, match="zip"):
        exact_matches(["a"], ["a", "b"])
