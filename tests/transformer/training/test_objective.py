"""The loss of training and the perplexity of validation, where their values are extreme."""

import math

import pytest
import torch
from test_trainer import PAIRS, make_model

from transformer.data.batching import collate
from transformer.training import distributed
from transformer.training.loss import label_smoothed_cross_entropy
from transformer.training.objective import TranslationLoss, perplexity


def test_a_perplexity_beyond_all_numbers_is_a_large_number() -> None:
    """A model at the start of a bad run must not end it with an OverflowError."""
    model = make_model(dropout=0.0)
    with torch.no_grad():
        model.output_weight.mul_(1e6)
    assert perplexity(model, PAIRS[:4]) == math.exp(700)


def test_perplexity_of_nothing() -> None:
    with pytest.raises(ValueError, match="at least 1 sentence pair, got 0"):
        perplexity(make_model(), [])


def test_perplexity_leaves_the_random_state_and_the_mode_alone() -> None:
    model = make_model()
    for mode in (True, False):
        model.train(mode)
        before = torch.get_rng_state()
        perplexity(model, PAIRS[:4])
        assert torch.equal(torch.get_rng_state(), before)
        assert model.training is mode


@pytest.mark.parametrize("r_drop", [0.0, 1.0])
def test_an_output_bias_is_in_the_loss_and_in_its_gradient(r_drop) -> None:
    """The fused loss knows a weight only; without the bias it would train another model."""
    batch = collate(PAIRS[:6])
    arguments = batch.source, batch.target_in, batch.target_out
    model = make_model(dropout=0.0, output_bias=True)
    assert not model.output_bias.any()
    with torch.no_grad():
        model.output_bias.normal_()
    loss = TranslationLoss(model, smoothing=0.1, r_drop=r_drop)(*arguments)
    loss.backward()
    found = model.output_bias.grad.clone()
    model.zero_grad()
    logits = model(batch.source, batch.target_in)
    wanted = label_smoothed_cross_entropy(logits, batch.target_out, smoothing=0.1, reduction="sum")
    wanted.backward()
    torch.testing.assert_close(loss, wanted)  # two passes without dropout are one
    torch.testing.assert_close(found, model.output_bias.grad, atol=1e-4, rtol=1e-4)
    told = label_smoothed_cross_entropy(logits, batch.target_out, smoothing=0.0, reduction="mean")
    assert perplexity(model, PAIRS[:6]) == pytest.approx(told.exp().item(), rel=1e-4)


def test_each_process_validates_its_share(monkeypatch) -> None:
    """Batch for batch, so that the sum has the digits that one process gives it."""
    model, told = make_model(), []

    def add(*values, device):
        told.append(values)
        return [sum(of_all) for of_all in zip(*told, strict=True)]

    whole = perplexity(model, PAIRS, max_tokens=30)
    monkeypatch.setattr(distributed, "sum_over_processes", add)
    monkeypatch.setattr(distributed, "world_size", lambda: 2)
    for rank in (0, 1):
        monkeypatch.setattr(distributed, "rank", lambda rank=rank: rank)
        found = perplexity(model, PAIRS, max_tokens=30, shared=True)
    assert found == whole
    shares = [{place for place, loss in enumerate(losses) if loss} for _, *losses in told]
    assert shares[0].isdisjoint(shares[1])
    assert min(map(len, shares)) > 1


def test_r_drop_is_off_until_it_is_asked_for() -> None:
    batch = collate(PAIRS[:6])
    arguments = batch.source, batch.target_in, batch.target_out
    model = make_model(dropout=0.3)
    losses = []
    for options in ({}, {"r_drop": 0.0}, {"r_drop": 1.0}):
        torch.manual_seed(0)
        losses.append(float(TranslationLoss(model, smoothing=0.1, **options)(*arguments).detach()))
    assert losses[0] == losses[1] != losses[2]
