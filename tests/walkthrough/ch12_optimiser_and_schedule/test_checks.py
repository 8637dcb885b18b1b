"""The checks of chapter 12 accept what is right and name what is wrong."""

import pytest
import torch
from soundness import assert_check_is_sound

from transformer.training.schedule import noam_rate
from walkthrough.ch12_optimiser_and_schedule import checks

pytestmark = pytest.mark.usefixtures("as_users_run_it")  # as readers have them, and faster

ALL = [
    checks.rate_of_batch,
    checks.adamw_step,
    checks.training_days,
]


@pytest.mark.parametrize("check", ALL, ids=lambda check: check.name)
def test_check_names_every_mistake_it_lists(check):
    assert_check_is_sound(check)


def rate_with(number):
    def rate(batch, accumulate, d_model, warmup):
        update = number(batch, accumulate)
        return d_model**-0.5 * min(update**-0.5, update * warmup**-1.5)

    return rate


def test_the_packages_schedule_is_right_and_not_to_be_called():
    def package(batch, accumulate, d_model, warmup):
        return noam_rate((batch - 1) // accumulate + 1, d_model=d_model, warmup=warmup)

    assert checks.rate_of_batch(package).mistake == "forbidden"
    assert checks.rate_of_batch(rate_with(lambda b, a: (b - 1) // a + 1)).status == "right"
    given = checks.rate_of_batch.arguments()[3].positional
    assert package(*given) == pytest.approx(checks.rate_of_batch.reference(*given))


def test_a_half_added_before_rounding_is_not_a_rounding_up():
    """Python rounds 10.5 to 10 and 51.5 to 52, so that every other update comes out right."""
    assert checks.rate_of_batch(rate_with(lambda b, a: round(b / a + 0.5))).status == "wrong"


def test_pytorchs_adamw_is_right():
    def pytorch(weight, gradient, m, v, update, rate, decay):
        parameter = torch.nn.Parameter(weight.clone())
        adam = torch.optim.AdamW(
            [parameter], lr=rate, betas=(0.9, 0.98), eps=1e-9, weight_decay=decay
        )
        parameter.grad = gradient
        adam.state[parameter] = {
            "step": torch.tensor(float(update - 1)),
            "exp_avg": m.clone(),
            "exp_avg_sq": v.clone(),
        }
        adam.step()
        state = adam.state[parameter]
        return parameter.detach(), state["exp_avg"], state["exp_avg_sq"]

    assert checks.adamw_step(pytorch).status == "right"
