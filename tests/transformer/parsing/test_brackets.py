"""Guards against tags that count as constituents, sets instead of counts, trees that do not fit."""

from collections import Counter

import pytest
from hypothesis import given
from random_trees import random_trees

from transformer.parsing.brackets import labelled_spans, score_brackets
from transformer.parsing.symbols import linearize
from transformer.parsing.trees import parse_brackets, read_penn

trees = random_trees("Jane", "sings", "XX", "(", "a")


@given(trees)
def test_a_tree_agrees_with_itself(tree):
    result = score_brackets([tree], [tree])
    assert (result.f1, result.precision, result.recall, result.exact) == (1, 1, 1, 1)


@given(trees)
def test_there_are_as_many_spans_as_opening_brackets(tree):
    opening = [symbol for symbol in linearize(tree) if symbol.startswith("(")]
    assert labelled_spans(tree).total() == len(opening)


GOLD = parse_brackets("(S (NP a) (VP b (NP c d) (PP e (NP f))))")
FLAT = parse_brackets("(S (NP a) (VP b (NP c d (PP e (NP f)))))")  # the phrase hangs elsewhere


def test_precision_recall_and_f1_by_hand():
    # Gold: S, NP a, VP, NP c d, PP, NP f. FLAT has NP c d e f instead of NP c d: 5 of 6 agree.
    result = score_brackets([FLAT], [GOLD])
    assert (result.n_correct, result.n_predicted, result.n_gold) == (5, 6, 6)
    assert result.f1 == pytest.approx(5 / 6)
    assert result.exact == 0


def test_labels_count_and_not_places_only():
    other = parse_brackets("(S (PP a) (VP b (NP c d) (PP e (NP f))))")
    assert score_brackets([other], [GOLD]).n_correct == 5
    unlabelled = [{span[1:] for span in labelled_spans(tree)} for tree in (other, GOLD)]
    assert unlabelled[0] == unlabelled[1]  # the known-wrong score would call it perfect


def test_a_label_repeated_over_the_same_words_counts_each_time():
    twice, once = parse_brackets("(S (S a))"), parse_brackets("(S a)")
    assert labelled_spans(twice) == Counter({("S", 0, 1): 2})
    assert score_brackets([twice], [once]).precision == 1 / 2  # a set of spans would give 1
    assert score_brackets([once], [twice]).recall == 1 / 2


def test_counting_tags_would_flatter():
    gold = "(S (NP (DT the) (NN cat)) (VP (VBZ sleeps)))"
    wrong = "(S (NP (DT the)) (VP (NN cat) (VBZ sleeps)))"
    right_way = score_brackets([read_penn(wrong).tree], [read_penn(gold).tree])
    with_tags = score_brackets([parse_brackets(wrong)], [parse_brackets(gold)])
    assert right_way.f1 == pytest.approx(1 / 3)
    assert with_tags.f1 == pytest.approx(4 / 6)


def test_sentences_are_summed_not_averaged():
    small = parse_brackets("(S x)")
    wrong = parse_brackets("(NP x)")
    assert score_brackets([GOLD, wrong], [GOLD, small]).f1 == pytest.approx(6 / 7)  # not 1/2


def test_no_tree_has_no_constituents():
    result = score_brackets([None, GOLD], [GOLD, GOLD])
    assert (result.precision, result.recall, result.exact) == (1, 0.5, 0.5)
    assert score_brackets([None], [GOLD]).f1 == 0
    assert score_brackets([None], [GOLD]).precision == 0


def test_trees_that_do_not_belong_together_are_refused():
    with pytest.raises(ValueError, match="1 predicted and 2 gold"):
        score_brackets([GOLD], [GOLD, GOLD])
    with pytest.raises(ValueError, match="0 predicted and 0 gold"):
        score_brackets([], [])
    with pytest.raises(ValueError, match="sentence 0 must have the same words, got 'x' and 'a b"):
        score_brackets([parse_brackets("(S x)")], [GOLD])
