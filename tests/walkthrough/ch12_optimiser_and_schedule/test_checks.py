"""The checks of chapter 12 accept what is right and name what is wrong."""

import pytest
import torch

from transformer.training.schedule import noam_rate
from walkthrough.ch12_optimiser_and_schedule import checks
from walkthrough.checking.soundness import assert_check_is_sound

ALL = [checks.rate_of_batch, checks.warmup_for_peak, checks.adam_step, checks.training_days]


@pytest.mark.parametrize("check", ALL, ids=lambda check: check.name)
def test_check_names_every_mistake_it_lists(check):
    assert_check_is_sound(check)
    assert len(check.mistakes) >= 4


def test_the_packages_schedule_is_right():
    def package(batch, accumulate, d_model, warmup):
        return noam_rate((batch - 1) // accumulate + 1, d_model=d_model, warmup=warmup)

    assert checks.rate_of_batch(package).status == "right"


def test_a_half_added_before_rounding_is_not_a_rounding_up():
    """Python rounds 10.5 to 10 and 51.5 to 52, so that every other update comes out right."""

    def rate(batch, accumulate, d_model, warmup):
        return noam_rate(round(batch / accumulate + 0.5), d_model=d_model, warmup=warmup)

    assert checks.rate_of_batch(rate).status == "wrong"


def test_the_warmup_found_has_that_peak():
    def found(peak, d_model):
        return next(
            w / 2 for w in range(1, 20_000) if (d_model * w / 2) ** -0.5 <= peak * (1 + 1e-9)
        )

    assert noam_rate(4000, d_model=512, warmup=4000) == pytest.approx((512 * 4000) ** -0.5)
    assert found(1 / 64, 512) == checks.warmup_for_peak.reference(1 / 64, 512)


def test_pytorchs_adam_is_right():
    def pytorch(weight, gradient, m, v, update, rate):
        parameter = torch.nn.Parameter(weight.clone())
        adam = torch.optim.Adam([parameter], lr=rate, betas=(0.9, 0.98), eps=1e-9)
        parameter.grad = gradient
        adam.state[parameter] = {
            "step": torch.tensor(float(update - 1)),
            "exp_avg": m.clone(),
            "exp_avg_sq": v.clone(),
        }
        adam.step()
        state = adam.state[parameter]
        return parameter.detach(), state["exp_avg"], state["exp_avg_sq"]

    assert checks.adam_step(pytorch).status == "right"
