"""The baseline grammar: counts, the most probable tree, and what it does without one."""

import pytest

from transformer.parsing.brackets import score_brackets
from transformer.parsing.trees import TaggedTree, leaves, parse_brackets
from walkthrough.ch18_constituency_parsing.experiments.pcfg import Grammar, Lexicon


def tagged(text: str, tags: str) -> TaggedTree:
    return TaggedTree(parse_brackets(text), tuple(tags.split()))


TREES = [
    *[tagged("(S (NP the cat) (VP sees (NP the dog) (PP in (NP May))))", "DT NN VB DT NN IN NN")]
    * 3,
    tagged("(S (NP the cat) (VP sees (NP (NP the dog) (PP in (NP May)))))", "DT NN VB DT NN IN NN"),
    tagged("(S (NP mice) (VP sleep))", "NN VB"),
    tagged("(S (NP the old big cat) (VP sleeps))", "DT JJ JJ NN VB"),
]


@pytest.mark.parametrize(("vertical", "horizontal"), [(1, 0), (1, 1), (2, 1), (2, 2)])
def test_the_more_frequent_attachment_wins(vertical, horizontal):
    grammar = Grammar(TREES, vertical=vertical, horizontal=horizontal)
    words = tuple(leaves(TREES[0].tree))
    assert grammar.parse(words) == TREES[0].tree
    assert grammar.parse(words, TREES[0].tags) == TREES[0].tree


def test_labels_come_back_plain_and_long_rules_whole():
    grammar = Grammar(TREES, vertical=2, horizontal=1)
    tree = grammar.parse(("the", "old", "big", "dog", "sleeps"))
    assert tree == parse_brackets("(S (NP the old big dog) (VP sleeps))")


def test_chains_of_one_child_are_found():
    grammar = Grammar([tagged("(S (NP (NP mice)) (VP run))", "NN VB")])
    assert grammar.parse(("mice", "run")) == parse_brackets("(S (NP (NP mice)) (VP run))")


def test_a_chain_that_could_go_on_for_ever_ends():
    grammar = Grammar([tagged("(S (S (NP mice)) run)", "NN VB"), tagged("(S (NP (S mice)))", "NN")])
    assert grammar.parse(("mice",)) is not None


def test_no_tree_is_none_and_counts_as_no_bracket():
    grammar = Grammar(TREES)
    assert grammar.parse(("the", "the"), ("DT", "DT")) is None
    assert score_brackets([None], [TREES[4].tree]).f1 == 0


def test_unknown_words_have_the_tags_of_their_class():
    lexicon = Lexicon.read([(("walked", "p53", "cat"), ("VBD", "NN", "NN"))])
    assert max(lexicon.scores("jumped"), key=lexicon.scores("jumped").get) == "VBD"
    assert set(lexicon.scores("q17")) == {"NN"}
    assert set(lexicon.scores("Ünsäglich-7%")) == {
        "VBD",
        "NN",
    }  # a class never seen: all that is rare


def test_settings_that_do_not_exist_are_refused():
    with pytest.raises(ValueError, match="vertical is 1 or 2"):
        Grammar(TREES, vertical=3)
