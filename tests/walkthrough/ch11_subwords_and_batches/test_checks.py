"""The checks of chapter 11 accept right answers and name every mistake they list."""

from collections import Counter

import pytest
from soundness import assert_check_is_sound

from transformer.data.batching import token_batches
from transformer.data.bpe import join_pair, learn_merges, split_words
from walkthrough.ch11_subwords_and_batches import checks
from walkthrough.ch11_subwords_and_batches.checks import learning

ALL = [checks.learn, checks.spell, checks.group]


@pytest.mark.parametrize("check", ALL, ids=lambda check: check.name)
def test_check_rejects_and_names_each_mistake(check):
    assert_check_is_sound(check)


def test_learning_by_count_is_what_the_package_does():
    lines = ["low lower lowest", "new newer newest", "low new"]
    words = Counter(word for line in lines for word in split_words(line))
    scored = checks.learn.reference(words, 6, learning.by_count)
    packages = learn_merges(lines, 6)
    assert scored[0] == packages[0]  # later ones may differ, because ties are broken otherwise
    assert len(scored) == 6


def test_word_pieces_prefer_pairs_that_occur_more_often_than_by_chance():
    words = {"ab": 9, "ac": 9, "qu": 3}
    learned = checks.learn.reference
    assert learned(words, 1, learning.by_count) == [("a", "b")]
    assert learned(words, 1, learning.by_share) == [("q", "u")]


def test_pairs_that_overlap_are_all_to_be_counted():
    """A search in a text, such as `str.count`, finds `aa` once in `aaa`."""

    def learn(words, n_merges, score):
        spelled, merges = {word: list(word) for word in words}, []
        for _ in range(n_merges):
            pairs, symbols = Counter(), Counter()
            for word, parts in spelled.items():
                symbols.update(parts * words[word])
                at = 0
                while at < len(parts) - 1:
                    pair = parts[at], parts[at + 1]
                    pairs[pair] += words[word]
                    at += 2 if pair[0] == pair[1] and pair == tuple(parts[at + 1 : at + 3]) else 1
            if not pairs:
                break
            value = {p: score(n, symbols[p[0]], symbols[p[1]]) for p, n in pairs.items()}
            merges.append(max(sorted(value), key=value.get))
            spelled = {word: join_pair(parts, merges[-1]) for word, parts in spelled.items()}
        return merges

    assert "which overlap: count both" in checks.learn(learn).message


def test_the_references_are_what_the_package_does():
    lengths = [7, 3, 12, 4, 3, 8, 11, 5, 6]
    pairs = [([9] * (n - 1), [9] * (n - 1)) for n in lengths if n > 1]
    ours = checks.group.reference(lengths, 24)
    packages = token_batches(pairs, max_tokens=24, seed=0, shuffle=False)
    assert [sorted(lengths[i] for i in b) for b in ours] == [
        sorted(lengths[i] for i in b) for b in packages
    ]
