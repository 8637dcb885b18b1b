"""The checks of chapter 05: weights for the larger of two numbers, the cost (§3.3)."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from walkthrough.checking import (
    Arguments,
    Case,
    Check,
    Forbidden,
    Mistake,
    Verdict,
    arguments,
    fixed,
)
from walkthrough.checking.running import Raised, call


def _feed_forward(x: Tensor, w1: Tensor, b1: Tensor, w2: Tensor, b2: Tensor) -> Tensor:
    return torch.relu(x @ w1 + b1) @ w2 + b2


# Exercise: the larger of two numbers ------------------------------------------------------------

MAX_UNITS = 3
_BY_HAND = ("max", "maximum", "fmax", "amax", "relu", "where", "clamp", "abs")


@dataclass(slots=True)
class Run:
    """What an answer is handed: it applies a network to pairs of numbers, once."""

    pairs: Tensor
    called: bool = False
    gave: Tensor | None = None

    def __call__(self, w1: Any, b1: Any, w2: Any, b2: Any) -> Tensor:
        """Return the network's output, one number for each pair.

        Raises:
            ValueError: a shape that does not fit, more than three hidden units, a second call.
        """
        if self.called:
            raise ValueError("`run` was called twice: one network has to do it alone")
        self.called = True
        matrices = [torch.as_tensor(given, dtype=torch.float32) for given in (w1, b1, w2, b2)]
        units = matrices[1].numel()
        shapes = {"w1": (2, units), "b1": (units,), "w2": (units, 1), "b2": (1,)}
        for (name, shape), matrix in zip(shapes.items(), matrices, strict=True):
            if tuple(matrix.shape) != shape:
                raise ValueError(
                    f"b1 has the size {units}, so {name} must have the shape {shape}; "
                    f"got {tuple(matrix.shape)}"
                )
        if units > MAX_UNITS:
            raise ValueError(f"at most {MAX_UNITS} hidden units are allowed; got {units}")
        self.gave = _feed_forward(self.pairs, *matrices)[:, 0]
        return self.gave.clone()


class OneNetworkCheck(Check):
    """A check that wants what `run` gives as it is: nothing computed after it."""

    def __call__(self, function: Any) -> Verdict:
        """Judge the reader's function, and what it does besides calling `run`."""
        verdict = super().__call__(function)
        if verdict.status == "nothing yet" or not callable(function):
            return verdict
        (given, *_) = self.arguments()
        answer, run = call(function, given), given.positional[0]
        if isinstance(answer, Raised):
            return verdict
        if run.gave is None:
            said = "your function never calls `run`. Hand it the four arrays: `return run(w1, …)`."
            return Verdict("wrong", said, "never runs")
        if verdict and not self.same_outcome(answer, run.gave):
            said = (
                "the result is right, but you compute after `run`. The network has to do it all: "
                "return what `run` gives as it is."
            )
            return Verdict("wrong", said, "computes after run")
        return verdict


def _pairs(*signs: int) -> Callable[[torch.Generator], Arguments]:
    """Return pairs whose numbers have these signs, each as often the larger one."""

    def make(generator: torch.Generator) -> Arguments:
        sizes = torch.rand(6, 2, generator=generator) + 0.5
        sizes = torch.cat([sizes, sizes.flip(1)])
        return arguments(Run(sizes * torch.tensor(signs)))

    return make


def _by_units(*units: tuple[int, int, int]) -> Callable[..., Tensor]:
    """Return an answer whose units are given as (weight of a, weight of b, what it writes)."""

    def answer(run: Run) -> Tensor:
        a, b, writes = zip(*units, strict=True)
        return run([a, b], [0.0] * len(units), [[value] for value in writes], [0.0])

    return answer


OWN_UNIT = (
    "A bias lifts a number over the bend only as long as it is not below minus that bias. The "
    "negative part needs a unit of its own."
)

