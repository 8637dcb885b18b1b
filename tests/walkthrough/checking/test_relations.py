"""Relations are told where they hold in every case, and never by chance."""

import math
import signal
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
import torch
import torch.nn.functional as F
from softmax_check import softmax_check

from walkthrough.checking import Case, Check, arguments, drawn, fixed

PLAIN = softmax_check(mistakes=[], reference=lambda scores: scores.softmax(-1))
LOGARITHM = Check(
    name="logarithm",
    reference=lambda x: math.log(x),
    cases=[fixed(f"x = {x}", x) for x in (0.5, 3.0, 7.0, 1.5)],
)
SINE = Check(name="sine", reference=torch.sin, cases=[drawn(str(n), (n, 4, 5)) for n in (3, 6, 7)])
POSITIVE = Check(
    name="positive",
    reference=lambda x: x > 0,
    cases=[drawn(f"{n} × {n}", (n, n)) for n in (3, 4, 5)],
)
SORTED = Check(
    name="sorted",
    reference=sorted,
    cases=[fixed("four", [3, 1, 2, 9]), fixed("five", [5, 8, 4, 7, 6]), fixed("two", [2, 1])],
)


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (lambda s: 2 * s.softmax(-1), "every value is 2 times the expected one"),
        (lambda s: len(s) * s.softmax(-1), "times a number, another in each case: 3, 4, 6"),
        (lambda s: s.softmax(-1) + 0.25, "the expected one plus 0.25"),
        (lambda s: 1.001 * s.softmax(-1), "every value is 1.001 times the expected one"),
        (lambda s: 99 - (s.softmax(-1) + 99), "opposite sign"),  # but for rounding
        (lambda s: 1 - s.softmax(-1), "taken from 1: 1 minus it"),
        (lambda s: 1 / s.softmax(-1), "upside down"),
        (lambda s: s.softmax(-1).log(), "as its logarithm"),
        (lambda s: s.softmax(-1).round(decimals=1), "rounded to one decimal"),
        (lambda s: s.softmax(-1).round(decimals=2), "rounded to two decimals"),
        (lambda s: s.softmax(-1).T, "rows and columns are exchanged"),
        (lambda s: s.softmax(-1).roll(1, -1), "every column stands one place too late"),
        (lambda s: s.softmax(-1).flip(0), "turned round: the last row comes first"),
        (lambda s: F.pad(s.softmax(-1), (1, 0))[:, :-1], "every column stands one place too late"),
        (lambda s: s.softmax(-1)[3:], "the first row is missing"),
        (lambda s: s.softmax(-1)[:-3], "the last row is missing"),
        (lambda s: torch.cat([s[:1], s.softmax(-1)]), "one row too many comes first"),
        (lambda s: torch.cat([s.softmax(-1), s[:1]]), "one row too many comes last"),
        (lambda s: s.softmax(-1)[[1, 2, 0, *range(3, len(s))]], "there, but in another order"),
        (
            lambda s: s.softmax(-1)[None],
            "the shape is not (the shape should be (3, 5), yours is (1",
        ),
        (lambda s: s.softmax(-1).flatten(), "in the right order, the shape is not"),
        (lambda s: s, "`s` itself, unchanged"),
        (lambda s: 0 * s, "your result is 0 everywhere, whatever the arguments are"),
        (
            lambda s: s.softmax(-1) / (torch.arange(len(s)) > 0)[:, None],
            "your result is infinite in the first row only; the rest is right",
        ),
        (lambda s: s.softmax(-1) * float("nan"), "NaN (not a number) everywhere"),
        (lambda s: s.softmax(-2), "values should sum to 1, and sum to 1.377 up to 1.9572"),
        (lambda s: s.softmax(-1) > 0.3, "the values should be float32, yours are bool"),
    ],
)
def test_what_is_told_of_tensors(function, words):
    verdict = PLAIN(function)
    assert verdict.status == "wrong"
    assert words in verdict.message


