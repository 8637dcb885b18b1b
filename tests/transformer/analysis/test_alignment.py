"""Guards against attention read in the wrong row or axis, and padding that counts as a word."""

import pytest
import torch

from transformer.analysis.alignment import (
    alignment_by_head,
    alignment_from_attention,
    diagonal_alignment,
    score_alignments,
)

# "the black cat sleeps": le chat noir dort; rows predict the words, then the end symbol.
GOLD = frozenset({(0, 0), (2, 1), (1, 2), (3, 3)})
LOOKED_AT = [0, 2, 1, 3, 4]
WEIGHTS = torch.full((5, 5), 0.05)
WEIGHTS[range(5), LOOKED_AT] = 0.8


def read(weights, n_source=4, n_target=4):
    return alignment_from_attention(weights, n_source=n_source, n_target=n_target)


def test_the_row_that_predicts_a_word_aligns_it():
    links = read(WEIGHTS)
    assert links == GOLD
    result = score_alignments([links], [GOLD])
    assert result.error == 0
    assert result.accuracy == 1


def read_at_the_input_row(weights):
    """Known wrong: word t is the input of row t + 1, which predicts the word after it."""
    return read(weights.roll(-1, dims=0))


def read_along_columns(weights):
    """Known wrong: for each column the row with the largest weight, as if columns were targets."""
    return frozenset((s, t) for t, s in enumerate(weights[:4, :4].argmax(dim=0).tolist()))


def with_ends_swapped(weights):
    """Known wrong: (target, source) instead of (source, target)."""
    return frozenset((t, s) for s, t in read(weights))


# Three words in a circle: here swapped ends show, which two words that change places hide.
SHIFTED = torch.eye(4)[[1, 2, 0, 3]]
SHIFTED_GOLD = frozenset({(1, 0), (2, 1), (0, 2)})


@pytest.mark.parametrize("wrong", [read_at_the_input_row, read_along_columns, with_ends_swapped])
def test_known_wrong_readings_have_a_large_error(wrong):
    assert score_alignments([read(SHIFTED, 3, 3)], [SHIFTED_GOLD]).error == 0
    links = wrong(torch.nn.functional.pad(SHIFTED, (0, 1, 0, 1)))
    assert score_alignments([links], [SHIFTED_GOLD]).error > 0.5


def test_the_input_row_has_a_large_error_on_a_mostly_monotone_sentence():
    assert score_alignments([read_at_the_input_row(WEIGHTS)], [GOLD]).error > 0.7


def test_end_symbol_and_padding_are_no_words():
    weights = torch.zeros(6, 7)
    weights[:, 4:] = 0.9  # everything looks at the end symbol and at padding first
    weights[:5, :5] += WEIGHTS * 0.1
    assert read(weights) == GOLD


def test_error_counts_missed_and_wrong_links():
    predicted = {(0, 0), (1, 1)}
    gold = {(0, 0), (2, 1), (3, 1)}
    result = score_alignments([predicted], [gold])
    assert result.error == pytest.approx(1 - 2 * 1 / (2 + 3))
    assert result.accuracy == 1 / 2


def test_words_without_gold_are_not_counted():
    result = score_alignments([{(0, 0), (3, 1)}], [{(0, 0)}])
    assert result.error == 0
    assert result.accuracy == 1


def test_counts_are_summed_over_sentences_not_averaged():
    predicted = [{(0, 0)}, {(0, t) for t in range(9)}]
    gold = [{(0, 0)}, {(1, t) for t in range(9)}]
    assert score_alignments(predicted, gold).accuracy == pytest.approx(1 / 10)  # not 1/2


def test_the_diagonal_goes_from_the_first_word_to_the_last():
    assert diagonal_alignment(n_source=4, n_target=4) == {(i, i) for i in range(4)}
    assert diagonal_alignment(n_source=5, n_target=3) == {(0, 0), (2, 1), (4, 2)}
    assert diagonal_alignment(n_source=3, n_target=2) == {(0, 0), (2, 1)}
    assert diagonal_alignment(n_source=3, n_target=1) == {(0, 0)}


def test_weights_may_have_no_row_or_column_but_those_of_words():
    assert read(torch.ones(1, 1), 1, 1) == {(0, 0)}
    assert read(torch.eye(3), 3, 3) == {(0, 0), (1, 1), (2, 2)}


def test_every_layer_and_head_is_scored():
    maps = torch.stack([torch.stack([WEIGHTS, torch.eye(5)]), torch.stack([torch.eye(5), WEIGHTS])])
    scores = alignment_by_head([maps], [GOLD], [(4, 4)])
    assert [[s.accuracy for s in layer] for layer in scores] == [[1, 0.5], [0.5, 1]]


def test_bad_input_is_refused_with_the_values():
    with pytest.raises(ValueError, match="n_source must be between 1 and 5, got 6"):
        read(WEIGHTS, n_source=6)
    with pytest.raises(ValueError, match="n_target must be between 1 and 3, got 4"):
        read(torch.ones(3, 5), n_target=4)
    with pytest.raises(ValueError, match="n_target must be between 1 and 5, got 0"):
        read(WEIGHTS, n_target=0)
    with pytest.raises(ValueError, match="got 1 predicted and 2 gold"):
        score_alignments([GOLD], [GOLD, GOLD])
    with pytest.raises(ValueError, match="at least 1 gold link"):
        score_alignments([GOLD], [frozenset()])
    with pytest.raises(ValueError, match="at least 1 sentence, got 0 and 1"):
        alignment_by_head([], [GOLD], [(4, 4)])
    with pytest.raises(ValueError, match="at least 1 sentence, got 0 and 0"):
        alignment_by_head([], [], [])
    with pytest.raises(ValueError, match="at least 1 sentence, got 1 and 2"):
        alignment_by_head([WEIGHTS[None, None]], [GOLD], [(4, 4), (4, 4)])
