"""The checks of chapter 05 accept what is right and name what is wrong."""

import pytest
import torch
from soundness import assert_check_is_sound

from transformer.analysis.cost import attention_flops, feed_forward_flops
from transformer.config import TransformerConfig
from walkthrough.ch05_feed_forward import checks

pytestmark = pytest.mark.usefixtures("as_users_run_it")  # as readers have them, and faster

ALL = [
    checks.larger,
    checks.is_position_wise,
    checks.feed_forward_share,
]

LARGER = ([[1, 0, 0], [-1, 1, -1]], [0, 0, 0], [[1], [1], [-1]], [0])


@pytest.mark.parametrize("check", ALL, ids=lambda check: check.name)
def test_check_names_every_mistake_it_lists(check):
    assert_check_is_sound(check)


@pytest.mark.parametrize("weight", [0.99, 0.999, 1.02])
def test_a_wrong_weight_is_not_taken_for_a_large_bias(weight):
    w1, b1, _, b2 = LARGER
    verdict = checks.larger(lambda run: run(w1, b1, [[weight], [1], [-1]], b2))
    assert verdict.status == "wrong"
    assert "bias" not in verdict.message


def test_a_test_with_more_words_than_it_was_given_is_right():
    def is_position_wise(layer, x):
        longer = torch.cat([x, x.flip(0)])
        alone = torch.cat([layer(word[None]) for word in longer])
        return torch.allclose(layer(longer), alone, atol=1e-4)

    assert checks.is_position_wise(is_position_wise)


@pytest.mark.parametrize(
    ("w1", "b1", "w2"),
    [
        ([[1, 0, 0], [-1, 1, -1]], [0, 0, 0], [[1], [1], [-1]]),
        ([[-1, 1, -1], [1, 0, 0]], [0, 0, 0], [[1], [1], [-1]]),
        ([[1, 0.5, -0.5], [-1, 0.5, -0.5]], [0, 0, 0], [[0.5], [1], [-1]]),
    ],
    ids=["b plus a's lead", "a plus b's lead", "a third unit for the mean, wrong half"],
)
def test_the_larger_number_can_be_had_in_several_ways(w1, b1, w2):
    right = w2[0] == [1]
    assert bool(checks.larger(lambda run: run(w1, b1, w2, [0.0]))) == right


@pytest.mark.parametrize("bias", [10.0, 100.0])
def test_a_bias_does_not_carry_every_negative_number(bias):
    def shifted(run):  # b + bias is negative for b below −bias
        return run([[1.0, 0.0], [-1.0, 1.0]], [0.0, bias], [[1.0], [1.0]], [-bias])

    assert "A bias lifts a number" in checks.larger(shifted).message


def test_one_network_computes_the_larger_number_alone():
    def b(run):
        return run([[0, 0], [1, -1]], [0, 0], [[1], [-1]], [0])

    def a(run):
        return run([[1, -1], [0, 0]], [0, 0], [[1], [-1]], [0])

    assert "called twice" in checks.larger(lambda run: torch.maximum(a(run), b(run))).message

    def cut(run):
        return run(*LARGER).max(torch.tensor(-1e9))

    assert checks.larger(lambda run: run(*LARGER))
    assert checks.larger(cut).mistake == "forbidden"


def test_every_word_is_tried_and_little_is_heard():
    def all_but_the_last(layer, x):
        return all(
            torch.allclose(layer(x[i : i + 1])[0], layer(x)[i], atol=1e-5)
            for i in range(len(x) - 1)
        )

    def roughly(layer, x):
        alone = torch.cat([layer(word[None]) for word in x])
        return torch.allclose(alone, layer(x), atol=0.3)

    def within_1e_5(layer, x):  # absolute, as the page says
        alone = torch.cat([layer(word[None]) for word in x])
        return (alone - layer(x)).abs().max() <= 1e-5

    assert "does your loop reach the last" in checks.is_position_wise(all_but_the_last).message
    assert "all words hear a little of all" in checks.is_position_wise(roughly).message
    assert checks.is_position_wise(within_1e_5)


def test_a_share_above_1_and_a_rounded_one_are_told():
    def without_brackets(d_model, d_ff, length):
        network = 2 * d_model * d_ff
        return network / network + 4 * d_model**2 + 2 * length * d_model

    def rounded(d_model, d_ff, length):
        return round(d_ff / (d_ff + 2 * d_model + length), 2)

    assert "every wrong result is too large" in checks.feed_forward_share(without_brackets).message
    assert "rounded to two decimals" in checks.feed_forward_share(rounded).message


