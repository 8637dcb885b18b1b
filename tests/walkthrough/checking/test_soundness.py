"""The proof that a check is sound rejects checks that are not."""

import pytest
import torch
from softmax_check import (
    OVER_QUERIES,
    not_written,
    softmax_check,
    softmax_over_keys,
    softmax_over_queries,
)
from soundness import assert_check_is_sound

from walkthrough.checking import Case, Mistake, arguments


def test_a_sound_check_passes_the_proof():
    assert_check_is_sound(softmax_check())


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"reference": lambda scores: None}, "rejects its own reference"),
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
            {"mistakes": [Mistake("typing error", lambda scores: score.exp(), "never so")]},
            "'typing error' of 'softmax over the keys' answers no case: .*NameError",
        ),
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
