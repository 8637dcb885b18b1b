"""The copying task: its loss, its training, its curves."""

import math

import pytest
import torch
from torch import nn

from transformer.config import BOS_ID, UNK_ID
from walkthrough.lab import copying


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


class Oracle(nn.Module):
    """Names source word t at position t, as sure as `sureness` says; 0 is guessing."""

    def __init__(self, sureness):
        super().__init__()
        self.sureness = sureness

    def forward(self, source, target):
        assert target[:, 0].eq(BOS_ID).all()
        n_words = copying.FIRST_WORD + copying.N_WORDS
        logits = self.sureness * nn.functional.one_hot(source, n_words).float()
        logits[..., : copying.FIRST_WORD] = -math.inf
        return logits


def test_the_loss_is_zero_for_a_copy_and_log_16_for_a_guess():
    source = copying.sentences(200, generator())
    assert set(source.flatten().tolist()) == set(range(UNK_ID + 1, UNK_ID + 17))
    assert copying.copy_loss(Oracle(50.0), source).item() == pytest.approx(0, abs=1e-5)
    assert copying.copy_loss(Oracle(0.0), source).item() == pytest.approx(copying.GUESSING)


def test_training_depends_on_the_seed_and_the_warmup_alone():
    def losses(seed=3, warmup=2):
        torch.manual_seed(5)
        return copying.train("post", "scaled", warmup=warmup, seed=seed, updates=3)[1]

    assert losses() == losses()
    assert losses(seed=4) != losses()
    assert losses(warmup=1)[0] == losses()[0]
    assert losses(warmup=1)[1] != losses()[1]


@pytest.mark.parametrize("stack", ["encoder", "decoder"])
def test_one_stack_starts_small_and_all_else_at_full_size(stack):
    def weights(start):
        return dict(copying.new_model("post", start, seed=0, n_layers=1).named_parameters())

    small, full = weights("scaled"), weights("xavier")
    for name, weight in weights(stack).items():
        expected = small if name.startswith(f"{stack}.") else full
        assert torch.equal(weight, expected[name]), name
    assert any(not torch.equal(small[name], full[name]) for name in full if stack in name)


def test_smoothed_losses_stand_at_the_end_of_their_window():
    assert copying.smoothed([1.0, 3.0, 2.0, 4.0, 9.0], width=2) == [(2, 2.0), (4, 3.0)]
    with pytest.raises(ValueError, match="1 … 2, got 3"):
        copying.smoothed([1.0, 2.0], width=3)
