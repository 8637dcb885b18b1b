"""With `step`: labels, padding in the loss, softmax twice, the rate and the optimiser."""

import pytest
import torch
import torch.nn.functional as F
from variants import built

from walkthrough.doctor import examine


def nll(p, labels):
    return F.nll_loss(p.clamp_min(1e-9).log(), labels, ignore_index=0)


def entropy(y, labels):
    return F.cross_entropy(y, labels, ignore_index=0)


def trainer(model, *, ahead=1, loss=entropy, held=slice(None), rate=lambda n: 1e-3 * (n + 1)):
    """A step as people write it, with one thing to exchange."""
    optimizer = torch.optim.SGD(list(model.parameters())[held], lr=1.0)
    steps = iter(range(100))

    def step(model, batch):
        source, target = batch
        logits = model(source, target[:, :-1])
        n = logits.shape[1]
        labels = F.pad(target, (0, 2))[:, ahead : ahead + n]
        value = loss(logits.flatten(0, 1), labels.flatten())
        optimizer.zero_grad()
        value.backward()
        for group in optimizer.param_groups:
            group["lr"] = rate(next(steps))
        optimizer.step()
        return value

    return step


PROBABILITIES = ("return self.out(x)", "return self.out(x).softmax(-1)")
CASES = {
    "labels not shifted": ({"ahead": 0}, "labels", "Labels are not shifted"),
    "labels too far": ({"ahead": 2}, "labels", "2 places behind"),
    "padding counts": ({"loss": F.cross_entropy}, "padding in the loss", "counts padding"),
    "a rate near zero": ({"rate": lambda n: 1e-11 * n}, "rate", "never leaves"),
    "some weights not held": ({"held": slice(4, None)}, "optimiser", "4 tensors"),
}


@pytest.mark.parametrize("name", CASES)
def test_a_mistake_around_the_model_is_named(name):
    change, finding, words = CASES[name]
    model = built()
    report = examine(model, step=trainer(model, **change))
    assert [(f.name, words in f.sentence) for f in report.bugs] == [(finding, True)]


def test_softmax_twice_is_told_from_a_loss_that_wants_probabilities():
    model = built(PROBABILITIES)
    assert "output" in {f.name for f in examine(model, step=trainer(model)).bugs}
    assert not examine(model, step=trainer(model, loss=nll)).bugs


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_of_a_right_step_nothing_false_is_said(smoothing):
    model = built()

    def loss(y, labels):
        return F.cross_entropy(y, labels, ignore_index=0, label_smoothing=smoothing)

    report = examine(model, step=trainer(model, loss=loss))
    assert not report.bugs, str(report)
    assert {"labels", "padding in the loss", "rate", "optimiser"} <= {f.name for f in report.same}


def test_a_model_that_shifts_inside_may_have_its_input_as_labels():
    model = built(
        ("x = self.embed(target)", "x = self.embed(nn.functional.pad(target, (1, -1), value=1))")
    )

    def step(model, batch):
        return entropy(model(*batch).flatten(0, 1), batch[1].flatten())

    report = examine(model, step=step)
    assert not report.bugs, str(report)
    assert "labels" in {f.name for f in report.same}
