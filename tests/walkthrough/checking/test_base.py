"""A check accepts the right answer alone, and names the mistake it sees."""

import pytest
import torch
from softmax_check import OVER_QUERIES, softmax_check, softmax_over_keys, softmax_over_queries

from walkthrough.checking import Symptom, drawn, fixed


def test_right_answer_in_other_words_is_right():
    verdict = softmax_check()(lambda scores: scores.exp() / scores.exp().sum(-1, keepdim=True))
    assert verdict.status == "right"
    assert verdict
    assert str(verdict) == "✓ softmax over the keys: right (inputs tried: 3)"


def test_known_mistake_is_named():
    verdict = softmax_check()(lambda s: s.exp() / s.exp().sum(-2, keepdim=True))
    assert not verdict
    assert verdict.mistake == "wrong axis"
    assert str(verdict) == f"✗ {OVER_QUERIES.say}"


@pytest.mark.parametrize("stub", [None, ..., lambda scores: None])
def test_stubs_are_nothing_yet(stub):
    verdict = softmax_check()(stub)
    assert verdict.status == "nothing yet"
    assert not verdict
    assert str(verdict).startswith("nothing yet – ")


def test_exceptions_are_reported_with_message_line_and_input():
    def multiplies(scores):
        return scores @ scores

    verdict = softmax_check()(multiplies)
    assert verdict.status == "wrong"
    assert "for 3 queries, 5 keys your function stops with RuntimeError" in verdict.message
    assert f"in line {multiplies.__code__.co_firstlineno + 1}" in verdict.message
    assert "`return scores @ scores`" in verdict.message
    assert "cannot be multiplied" in verdict.message


def test_errors_below_the_readers_code_point_to_the_readers_line():
    def asks_too_much(scores):
        return torch.stack([softmax_over_keys(scores), scores[0]])

    assert "`return torch.stack" in softmax_check()(asks_too_much).message


def test_a_stop_is_told_with_the_sizes_of_what_meets_in_its_line():
    def stops(scores):
        none, words, nothing, row, rate = None, ["a", "b"], "", scores[0], 0.25
        return torch.stack([none, words, nothing, row, scores, rate])

    said = softmax_check()(stops).message
    for size in (
        "`none` is None",
        "`words` is a list of 2",
        "`nothing` is an empty text",
        "`row` has the shape (5,)",
        "`scores` has the shape (3, 5)",
        "`rate` is 0.25",
    ):
        assert size in said


def test_a_result_without_numbers_is_told():
    assert (
        "a tensor of shape (3, 5) on the device `meta`"
        in softmax_check()(lambda scores: scores.to("meta")).message
    )


def test_wrong_number_of_arguments_is_explained():
    verdict = softmax_check()(lambda scores, mask: scores)
    assert "`f(…)`" in verdict.message
    assert "`(scores, mask)`" in verdict.message


def test_a_stop_without_words_ends_without_a_colon():
    def stops(scores):
        raise ValueError

    assert softmax_check()(stops).message.endswith("(`raise ValueError`)")


def test_a_result_for_a_function_is_told_what_it_is():
    assert "a function is expected here, got an int" in softmax_check()(3).message
    called = softmax_check()(softmax_over_keys(torch.ones(2, 5))).message
    assert "got a tensor of shape (2, 5): give the function's name, without brackets" in called


def test_the_readers_function_cannot_spoil_the_inputs():
    def spoils(scores):
        weights = scores.softmax(-1)
        scores.zero_()
        return weights

    check = softmax_check()
    verdict = check(spoils)
    assert verdict.status == "wrong"
    assert "changes its argument `scores`" in verdict.message
    assert check(softmax_over_keys).status == "right"


def test_symptoms_speak_when_no_mistake_matches():
    negative = Symptom("negative", lambda out, want, given: bool((out < 0).any()), "below 0")
    check = softmax_check(symptoms=[negative])
    assert check(lambda s: s.softmax(-1) - 0.5 * s).mistake == "negative"
    assert check(softmax_over_queries).mistake == "wrong axis"
    assert "the last row is missing, or several" in check(lambda s: s.softmax(-1)[:2]).message


def test_symptoms_that_meet_another_kind_of_result_stay_silent():
    broken = Symptom("sum", lambda out, want, given: out.sum() > 0, "never said")
    assert "a text" in softmax_check(symptoms=[broken])(lambda s: "text").message


def test_random_functions_see_the_same_numbers():
    def drops(scores):
        return torch.nn.functional.dropout(scores, 0.5)

    assert softmax_check(reference=drops)(lambda s: torch.nn.functional.dropout(s, p=0.5))


def test_checks_leave_the_random_state_alone():
    torch.manual_seed(1)
    expected = torch.rand(1)
    torch.manual_seed(1)
    softmax_check()(lambda s: torch.rand(3, 5))
    assert torch.rand(1) == expected


def test_verdicts_are_the_same_at_every_run():
    first = str(softmax_check()(torch.rand_like))
    torch.rand(1)
    assert str(softmax_check()(torch.rand_like)) == first


def test_a_check_without_cases_or_with_twin_names_is_refused():
    with pytest.raises(ValueError, match="at least one case"):
        softmax_check(cases=[])
    with pytest.raises(ValueError, match="names of mistakes must differ"):
        softmax_check(mistakes=[OVER_QUERIES, OVER_QUERIES])


def test_cases_of_fixed_values_and_drawn_tensors():
    """Values are copies, so that one call cannot spoil the next; a tuple is a shape."""
    numbers = [3, 1, 2]
    check = softmax_check(cases=[fixed("numbers", numbers), drawn("a matrix", (2, 3), "post")])
    first, second = check.arguments()
    first.positional[0].sort()
    assert check.arguments()[0].positional == (numbers,)
    assert second.positional[0].shape == (2, 3)
    assert second.positional[1] == "post"
    torch.testing.assert_close(check.arguments()[1].positional[0], second.positional[0])
