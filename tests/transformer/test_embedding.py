import pytest
import torch

from transformer.embedding import TokenEmbedding

TOKENS = torch.tensor([[1, 4], [0, 2]])


def test_a_token_is_its_row_times_the_root_of_d_model_unless_asked():
    ours = TokenEmbedding(vocab_size=5, d_model=16)
    assert torch.equal(ours(TOKENS), 4 * ours.weight[TOKENS])  # §3.4
    plain = TokenEmbedding(vocab_size=5, d_model=16, scale=False)
    assert torch.equal(plain(TOKENS), plain.weight[TOKENS])


def test_the_matrix_starts_as_wide_as_a_projection_needs_it():
    """At d_model^−0.5 it gives logits of order 1, and the factor √d_model embeddings of order 1."""
    torch.manual_seed(0)
    weight = TokenEmbedding(vocab_size=300, d_model=64).weight
    assert weight.std().item() == pytest.approx(1 / 8, rel=0.05)
    assert abs(weight.mean().item()) < 0.01


def test_a_token_outside_the_vocabulary_is_named():
    with pytest.raises(ValueError, match=r"must lie in \[0, 3\), got ids from 0 to 4"):
        TokenEmbedding(vocab_size=3, d_model=4)(TOKENS)
