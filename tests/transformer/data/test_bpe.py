"""Guards against lost characters, merges across spaces, undefined ties, and dropout that is off."""

import json
import random
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Regex, Tokenizer, models, pre_tokenizers, trainers

from transformer.data.bpe import (
    decode,
    encode,
    join_pair,
    learn_merges,
    merge_ranks,
    segment,
    split_words,
)

LINES = [
    "jane visite l'afrique en septembre",
    "jane visits africa in september",
    "jane visite le japon en septembre et la chine en décembre",
    "a man in a red hat , a woman in a red coat",
    "low lower lowest new newer newest wide wider widest",
] * 2
NASTY = [
    "",
    " ",
    "  two  spaces ",
    "new\nline\ttab\r",
    "e\u0301 🙂👩‍👩‍👧",
    "▁ Ġ </w> @@",
    "\u2028\x00\xa0",
]


def library_merges(lines, n_merges):
    """The merges of `tokenizers` on characters, with words that keep the space before them."""
    backend = Tokenizer(models.BPE())
    backend.pre_tokenizer = pre_tokenizers.Split(Regex(" [^ ]*"), behavior="isolated")
    alphabet = {character for line in lines for character in " " + line}
    trainer = trainers.BpeTrainer(
        vocab_size=len(alphabet) + n_merges, min_frequency=2, show_progress=False
    )
    backend.train_from_iterator([" " + line for line in lines], trainer)
    return [tuple(merge) for merge in json.loads(backend.to_str())["model"]["merges"]]


def test_the_most_frequent_pair_is_merged_first():
    assert learn_merges(["ab xab xxab"], 2) == [("a", "b"), (" ", "x")]


def test_ties_go_to_the_older_symbols():
    # " c", "cd", " a", "ab" all occur twice; space is the first code point, then a.
    merges = learn_merges(["cd ab", "cd ab"], 4)
    assert merges == [(" ", "a"), (" ", "c"), (" a", "b"), (" c", "d")]


def test_merges_agree_with_the_library():
    assert learn_merges(LINES, 80) == library_merges(LINES, 80)


def test_merges_on_characters_counted_without_words_would_not_agree():
    """The known-wrong version: each different word counted once, however often it occurs."""
    assert learn_merges(sorted(set(" ".join(LINES).split())) * 2, 80) != library_merges(LINES, 80)


def test_merges_never_cross_a_space():
    merges = learn_merges(["of the sea of the land of the"] * 3, 12)
    assert all(" " not in left[1:] + right for left, right in merges)


def test_more_merges_than_the_corpus_allows_are_refused_with_both_numbers():
    with pytest.raises(ValueError, match="the corpus allows 2 merges, got n_merges = 3"):
        learn_merges(["ab ab"], 3)
    with pytest.raises(ValueError, match="allows 0 merges, got n_merges = 1"):
        learn_merges(["abc"], 1)  # each pair occurs once


def test_overlapping_pairs_join_from_the_left():
    assert join_pair(["a"] * 5, ("a", "a")) == ["aa", "aa", "a"]


def test_merges_apply_in_the_order_learned_not_by_length_or_position():
    ranks = merge_ranks([("b", "c"), ("a", "b")])
    assert segment("abc", ranks) == ["a", "bc"]
    assert segment("abc", merge_ranks([("a", "b"), ("b", "c")])) == ["ab", "c"]


RANKS = merge_ranks(learn_merges(LINES, 60))


@given(st.text())
def test_any_string_comes_back(text):
    assert decode(encode(text, RANKS)) == text


@pytest.mark.parametrize("text", NASTY)
def test_nasty_strings_come_back(text):
    assert decode(encode(text, RANKS)) == text
    assert "".join(split_words(text)) == " " + text


def test_a_known_wrong_split_loses_spaces():
    text = "two  spaces "
    assert " ".join(text.split()) != text


def test_known_words_become_one_symbol():
    assert encode("jane en", RANKS) == [" jane", " en"]


def test_dropout_spells_words_in_many_ways_and_always_right():
    generator = random.Random(0)
    spellings = Counter(
        tuple(segment(" jane", RANKS, dropout=0.3, generator=generator)) for _ in range(200)
    )
    assert len(spellings) > 3
    assert all("".join(parts) == " jane" for parts in spellings)
    assert spellings.most_common(1)[0][0] == (" jane",)


def test_dropout_skips_a_last_merge_as_often_as_it_says():
    ranks = merge_ranks([("a", "b")])
    generator = random.Random(0)
    kept = sum(
        segment("ab", ranks, dropout=0.2, generator=generator) == ["ab"] for _ in range(5000)
    )
    assert 0.78 < kept / 5000 < 0.82


def test_no_generator_means_no_dropout():
    assert segment(" jane", RANKS, dropout=0.9) == [" jane"]


def test_a_generator_alone_drops_nothing():
    assert segment(" jane", RANKS, generator=random.Random(0)) == [" jane"]