larger = OneNetworkCheck(
    name="larger",
    forbidden=[Forbidden(name, "the network has to compute it.") for name in _BY_HAND],
    reference=_by_units((1, -1, 1), (0, 1, 1), (0, -1, -1)),
    cases=[
        Case("two positive numbers", _pairs(1, 1)),
        Case(
            "a positive and b negative",
            _pairs(1, -1),
            "Where b is negative, max(0, b) is 0: what brings its negative part back?",
        ),
        Case(
            "a negative and b positive",
            _pairs(-1, 1),
            "Where a is negative, max(0, a) is 0: what brings its negative part back?",
        ),
        Case(
            "two negative numbers",
            _pairs(-1, -1),
            "Both are cut to 0 by max(0, ·): what brings a negative part back?",
        ),
        Case("numbers around a thousand, of both signs", _pairs(1000, -1000), OWN_UNIT),
        Case("two negative numbers around a thousand", _pairs(-1000, -1000), OWN_UNIT),
    ],
    mistakes=[
        Mistake(
            "b without its negative part",
            _by_units((1, -1, 1), (0, 1, 1)),
            "right where b is positive. Where it is negative, max(0, b) is 0 and b is lost. One "
            "more unit can bring the negative part back.",
        ),
        Mistake(
            "negative part added",
            _by_units((1, -1, 1), (0, 1, 1), (0, -1, 1)),
            "the unit for the negative part of b writes with the wrong sign: max(0, b) + "
            "max(0, −b) is |b|. The difference of the two is b.",
        ),
        Mistake(
            "lead only",
            _by_units((1, -1, 1)),
            "this is max(0, a − b): by how much a is larger. It is not added to b yet.",
        ),
        Mistake(
            "distance",
            _by_units((1, -1, 1), (-1, 1, 1)),
            "this is the distance |a − b|. The larger of the two is b plus what a has more, "
            "which is 0 where a is smaller.",
        ),
    ],
    tolerance=1e-4,  # a bias of 1000 costs digits, and is wrong for another reason
    right="`larger` is right: three units, and a bend where a and b are equal",
)

# Exercise: the share of the cost ----------------------------------------------------------------


def _share(d_model: int, d_ff: int, length: int) -> float:
    network = 2 * d_model * d_ff
    return network / (network + 4 * d_model**2 + 2 * length * d_model)


def _counted(
    network: Callable[[int, int], int] = lambda d, d_ff: 2 * d * d_ff,
    projections: Callable[[int], int] = lambda d: 4 * d * d,
    scores: Callable[[int, int], int] = lambda d, n: 2 * n * d,
) -> Callable[..., float]:
    def share(d_model: int, d_ff: int, length: int) -> float:
        own = network(d_model, d_ff)
        return own / (own + projections(d_model) + scores(d_model, length))

    return share


feed_forward_share = Check(
    name="feed_forward_share",
    reference=_share,
    cases=[
        fixed("one word, d_model 1 and d_ff 1", 1, 1, 1),  # the example: 2 of 8 can be counted
        fixed("the base model and 30 words", 512, 2048, 30),
        fixed(
            "the base model and 4096 words",
            512,
            2048,
            4096,
            special="In long sentences the scores QKᵀ and the weights times V count: each takes "
            "n · d_model multiplications a word.",
        ),
        fixed(
            "d_model 64, d_ff 100, 50 words",
            64,
            100,
            50,
        ),
    ],
    mistakes=[
        Mistake(
            "one matrix of the network",
            _counted(network=lambda d, d_ff: d * d_ff),
            "the network is counted with one of its two matrices (or the attention twice).",
        ),
        Mistake(
            "d_ff of the paper",
            lambda d_model, d_ff, length: _share(d_model, 4 * d_model, length),
            "you count with d_ff = 4 · d_model, as in the paper. Here `d_ff` is an argument.",
        ),
        Mistake(
            "compared with the attention",
            lambda *sizes: _share(*sizes) / (1 - _share(*sizes)),
            "this is the network's work over the *attention's*. Its share is that of the layer: "
            "the network belongs below the line, too.",
        ),
        Mistake(
            "no W^O",
            _counted(projections=lambda d: 3 * d * d),
            "attention has four projections; W^O is missing.",
        ),
        Mistake(
            "no scores and values",
            _counted(scores=lambda d, n: 0),
            "attention is more than its projections: the scores QKᵀ and the weights times V take "
            "n·d multiplications a word each. Long sentences show it.",
            also=(_counted(scores=lambda d, n: n * d),),
        ),
        Mistake(
            "scores of all words for one",
            _counted(scores=lambda d, n: 2 * n * n * d),
            "scores and values are counted for all n words, the other parts for one. Count "
            "everything for one word, or everything for n.",
        ),
    ],
    right="`feed_forward_share` is right, for short and for long sentences",
)
