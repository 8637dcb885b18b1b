"""Ways to score and to sample that are not the agreed one."""

import pytest
import torch

from transformer.analysis.bleu import score
from transformer.config import TransformerConfig
from transformer.model import Transformer
from walkthrough.ch16_translation.experiments import scoring_ways as ways

LINES = ["Jane sees a black dog .", "Paul sleeps in the garden .", "Alice visits Paris in May ."]


OUTPUTS = ["Jane sees a dog .", "Paul sleeps in a garden .", "Alice visits Paris in May ."]


def test_letters_and_padding_raise_the_score_and_means_are_not_bleu():
    words = ways.bleu_of_pieces(OUTPUTS, LINES, str.split)
    assert words == pytest.approx(score(OUTPUTS, LINES, tokenize="none").bleu)
    assert ways.bleu_of_pieces(OUTPUTS, LINES, list) > words + 5
    padded = ways.padded_ids(str.split, 20)
    assert len(padded("a b")) == 20
    assert ways.bleu_of_pieces(OUTPUTS, LINES, padded) > words + 5
    assert abs(ways.mean_of_sentences(OUTPUTS, LINES) - words) > 0.5
    assert ways.mean_of_batches(OUTPUTS, LINES, size=3) == pytest.approx(score(OUTPUTS, LINES).bleu)
    assert ways.lower(["Ab"]) == ["ab"]
    told = ways.counted(OUTPUTS, LINES, str.split)
    assert next(iter(told)) == ways.AGREED
    assert told["on subwords"] == words


class Numbers:
    """A codec for lines of numbers."""

    def encode(self, text):
        return [int(number) for number in text.split()]

    encode_target = encode

    def decode(self, ids):
        return " ".join(map(str, ids))

    def to_text(self):
        return ""

    def __len__(self):
        return 50


class FiveMore(Transformer):
    """Predicts, after each token, the id that is larger by five."""

    def forward(self, source, target_in):
        return torch.nn.functional.one_hot(target_in + 5, 50).float()


def test_with_the_truth_as_input_each_word_follows_the_true_one():
    model = FiveMore(TransformerConfig(vocab_size=50, d_model=8, n_heads=2, n_layers=1, d_ff=8))
    lines = ways.told_the_truth(model, Numbers(), ["7 8", "9"], ["10 20 30", "40"])
    assert lines == ["6 15 25", "6"]  # after the start token 1, after 10, after 20; no longer
