"""Nothing of the reader's is changed, whatever the probes did to it."""

import copy

import numpy as np
import torch
from variants import built

from walkthrough.doctor import examine


def everything(model):
    return {
        "weights": {k: v.clone() for k, v in model.state_dict().items()},
        "modes": [m.training for m in model.modules()],
        "hooks": [len(m._forward_hooks) + len(m._forward_pre_hooks) for m in model.modules()],
        "wanted": [p.requires_grad for p in model.parameters()],
        "grads": [None if p.grad is None else p.grad.clone() for p in model.parameters()],
        "kept": [sorted(vars(m)) for m in model.modules()],
        "objects": [id(p) for p in model.parameters()],
        # not those of `random`: the suite's type checks draw from it themselves
        "numbers": (torch.get_rng_state(), str(np.random.get_state())),
        "grad mode": torch.is_grad_enabled(),
    }


def same(one, other):
    if isinstance(one, torch.Tensor):
        return torch.equal(one, other)
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[k], other[k]) for k in one)
    if isinstance(one, (list, tuple)):
        return len(one) == len(other) and all(map(same, one, other))
    return one == other


def prepared():
    keeps_its_weights = ("weights = scores.softmax(-1)", "weights = self.seen = scores.softmax(-1)")
    model = built(keeps_its_weights)
    model.norm = torch.nn.BatchNorm1d(32)
    model.decoder.eval()
    model.out.weight.grad = torch.ones_like(model.out.weight)
    model.encoder[0].feed.wide.weight.requires_grad_(False)
    model.register_forward_hook(lambda *_: None)
    return model


def test_an_examination_leaves_everything_as_it_was():
    model = prepared()
    before = copy.copy(everything(model))
    examine(model)
    after = everything(model)
    assert [key for key in before if not same(before[key], after[key])] == []


def test_a_step_that_trains_is_undone():
    model = prepared()
    optimizer = torch.optim.Adam([p for p in model.parameters() if p.requires_grad], lr=0.1)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda n: 1 / (1 + n))

    def step(model, batch):
        source, target = batch
        logits = model(source, target[:, :-1])
        loss = torch.nn.functional.cross_entropy(
            logits.flatten(0, 1), target[:, 1:].flatten(), ignore_index=0
        )
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        return loss

    before = everything(model)
    plan = schedule.state_dict() | {"state": str(optimizer.state_dict())}
    report = examine(model, step=step)
    assert "labels" in {f.name for f in report.same}
    assert [key for key, value in before.items() if not same(value, everything(model)[key])] == []
    assert schedule.state_dict() | {"state": str(optimizer.state_dict())} == plan
