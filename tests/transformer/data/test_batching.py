"""Guards against shifted targets, lost pairs, padding counted, batches that never mix."""

import random
from collections import Counter

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from transformer.config import BOS_ID, EOS_ID, PAD_ID
from transformer.data.batching import Batch, collate, padding_waste, token_batches
from transformer.data.corpus import Corpus

sentences = st.lists(st.integers(3, 99), min_size=1, max_size=12)
corpora = st.lists(st.tuples(sentences, sentences), min_size=1, max_size=40)


def caption_pairs(count, seed=0):
    """Lengths spread like image captions: 4 to 40 tokens, source and target alike but not equal."""
    generator = random.Random(seed)
    pairs = []
    for _ in range(count):
        n = min(40, max(4, round(generator.gauss(13, 4))))
        m = max(3, n + generator.randint(-3, 3))
        pairs.append(([generator.randrange(3, 50) for _ in range(n)], [7] * m))
    return pairs


def test_target_in_is_target_out_shifted_by_one():
    batch = collate([([4, 5], [6, 7, 8]), ([9], [10])])
    assert batch.source.tolist() == [[4, 5, EOS_ID], [9, EOS_ID, PAD_ID]]
    assert batch.target_in.tolist() == [[BOS_ID, 6, 7, 8], [BOS_ID, 10, PAD_ID, PAD_ID]]
    assert batch.target_out.tolist() == [[6, 7, 8, EOS_ID], [10, EOS_ID, PAD_ID, PAD_ID]]
    assert batch.source.dtype == batch.target_in.dtype == batch.target_out.dtype == torch.int64


def test_padding_is_not_counted_as_tokens():
    batch = collate([([4, 5], [6, 7, 8]), ([9], [10])])
    assert batch.n_target_tokens == 4 + 2
    assert batch.n_target_tokens != batch.target_out.numel()  # the wrong count differs here


def test_indices_choose_and_order_the_rows():
    pairs = [([4], [5]), ([6], [7]), ([8], [9])]
    batch = collate(pairs, [2, 0])
    assert batch.indices == (2, 0)
    assert batch.source[:, 0].tolist() == [8, 4]


def test_to_keeps_every_field():
    batch = collate([([4], [5])]).to("meta")
    assert isinstance(batch, Batch)
    assert batch.indices == (0,)
    tensors = (batch.source, batch.target_in, batch.target_out)
    assert {tensor.device.type for tensor in tensors} == {"meta"}


@given(corpora, st.integers(13, 60), st.integers(0, 5), st.integers(0, 5), st.booleans())
def test_every_pair_once_and_within_the_limit(pairs, max_tokens, seed, epoch, shuffle):
    batches = token_batches(pairs, max_tokens=max_tokens, seed=seed, epoch=epoch, shuffle=shuffle)
    assert Counter(i for batch in batches for i in batch) == Counter(range(len(pairs)))
    for indices in batches:
        batch = collate(pairs, indices)
        assert batch.source.numel() <= max_tokens  # padded positions, not tokens
        assert batch.target_in.numel() <= max_tokens


def test_same_seed_and_epoch_give_the_same_batches():
    pairs = caption_pairs(300)
    random.seed(1)
    first = token_batches(pairs, max_tokens=200, seed=3, epoch=2)
    random.seed(2)
    torch.manual_seed(5)
    assert token_batches(pairs, max_tokens=200, seed=3, epoch=2) == first


def test_the_first_epoch_is_number_0():
    pairs = caption_pairs(300)
    asked = token_batches(pairs, max_tokens=200, seed=3, epoch=0)
    assert token_batches(pairs, max_tokens=200, seed=3) == asked


def test_epochs_and_seeds_mix_batches_and_their_order():
    pairs = caption_pairs(3000)
    first = token_batches(pairs, max_tokens=400, seed=3, epoch=0)
    for other in (dict(seed=3, epoch=1), dict(seed=4, epoch=0), dict(seed=0, epoch=3)):
        second = token_batches(pairs, max_tokens=400, **other)
        # Not only in another order: a fixed composition repeats the same gradients every epoch.
        assert len(set(map(frozenset, first)) & set(map(frozenset, second))) < len(first) / 4


def test_batches_do_not_run_from_short_to_long_when_shuffled():
    pairs = caption_pairs(300)
    shuffled = [len(pairs[b[0]][1]) for b in token_batches(pairs, max_tokens=200, seed=0)]
    in_order = [
        len(pairs[b[0]][1]) for b in token_batches(pairs, max_tokens=200, seed=0, shuffle=False)
    ]
    assert in_order == sorted(in_order)
    assert shuffled != sorted(shuffled)


