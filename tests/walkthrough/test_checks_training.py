"""The checks of chapter 14 accept right answers and name every mistake they list."""

import pytest
import torch
import torch.nn.functional as F

from transformer.data.batching import collate
from transformer.training import label_smoothed_cross_entropy
from walkthrough.checks import training as checks
from walkthrough.checks.soundness import assert_check_is_sound

ALL = [
    checks.shift,
    checks.learning_rate,
    checks.smoothed_targets,
    checks.mean_loss,
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
    rows = checks.smoothed_targets.reference(target, 9, 0.1)
    loss = -(rows * logits.log_softmax(-1)).sum() / 3
    pytorch = F.cross_entropy(logits, target, ignore_index=0, label_smoothing=0.1)
    torch.testing.assert_close(loss, pytorch)
    torch.testing.assert_close(loss, label_smoothed_cross_entropy(logits, target))


def test_a_learners_own_ways_are_right():
    def rate(step, d_model, warmup):
        grows = step <= warmup
        return (step / warmup if grows else (warmup / step) ** 0.5) / (d_model * warmup) ** 0.5

    def mean(losses, target):
        real = (target != 0).float()
        return (losses * real).sum() / real.sum()

    def sources(weights, n_source, n_target):
        return weights[:n_target, :n_source].argmax(-1)

    def smoothed(target, vocab_size, smoothing):
        rows = torch.full((len(target), vocab_size), smoothing / vocab_size)
        rows[torch.arange(len(target)), target] += 1 - smoothing
        rows[target == 0] = 0
        return rows

    assert checks.learning_rate(rate).status == "right"
    assert checks.mean_loss(mean).status == "right"
    assert checks.predicted_sources(lambda *given: sources(*given).tolist()).status == "right"
    assert checks.smoothed_targets(smoothed).status == "right"


def test_rows_of_another_sum_are_told():
    verdict = checks.smoothed_targets(
        lambda target, vocab_size, smoothing: torch.full((len(target), vocab_size), 0.3)
    )
    assert verdict.mistake == "rows that do not sum to 1"
