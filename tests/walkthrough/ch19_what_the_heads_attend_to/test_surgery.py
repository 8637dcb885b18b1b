"""Edges are closed and heads silenced as said, and the model is as before afterwards."""

import pytest
import torch

from transformer.config import TransformerConfig
from transformer.model import Transformer
from walkthrough.ch19_what_the_heads_attend_to import checks
from walkthrough.ch19_what_the_heads_attend_to.experiments import surgery


@pytest.fixture(scope="module")
def model():
    torch.manual_seed(0)
    config = TransformerConfig(vocab_size=30, d_model=16, n_heads=2, n_layers=2, d_ff=16)
    return Transformer(config).eval()


SOURCE = torch.tensor([[5, 6, 7, 8, 2], [9, 5, 6, 2, 0]])
TARGET = torch.tensor([[1, 11, 12, 13], [1, 14, 15, 0]])


def closed(shape, *edges):
    mask = torch.ones(shape, dtype=torch.bool)
    for edge in edges:
        mask[edge] = False
    return mask


@torch.no_grad()
def test_a_hidden_edge_has_no_weight_and_its_row_still_sums_to_one(model):
    before = model.attention(SOURCE, TARGET).encoder
    with surgery.hidden(model, {"encoder": closed((2, 1, 5, 5), (0, 0, 1, 3))}):
        weights = model.attention(SOURCE, TARGET).encoder
    assert (weights[:, 0, :, 1, 3] == 0).all()
    assert (before[:, 0, :, 1, 3] > 0).all()
    torch.testing.assert_close(weights.sum(-1), torch.ones(2, 2, 2, 5))
    torch.testing.assert_close(weights[0, 1], before[0, 1])
    torch.testing.assert_close(weights[0, 0, :, 0], before[0, 0, :, 0])


@torch.no_grad()
def test_an_edge_can_be_hidden_in_one_layer_and_one_head(model):
    mask = closed((2, 1, 5, 5), (0, 0, 1, 3))
    with surgery.hidden(model, {"encoder": mask}, only=[("encoder", 1, 1)]):
        weights = model.attention(SOURCE, TARGET).encoder
    assert (weights[:, 0, :, 1, 3] == 0).tolist() == [[False, False], [False, True]]


@torch.no_grad()
def test_padding_and_the_future_stay_closed(model):
    masks = {"encoder": closed((2, 1, 5, 5)), "decoder": closed((2, 1, 4, 4))}
    with surgery.hidden(model, masks):
        found = model(SOURCE, TARGET)
    torch.testing.assert_close(found, model(SOURCE, TARGET))


def test_other_words_get_as_much_weight_and_the_word_itself_stays_open():
    weights = torch.tensor([0.1, 0.3, 0.2, 0.25, 0.15, 0.0])
    chosen, wanted, got = surgery.as_much_weight(weights, (2, 4), kept=1)
    assert (chosen, wanted, got) == ([3, 0], pytest.approx(0.35), pytest.approx(0.35))
    chosen, _, got = surgery.as_much_weight(weights, (1, 3), kept=2)
    assert (chosen, got) == ([4, 0], pytest.approx(0.25))  # there is no more


@pytest.mark.parametrize("kind", surgery.KINDS)
@torch.no_grad()
def test_after_the_block_the_model_is_as_before(model, kind):
    before = model(SOURCE, TARGET)
    with surgery.without(model, surgery.heads(model, kind)):
        assert not torch.allclose(model(SOURCE, TARGET), before)
    torch.testing.assert_close(model(SOURCE, TARGET), before)
    with pytest.raises(RuntimeError), surgery.without(model, [(kind, 0, 0)]):
        raise RuntimeError
    torch.testing.assert_close(model(SOURCE, TARGET), before)


@torch.no_grad()
def test_a_silent_head_is_what_the_exercise_asks_for(model):
    attention = surgery.attentions(model, "encoder")[0]
    x = torch.randn(1, 4, 16)
    with surgery.without(model, [("encoder", 0, 1)]):
        found, _ = attention(x, x, x)
    torch.testing.assert_close(found, checks.without_head.reference(attention, x, 1))


def test_all_but_one_leaves_other_layers_alone(model):
    assert surgery.all_but(model, ("cross", 1, 0)) == [("cross", 1, 1)]
    assert len(surgery.heads(model)) == 12
    with pytest.raises(ValueError, match="kind of attention must be one of"):
        surgery.heads(model, "self")
