"""The pointers of chapter 10: walks are followed, and a second layer takes what one cannot."""

import pytest
import torch

from walkthrough.ch10_why_self_attention.experiments import pointers
from walkthrough.lab.experiment import Job, Key


def test_walks_are_followed():
    drawn = torch.tensor([[3, 0, 7, 6, 4, 2, 1, 5]])
    assert pointers.follow(drawn, 0).tolist() == drawn.tolist()
    assert pointers.answers(drawn)[0, 0].tolist() == [6, 1, 0]


def test_the_wide_layer_is_as_large_as_two():
    sizes = {
        arm.name: sum(p.numel() for p in pointers.PointerReader(**arm.model).encoder.parameters())
        for arm in pointers.EXPERIMENT.arms
    }
    assert sizes["one wide layer"] == pytest.approx(sizes["two layers"], rel=0.01)
    assert sizes["one layer"] < 0.6 * sizes["two layers"]


def test_a_short_run_follows_a_pointer_once():
    arm = pointers.EXPERIMENT.arm("one layer")
    found = pointers.follow_pointers(
        Job(pointers.EXPERIMENT, arm, Key("one layer", 2, 60, 1), None)
    ).figures
    assert found["new/-/once_accuracy"] > found["new/-/twice_accuracy"] > 1 / 8
