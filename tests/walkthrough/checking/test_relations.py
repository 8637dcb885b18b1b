"""Relations are found where they hold, and never by chance."""

import math

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from softmax_check import softmax_check
from wrong_tensors import attention

from walkthrough.checking import Case, Check, Mistake, arguments, drawn, fixed
from walkthrough.checking.values import ValueCheck

PLAIN = softmax_check(mistakes=[], reference=lambda scores: scores.softmax(-1))


def said(function, check=PLAIN):
    verdict = check(function)
    assert verdict.status == "wrong"
    return verdict.message


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (lambda s: 2 * s.softmax(-1), "the expected one times 2"),
        (lambda s: math.sqrt(s.shape[-1]) * s.softmax(-1), "times √5, where 5 is `s.shape[-1]`"),
        (lambda s: math.log(2) * s.softmax(-1), "times ln 2"),
        (lambda s: s.softmax(-1) + 0.25, "the expected one plus 0.25"),
        (lambda s: -s.softmax(-1), "opposite sign"),
        (lambda s: 1 / s.softmax(-1), "1 over the expected one"),
        (lambda s: s.softmax(-1).T, "rows and columns are exchanged"),
        (lambda s: s.softmax(-1).roll(1, -1), "its last column has become the first"),
        (lambda s: s.softmax(-1).flip(0), "turned round: the last row comes first"),
        (lambda s: F.pad(s.softmax(-1), (1, 0))[:, :-1], "every column stands one place too late"),
        (lambda s: s.softmax(-1)[:-1], "the last row is missing"),
        (lambda s: torch.cat([s.softmax(-1), s[:1]]), "there is a row too many at the end"),
        (lambda s: s.softmax(-1).log(), "`exp` of your result"),
        (lambda s: s, "`s` itself, unchanged"),
        (lambda s: s + 3, "`softmax` of your result over the last dimension (1)"),
        (lambda s: s.exp(), "not normalised: divided by its sum over the last dimension (1)"),
        (lambda s: s.softmax(-2), "if `softmax` runs over dimension −2"),
        (lambda s: (3 * s).softmax(-1), "if `s` is multiplied by 3"),
        (lambda s: (s * s).softmax(-1), "for the squares of `s`"),
        (lambda s: s.softmax(-1)[:1].expand(len(s), -1), "every row of your result is the first"),
        (lambda s: 0 * s, "the same number everywhere, 0"),
        (lambda s: s.softmax(-1).round(decimals=1), "rounded to 1 decimals"),
        (lambda s: s.softmax(-1)[None], "dimensions of size 1"),
        (lambda s: s.softmax(-1).flatten(), "the shape is not"),
        (lambda s: s.softmax(-1) + (torch.arange(s.shape[1]) < 1), "in the first column only"),
        (lambda s: s.softmax(-1) + torch.eye(5)[: len(s), : s.shape[1]], "on the diagonal only"),
        (lambda s: s.softmax(-1) / (torch.arange(len(s)) > 0)[:, None], "in the first row only"),
        (lambda s: F.one_hot(s.argmax(-1), s.shape[-1]).float(), "1 at the largest"),
    ],
)  # fmt: skip
def test_relations_of_tensors(function, words):
    assert words in said(function)


def test_rows_in_another_order_are_told_apart_from_rows_that_are_a_little_off():
    def shuffled(scores):
        order = torch.randperm(len(scores), generator=torch.Generator().manual_seed(3))
        return scores.softmax(-1)[order]

    assert "every row of the expected result is there, but in another order" in said(shuffled)
    assert "order" not in said(lambda scores: scores.softmax(-1).half().float())


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("kind", ["normal", "uniform", "normalised"])
def test_random_results_get_no_relation(seed, kind):
    make = {
        "normal": torch.randn_like,
        "uniform": torch.rand_like,
        "normalised": lambda s: torch.randn_like(s).softmax(-1),
    }[kind]

    def at_random(scores):
        torch.manual_seed(seed + int(1e4 * scores.abs().sum()))
        return make(scores)

    message = said(at_random)
    assert message.startswith("wrong for every input tried. For 3 queries") or (
        "over the last dimension (1) your values sum to" in message
    )


@pytest.mark.parametrize("seed", range(20))
def test_random_masks_and_counts_get_no_relation(seed):
    mask = Check(
        name="mask",
        reference=lambda n, m: torch.ones(n, m, dtype=torch.bool).tril(),
        cases=[fixed("4 by 4", 4, 4), fixed("3 by 5", 3, 5), fixed("5 by 3", 5, 3)],
    )
    count = Check(
        name="count",
        reference=lambda n, d, k: 4 * n * d * d + 2 * n * k,
        cases=[fixed("one", 5, 7, 11), fixed("two", 13, 8, 3), fixed("three", 6, 17, 29)],
    )
    chance = torch.Generator().manual_seed(seed)
    mine = said(lambda n, m: torch.rand(n, m, generator=chance) < 0.5, mask)
    assert mine.startswith(("wrong for every", "right for")), mine
    number = said(lambda n, d, k: int(torch.randint(100, 9999, (), generator=chance)), count)
    assert number.startswith("wrong for every input tried. For one: `f(5, 7, 11)` gives"), number


def noisy(scores):
    return scores.softmax(-1) + 0.01 * torch.sin(100 * scores)


def test_a_relation_must_hold_in_every_wrong_case():
    assert "times 2" not in said(lambda s: 2 * s.softmax(-1) if len(s) == 3 else s.softmax(-1) ** 3)
    assert said(noisy).startswith("wrong for every input tried")


