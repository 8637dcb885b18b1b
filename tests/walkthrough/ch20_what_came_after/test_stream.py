"""One stack, three masks; pairs as one sequence; what a model writes."""

import pytest
import torch

from transformer.config import BOS_ID, EOS_ID, PAD_ID, TransformerConfig
from transformer.model import Transformer
from walkthrough.ch20_what_came_after.stream import Stack, continuations, streams

CONFIG = TransformerConfig(vocab_size=12, d_model=16, n_heads=2, n_layers=2, dropout=0.0)
PAIRS = [([5, 6], [7, 8, 9]), ([5], [7])]


def test_both_ways_is_the_encoder_of_a_transformer():
    torch.manual_seed(0)
    whole, half = Transformer(CONFIG).eval(), Stack(CONFIG, "both ways").eval()
    half.embedding.load_state_dict(whole.source_embedding.state_dict())
    half.encoder.load_state_dict(whole.encoder.state_dict())
    tokens = torch.tensor([[5, 6, 7], [8, 9, PAD_ID]])
    torch.testing.assert_close(half(tokens)[0], whole.encode(tokens)[0])
    torch.testing.assert_close(half(tokens)[1, :2], whole.encode(tokens)[1, :2])


@pytest.mark.parametrize(("sight", "moved"), [("backwards", 2), ("prefix", 2), ("both ways", 0)])
def test_a_later_word_changes_only_what_may_see_it(sight, moved):
    torch.manual_seed(0)
    model = Stack(CONFIG, sight).eval()
    one = torch.tensor([[BOS_ID, 6, 7]])
    other = torch.tensor([[BOS_ID, 6, 8]])
    changed = (model(one) - model(other)).abs().amax(-1)[0] > 1e-6
    assert changed.tolist() == [place >= moved for place in range(3)]


def test_a_prefix_is_seen_both_ways_and_the_rest_is_not():
    mask = Stack(CONFIG, "prefix").mask(torch.tensor([[5, 6, BOS_ID, 7, 8]]))[0, 0].int()
    assert mask.tolist() == [
        [1, 1, 1, 0, 0], [1, 1, 1, 0, 0], [1, 1, 1, 0, 0], [1, 1, 1, 1, 0], [1, 1, 1, 1, 1],
    ]  # fmt: skip


def test_a_pair_becomes_one_sequence_and_only_the_target_is_asked():
    batch = streams(PAIRS)
    assert batch.tokens.tolist() == [[5, 6, BOS_ID, 7, 8, 9], [5, BOS_ID, 7, EOS_ID, 0, 0]]
    assert batch.labels.tolist() == [[0, 0, 7, 8, 9, EOS_ID], [0, 7, EOS_ID, 0, 0, 0]]


def test_what_is_written_ends_before_the_end_mark_and_keeps_its_place():
    class Echo(Stack):
        """Writes the first source word twice."""

        def project(self, states):
            return states

        def forward(self, tokens):
            logits = torch.zeros(*tokens.shape, 12)
            after = tokens.shape[1] - 1 - (tokens == BOS_ID).float().argmax(1)
            word = torch.where(after < 2, tokens[:, 0], EOS_ID)
            return logits.scatter(-1, word[:, None, None].expand(-1, tokens.shape[1], 1), 1.0)

    assert continuations(Echo(CONFIG), [[5], [6, 7], [8]]) == [[5, 5], [6, 6], [8, 8]]


def test_another_sight_is_refused():
    with pytest.raises(ValueError, match="sideways"):
        Stack(CONFIG, "sideways")
