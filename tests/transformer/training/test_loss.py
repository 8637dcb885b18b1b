"""Label smoothing: what it computes, what it must not count, the fast way equal to the plain."""

import math

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor
from torch.overrides import TorchFunctionMode

from transformer.config import PAD_ID
from transformer.training.loss import (
    cross_entropy,
    label_smoothed_cross_entropy,
    smoothed_projection_loss,
)


def example(seed: int = 0, vocab_size: int = 11) -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(seed)
    logits = torch.randn(4, 6, vocab_size, generator=generator)
    target = torch.randint(1, vocab_size, (4, 6), generator=generator)
    target[0, 3:] = PAD_ID
    target[2, 1:] = PAD_ID
    return logits, target


def torch_loss(logits: Tensor, target: Tensor, smoothing: float, reduction: str) -> Tensor:
    return F.cross_entropy(
        logits.flatten(0, -2),
        target.flatten(),
        ignore_index=PAD_ID,
        label_smoothing=smoothing,
        reduction=reduction,
    )


@pytest.mark.parametrize("reduction", ["mean", "sum"])
@pytest.mark.parametrize("smoothing", [0.0, 0.1, 0.5])
def test_equals_torch(smoothing: float, reduction: str) -> None:
    logits, target = example()
    ours = label_smoothed_cross_entropy(logits, target, smoothing=smoothing, reduction=reduction)
    assert torch.allclose(ours, torch_loss(logits, target, smoothing, reduction))


def counts_padding(logits: Tensor, target: Tensor) -> Tensor:
    return F.cross_entropy(logits.flatten(0, -2), target.flatten(), label_smoothing=0.1)


def divides_by_all_positions(logits: Tensor, target: Tensor) -> Tensor:
    return torch_loss(logits, target, 0.1, "sum") / target.numel()


def smooths_over_padding_rows(logits: Tensor, target: Tensor) -> Tensor:
    """The even part is not masked: nll ignores padding, the smoothing term does not."""
    log_probs = logits.log_softmax(-1).flatten(0, -2)
    nll = F.nll_loss(log_probs, target.flatten(), ignore_index=PAD_ID, reduction="sum")
    return (0.9 * nll - 0.1 * log_probs.mean(-1).sum()) / (target != PAD_ID).sum()


def spreads_over_the_others(logits: Tensor, target: Tensor) -> Tensor:
    """tensor2tensor's convention: ε over the other V − 1 classes."""
    log_probs = logits.log_softmax(-1)
    gold = log_probs.gather(-1, target[..., None]).squeeze(-1)
    others = (log_probs.sum(-1) - gold) / (logits.shape[-1] - 1)
    is_token = target != PAD_ID
    return -(0.9 * gold + 0.1 * others)[is_token].mean()


@pytest.mark.parametrize(
    "wrong",
    [counts_padding, divides_by_all_positions, smooths_over_padding_rows, spreads_over_the_others],
)
def test_wrong_losses_are_told_apart(wrong) -> None:
    logits, target = example()
    ours = label_smoothed_cross_entropy(logits, target, smoothing=0.1)
    assert abs(float(ours - wrong(logits, target))) > 1e-3


@given(
    smoothing=st.floats(0, 0.9),
    chunk=st.integers(1, 30),
    seed=st.integers(0, 1000),
)
@settings(max_examples=30, deadline=None)
def test_fused_loss_and_gradients_equal_the_plain_ones(smoothing, chunk, seed) -> None:
    _, target = example(seed)
    generator = torch.Generator().manual_seed(seed)
    states, weight = (
        torch.randn(*shape, dtype=torch.float64, generator=generator)
        for shape in ((4, 6, 5), (11, 5))
    )
    results = []
    for fused in (True, False):
        s, w = states.clone().requires_grad_(), weight.clone().requires_grad_()
        if fused:
            loss = smoothed_projection_loss(s, w, target, smoothing=smoothing, chunk=chunk)
        else:  # in float64 all the way, which our own plain loss is not
            loss = torch_loss(s @ w.T, target, smoothing, "sum")
        (3 * loss).backward()
        results.append((loss.detach(), s.grad, w.grad))
    for ours, plain in zip(*results, strict=True):
        assert torch.allclose(ours, plain, atol=1e-10)


