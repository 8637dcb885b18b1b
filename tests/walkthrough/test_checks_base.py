"""A check accepts the right answer alone, and names the mistake it sees."""

import pytest
import torch

from walkthrough.checks import (
    Case,
    Check,
    Mistake,
    Symptom,
    ValueCheck,
    WrongValue,
    arguments,
    check_value,
)
from walkthrough.checks.compare import difference
from walkthrough.checks.soundness import assert_check_is_sound
from walkthrough.checks.verdict import COLOURS
from walkthrough.figures.style import contrast


def softmax_over_keys(scores):
    return scores.softmax(dim=-1)


def softmax_over_queries(scores):
    return scores.softmax(dim=-2)


def returns_nothing(scores):
    return None


def not_written(scores):
    raise NotImplementedError


def make_scores(generator):
    return arguments(torch.randn(3, 5, generator=generator))


def make_square_scores(generator):
    return arguments(torch.randn(4, 4, generator=generator))


OVER_QUERIES = Mistake(
    "wrong axis",
    softmax_over_queries,
    "these weights sum to 1 over queries: softmax ran over the wrong axis",
)
NOT_NORMALISED = Mistake("no sum", torch.exp, "these weights do not sum to 1")


def softmax_check(**changes):
    settings = {
        "name": "softmax over the keys",
        "reference": softmax_over_keys,
        "cases": [Case("3 queries, 5 keys", make_scores), Case("a square", make_square_scores)],
        "mistakes": [OVER_QUERIES, NOT_NORMALISED],
    }
    return Check(**{**settings, **changes})


def test_right_answer_in_other_words_is_right():
    verdict = softmax_check()(lambda scores: scores.exp() / scores.exp().sum(-1, keepdim=True))
    assert verdict.status == "right"
    assert verdict
    assert str(verdict) == "✓ softmax over the keys: right (inputs tried: 2)"


def test_known_mistake_is_named():
    verdict = softmax_check()(lambda s: s.exp() / s.exp().sum(-2, keepdim=True))
    assert not verdict
    assert verdict.mistake == "wrong axis"
    assert str(verdict) == f"✗ {OVER_QUERIES.say}"


def test_a_sound_check_passes_the_proof():
    assert_check_is_sound(softmax_check())


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"reference": returns_nothing}, "rejects its own reference"),
        (
            {"reference": lambda scores: scores @ scores},
            "must answer every case; for 3 queries, 5 keys it stops with RuntimeError: mat1",
        ),
        ({"reference": not_written}, "stops with NotImplementedError"),
        ({"mistakes": []}, "knows no mistake"),
        ({"mistakes": [Mistake("none", softmax_over_keys, "…")]}, "does not reject 'none'"),
        (
            {"mistakes": [OVER_QUERIES, Mistake("twin", softmax_over_queries, "other words")]},
            "'twin'",
        ),
        ({"tolerance": 10.0}, "does not reject"),
        (
            {
                "cases": [Case("one key", lambda g: arguments(torch.randn(1, 1, generator=g)))],
            },
            "does not reject 'wrong axis'",
        ),
    ],
)
def test_the_proof_rejects_unsound_checks(changes, words):
    with pytest.raises(AssertionError, match=words):
        assert_check_is_sound(softmax_check(**changes))


@pytest.mark.parametrize("stub", [None, ..., returns_nothing, not_written])
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


def test_wrong_number_of_arguments_is_explained():
    verdict = softmax_check()(lambda scores, mask: scores)
    assert "`f(…)`" in verdict.message
    assert "`(scores, mask)`" in verdict.message


def test_not_a_function():
    assert "a function is expected" in softmax_check()(3).message


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


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (lambda s: s.softmax(-1)[:2], "the shape should be (3, 5), yours is (2, 5)"),
        (lambda s: s.softmax(-1) * 2, "every value is 2 times the expected one"),
        (lambda s: s.softmax(-1) + 0.25, "every value is the expected one plus 0.25"),
        (lambda s: s.softmax(-1) * float("nan"), "15 of 15 values are NaN"),
        (lambda s: s.softmax(-1) > 0.1, "the values should be float32, yours are bool"),
        (lambda s: "text", "a tensor of shape (3, 5) is expected, your result is a text"),
        (lambda s: s.softmax(-1).tolist(), "a tensor of shape (3, 5) is expected, your result is"),
        (lambda s: s.softmax(-1).numpy(), "your result is an array of NumPy"),
        (lambda s: s.softmax(-1) + torch.eye(5)[:3], "the largest difference is 1, at ["),
        (lambda s: s.softmax(-1) if len(s) == 3 else None, "a square your function returns nothi"),
        (lambda s: s.softmax(-1) if len(s) == 4 else s, "(1 of 2 cases are right)"),
    ],
)
def test_unknown_mistakes_are_described(function, words):
    verdict = softmax_check()(function)
    assert verdict.status == "wrong"
    assert verdict.mistake is None
    assert words in verdict.message


