"""The checks of chapter 14 accept right answers and name every mistake they list."""

import pytest
import torch
import torch.nn.functional as F
from soundness import assert_check_is_sound

from transformer.config import PAD_ID
from transformer.training import TrainSettings, label_smoothed_cross_entropy
from transformer.training.trainer import Trainer
from walkthrough.ch14_the_training_run import checks

pytestmark = pytest.mark.usefixtures("as_users_run_it")  # as readers have them, and faster

ALL = [
    checks.update,
    checks.predicted_sources,
    checks.diagnose,
]


@pytest.mark.parametrize("check", ALL, ids=lambda check: check.name)
def test_check_rejects_and_names_each_mistake(check):
    assert_check_is_sound(check)


def test_an_update_in_the_readers_own_way_is_right():
    def update(model, optimizer, batches, rate):
        optimizer.zero_grad()  # before, in place of after
        for group in optimizer.param_groups:
            group["lr"] = rate
        n_tokens = sum((batch.target_out != PAD_ID).sum() for batch in batches)
        total = 0
        for batch in batches:
            logits = model(batch.source, batch.target_in)
            total = total + F.cross_entropy(
                logits.flatten(0, 1),
                batch.target_out.flatten(),
                ignore_index=PAD_ID,
                label_smoothing=0.1,
                reduction="sum",
            )
        loss = total / n_tokens
        loss.backward()
        optimizer.step()
        return loss

    assert checks.update(update).status == "right"


def test_an_update_is_that_of_the_trainer():
    """The check's reference and the package make the same step, with the same optimiser."""
    new_model, _, batches, rate = checks.update.arguments()[-1].positional
    model, theirs = new_model(), new_model()
    pairs = [
        (row[row > 3].tolist(), target[target > 3].tolist())
        for batch in batches
        for row, target in zip(batch.source, batch.target_out, strict=True)
    ]
    settings = TrainSettings(max_tokens=100, schedule="constant", warmup=1, peak=rate)
    trainer = Trainer(theirs, pairs, settings)
    trainer.optimizer = torch.optim.SGD(theirs.parameters(), lr=0.0)
    trainer.step([range(len(pairs))])
    given = checks.update.arguments()[-1]
    found = checks.update.reference(*given.positional)["the step of the parameters"] / 100
    before, after = (torch.cat([p.flatten() for p in m.parameters()]) for m in (model, theirs))
    torch.testing.assert_close(found, after - before, atol=1e-5, rtol=1e-3)


def test_an_update_that_does_nothing_is_nothing_yet():
    def update(model, optimizer, batches, rate):
        """Make one update."""

    assert checks.update(update).status == "nothing yet"
    assert checks.update(lambda model, optimizer: None).status == "wrong"


def test_an_optimiser_of_the_readers_own_is_named():
    def update(model, optimizer, batches, rate):
        return step_with(model, torch.optim.Adam(model.parameters(), lr=rate), batches, rate)

    def step_with(model, optimizer, batches, rate):
        optimizer.zero_grad()
        n_tokens = sum(batch.n_target_tokens for batch in batches)
        total = 0
        for batch in batches:
            logits = model(batch.source, batch.target_in)
            total = total + label_smoothed_cross_entropy(logits, batch.target_out, reduction="sum")
        (total / n_tokens).backward()
        optimizer.step()
        return total / n_tokens

    assert checks.update(update).mistake == "a new Adam"


def test_a_diagnosis_in_the_readers_own_way_is_right():
    def diagnose(model):
        source, target = torch.randint(4, 60, (3, 6)), torch.randint(4, 60, (3, 4))
        out = model(source, target)

        def moved(other_source, other_target=target, rows=slice(None)):
            other = model(other_source, other_target)
            return (other - out[rows, : other.shape[1]]).abs().max() > 1e-4

        if moved(source):
            return "dropout"
        if moved(source, target[:, :2]):
            return "target mask"
        if moved(torch.cat([source, torch.zeros(3, 1, dtype=torch.long)], dim=1)):
            return "padding mask"
        if moved(source[:1], target[:1], slice(1)):
            return "batch"
        if not moved(torch.randint(4, 60, (3, 6))):
            return "source"
        return "nothing" if moved(source.flip(1)) else "positions"

    assert checks.diagnose(diagnose).status == "right"


def test_a_model_left_in_evaluation_is_told():
    def update(model, optimizer, batches, rate):
        told = checks.update.reference.__wrapped__(model, optimizer, batches, rate)
        model.eval()
        return told

    assert "nothing is dropped in training" in checks.update(update).message
