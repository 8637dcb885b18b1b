"""A check sees that a function changed its arguments, tensors inside of them included."""

from dataclasses import dataclass

import pytest
import torch
from torch import nn

from walkthrough.checking import Case, Check, arguments


@dataclass
class Pair:
    first: torch.Tensor
    second: torch.Tensor


def a_tensor(generator):
    return torch.randn(3, generator=generator)


def a_module(generator):
    module = nn.BatchNorm1d(3)
    with torch.no_grad():
        module.weight.copy_(a_tensor(generator))
    return module


def check_with(make):
    """Return a check whose right answer is 1 and whose argument is what `make` makes."""
    return Check(
        name="one",
        reference=lambda given: 1,
        cases=[Case("a case", lambda generator: arguments(make(generator)))],
    )


MAKERS = {
    "tensor": a_tensor,
    "list": lambda g: [a_tensor(g), a_tensor(g)],
    "numbers": lambda g: [3, 1, 2],
    "dict": lambda g: {"weight": a_tensor(g)},
    "states": lambda g: [{"weight": a_tensor(g)}, {"weight": a_tensor(g)}],
    "dataclass": lambda g: Pair(a_tensor(g), a_tensor(g)),
    "module": a_module,
    "modules": lambda g: [a_module(g)],
    "NaN": lambda g: [torch.tensor([float("nan"), float("inf")]), float("nan")],
    "function": lambda g: lambda x: x,
    "none": lambda g: None,
}

CHANGES = [
    ("tensor", lambda x: x.mul_(2), "the caller's tensor"),
    ("tensor", lambda x: x.unsqueeze_(0), "the caller's tensor"),
    ("list", lambda x: x[1].add_(1), "`given[1]`"),
    ("list", lambda x: x.append(1), "the caller's list"),
    ("numbers", lambda x: x.sort(), "`given[0]`"),
    ("dict", lambda x: x["weight"].zero_(), "`given['weight']`"),
    ("dict", lambda x: x.update(other=1), "the caller's dictionary"),
    ("dict", lambda x: x.update(weight=2 * x["weight"]), "`given['weight']`"),
    ("states", lambda x: x[0]["weight"].add_(1), "`given[0]['weight']`"),
    ("dataclass", lambda x: x.second.zero_(), "`given.second`"),
    ("module", lambda x: x.weight.data.mul_(2), "`given.weight`"),
    ("module", lambda x: x(torch.ones(2, 3)), "`given.running_mean`"),
    ("modules", lambda x: nn.init.ones_(x[0].bias), "`given[0].bias`"),
    ("NaN", lambda x: x[0][1].zero_(), "`given[0]`"),
]


@pytest.mark.parametrize("kind", MAKERS)
def test_a_function_that_reads_its_argument_is_right(kind):
    assert check_with(MAKERS[kind])(lambda given: len(repr(given)[:1]))


@pytest.mark.parametrize(("kind", "change", "what"), CHANGES)
def test_a_change_is_found_and_its_place_named(kind, change, what):
    def function(given):
        with torch.no_grad():
            change(given)
        return 1

    verdict = check_with(MAKERS[kind])(function)
    assert verdict.mistake == "changes its input"
    assert f"changes its argument `given`: {what} is different afterwards" in verdict.message


def test_a_copy_may_be_changed():
    def on_copies(given):
        new = [{name: tensor.clone() for name, tensor in state.items()} for state in given]
        new[0]["weight"].zero_()
        return 1

    def shallow(given):
        new = [dict(state) for state in given]
        new[0]["weight"].zero_()
        return 1

    check = check_with(MAKERS["states"])
    assert check(on_copies)
    assert check(shallow).mistake == "changes its input"


def test_a_change_beside_a_wrong_result_is_told_too():
    def adds_up(given):
        given[0]["weight"] += given[1]["weight"]
        return 2

    verdict = check_with(MAKERS["states"])(adds_up)
    assert verdict.mistake is None
    assert "1 is expected, yours is 2. Besides, the function changes its arg" in verdict.message
