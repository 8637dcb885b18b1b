"""The checks of chapter 11 accept right answers and name every mistake they list."""

from collections import Counter
from itertools import pairwise

import pytest

from transformer.data.batching import collate, padding_waste, token_batches
from transformer.data.bpe import join_pair
from walkthrough.ch11_subwords_and_batches.checks import batches, subwords
from walkthrough.checking.soundness import assert_check_is_sound

ALL = [subwords.next_merge, subwords.spell, batches.cut, batches.padding_share, batches.group]


@pytest.mark.parametrize("check", ALL, ids=lambda check: check.name)
def test_check_rejects_and_names_each_mistake(check):
    assert_check_is_sound(check)
    assert len(check.mistakes) >= 3


def test_no_case_of_the_next_merge_has_a_tie():
    for given in subwords.next_merge.arguments():
        counts = Counter()
        for symbols, times in given.positional[0].items():
            for pair in pairwise(symbols):
                counts[pair] += times
        (_, first), (_, second) = counts.most_common(2)
        assert first > second


def test_the_pair_that_saves_most_letters_is_not_the_most_frequent():
    def by_letters(words):
        counts = Counter()
        for symbols, times in words.items():
            for pair in pairwise(symbols):
                counts[pair] += times * len("".join(pair))
        return max(counts, key=counts.get)

    assert subwords.next_merge(by_letters).status == "wrong"


def test_merges_may_be_applied_in_turn():
    def spell(word, merges):
        parts = list(word)
        for merge in merges:
            parts = join_pair(parts, tuple(merge))
        return parts

    assert subwords.spell(spell).status == "right"


def test_lost_letters_are_told():
    verdict = subwords.spell(lambda word, merges: [word[0], word[-1]])
    assert verdict.mistake == "letters lost"


def test_a_text_is_not_told_that_it_lost_letters():
    verdict = subwords.spell(lambda *given: "|".join(subwords.spell.reference(*given)))
    assert "letters" not in verdict.message
    assert "is expected" in verdict.message


def test_the_references_are_what_the_package_does():
    lengths = [7, 3, 12, 4, 3, 8, 11, 5, 6]
    pairs = [([9] * (n - 1), [9] * (n - 1)) for n in lengths if n > 1]
    ours = batches.group.reference(lengths, 24)
    packages = token_batches(pairs, max_tokens=24, seed=0, shuffle=False)
    assert [sorted(lengths[i] for i in b) for b in ours] == [
        sorted(lengths[i] for i in b) for b in packages
    ]
    share = batches.padding_share.reference(lengths, ours)
    assert share == pytest.approx(padding_waste(pairs, ours))
    assert batches.cut.reference([9] * 11, 12) == collate([([9] * 11, [9])]).source[0].tolist()


def test_too_large_and_lost_batches_are_told():
    assert batches.group(lambda lengths, max_tokens: [[0]]).mistake == "sentences lost or repeated"
    pairs = batches.group(lambda lengths, max_tokens: [[(0, lengths[0])]])
    assert pairs.mistake is None  # no indices: nothing can be said about lost ones
    together = batches.group(lambda lengths, max_tokens: [list(range(len(lengths)))])
    assert together.mistake == "too large"
