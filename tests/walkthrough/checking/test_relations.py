"""Relations are told where they hold in every case, and never by chance."""

import math

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
        (lambda s: -s.softmax(-1), "opposite sign"),
        (lambda s: 1 / s.softmax(-1), "upside down"),
        (lambda s: s.softmax(-1).log(), "as its logarithm"),
        (lambda s: s.softmax(-1).round(decimals=1), "rounded to one decimal"),
        (lambda s: s.softmax(-1).T, "rows and columns are exchanged"),
        (lambda s: s.softmax(-1).roll(1, -1), "every column stands one place too late"),
        (lambda s: s.softmax(-1).flip(0), "turned round: the last row comes first"),
        (lambda s: F.pad(s.softmax(-1), (1, 0))[:, :-1], "every column stands one place too late"),
        (lambda s: s.softmax(-1)[:-1], "the last row is missing"),
        (lambda s: torch.cat([s.softmax(-1), s[:1]]), "one row too many comes last"),
        (lambda s: s.softmax(-1)[[1, 2, 0, *range(3, len(s))]], "there, but in another order"),
        (
            lambda s: s.softmax(-1)[None],
            "the shape is not (the shape should be (3, 5), yours is (1",
        ),
        (lambda s: s.softmax(-1).flatten(), "in the right order, the shape is not"),
        (lambda s: s, "`s` itself, unchanged"),
        (lambda s: 0 * s, "your result is 0 everywhere, whatever the arguments are"),
        (lambda s: s.softmax(-1)[:1].expand(len(s), -1), "in every row but the first"),
        (lambda s: s.softmax(-1) + torch.eye(6)[: len(s), : s.shape[1]], "on the diagonal only"),
        (
            lambda s: s.softmax(-1) / (torch.arange(len(s)) > 0)[:, None],
            "your result is infinite in the first row only; the rest is right",
        ),
        (lambda s: s.softmax(-1) * float("nan"), "NaN (not a number) everywhere"),
        (lambda s: s.softmax(-2), "over dimension -1 your values should sum to 1, and sum to 1.38"),
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
        (SORTED, lambda x: [y + 1 for y in sorted(x)], "the expected one plus 1"),
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


def masks(*shape):
    def make(generator):
        mask = torch.rand(*shape, generator=generator) > 0.5
        mask[shape[0] - 2] = False
        return arguments(torch.randn(*shape, 6, generator=generator), mask)

    return Case(f"{shape}", make)


def test_where_a_mask_is_closed_is_told():
    """A mask of words stands beside the words' vectors, one of pairs beside their weights."""
    words = Check(
        name="words",
        reference=lambda x, kept: x * kept[..., None],
        cases=[masks(2, 5), masks(3, 4), masks(4, 7)],
    )
    assert (
        "wrong where `kept` is False, and right"
        in words(lambda x, kept: 1 * x + ~kept[..., None]).message
    )
    rows = Check(
        name="rows",
        reference=lambda x, kept: kept * x[..., 0],
        cases=words.cases,
    )
    ones = rows(lambda x, kept: torch.where(kept.any(-1, True), kept * x[..., 0], 1.0))
    assert "in rows where `kept` closes everything" in ones.message


@pytest.mark.parametrize("n_cases", [1, 2])
def test_a_relation_needs_three_cases(n_cases):
    check = softmax_check(mistakes=[], cases=PLAIN.cases[:n_cases])
    assert "times the expected" not in check(lambda s: 2 * s.softmax(-1)).message


def test_a_relation_that_does_not_hold_in_one_case_is_not_told():
    def doubled_but_once(scores):
        return scores.softmax(-1) * (2 if len(scores) != 4 else 3)

    assert "2 times" not in PLAIN(doubled_but_once).message


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("kind", ["normal", "uniform", "normalised"])
def test_random_results_get_no_relation(seed, kind):
    draw = {
        "normal": torch.randn_like,
        "uniform": torch.rand_like,
        "normalised": lambda s: torch.randn_like(s).softmax(-1),
    }[kind]

    def at_random(scores):
        torch.manual_seed(seed + int(1e4 * scores.abs().sum()))
        return draw(scores)

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
        "right for 3 queries, 5 keys; wrong for large scores. exp(1000) is ∞."
    )
    assert "exp(1000)" not in check(lambda s: s + 1).message


def test_a_loop_without_an_end_is_stopped(monkeypatch):
    monkeypatch.setattr("walkthrough.checking.running.SECONDS", 0.2)

    def forever(scores):
        while True:
            scores = scores + 1

    verdict = PLAIN(forever)
    assert verdict.status == "wrong"
    assert "a loop without an end?" in verdict.message
