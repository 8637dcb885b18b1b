"""The checks of chapter 14 accept right answers and name every mistake they list."""

import pytest
import torch
import torch.nn.functional as F

from transformer.data.batching import collate
from transformer.training import label_smoothed_cross_entropy
from walkthrough.ch14_the_training_run import checks
from walkthrough.checking.soundness import assert_check_is_sound

ALL = [
    checks.shift,
    checks.learning_rate,
    checks.mean_loss,
    checks.update_gradient,
    checks.predicted_sources,
]


@pytest.mark.parametrize("check", ALL, ids=lambda check: check.name)
def test_check_rejects_and_names_each_mistake(check):
    assert_check_is_sound(check)
    assert len(check.mistakes) >= 3


def test_shift_is_what_collate_does():
    ids = [11, 7, 23]
    batch = collate([([5], ids)])
    wanted = batch.target_in[0].tolist(), batch.target_out[0].tolist()
    assert checks.shift.reference(ids) == wanted


def test_smoothed_targets_give_pytorchs_loss_and_ours():
    target = torch.tensor([4, 6, 2, 0, 0])
    logits = torch.randn(5, 9, generator=torch.Generator().manual_seed(0))
    rows = torch.full((5, 9), 0.1 / 9)  # as the page builds them by hand
    rows[torch.arange(5), target] += 0.9
    rows[target == 0] = 0.0
    loss = -(rows * logits.log_softmax(-1)).sum() / 3
    pytorch = F.cross_entropy(logits, target, ignore_index=0, label_smoothing=0.1)
    torch.testing.assert_close(loss, pytorch)
    torch.testing.assert_close(loss, label_smoothed_cross_entropy(logits, target))


def test_the_gradient_of_an_update_is_that_of_the_mean_over_all_tokens():
    weight = torch.tensor([0.5, -1.0], requires_grad=True)
    losses = [(torch.rand(n, 2) @ weight).square() for n in (7, 2, 12)]
    gradients = [torch.autograd.grad(loss.mean(), weight, retain_graph=True)[0] for loss in losses]
    (wanted,) = torch.autograd.grad(torch.cat(losses).mean(), weight)
    found = checks.update_gradient.reference(gradients, [len(loss) for loss in losses])
    torch.testing.assert_close(found, wanted)


def test_a_learners_own_ways_are_right():
    def rate(step, d_model, warmup):
        grows = step <= warmup
        return (step / warmup if grows else (warmup / step) ** 0.5) / (d_model * warmup) ** 0.5

    def mean(losses, target):
        real = (target != 0).float()
        return (losses * real).sum() / real.sum()

    def sources(weights, n_source, n_target):
        return weights[:n_target, :n_source].argmax(-1)

    def gradient(gradients, tokens):
        total = torch.zeros_like(gradients[0])
        for one, count in zip(gradients, tokens, strict=True):
            total += one * count / sum(tokens)
        return total

    assert checks.learning_rate(rate).status == "right"
    assert checks.mean_loss(mean).status == "right"
    assert checks.predicted_sources(lambda *given: sources(*given).tolist()).status == "right"
    assert checks.update_gradient(gradient).status == "right"
