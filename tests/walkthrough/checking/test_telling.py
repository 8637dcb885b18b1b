"""The cases are named, and what is small is written as one would write it."""

import pytest
import torch

from walkthrough.checking.lists import list_described
from walkthrough.checking.telling import cases_said, example, smallest, written


def test_three_cases_are_named_and_more_are_counted():
    said = cases_said([(label, label in "abcd") for label in "abcdefg"])
    assert said == "right for 4 of 7 inputs; wrong for e, f and g"


def test_small_values_are_written_out():
    assert written([1 / 3, None, (2,), ("a", 3)]) == "[0.33333, None, (2,), ('a', 3)]"
    assert written(torch.tensor([[1 / 3, 2.0]])) == "[[0.333, 2]]"
    assert written(torch.tensor([True, False] * 6)) == f"[{', '.join('10' * 6)}]"
    for large in (torch.zeros(13), torch.zeros(1, 1, 1), [{}]):
        assert written(large) is None
    assert example(abs, {"x": 1}, "a" * 40, "b" * 40) is None


def test_the_example_is_the_smallest_case():
    for more, less in ([7], 7), ("ab", 7), (torch.ones(3), "ab"), ({"a": [1, 2]}, [1, 2]):
        assert smallest([{"x": more}, {"x": less}]) == 1


@pytest.mark.parametrize(
    ("mine", "wanted", "said"),
    [
        ("AB", "ab", "the text is right but for capital letters"),
        ("a b", "ab", "the text is right but for spaces"),
        (["b", "c"], ["a", "b", "c"], "the first entry is missing, or several of them; the rest"),
        (["a", "c"], ["a", "b", "c"], "some entries are missing; those that are there are right"),
        (["a", "x", "b"], ["a", "b"], "there are entries that do not belong; the expected ones"),
        ([["a"], ["b"]], [["a", "b"]], "the right entries, in other groups or in another order"),
        ([2, [4]], [1, [3]], "every number is 1 larger than expected"),
        ([0, [2]], [1, [3]], "every number is 1 smaller than expected"),
        (["a", "c"], ["a", "b"], "None"),
        ("ab", ["a", "b"], "None"),
    ],
)
def test_what_is_seen_of_a_wrong_list_is_told(mine, wanted, said):
    assert str(list_described([(mine, wanted)])).startswith(said)
