"""Words are guessed in the order that is asked for, each once, and none behind the end."""

import pytest
import torch

from transformer.config import BOS_ID, EOS_ID, PAD_ID
from walkthrough.ch20_what_came_after.bert import MASK_ID, new_bert
from walkthrough.ch20_what_came_after.training import Recipe
from walkthrough.ch20_what_came_after.unmask import (
    N_SLOTS,
    ORDERS,
    kept,
    rows,
    train_unmasking,
    unmasking_loss,
    written,
)

GENERATOR = torch.Generator().manual_seed(0)


def test_slots_stand_behind_bos_and_are_filled_with_ends():
    tokens, slots = rows([([7, 8], [9, 10]), ([7, 8, 9], [])])
    assert tokens[0].tolist() == [7, 8, BOS_ID, 9, 10, *[EOS_ID] * (N_SLOTS - 2), PAD_ID]
    assert slots.sum(1).tolist() == [N_SLOTS] * 2
    assert not slots[0, :3].any()
    assert not slots[0, -1]
    with pytest.raises(ValueError, match="at most 11 words beside EOS, got 12"):
        rows([([7], [9] * 12)])


@pytest.mark.parametrize(
    ("order", "places"),
    [("all at once", [1, 2, 4, 5]), ("left to right", [1]), ("surest half", [2, 5])],
)
def test_each_order_keeps_its_own(order, places):
    hidden = torch.tensor([[False, True, True, False, True, True]])
    sure = torch.tensor([[0.9, 0.1, 0.6, 0.9, 0.2, 0.5]])
    assert kept(sure, hidden, order, GENERATOR)[0].nonzero().flatten().tolist() == places


def test_any_half_is_half_of_those_hidden():
    hidden = torch.arange(9)[None] > 3
    keep = kept(torch.rand(1, 9), hidden, "any half", GENERATOR)
    assert keep.sum() == 3
    assert not (keep & ~hidden).any()


def sure_of(words):
    """Return a model that is sure of the same words at the slots, whatever it reads."""
    model = new_bert(12, seed=0)
    model.forward = lambda tokens: tokens

    def project(tokens):
        logits = torch.zeros(*tokens.shape, 12)
        for place, word in enumerate(words):
            logits[:, 3 + place, word] = 5 - place
        logits[..., MASK_ID] = 9
        return logits

    model.project = project
    return model


@pytest.mark.parametrize(
    ("order", "passes"), [("all at once", 1), ("left to right", 4), ("surest half", 1)]
)
def test_what_is_written_ends_at_the_end(order, passes):
    said, n = written(sure_of((9, 10, 11, EOS_ID)), [[7, 8]], order)
    assert (said, n) == ([[9, 10, 11]], [passes])


def test_training_lowers_the_loss_of_hidden_words_in_the_slots():
    pairs = [([n, n + 1], [n + 1, n]) for n in range(6, 10)]
    model = new_bert(12, seed=0)

    def loss():
        with torch.no_grad():
            return float(unmasking_loss(model, rows(pairs * 8), torch.Generator().manual_seed(0)))

    before = loss()
    train_unmasking(model, pairs, Recipe(updates=40, warmup=5, peak=3e-3), seed=0)
    assert loss() < 0.6 * before


def test_every_order_ends():
    model = new_bert(12, seed=0)
    for order in ORDERS:
        said, passes = written(model, [[7, 8], [9]], order)
        assert all(len(words) <= N_SLOTS for words in said)
        assert all(1 <= n <= N_SLOTS for n in passes)