def test_waste_counts_padding_on_both_sides():
    pairs = [([4, 5], [6, 7, 8]), ([9], [10])]
    assert padding_waste(pairs, [[0, 1]]) == pytest.approx(3 / 14)  # 2·3 + 2·4 positions, 11 used
    assert padding_waste(pairs, [[0], [1]]) == 0


def test_waste_on_real_captions_is_below_ten_per_cent(multi30k_copy):
    corpus = Corpus.from_multi30k("train", folder=multi30k_copy, download=False)
    pairs = [([7] * len(s.split()), [7] * len(t.split())) for s, t in list(corpus)[::2]]
    assert padding_waste(pairs, token_batches(pairs, max_tokens=4000, seed=0)) < 0.10


def test_grouping_by_length_is_what_keeps_the_waste_low():
    pairs = caption_pairs(6000)
    grouped = token_batches(pairs, max_tokens=4000, seed=0)
    assert padding_waste(pairs, grouped) < 0.10
    order = random.Random(0).sample(range(len(pairs)), len(pairs))
    ungrouped = [order[i : i + 100] for i in range(0, len(order), 100)]
    assert padding_waste(pairs, ungrouped) > 0.3  # the known-wrong way: batches as they come


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        ([], "at least 1 sentence pair, got 0"),
        ([([], [4])], r"the source of pairs\[0\] is empty"),
        ([([4], [4]), ([4], [])], r"the target of pairs\[1\] is empty"),
        ([([PAD_ID, PAD_ID], [4])], r"the source of pairs\[0\] is only padding"),
        ([([4, -1], [4])], r"at least 3 .* source of pairs\[0\] holds -1"),
        ([([4], [BOS_ID, 4])], r"at least 3 .* target of pairs\[0\] holds 1"),
        ([([4], [4, EOS_ID])], r"at least 3 .* target of pairs\[0\] holds 2"),
        ([([4, 50], [4])], r"below vocab_size = 50, but the source of pairs\[0\] holds 50"),
    ],
)
def test_bad_pairs_are_refused_with_the_pair_and_the_value(pairs, message):
    with pytest.raises(ValueError, match=message):
        collate(pairs, vocab_size=50)
    with pytest.raises(ValueError, match=message):
        token_batches(pairs, max_tokens=10, seed=0, vocab_size=50)


def test_an_empty_choice_and_a_wrong_index_are_refused():
    with pytest.raises(ValueError, match="at least 1 sentence pair, got 0"):
        collate([([4], [5])], [])
    for index in (-1, 1):
        with pytest.raises(ValueError, match=f"between 0 and 0, got {index}"):
            collate([([4], [5])], [index])


def test_a_pair_longer_than_the_limit_is_named():
    pairs = [([4], [5]), ([4] * 3, [5] * 10)]
    with pytest.raises(ValueError, match=r"max_tokens = 10, but pairs\[1\] has 11 tokens"):
        token_batches(pairs, max_tokens=10, seed=0)


@pytest.mark.parametrize("pair", [([4] * 9, [5]), ([4], [5] * 9)])
def test_the_end_symbol_of_the_longest_pair_just_fits(pair):
    (batch,) = token_batches([pair], max_tokens=10, seed=0)
    assert list(batch) == [0]
    with pytest.raises(ValueError, match=r"max_tokens = 9, but pairs\[0\] has 10 tokens"):
        token_batches([pair], max_tokens=9, seed=0)


def test_a_batch_is_filled_to_the_last_position():
    pairs = [([4] * 4, [5] * 4)] * 7
    found = token_batches(pairs, max_tokens=15, seed=0, shuffle=False)
    assert list(map(len, found)) == [3, 3, 1]  # three sentences of 4 words and their end symbols


def test_source_lengths_rise_and_fall_in_turns():
    """A batch that reaches into the next target length then mixes no short sources with long."""
    pairs = [([4] * s, [5] * t) for s in (1, 3, 2) for t in (3, 1, 2)]
    (order,) = token_batches(pairs, max_tokens=99, seed=0, shuffle=False)
    lengths = [(len(pairs[i][1]), len(pairs[i][0])) for i in order]
    assert lengths == [(1, 3), (1, 2), (1, 1), (2, 1), (2, 2), (2, 3), (3, 3), (3, 2), (3, 1)]


def test_negative_seed_or_epoch_is_refused():
    with pytest.raises(ValueError, match="seed -1 and epoch 0"):
        token_batches([([4], [5])], max_tokens=10, seed=-1)


def test_waste_of_no_batches_is_refused():
    with pytest.raises(ValueError, match="at least 1 batch, got 0"):
        padding_waste([([4], [5])], [])


@pytest.mark.usefixtures("as_users_run_it")
def test_ids_that_are_no_integers_are_refused():
    with pytest.raises(TypeError, match=r"ids must be integers, got torch\.float32"):
        collate([([4.0, 5.0], [6.0])])
