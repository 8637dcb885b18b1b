"""The check of chapter 02 on finding a fault by experiments (§3.2.1)."""

from collections.abc import Callable

import torch
from torch import Tensor

from walkthrough.ch02_scaled_dot_product_attention.suspects import FAULTS, MACHINES, Attend
from walkthrough.checking.base import Arguments, Check, Mistake, Symptom, fixed


def _tensors(length: int = 6, d_k: int = 16) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    generator = torch.Generator().manual_seed(0)
    query, key, value = torch.randn(3, length, d_k, generator=generator)
    return query, key, value, torch.ones(length, length, dtype=torch.bool)


def _is_random(attend: Attend) -> bool:
    given = _tensors()
    return not torch.equal(attend(*given), attend(*given))


def _wrong_axis(attend: Attend) -> bool:
    query, key, _, all_open = _tensors()
    weights = attend(query, key, torch.eye(6), all_open)  # with the identity, output = weights
    return torch.allclose(weights.sum(0), torch.ones(6), atol=1e-4)


def _bad_mask(attend: Attend) -> bool:
    query, key, _, all_open = _tensors()
    causal = all_open.tril()
    weights = attend(query, key, torch.eye(6), causal)
    sums = weights.sum(-1)
    return bool(weights[~causal].any()) or not torch.allclose(sums, torch.ones(6), atol=1e-4)


def _bad_scale(attend: Attend) -> bool:
    query, key, _, all_open = _tensors()
    weights = attend(query, key, torch.eye(6), all_open)
    expected = (query @ key.T / query.shape[-1] ** 0.5).softmax(-1)
    return not torch.allclose(weights, expected, atol=1e-4)


Tests = tuple[tuple[str, Callable[[Attend], bool]], ...]
_ALL: Tests = (
    ("random", _is_random),
    ("axis", _wrong_axis),
    ("mask", _bad_mask),
    ("scale", _bad_scale),
)


def _by(*names: str, otherwise: str = "fine") -> Callable[[Attend], str]:
    """Return a search that only makes the experiments named, in this order."""
    tests = dict(_ALL)

    def find(attend: Attend) -> str:
        return next((name for name in names if tests[name](attend)), otherwise)

    return find


def _any_difference(attend: Attend) -> str:
    query, key, value, _ = _tensors()
    causal = torch.ones(6, 6, dtype=torch.bool).tril()
    expected = _sound(query, key, value, causal)
    same = torch.allclose(attend(query, key, value, causal), expected, atol=1e-4)
    return "fine" if same else "scale"


_sound = MACHINES["C"][0]
_MISSED = (
    (
        "random",
        "a machine that answers differently each time is put down to something else.",
        "Call it twice with the same tensors before any other experiment.",
    ),
    (
        "axis",
        "a softmax over the queries is put down to something else.",
        "With the identity as values the output is the weights: what sums to 1, rows or columns?",
    ),
    (
        "mask",
        "a machine that does not do what the mask says is put down to something else.",
        "Close some keys and some not: is the weight of closed keys exactly 0, and do the open "
        "ones sum to 1? Mind that an inverted mask closes everything when you open everything.",
    ),
    (
        "scale",
        "a wrong scale is put down to something else, or not noticed.",
        "Everything else about such a machine is in order; only the weights are too even or too "
        "sharp. Compare them with a softmax of your own, for a d_k that is not 1 and is not the "
        "number of words.",
    ),
    ("fine", "the sound machine is called broken.", "Which of your experiments does it fail?"),
)


def _missed(fault: str) -> Callable[[str, str, Arguments], bool]:
    return lambda result, expected, given: expected == fault and result != fault


find_fault = Check(
    name="find_fault",
    reference=_by("random", "axis", "mask", "scale"),
    cases=[fixed(f"machine {name}", attend) for name, (attend, _) in MACHINES.items()],
    mistakes=[
        Mistake(
            "always fine",
            _by(),
            "every machine is called fine. Only C is: make an experiment that a sound machine "
            "passes and a broken one does not.",
        ),
        Mistake(
            "random not noticed",
            _by("axis", "mask", "scale"),
            "a machine that gives another answer at each call is put down to something else. Call "
            "it twice with the same tensors before any other experiment.",
        ),
        Mistake(
            "axis not noticed",
            _by("random", "mask", "scale"),
            "softmax over the wrong axis is put down to something else. With the identity as "
            "values the output is the weights: do their columns sum to 1, where the rows should?",
        ),
        Mistake(
            "mask not noticed",
            _by("random", "axis", "scale"),
            "no broken mask is found: with an open mask nothing can be seen of it. Close some keys "
            "and ask two things: is their weight exactly 0, and do the open ones still sum to 1?",
        ),
        Mistake(
            "scale not noticed",
            _by("random", "axis", "mask"),
            "no wrong scale is found. Make the values the identity, so that the output is the "
            "weights, and compare them with a softmax of your own.",
        ),
        Mistake(
            "mask taken for scale",
            _by("random", "axis", "scale", otherwise="mask"),
            'the sound machine is called broken: where no experiment fails, the answer is "fine".',
        ),
        Mistake(
            "everything is scale",
            _any_difference,
            "every difference is put down to the scale. One comparison tells *that* something is "
            "wrong; it takes one experiment for each fault to tell *what*.",
        ),
    ],
    symptoms=[
        Symptom(
            "another word",
            lambda result, expected, given: result not in FAULTS,
            'one of the five words is expected: "fine", "scale", "axis", "mask" or "random".',
        ),
        *(
            Symptom(f"{fault} missed", _missed(fault), f"{what} {hint}")
            for fault, what, hint in _MISSED
        ),
    ],
    right="`find_fault` is right about all {n_cases} machines",
)