def test_too_many_units_and_unfit_shapes_are_reported_with_both_values():
    def five(run):
        return run(torch.zeros(2, 5), torch.zeros(5), torch.zeros(5, 1), torch.zeros(1))

    def as_linear_stores_it(run):
        return run(torch.zeros(3, 2), torch.zeros(3), torch.zeros(3, 1), torch.zeros(1))

    assert "at most 3 hidden units are allowed; got 5" in checks.larger(five).message
    message = checks.larger(as_linear_stores_it).message
    assert "w1 must have the shape (2, 3); got (3, 2)" in message


def test_a_test_by_gradients_is_right():
    def by_jacobian(layer, x):
        jacobian = torch.autograd.functional.jacobian(layer, x).abs().sum((1, 3))
        jacobian.fill_diagonal_(0.0)
        same = all(
            torch.allclose(layer(x.roll(s, 0)), layer(x).roll(s, 0), atol=1e-4)
            for s in range(len(x))
        )
        return bool((jacobian < 1e-6).all()) and same

    assert checks.is_position_wise(by_jacobian)


def test_two_neighbours_that_change_places_are_too_little():
    def swaps(layer, x):
        order = torch.tensor([1, 0, 2, 3, 4, 5])
        moved = torch.autograd.functional.jacobian(layer, x).abs().sum((1, 3))
        separate = bool((moved.fill_diagonal_(0.0) < 1e-6).all())
        return separate and torch.allclose(layer(x[order]), layer(x)[order], atol=1e-5)

    assert "neighbours" in checks.is_position_wise(swaps).message


def test_a_layer_test_that_changes_its_argument_is_told_to_copy():
    def in_place(layer, x):
        before = layer(x)
        x[0] += 1.0
        return torch.allclose(layer(x), before)

    assert "clone" in checks.is_position_wise(in_place).message


def test_the_share_is_the_one_that_the_packages_count_gives():
    def counted(d_model, d_ff, length):
        config = TransformerConfig(vocab_size=10, d_model=d_model, d_ff=d_ff, n_heads=1)
        network = feed_forward_flops(config, length=length)
        attention = attention_flops(config, query_len=length, key_len=length).total
        return network / (network + attention)

    assert checks.feed_forward_share(counted)


def test_every_word_alone_is_the_definition():
    def alone(layer, x):
        return torch.allclose(layer(x), torch.cat([layer(x[i : i + 1]) for i in range(len(x))]))

    assert checks.is_position_wise(alone)


def permutes_and_changes(place, amount):
    def test(layer, x):
        order = torch.arange(len(x)).roll(1)
        changed = x.clone()
        changed[place] += amount
        moved = (layer(changed) - layer(x)).abs().amax(-1) > 1e-5
        moved[place] = False
        same = torch.allclose(layer(x[order]), layer(x)[order], atol=1e-5)
        return same and not moved.any().item()

    return test


@pytest.mark.parametrize("place", range(6))
@pytest.mark.parametrize("amount", [-10.0, -1.0, 1.0, 10.0])
def test_a_permutation_and_a_change_of_one_word_are_too_little(place, amount):
    verdict = checks.is_position_wise(permutes_and_changes(place, amount))
    assert verdict.status == "wrong"
    assert "the largest (or the smallest) value" in verdict.message


def test_a_comparison_without_the_order_restored_is_told_about_the_network():
    def not_restored(layer, x):
        return torch.allclose(layer(x.roll(1, 0)), layer(x), atol=1e-5)

    assert checks.is_position_wise(not_restored).status == "wrong"


def test_what_is_computed_after_the_network_is_seen():
    def doubled(run):
        w1, b1, _, b2 = LARGER
        return 2 * run(w1, b1, [[0.5], [0.5], [-0.5]], b2)

    assert checks.larger(doubled).mistake == "computes after run"
    assert checks.larger(lambda run: run(*LARGER).tolist())


def test_the_arrays_alone_are_no_answer():
    assert checks.larger(lambda run: LARGER).mistake == "never runs"


def test_a_sum_that_a_bias_lifts_is_right_for_small_numbers_only():
    def lifted(run):  # half of a + b, and half of the distance
        return run([[1, 1, -1], [1, -1, 1]], [100, 0, 0], [[0.5], [0.5], [0.5]], [-50])

    assert "A bias lifts a number" in checks.larger(lifted).message