def test_the_cases_are_named():
    right_once = said(lambda s: s.softmax(-1) if len(s) == 3 else noisy(s))
    assert right_once.startswith("right for 3 queries, 5 keys; wrong for a square: ")


def test_small_results_are_shown_with_their_input():
    check = Check(
        name="rounds",
        reference=lambda n, m: n + m - 1,
        cases=[fixed("5 words", 5, 2), fixed("nine words", 9, 4), fixed("one word", 1, 1)],
    )

    def rounds(n, m):
        return n + m - 1 if n == 1 else n * n + m**4

    assert said(rounds, check) == (
        "right for one word; wrong for 5 words and nine words. For 5 words: `rounds(5, 2)` gives "
        "41, and 6 is expected"
    )


def test_an_earlier_mismatch_is_not_hidden_by_a_later_exception():
    def stops_later(s):
        return 2 * s.softmax(-1) if len(s) == 3 else s @ s.T @ s[:2]

    message = said(stops_later)
    assert "every value is the expected one times 2" in message
    assert "Besides, for a square your function stops with RuntimeError" in message


def test_arguments_that_are_ignored_or_exchanged():
    check = Check(
        name="weights",
        reference=lambda query, key: attention(query, key),
        cases=[
            drawn("3 queries, 5 keys", (2, 3, 4), (2, 5, 4)),
            drawn("4 and 4", (1, 4, 6), (1, 4, 6)),
        ],
    )
    assert "if `a` and `b` are exchanged" in said(lambda a, b: attention(b, a), check)
    uniform = said(lambda a, b: torch.full((len(a), a.shape[1], b.shape[1]), 1 / b.shape[1]), check)
    assert uniform == "all entries of your result are the same number"

    def of_keys(a, b):
        return (b.sum(-1)[:, None] * 0.37).softmax(-1).expand(-1, a.shape[1], -1)

    ignores = said(of_keys, check)
    assert "does not change when `a` changes" in ignores


def variant(power=1.0, dim=-1, sign=1):
    return lambda scores: (sign * power * scores).softmax(dim)


BUILT = softmax_check(
    build=variant,
    reference=variant(),
    mistakes=[
        Mistake("axis", variant(dim=-2), "the axis is wrong", {"dim": -2}),
        Mistake("sign", variant(sign=-1), "the sign is wrong.", {"sign": -1}),
    ],
)


def test_two_mistakes_that_are_built_are_named_together():
    verdict = BUILT(lambda s: (-s).softmax(-2))
    assert verdict.mistake == "axis; sign"
    assert verdict.message == (
        "two things at once. First: the axis is wrong. Second: the sign is wrong."
    )


def test_a_mistake_and_a_relation_are_told_together():
    verdict = BUILT(lambda s: 3 * s.softmax(-2))
    assert verdict.mistake == "axis"
    assert "First: the axis is wrong. Second: every value is that one times 3" in verdict.message


def test_a_mistake_in_the_wrong_cases_only_is_named():
    verdict = BUILT(lambda s: s.softmax(-1) if len(s) == 3 else s.softmax(-2))
    assert verdict.mistake == "axis"
    assert verdict.message.startswith("right for 3 queries, 5 keys; wrong for a square: the axis")


@pytest.mark.parametrize(
    "answer", [lambda s: s.softmax(-1).numpy(), lambda s: s.softmax(-1).tolist(),
               lambda s: list(s.softmax(-1)), lambda s: np.float64(s.softmax(-1).numpy())],
)  # fmt: skip
def test_arrays_and_lists_stand_for_tensors(answer):
    assert PLAIN(answer)


def test_a_solution_that_runs_for_ever_on_other_arguments_is_stopped():
    def halvings(n, k):
        steps = 0
        while n > 1:
            n, steps = n // k, steps + 1
        return steps + 100.5 * k

    check = Check(name="steps", reference=halvings, cases=[fixed("a", 64, 2), fixed("b", 81, 3)])
    assert said(lambda n, k: n * 0.7131 + k, check).startswith("wrong for every")


@pytest.mark.parametrize(
    ("answer", "words"),
    [(0.5, "a factor of 2 off"), (25, "in per cent"), (4, "upside down"), (-0.25, "wrong sign"),
     (0.75, "1 minus this"), (1.25, "one off"), (0.0625, "square"), (0.252, "within 2 %")],
)  # fmt: skip
def test_values_are_related_without_telling_the_right_one(answer, words):
    verdict = ValueCheck(name="share", expected=0.25)(answer)
    assert words in verdict.message
    assert "0.25" not in verdict.message.replace(f"{answer}", "")


def test_nothing_that_a_reader_returns_breaks_the_search():
    shapes = [torch.zeros(0), torch.zeros(()), [[]], [[1], 2], {"a": 1}, "x", 1j, object(), [None]]
    check = Check(
        name="odd",
        reference=lambda x: x.softmax(-1),
        cases=[Case("some", lambda g: arguments(torch.randn(3, 4, generator=g)))],
    )
    for result in [*shapes, *[(x, x) for x in shapes], torch.full((3, 4), math.inf)]:
        assert check(lambda x, result=result: result).status == "wrong"


def test_one_entry_has_an_article_of_its_own():
    sums = Check(
        name="sums",
        reference=lambda x: x.cumsum(0),
        cases=[fixed("seven numbers", torch.tensor([2.5, 0.5, -1.0, 4.0, 1.5, -3.0, 0.25]))],
        mistakes=[],
        right="right",
    )
    message = said(lambda x: torch.cat([x.cumsum(0), x[:1]]), sums)
    assert "there is an entry too many at the end" in message