def test_transposed_results_are_recognised():
    check = softmax_check(cases=[Case("a square", make_square_scores)])
    assert "transposed" in check(lambda s: s.softmax(-1).T).message


def test_symptoms_speak_when_no_mistake_matches():
    negative = Symptom("negative", lambda out, want, given: bool((out < 0).any()), "below 0")
    check = softmax_check(symptoms=[negative])
    assert check(lambda s: s.softmax(-1) - 0.5 * s).mistake == "negative"
    assert check(softmax_over_queries).mistake == "wrong axis"
    assert "shape" in check(lambda s: s.softmax(-1)[:2]).message


def test_symptoms_that_meet_another_kind_of_result_stay_silent():
    broken = Symptom("sum", lambda out, want, given: out.sum() > 0, "never said")
    assert "a text" in softmax_check(symptoms=[broken])(lambda s: "text").message


def test_ids_are_whole_numbers():
    """Floats of the right value cannot look up a row; whole numbers may be of any size."""
    check = softmax_check(reference=lambda scores: scores.argsort(), mistakes=[])
    assert check(lambda s: s.argsort().int())
    words = check(lambda s: s.argsort().float()).message
    assert "whole numbers are expected (int64), yours are float32" in words


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ("8", "a number is expected, yours is the text '8': leave out the quotes"),
        ("eight", "a number is expected, yours is the text 'eight'"),
        ([8], "a number is expected, your result is a list"),
        (torch.tensor([8]), "a number is expected, yours has the shape (1,)"),
        (True, "a number is expected, yours is True"),
        (7, "8 is expected, yours is 7"),
    ],
)
def test_another_kind_of_answer_than_a_number_is_named(answer, words):
    check = softmax_check(reference=lambda scores: 8, mistakes=[])
    assert check(lambda scores: torch.tensor(8.0))
    assert check(lambda scores: answer).message.removeprefix("for 3 queries, 5 keys: ") == words


def test_another_kind_of_answer_than_a_truth_value_is_named():
    check = softmax_check(reference=lambda scores: True, mistakes=[])
    assert check(lambda scores: (scores == scores).all())
    assert "True or False is expected, yours is 1" in check(lambda scores: 1).message
    quoted = check(lambda scores: "True").message
    assert "True or False is expected, yours is the text 'True': leave out the quotes" in quoted
    assert "True is expected, yours is False" in check(lambda scores: False).message


@pytest.mark.parametrize(
    ("answer", "expected", "words"),
    [
        (1953, 1953.125, "1953.1 is expected, yours is 1953"),
        (0.868, 0.86806, "0.8681 is expected, yours is 0.868"),
        (1 / 3, 1 / 4, "0.25 is expected, yours is 0.333"),
        (torch.tensor([1.0, 2, 3, 4.001]), torch.tensor([1.0, 2, 3, 4]), "4 is expected, yours"),
    ],
)
def test_two_numbers_are_said_with_the_digits_that_tell_them_apart(answer, expected, words):
    assert words in difference(answer, expected, 1e-6)


def test_float16_is_no_factor_of_one():
    expected = torch.linspace(0.1, 0.9, 9)
    assert "the largest difference is" in difference(expected.half(), expected, 1e-5)
    assert "every value is 1.001 times" in difference(1.001 * expected, expected, 1e-5)


def test_several_results_are_compared_one_by_one():
    def both(scores):
        return scores.softmax(-1), scores

    check = softmax_check(reference=both, mistakes=[])
    assert check(both)
    assert "in result 2: every value is 2 times" in check(lambda s: (s.softmax(-1), 2 * s)).message
    assert "2 results are expected, you return 3" in check(lambda s: (s, s, s)).message
    assert "a tuple is expected" in check(lambda s: s).message


