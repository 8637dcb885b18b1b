"""A wrong answer is described: its kind, its shape, its values."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
import torch
from softmax_check import softmax_check

from walkthrough.checking.compare import difference


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (lambda s: "text", "a tensor of shape (3, 5) is expected, your result is a text"),
        (lambda s: (s.softmax(-1) ** 2).softmax(-1), "the largest difference is 0."),
        (
            lambda s: s.softmax(-1) if len(s) == 4 else s,
            "right for “a square”; wrong for “3 queries, 5 keys” and “6 queries, 4 keys”: your",
        ),
    ],
)
def test_unknown_mistakes_are_described(function, words):
    verdict = softmax_check()(function)
    assert verdict.status == "wrong"
    assert verdict.mistake is None
    assert words in verdict.message


def test_ids_are_whole_numbers():
    """Floats of the right value cannot look up a row; whole numbers may be of any size."""
    check = softmax_check(reference=lambda scores: scores.argsort(), mistakes=[])
    assert check(lambda s: s.argsort().int())
    words = check(lambda s: s.argsort().float()).message
    assert "whole numbers are expected (int64), yours are float32" in words
    assert difference([3, 1], [3, 1], 1e-5) is None
    assert difference([3.0, 1.0], [3, 1], 1e-5) == "whole numbers are expected, yours are floats"


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ("8", "a number is expected, yours is the text '8': leave out the quotes"),
        ("eight", "a number is expected, yours is the text 'eight'"),
        ([8], "a number is expected, your result is a list"),
        (torch.tensor([8, 8]), "a number is expected, yours has the shape (2,)"),
        (True, "a number is expected, yours is True"),
        (7, "8 is expected, yours is 7"),
    ],
)
def test_another_kind_of_answer_than_a_number_is_named(answer, words):
    check = softmax_check(reference=lambda scores: 8, mistakes=[])
    assert check(lambda scores: torch.tensor(8.0))
    assert check(lambda scores: torch.tensor([8]))
    assert check(lambda scores: answer).message.endswith(words)


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


def test_several_results_are_compared_one_by_one():
    def both(scores):
        return scores.softmax(-1), scores

    check = softmax_check(reference=both, mistakes=[])
    assert check(both)
    assert (
        "in result 2: every value is 2 times the expected one"
        in check(lambda s: (s.softmax(-1), 2 * s)).message
    )
    assert "2 results are expected, you return 3" in check(lambda s: (s, s, s)).message
    assert "a tuple is expected" in check(lambda s: s).message


def test_lists_are_compared_item_by_item_and_the_index_said():
    """Counted from 0, as the reader would index; and one list is not many results."""
    assert difference((3, 1), [3, 1], 1e-5) is None
    assert difference([3, 2], [3, 1], 1e-5) == "at [1]: 1 is expected, yours is 2"
    assert difference([[3], [4]], [[3], [5]], 1e-5) == "at [1]: at [0]: 5 is expected, yours is 4"
    assert difference([3, 1, 2], [3, 1], 1e-5) == "a list of 2 is expected, yours has 3"


def test_shapes_are_shown_whole():
    """Size by size they would read as many answers, and a wrong order would not show."""
    check = softmax_check(reference=lambda scores: {"weights": (2, 3, 5)}, mistakes=[])
    assert check(lambda s: {"weights": (2, 3, 5)})
    turned = check(lambda s: {"weights": (2, 5, 3)}).message
    assert "in `weights`: (2, 3, 5) is expected, yours is (2, 5, 3)" in turned
    assert (
        "(2, 3, 5) is expected, yours is (3, 5): the first entry is missing"
        in check(lambda s: {"weights": (3, 5)}).message
    )


def test_a_missing_name_is_named():
    check = softmax_check(reference=lambda scores: {"memory": 1, "logits": 2}, mistakes=[])
    assert "`logits` is missing" in check(lambda s: {"memory": 1, "logit": 2}).message
    assert "`logits` is missing" in check(lambda s: {"memory": 1}).message
    too_many = check(lambda s: {"memory": 1, "logits": 2, "loss": 3}).message
    assert "`loss` does not belong there" in too_many


def test_sets_are_told_what_is_missing_or_too_much_the_same_at_every_run():
    check = softmax_check(reference=lambda scores: {"(S", "(VP"}, mistakes=[])
    assert check(lambda s: frozenset(("(VP", "(S")))
    assert "`(S` is missing" in check(lambda s: {"(NP"}).message
    assert "`(NP` does not belong there" in check(lambda s: {"(VP", "XX", "(S", "(NP"}).message


def test_a_count_is_right_or_wrong():
    """A relative tolerance would let 1 050 001 parameters pass for 1 050 000."""
    assert difference(1_050_000, 1_050_000, 1e-5) is None
    assert difference(1_050_000.0, 1_050_000, 1e-5) is None
    assert difference(5e-6, 0.0, 1e-5) is None
    words = difference(1_050_001, 1_050_000, 1e-5)
    assert words == "1050000 is expected, yours is 1050001"


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (Fraction(1, 3), 1 / 3),
        (Decimal("0.5"), 0.5),
        (np.float32(3.0), 3),
        (np.int64(3), 3.0),
        (16_777_217.0, 16_777_217),  # float32 has no such number
    ],
)
def test_other_kinds_of_numbers_may_be_right(answer, expected):
    assert difference(answer, expected, 1e-6) is None


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (16_777_217.0, "16777216 is expected, yours is 16777217"),  # alike in float32
        (10**30, "16777216 is expected, yours is 1e+30"),
        (2**63, "16777216 is expected, yours is 9.22e+18"),
        (10**400, "16777216 is expected, yours is 1e+308"),
        (-(10**400), "16777216 is expected, yours is -1e+308"),
        (2j, "a number is expected, yours is the complex number 0+2j"),
        (np.array("a"), "a number is expected, your result is an array of NumPy"),
        (np.array([1, None]), "a number is expected, your result is an array of NumPy"),
    ],
)
def test_wrong_numbers_of_any_kind_and_size_are_described(answer, words):
    assert difference(answer, 16_777_216, 0.0) == words


def test_complex_values_are_named():
    said = difference(torch.ones(2, dtype=torch.complex64), torch.ones(2), 1e-5)
    assert said == "the values should be float32, yours are complex64"


@pytest.mark.parametrize("number", [float("inf"), float("-inf"), float("nan")])
def test_equal_infinities_are_no_difference(number):
    mine, wanted = torch.tensor([1.0, number, 3.0, 4.0]), torch.tensor([1.0, number, 3.0, 5.0])
    assert difference(wanted, wanted.clone(), 1e-5) is None
    assert "at [3]: 5 is expected, yours is 4" in difference(mine, wanted, 1e-5)


def test_minus_zero_is_said_as_zero():
    assert difference(torch.tensor(0.5), torch.tensor(-0.0), 1e-5) == "0 is expected, yours is 0.5"


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (frozenset("ab"), {"a", "b"}),
        ({"a": 1, "b": 2}.keys(), {"a", "b"}),
        (np.array(["a", "b"]), ["a", "b"]),
        (np.array([1, 2]), [1, 2]),
    ],
)
def test_texts_in_another_container_may_be_right(answer, expected):
    assert difference(answer, expected, 1e-5) is None


def test_other_texts_in_another_container_are_wrong():
    assert difference(frozenset("ac"), {"a", "b"}, 1e-5)
    assert "at [1]" in difference(np.array(["a", "c"]), ["a", "b"], 1e-5)


def test_ids_are_right_or_wrong_and_nan_is_right_where_it_is_expected():
    ids = torch.tensor([1_000_000, 7])
    assert "1000000 is expected, yours is 1000001" in difference(ids + ids // 1_000_000, ids, 1e-3)
    wanted = torch.tensor([[float("nan"), 1.0, 2.0]])
    assert difference(wanted.clone(), wanted, 1e-5) is None
    assert "2 is expected, yours is 2.5" in difference(wanted + wanted // 2 / 2, wanted, 1e-5)