@pytest.mark.parametrize(
    ("check", "function", "words"),
    [
        (LOGARITHM, lambda x: -math.log(x), "opposite sign"),
        (LOGARITHM, math.log2, "every value is 1.44 times the expected one"),
        (LOGARITHM, lambda x: math.log(x) + 2, "the expected one plus 2"),
        (LOGARITHM, lambda x: 7, "your result is 7 everywhere, whatever the arguments are"),
        (LOGARITHM, lambda x: math.log(max(x, 1)), "right for x = 3.0, x = 7.0 and x = 1.5; wrong"),
        (LOGARITHM, lambda x: math.log(x) + x, "every wrong result is too large. For x"),
        (SINE, lambda x: x.sin() + (x * x).round(), "every wrong result is too large"),
        (SINE, lambda x: 1.5 * x.sin() ** 3, "in the right order, from smallest to largest"),
        (SINE, lambda x: x.sin().transpose(0, 2), "d: dimensions 0 and 2 are exchanged (the shap"),
        (SINE, lambda x: x.sin().permute(1, 2, 0), "in another order: (1, 2, 0) of the expected"),
        (SINE, lambda x: x.sin().mT.reshape(x.shape), "`reshape` cuts the row of all numbers"),
        (SINE, lambda x: x.sin().roll(-1, 2), "slice along dimension 2 (the last) stands one pl"),
        (POSITIVE, lambda x: x == x, "your result is True everywhere, whatever the arguments"),
        (POSITIVE, lambda x: x <= 0, "every truth value is inverted: True stands where False"),
        (POSITIVE, lambda x: x > -1, "True where False belongs; whatever should be True is"),
        (POSITIVE, lambda x: x > 1, "False where True belongs; whatever should be False is"),
        (POSITIVE, lambda x: x.abs() > 1, "True where False belongs, the others the reverse"),
        (POSITIVE, lambda x: (x > 0).T, "transposed: rows and columns are exchanged"),
        (SORTED, lambda x: sorted(x)[::-1], "turned round"),
        (SORTED, lambda x: sorted(x)[:-1], "the last entry is missing"),
        (SORTED, lambda x: ["first", *sorted(x)], "too many in front; those after them are right"),
        (SORTED, lambda x: [*sorted(x), "last"], "too many at the end; those before them are"),
        (SORTED, lambda x: [], "your list is empty"),
        (SORTED, lambda x: [[y] for y in sorted(x)], "in the right order, the shape is not"),
        (SORTED, lambda x: [y - 1 for y in sorted(x)], "the expected one minus 1"),
        (
            SORTED,
            lambda x: x[:2] + sorted(x[2:]),
            "but in another order. For two: `f([2, 1])` gives",
        ),
        (SORTED, lambda x: (sorted(x), x), "`f([2, 1])` gives ([1, 2], [2, 1]), and [1, 2] is ex"),
    ],
)
def test_what_is_told_of_numbers_and_lists(check, function, words):
    verdict = check(function)
    assert verdict.status == "wrong"
    assert words in verdict.message


def masked(rows):
    """A case whose mask leaves all, some or none of a row open, such as "asnss"."""
    kinds = {"a": [True] * 5, "n": [False] * 5, "s": [True, False, False, True, False]}
    mask = torch.tensor([kinds[row] for row in rows])
    return Case(rows, lambda g: arguments(torch.randn(5, 5, generator=g).round(), mask))


PLACES = Check(
    name="places",
    reference=lambda x, kept: x.sign(),
    cases=list(map(masked, ("ssans", "assns", "snsas"))),
)


def places(x, kept):
    row, column, wanted = torch.arange(5)[:, None], torch.arange(5), x.sign()
    return {
        "in the first row only": row == 0, "in every second column, from 0 on": column % 2 == 0,
        "in every column but the first": column > 0, "in every row but the last": row < 4,
        "where `kept` is False": ~kept, "where `kept` is True": kept,
        "in rows where `kept` closes everything": ~kept.any(-1, True),
        "in rows where `kept` closes something": ~kept.all(-1, True),
        "in rows where `kept` leaves everything open": kept.all(-1, True),
        "in every second row, from 1 on": row % 2 == 1,
        "above the diagonal only": row < column, "below the diagonal only": row > column,
        "where 0 is expected": wanted == 0, "where a negative number is expected": wanted < 0,
        "where a positive number is expected": wanted > 0, "on the diagonal only": row == column,
        "in row 3 only (counted from 0)": row == 3, "in the last column only": column == 4,
    }  # fmt: skip


