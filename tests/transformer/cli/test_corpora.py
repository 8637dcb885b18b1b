"""The corpora of the command line: which lines, in which languages, spelled how."""

import dataclasses
import random
from pathlib import Path

import pytest

from phrasebook import phrasebook
from phrasebook.codec import PhrasebookCodec
from transformer.cli import corpora
from transformer.cli.corpora import (
    TEST_SPLIT,
    VALID_SPLIT,
    encode_pairs,
    exact_matches,
    has_valid,
    learn_codec,
    load_corpus,
    measured,
    spell_with_classes,
    spell_with_dropout,
    split_to_measure,
)
from transformer.cli.plan import DataSettings
from transformer.data import corpus as corpus_module
from transformer.data.codec import SubwordCodec
from transformer.data.corpus import Corpus
from transformer.data.tokenizer import SubwordTokenizer
from transformer.parsing.codec import TreeCodec

LINES = {
    "en": ["a dog runs", "two dogs run", "a cat sleeps", "two cats sleep"] * 3,
    "de": ["ein hund läuft", "zwei hunde laufen", "eine katze schläft", "zwei katzen schlafen"] * 3,
}


def of_lines(source: list[str], target: list[str], **more) -> Corpus:
    return Corpus(
        name="lines",
        source_language="en",
        target_language="xx",
        split="test",
        source=tuple(source),
        target=tuple(target),
        **more,
    )


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
    for module in ("corpus", "codec"):
        place = f"phrasebook.{module}.phrasebook"
        monkeypatch.setattr(place, lambda seed: phrasebook(seed, **sizes))


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


def test_a_download_shows_its_progress_unless_told_otherwise(small_multi30k) -> None:
    load_corpus(DataSettings(corpus="multi30k", source_language="en", target_language="de"), "val")
    assert [options["progress"] for *_, options in small_multi30k] == [True, True]


@pytest.mark.parametrize("progress", [True, False])
def test_of_trees_a_part_is_trained_on_and_all_are_measured(monkeypatch, progress) -> None:
    asked = []

    def trees(split, **options):
        asked.append((split, options))
        return of_lines(["a"], ["(S DT )S"])

    monkeypatch.setattr(corpora, "craft_corpus", trees)
    data = DataSettings(
        corpus="craft", leaf="number", gold_tags=True, max_sentences=3, folder="/some/copy"
    )
    for split in ("train", "dev"):
        load_corpus(data, split, progress=progress)
    same = {"leaf": "number", "gold_tags": True, "folder": "/some/copy", "progress": progress}
    assert asked == [
        ("train", {**same, "max_sentences": 3}),
        ("dev", {**same, "max_sentences": None}),
    ]


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
    assert (corpus.source_language, corpus.target_language) == ("en", "de")
    assert not has_valid(data)
    for split in ("valid", "test"):
        message = f"data.{split}_source and data.{split}_target must name text files, got None and"
        with pytest.raises(ValueError, match=message):
            load_corpus(data, split)
    with pytest.raises(ValueError, match="splits of text files are train, valid, test, got 'dev'"):
        load_corpus(data, "dev")
    assert split_to_measure(data) == "valid"
    pair = {"test_source": data.train_source, "test_target": data.train_target}
    assert split_to_measure(tested := dataclasses.replace(data, **pair)) == "test"
    assert load_corpus(tested, "test").source == corpus.source
    for side, told in (("source", r"some\.en and None"), ("target", r"None and some\.en")):
        for split in ("valid", "test"):  # one alone was ignored, or refused hours later
            with pytest.raises(ValueError, match=rf"_target go together, got {told}"):
                dataclasses.replace(data, **{f"{split}_{side}": "some.en"})
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


def test_the_draws_of_recorded_runs(monkeypatch) -> None:
    """Another rule would spell the epochs of a resumed run in another way."""
    seeds: list[int] = []

    def encode_batch(self, lines, *, dropout, seed):
        seeds.append(seed)
        return [[5] for _ in lines]

    monkeypatch.setattr(SubwordTokenizer, "encode_batch", encode_batch)
    corpus = of_lines(["a b"], ["(S DT NN )S"])
    subwords = SubwordCodec.train(["a b"], n_merges=0)
    spell = spell_with_dropout(subwords, corpus, dropout=0.1, seed=3)
    assert [spell(0), spell(7)] == [[([5], [5])]] * 2
    assert seeds == [6_000_000, 6_000_001, 6_000_014, 6_000_015]

    states: list[object] = []

    def encode(self, text, dropout, generator):
        states.append(generator.getstate())
        return [5]

    monkeypatch.setattr(TreeCodec, "encode_with_dropout", encode)
    trees = TreeCodec.learn(corpus.source, corpus.target)
    spell_with_classes(trees, corpus, dropout=0.1, seed=3)(7)
    assert states == [random.Random(3_000_007).getstate()]


def test_trees_are_measured_in_percent_of_their_brackets() -> None:
    gold = "(S (NP the cat) (VP sleeps))"
    symbols = "(S (NP DT NN )NP (VP VBZ )VP )S"
    corpus = of_lines(["the cat sleeps"] * 4, [symbols] * 4, source_trees=(gold,) * 4)
    codec = TreeCodec.learn(corpus.source, corpus.target)
    flat = "(S DT NN VBZ )S"  # one bracket, and right; the gold tree has three
    found = measured(codec, corpus, [symbols, flat, symbols, "(S DT"])
    assert found == {
        "f1": pytest.approx(100 * 2 * 7 / (7 + 12)),
        "precision": 100.0,
        "recall": pytest.approx(100 * 7 / 12),
        "well_formed": 0.75,
        "exact": 0.5,
    }
    wrong = "(S DT (NP NN VBZ )NP )S"
    found = measured(codec, corpus, [wrong] * 4)
    assert (found["precision"], found["well_formed"], found["exact"]) == (50.0, 1.0, 0.0)


@pytest.mark.parametrize(("tokenized", "name"), [(True, "none"), (False, "13a")])
def test_text_is_measured_in_words_as_it_is_tokenized(tokenized: bool, name: str) -> None:
    lines = ["the cat sleeps on the mat.", "two dogs run to the house."]
    corpus = of_lines(lines, lines, tokenized=tokenized)
    codec = SubwordCodec.train(lines, n_merges=0)
    found = measured(codec, corpus, lines)
    assert (found["bleu"], found["exact"]) == (pytest.approx(100), 1.0)
    assert f"tok:{name}" in found["bleu_signature"]
