"""R-Drop: the fused loss against the formula, and the two passes of the objective."""

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st

from transformer.config import PAD_ID
from transformer.training.loss import smoothed_projection_loss
from transformer.training.r_drop import r_drop_projection_loss


def example(seed: int = 0) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """States of two passes over 4 sentences of up to 6 tokens, a weight, targets with padding."""
    generator = torch.Generator().manual_seed(seed)
    states, weight = (
        torch.randn(*shape, dtype=torch.float64, generator=generator)
        for shape in ((8, 6, 5), (11, 5))
    )
    target = torch.randint(4, 11, (4, 6), generator=generator)
    target[1, 4:] = target[3, 1:] = PAD_ID
    return states, weight, target


def by_the_formula(states, weight, target, *, alpha, smoothing) -> torch.Tensor:
    """The loss with PyTorch's cross-entropy and Kullback–Leibler divergence."""
    logits = [pass_[target != PAD_ID] @ weight.T for pass_ in states.chunk(2)]
    gold = target[target != PAD_ID]
    losses = [F.cross_entropy(x, gold, label_smoothing=smoothing, reduction="sum") for x in logits]
    p, q = (torch.log_softmax(x, dim=-1) for x in logits)
    kl = [F.kl_div(b, a, log_target=True, reduction="sum") for a, b in ((p, q), (q, p))]
    return sum(losses) / 2 + alpha / 4 * sum(kl)


@given(
    alpha=st.floats(0, 10),
    smoothing=st.floats(0, 0.9),
    chunk=st.integers(1, 30),
    seed=st.integers(0, 1000),
)
@settings(max_examples=30, deadline=None)
def test_fused_loss_and_gradients_equal_the_formula(alpha, smoothing, chunk, seed) -> None:
    states, weight, target = example(seed)
    results = []
    for function, extra in ((r_drop_projection_loss, {"chunk": chunk}), (by_the_formula, {})):
        s, w = states.clone().requires_grad_(), weight.clone().requires_grad_()
        loss = function(s, w, target, alpha=alpha, smoothing=smoothing, **extra)
        (3 * loss).backward()
        results.append((loss.detach(), s.grad, w.grad))
    for ours, plain in zip(*results, strict=True):
        assert torch.allclose(ours, plain, atol=1e-10)


def test_equal_passes_have_the_plain_loss_and_others_a_higher_one() -> None:
    states, weight, target = example()
    first = states[:4]
    plain = smoothed_projection_loss(first, weight, target)
    twice = r_drop_projection_loss(first.repeat(2, 1, 1), weight, target, alpha=5.0)
    assert torch.allclose(twice, plain)
    apart, free = (r_drop_projection_loss(states, weight, target, alpha=a) for a in (5.0, 0.0))
    assert apart > free + 1
    swapped = r_drop_projection_loss(states.roll(4, dims=0), weight, target, alpha=5.0)
    assert torch.allclose(swapped, apart)


def test_padding_gets_no_gradient() -> None:
    states, weight, target = example()
    states.requires_grad_()
    r_drop_projection_loss(states, weight, target, alpha=5.0).backward()
    is_padding = (target == PAD_ID).repeat(2, 1)
    assert (states.grad[is_padding] == 0).all()
    assert (states.grad[~is_padding] != 0).any(dim=-1).all()


def test_large_logits_stay_finite() -> None:
    states = torch.tensor([[[300.0]], [[-300.0]]], requires_grad=True)
    weight = torch.tensor([[1.0], [-1.0], [0.5]])
    loss = r_drop_projection_loss(states, weight, torch.tensor([[1]]), alpha=1.0, smoothing=0.0)
    loss.backward()
    assert loss.isfinite()
    assert states.grad.isfinite().all()


def test_bad_input() -> None:
    states, weight, target = example()
    with pytest.raises(ValueError, match="each of 4 targets twice, got 4 rows"):
        r_drop_projection_loss(states[:4], weight, target, alpha=1.0)
    with pytest.raises(ValueError, match="alpha must be at least 0, got -1"):
        r_drop_projection_loss(states, weight, target, alpha=-1.0)
    with pytest.raises(ValueError, match="smoothing must lie in"):
        r_drop_projection_loss(states, weight, target, alpha=1.0, smoothing=1.0)


def test_the_default_chunk_is_the_one_of_recorded_runs() -> None:
    """The last digits of the sums follow from it, and with them a run's whole course."""
    generator = torch.Generator().manual_seed(0)
    states, weight = (torch.randn(*s, generator=generator) for s in ((2, 500, 8), (11, 8)))
    target = torch.randint(1, 11, (1, 500), generator=generator)
    results = []
    for chunk in ({}, {"chunk": 128}):
        w = weight.clone().requires_grad_()
        loss = r_drop_projection_loss(states, w, target, alpha=2.0, **chunk)
        loss.backward()
        results.append((loss.detach(), w.grad))
    for default, asked in zip(*results, strict=True):
        assert torch.equal(default, asked)