@pytest.mark.parametrize("words", places(*PLACES.arguments()[0].positional))
def test_where_a_result_is_wrong_is_told(words):
    said = PLACES(lambda x, kept: x.sign() + places(x, kept)[words]).message
    assert said == f"your result is wrong {words}, and right everywhere else"


def test_a_mask_of_words_stands_beside_their_vectors():
    words = replace(PLACES, reference=lambda x, kept: x[..., None].expand(-1, -1, 3))
    said = words(lambda x, kept: (x + kept)[..., None].expand(-1, -1, 3)).message
    assert "wrong where `kept` is True, and right" in said


@pytest.mark.parametrize(
    ("results", "is_told"),
    [
        ([1.0, 2.0, 2.0], False),
        ([1.0, 2.0, 3.0], True),
        ([[1.0, 2.0, 3.0], [1.0, 2.0, 3.0]], False),
        ([[1.0, 2.0], [1.0, 2.0], [1.0, 2.0]], False),
        ([[1.0, 2.0], [1.0, 2.0], [1.0, 2.0, 3.0]], True),
        ([[True, True, False]] * 3, False),
        ([[True, True, False]] * 4, True),
        ([[True] * 4] * 3, False),
    ],
)
def test_a_relation_rests_on_three_cases_and_four_values_or_twelve_truth_values(results, is_told):
    cases = [fixed(f"case {n}", torch.tensor(result)) for n, result in enumerate(results)]
    check = Check(name="as it is", reference=lambda x: x, cases=cases)
    said = check(lambda x: ~x if x.dtype == torch.bool else -x).message
    assert ("opposite sign" in said or "inverted" in said) == is_told


@pytest.mark.parametrize("once", [1, 3])
def test_a_relation_that_does_not_hold_in_one_case_is_not_told(once):
    def doubled_but_once(scores):
        return scores.softmax(-1) * (2 if len(scores) != 4 else once)

    assert "2 times" not in PLAIN(doubled_but_once).message


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("draw", [torch.randn_like, torch.rand_like, PLAIN.reference])
def test_random_results_get_no_relation(seed, draw):
    def at_random(scores):
        torch.manual_seed(seed + int(1e4 * scores.abs().sum()))
        return draw(torch.randn_like(scores))

    assert "the expected one" not in PLAIN(at_random).message


def test_what_is_special_about_a_case_is_told_where_it_alone_fails():
    check = softmax_check(
        mistakes=[],
        cases=[
            drawn("3 queries, 5 keys", (3, 5)),
            Case("large scores", lambda g: arguments(torch.full((2, 2), 1e3)), "exp(1000) is ∞."),
        ],
    )
    verdict = check(lambda s: s.exp() / s.exp().sum(-1, keepdim=True))
    assert verdict.message == (
        "right for “3 queries, 5 keys”; wrong for “large scores”. exp(1000) is ∞."
    )
    assert "exp(1000)" not in check(lambda s: s + 1).message


def test_a_loop_without_an_end_is_stopped(monkeypatch):
    monkeypatch.setattr("walkthrough.checking.running.SECONDS", 0.2)

    def forever(scores):
        while len(scores) == 4:
            scores = scores + 1
        return scores.softmax(-1)

    message = PLAIN(forever).message
    assert "a loop without an end" in message
    assert message.endswith("(1 of 3 cases are right)")
    assert PLAIN(PLAIN.reference)
    assert signal.getitimer(signal.ITIMER_VIRTUAL) == (0, 0)
    assert signal.getsignal(signal.SIGVTALRM) is signal.SIG_DFL


def test_a_check_may_run_in_a_second_thread():
    with ThreadPoolExecutor() as threads:
        assert threads.submit(PLAIN, lambda s: s.softmax(-1)).result()
