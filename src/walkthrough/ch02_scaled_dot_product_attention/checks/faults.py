"""The check of chapter 02 on finding a fault by experiments (§3.2.1)."""

from collections.abc import Callable

import torch
from torch import Tensor

from walkthrough.ch02_scaled_dot_product_attention.suspects import MACHINES, Attend
from walkthrough.checking import Check, Mistake, fixed


def _tensors() -> tuple[Tensor, Tensor, Tensor, Tensor]:
    generator = torch.Generator().manual_seed(0)
    query, key, _ = torch.randn(3, 6, 16, generator=generator)
    # with the identity as values, the output is the weights
    return query, key, torch.eye(6), torch.ones(6, 6, dtype=torch.bool)


def _is_random(attend: Attend) -> bool:
    given = _tensors()
    return not torch.equal(attend(*given), attend(*given))


def _wrong_axis(attend: Attend) -> bool:
    return torch.allclose(attend(*_tensors()).sum(0), torch.ones(6), atol=1e-4)


def _bad_mask(attend: Attend) -> bool:
    query, key, value, all_open = _tensors()
    causal = all_open.tril()
    weights = attend(query, key, value, causal)
    sums = weights.sum(-1)
    return bool(weights[~causal].any()) or not torch.allclose(sums, torch.ones(6), atol=1e-4)


def _bad_scale(attend: Attend) -> bool:
    query, key, value, all_open = _tensors()
    expected = (query @ key.T / query.shape[-1] ** 0.5).softmax(-1)
    return not torch.allclose(attend(query, key, value, all_open), expected, atol=1e-4)


def _differs(attend: Attend) -> bool:
    query, key, value, all_open = _tensors()
    given = query, key, value, all_open.tril()
    return not torch.allclose(attend(*given), MACHINES["C"][0](*given), atol=1e-4)


def _by(*experiments: tuple[str, Callable[[Attend], bool]]) -> Callable[[Attend], str]:
    """Return a search that makes these experiments in turn; the first to succeed is the fault."""

    def find(attend: Attend) -> str:
        return next((fault for fault, shows in experiments if shows(attend)), "fine")

    return find


_MISSED = {
    "random": "It answers differently each time. Call a machine twice with the same tensors before "
    "any other experiment.",
    "axis": "It takes its softmax over the queries. With the identity as values the output is the "
    "weights: what sums to 1, rows or columns?",
    "mask": "It does not do what the mask says. Close some keys and some not: is the weight of "
    "closed keys exactly 0, and do the open ones sum to 1? An inverted mask closes everything when "
    "you open everything.",
    "scale": "Its scale is wrong and all else is in order: the weights are only too even or too "
    "sharp. Compare them with a softmax of your own, for a d_k that is not 1 and is not the number "
    "of words.",
    "fine": "It is sound. Which of your experiments does it fail?",
}

find_fault = Check(
    name="find_fault",
    reference=_by(
        ("random", _is_random), ("axis", _wrong_axis), ("mask", _bad_mask), ("scale", _bad_scale)
    ),
    cases=[
        fixed(f"machine {name}", attend, special=_MISSED[fault])
        for name, (attend, fault) in MACHINES.items()
    ],
    mistakes=[
        Mistake(
            "always fine",
            _by(),
            "every machine is called fine. Only C is: make an experiment that a sound machine "
            "passes and a broken one does not.",
        ),
        Mistake(
            "everything is scale",
            _by(("scale", _differs)),
            "every difference is put down to the scale. One comparison tells *that* something is "
            "wrong; it takes one experiment for each fault to tell *what*.",
        ),
        Mistake(
            "everything is mask",
            _by(("random", _is_random), ("mask", _differs)),
            "random machines are found, and every other difference is put down to the mask. A "
            "wrong axis and a wrong scale show under an open mask too: try that first.",
        ),
    ],
    right="`find_fault` is right about all {n_cases} machines",
)
