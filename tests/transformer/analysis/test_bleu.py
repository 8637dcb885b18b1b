"""Guards against BLEU that is nearly BLEU: unclipped, averaged over sentences, retokenised."""

from collections import Counter
from math import exp

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from sacrebleu.metrics import BLEU

from transformer.analysis.bleu import (
    brevity_penalty,
    clipped_matches,
    corpus_bleu,
    ngram_counts,
    score,
)

sentence = st.lists(st.sampled_from(["a", "b", "c", "d", ","]), min_size=1, max_size=12)
corpora = st.lists(st.tuples(sentence, sentence), min_size=1, max_size=6)


def by_sacrebleu(pairs):
    lines = [[" ".join(tokens) for tokens in side] for side in zip(*pairs, strict=True)]
    return BLEU(tokenize="none", force=True).corpus_score(lines[0], [lines[1]]).score


def ours(pairs):
    hypotheses, references = zip(*pairs, strict=True)
    return corpus_bleu(hypotheses, references)


ONE_WORD_SHARED = [(["a", "b", "c", "d"], ["a", "a", "a", "a"])]


@given(corpora)
@example(ONE_WORD_SHARED)  # one match, then three orders without any, the last of one n-gram
def test_equal_to_sacrebleu_on_the_same_tokens(pairs):
    assert ours(pairs) == pytest.approx(by_sacrebleu(pairs), abs=1e-9)


def test_matches_are_clipped_by_the_reference():
    assert clipped_matches(["the", "the", "the"], ["the", "cat", "the"], 1) == 2
    assert ngram_counts(["a", "b", "a", "b"], 2) == Counter({("a", "b"): 2, ("b", "a"): 1})


def test_the_penalty_is_for_short_translations_only():
    assert brevity_penalty(12, 10) == 1
    assert brevity_penalty(5, 10) == pytest.approx(exp(-1))
    assert brevity_penalty(1, 2) == pytest.approx(exp(-1))
    assert brevity_penalty(0, 10) == 0


def test_no_four_token_translation_scores_zero():
    assert corpus_bleu([["a", "b"]], [["a", "b"]]) == 0


@pytest.mark.parametrize("function", [corpus_bleu, score])
def test_bad_corpora_are_refused_with_both_numbers(function):
    with pytest.raises(ValueError, match="1 hypotheses and 2 references"):
        function(["a"], ["a", "b"])
    with pytest.raises(ValueError, match="at least 1 sentence, got 0"):
        function([], [])


def test_a_string_is_not_taken_for_a_list_of_letters():
    with pytest.raises(TypeError, match="lists of tokens"):
        corpus_bleu(["a cat sat here"], ["a cat sat here"])


def test_scores_carry_their_signatures():
    scores = score(["A cat sat there."], ["A cat sat here."])
    assert "tok:13a" in scores.bleu_signature
    assert "version:" in scores.bleu_signature
    assert "nc:6" in scores.chrf_signature
    assert scores.hypothesis_len == 5  # the full stop is a token of its own
    assert "tok:13a" in str(scores)


def test_tokenised_lines_are_not_tokenised_again():
    """`l&apos;` is one token of a Moses-tokenised line; 13a turns the entity back and splits."""
    lines = ["der mann &apos;s hut , saftig-grün .", "a man & a dog run here ."]
    assert score(lines, lines, tokenize="none").hypothesis_len == 7 + 8
    tokens = [line.split(" ") for line in lines]
    wrong = [line.replace("grün", "rot") for line in lines]
    expected = corpus_bleu([line.split(" ") for line in wrong], tokens)
    assert score(wrong, lines, tokenize="none").bleu == pytest.approx(expected, abs=1e-9)
    assert abs(score(wrong, lines, tokenize="13a").bleu - expected) > 0.2


def test_only_text_that_looks_tokenised_already_is_warned_of(caplog):
    lines = ["a cat sat here ."] * 100
    score(lines, lines, tokenize="none")
    assert caplog.text == ""
    score(lines, lines)
    assert "tokenized period" in caplog.text


def test_an_unknown_tokeniser_is_refused():
    with pytest.raises(ValueError, match=r"one of .*13a.*, got 'moses'"):
        score(["a"], ["a"], tokenize="moses")
