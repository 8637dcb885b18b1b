"""What chapter 16 reads off a recorded run: its cost."""

import pytest

from transformer.config import TransformerConfig
from transformer.model import Transformer
from walkthrough.ch16_translation.experiments import recorded_runs


def test_flops_hardly_depend_on_the_length_and_grow_with_the_tokens(run):
    short, long = (recorded_runs.run_flops(run(), length=n) for n in (10, 20))
    assert long == pytest.approx(short, rel=0.2)
    more = run()
    more["curve"][-1]["tokens"] *= 2
    ours, twice = (recorded_runs.run_flops(one) for one in (run(), more))
    assert twice == pytest.approx(2 * ours)


def test_r_drop_costs_two_passes(run):
    plain, dropped = (run(training={"r_drop": weight}) for weight in (0.0, 5.0))
    assert recorded_runs.run_flops(dropped) == 2 * recorded_runs.run_flops(plain)


def test_parameters_are_those_of_the_model(run):
    config = TransformerConfig.from_dict(run()["settings"]["model"])
    assert recorded_runs.n_parameters(run()) == Transformer(config).n_parameters