def test_shapes_are_shown_whole():
    """Size by size they would read as many answers, and a wrong order would not show."""
    check = softmax_check(reference=lambda scores: {"weights": (2, 3, 5)}, mistakes=[])
    assert check(lambda s: {"weights": (2, 3, 5)})
    turned = check(lambda s: {"weights": (2, 5, 3)}).message
    assert "in `weights`: (2, 3, 5) is expected, yours is (2, 5, 3)" in turned
    assert "yours is (3, 5)" in check(lambda s: {"weights": (3, 5)}).message


def test_a_missing_name_is_named():
    check = softmax_check(reference=lambda scores: {"memory": 1, "logits": 2}, mistakes=[])
    assert "`logits` is missing" in check(lambda s: {"memory": 1, "logit": 2}).message
    assert "`logits` is missing" in check(lambda s: {"memory": 1}).message


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
    assert str(softmax_check()(torch.sin)) == str(softmax_check()(torch.sin))


def test_a_check_without_cases_or_with_twin_names_is_refused():
    with pytest.raises(ValueError, match="at least one case"):
        softmax_check(cases=[])
    with pytest.raises(ValueError, match="names of mistakes must differ"):
        softmax_check(mistakes=[OVER_QUERIES, OVER_QUERIES])


@pytest.mark.parametrize(
    ("function", "kind"),
    [(softmax_over_keys, "right"), (softmax_over_queries, "wrong"), (None, "none")],
)
def test_html_says_the_same_in_its_own_class(function, kind):
    verdict = softmax_check()(function)
    page = verdict._repr_html_()
    assert f'class="verdict verdict-{kind}"' in page
    assert verdict.message in page


def test_html_escapes_what_the_reader_wrote():
    page = softmax_check()(lambda s: [][0] if s is not None else "<b>")._repr_html_()
    assert "<code>" in page
    assert "<b>" not in page


@pytest.mark.parametrize("kind", COLOURS)
def test_verdicts_are_readable_in_light_and_dark(kind):
    for background, ink, edge in COLOURS[kind]:
        assert contrast(background, ink) >= 4.5
        assert contrast(background, edge) >= 2.5


SCALE = ValueCheck(
    name="the scale for d_model 512 and 8 heads",
    expected=0.125,
    mistakes=[WrongValue(512**-0.5, "that is 1/√d_model; the scale is 1/√d_k")],
)
AXIS = ValueCheck(
    name="axis",
    expected="keys",
    choices=("keys", "queries"),
    mistakes=[WrongValue("queries", "no")],
)


@pytest.mark.parametrize("check", [SCALE, AXIS])
def test_value_checks_are_sound(check):
    assert_check_is_sound(check)


def test_value_checks_say_what_is_wrong():
    assert SCALE(0.125)
    assert SCALE(torch.tensor(0.125))
    assert SCALE(512**-0.5).message.startswith("that is 1/√d_model")
    assert SCALE(0.1).message == "0.1 is too small"
    assert SCALE(None).status == "nothing yet"
    assert SCALE(float("nan")).message == "yours is NaN (not a number)"
    assert SCALE(True).message == "a number is expected, yours is True"
    words = "a number is expected, yours is the text '0.125': leave out the quotes"
    assert SCALE("0.125").message == words
    assert AXIS(" Keys ")
    assert "'heads' is not a choice here" in AXIS("heads").message
    assert "shape" in check_value(torch.ones(2), torch.ones(3)).message


def test_value_mistakes_must_be_wrong():
    with pytest.raises(ValueError, match="must differ"):
        ValueCheck(name="one", expected=1, mistakes=[WrongValue(1.0, "…")])
    with pytest.raises(ValueError, match="not one of the choices"):
        ValueCheck(name="one", expected="a", choices=("b",))


def test_check_value_reads_a_mapping():
    said = {8: "that is the number of heads"}
    assert check_value(64, 64, mistakes=said).status == "right"
    assert check_value(8, 64, mistakes=said).message == said[8]
    assert check_value(None, 64).status == "nothing yet"
    assert check_value(True, 1).status == "wrong"


def test_a_count_is_right_or_wrong():
    """A relative tolerance would let 1 050 001 parameters pass for 1 050 000."""
    assert difference(1_050_000, 1_050_000, 1e-5) is None
    assert difference(1_050_000.0, 1_050_000, 1e-5) is None
    words = difference(1_050_001, 1_050_000, 1e-5)
    assert words == "1050000 is expected, yours is 1050001"
