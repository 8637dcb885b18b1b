"""Guards against languages swapped, gold that is not turned around, and another draw."""

import pytest

from phrasebook import tokenize
from phrasebook.corpus import phrasebook_corpus
from transformer.parsing.trees import leaves, parse_brackets

SMALL = {"train": 1500, "valid": 10, "test": 10}


def test_the_phrasebook_carries_gold_over_its_own_words():
    corpus = phrasebook_corpus("test_sentences", **SMALL)
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
    there = phrasebook_corpus("valid", **SMALL)
    back = phrasebook_corpus("valid", source_language="en", target_language="fr", **SMALL)
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
        phrasebook_corpus(**arguments, **SMALL)


def test_bleu_of_the_phrasebook_is_computed_on_sentences_as_written():
    corpus = phrasebook_corpus("valid", **SMALL)
    assert not corpus.tokenized
    assert corpus.bleu_tokenizer == "13a"


def test_the_phrasebook_is_the_one_of_seed_0_unless_another_is_asked_for():
    asked, default, other = (
        phrasebook_corpus("train", **seed, **SMALL).source
        for seed in ({"seed": 0}, {}, {"seed": 1})
    )
    assert default == asked != other