def test_fused_loss_gives_padding_no_gradient() -> None:
    _, target = example()
    states = torch.randn(4, 6, 5, requires_grad=True)
    smoothed_projection_loss(states, torch.randn(11, 5), target).backward()
    assert (states.grad[target == PAD_ID] == 0).all()
    assert (states.grad[target != PAD_ID] != 0).any(dim=-1).all()


def test_fused_loss_survives_large_logits() -> None:
    states = torch.full((1, 1, 1), 1000.0, requires_grad=True)
    weight = torch.tensor([[1.0], [-1.0], [0.5]])
    loss = smoothed_projection_loss(states, weight, torch.tensor([[1]]), smoothing=0.0)
    loss.backward()
    assert loss.item() == pytest.approx(2000.0)
    assert states.grad.isfinite().all()


def test_fused_loss_of_padding_only_is_zero() -> None:
    states = torch.randn(1, 3, 5, requires_grad=True)
    loss = smoothed_projection_loss(states, torch.randn(11, 5), torch.zeros(1, 3, dtype=torch.long))
    loss.backward()
    assert loss == 0
    assert (states.grad == 0).all()


@pytest.mark.parametrize("smoothing", [-0.1, 1.0])
def test_smoothing_out_of_range(smoothing: float) -> None:
    logits, target = example()
    with pytest.raises(ValueError, match=rf"smoothing must lie in \[0, 1\), got {smoothing}"):
        label_smoothed_cross_entropy(logits, target, smoothing=smoothing)
    with pytest.raises(ValueError, match="smoothing must lie in"):
        smoothed_projection_loss(logits, torch.randn(3, 11), target, smoothing=smoothing)


def test_mean_over_no_tokens() -> None:
    logits, target = example()
    with pytest.raises(ValueError, match="at least one target token, got 24 positions of padding"):
        label_smoothed_cross_entropy(logits, torch.zeros_like(target))


def test_cross_entropy_passes_on_what_is_padding_and_whether_to_divide() -> None:
    logits, target = example()
    ours = cross_entropy(logits, target, pad_id=5, reduction="sum")
    expected = F.cross_entropy(
        logits.flatten(0, -2), target.flatten(), ignore_index=5, reduction="sum"
    )
    assert torch.allclose(ours, expected)


def test_the_sum_of_a_bfloat16_loss_is_kept_in_float32() -> None:
    """Eight bits of mantissa would lose every token after the first few hundred."""
    target = torch.full((1, 600), 3)
    states, weight = torch.zeros(1, 600, 4).bfloat16(), torch.zeros(8, 4).bfloat16()
    loss = smoothed_projection_loss(states, weight, target)
    assert loss.dtype == torch.float32
    assert loss.item() == pytest.approx(600 * math.log(8), rel=1e-4)


def test_the_default_chunk_is_the_one_of_recorded_runs() -> None:
    """The last digits of the sums follow from it, and with them a run's whole course."""
    generator = torch.Generator().manual_seed(0)
    states, weight = (torch.randn(*s, generator=generator) for s in ((1, 900, 8), (11, 8)))
    target = torch.randint(1, 11, (1, 900), generator=generator)
    results = []
    for chunk in ({}, {"chunk": 256}):
        w = weight.clone().requires_grad_()
        loss = smoothed_projection_loss(states, w, target, **chunk)
        loss.backward()
        results.append((loss.detach(), w.grad))
    for default, asked in zip(*results, strict=True):
        assert torch.equal(default, asked)


def test_no_gradient_is_made_where_none_is_wanted() -> None:
    """Validation: a chunk takes two products of matrices, where training takes four."""

    class Products(TorchFunctionMode):
        number = 0

        def __torch_function__(self, function, types, args=(), kwargs=None):
            self.number += function in (Tensor.matmul, Tensor.__matmul__)
            return function(*args, **(kwargs or {}))

    logits, target = example()
    for wanted, products in ((False, 2), (True, 4)):
        weight = torch.randn(11, 11, requires_grad=wanted)
        with Products() as counted:
            smoothed_projection_loss(logits, weight, target)
        assert counted.number == products
