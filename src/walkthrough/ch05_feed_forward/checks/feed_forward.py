"""The checks of chapter 05: the network, weights for the larger of two numbers, the cost (§3.3)."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from walkthrough.checking.base import (
    Arguments,
    Case,
    Check,
    Forbidden,
    Mistake,
    Symptom,
    arguments,
    drawn,
    fixed,
)
from walkthrough.checking.running import Raised, call
from walkthrough.checking.verdict import Verdict

# Exercise: the network from its matrices --------------------------------------------------------


def _feed_forward(x: Tensor, w1: Tensor, b1: Tensor, w2: Tensor, b2: Tensor) -> Tensor:
    return torch.relu(x @ w1 + b1) @ w2 + b2


def _given_matrices(label: str, *shape: int, d_ff: int) -> Case:
    d_model = shape[-1]
    return drawn(label, shape, (d_model, d_ff), (d_ff,), (d_ff, d_model), (d_model,))


def _large_numbers(generator: torch.Generator) -> Arguments:
    x, *matrices = _given_matrices("", 5, 4, d_ff=6).make(generator).positional
    return arguments(10 * x, *matrices)


feed_forward = Check(
    name="feed_forward",
    reference=_feed_forward,
    cases=[
        _given_matrices("5 words, d_model = 4, d_ff = 6", 5, 4, d_ff=6),
        _given_matrices("2 sentences of 3 words, d_model = 4, d_ff = 7", 2, 3, 4, d_ff=7),
        Case("5 words with large numbers", _large_numbers),
    ],
    mistakes=[
        Mistake(
            "no ReLU",
            lambda x, w1, b1, w2, b2: (x @ w1 + b1) @ w2 + b2,
            "there is no ReLU between the two products. Without it the two matrices are one.",
        ),
        Mistake(
            "ReLU at the end",
            lambda x, w1, b1, w2, b2: torch.relu((x @ w1 + b1) @ w2 + b2),
            "the ReLU stands at the end, after the second product. It belongs between the two; "
            "at the end, the output could never be negative.",
        ),
        Mistake(
            "ReLU twice",
            lambda x, w1, b1, w2, b2: torch.relu(_feed_forward(x, w1, b1, w2, b2)),
            "there is a second ReLU at the end. The output may be negative.",
        ),
        Mistake(
            "ReLU on the input",
            lambda x, w1, b1, w2, b2: (torch.relu(x) @ w1 + b1) @ w2 + b2,
            "the ReLU acts on the input. It acts on the hidden units: after the first product and "
            "its bias.",
        ),
        Mistake(
            "b1 after the ReLU",
            lambda x, w1, b1, w2, b2: (torch.relu(x @ w1) + b1) @ w2 + b2,
            "`b1` is added after the ReLU. Added before, it sets the level at which a hidden unit "
            "wakes up.",
        ),
        Mistake(
            "no b1",
            lambda x, w1, b1, w2, b2: torch.relu(x @ w1) @ w2 + b2,
            "`b1` is missing: max(0, x W1 + b1).",
        ),
        Mistake(
            "no b2",
            lambda x, w1, b1, w2, b2: torch.relu(x @ w1 + b1) @ w2,
            "`b2` is missing: it is added after the second product.",
        ),
        Mistake(
            "adds the input",
            lambda x, w1, b1, w2, b2: x + _feed_forward(x, w1, b1, w2, b2),
            "the input is added to the result. That is the residual connection around the "
            "sub-layer, and not part of it.",
        ),
        Mistake(
            "GELU",
            lambda x, w1, b1, w2, b2: F.gelu(x @ w1 + b1) @ w2 + b2,
            "this is GELU, as in BERT and GPT. The paper has max(0, ·), the ReLU.",
        ),
        Mistake(
            "softmax",
            lambda x, w1, b1, w2, b2: torch.softmax(x @ w1 + b1, dim=-1) @ w2 + b2,
            "softmax stands where the ReLU belongs: the hidden units compete and sum to 1. Here "
            "each is on its own, max(0, ·).",
        ),
        Mistake(
            "sigmoid",
            lambda x, w1, b1, w2, b2: torch.sigmoid(x @ w1 + b1) @ w2 + b2,
            "a sigmoid stands where the ReLU belongs: your hidden units lie between 0 and 1. "
            "max(0, ·) leaves what is positive as it is.",
        ),
        Mistake(
            "tanh",
            lambda x, w1, b1, w2, b2: torch.tanh(x @ w1 + b1) @ w2 + b2,
            "tanh stands where the ReLU belongs: your hidden units lie between −1 and 1. "
            "max(0, ·) leaves what is positive as it is.",
        ),
        Mistake(
            "SiLU",
            lambda x, w1, b1, w2, b2: F.silu(x @ w1 + b1) @ w2 + b2,
            "this is SiLU (Swish), as in newer models. The paper has max(0, ·), the ReLU.",
        ),
        Mistake(
            "leaky ReLU",
            lambda x, w1, b1, w2, b2: F.leaky_relu(x @ w1 + b1) @ w2 + b2,
            "this is the leaky ReLU: it lets a hundredth of what is negative pass. max(0, ·) lets "
            "nothing pass.",
        ),
        Mistake(
            "ReLU6",
            lambda x, w1, b1, w2, b2: F.relu6(x @ w1 + b1) @ w2 + b2,
            "your hidden units stop at 6 (ReLU6). max(0, ·) has no upper end.",
        ),
        Mistake(
            "softplus",
            lambda x, w1, b1, w2, b2: F.softplus(x @ w1 + b1) @ w2 + b2,
            "this is softplus, a ReLU with a round corner. The paper has max(0, ·), which is 0 "
            "below zero.",
        ),
        Mistake(
            "ELU",
            lambda x, w1, b1, w2, b2: F.elu(x @ w1 + b1) @ w2 + b2,
            "this is ELU, which goes down to −1 below zero. max(0, ·) is 0 there.",
        ),
        Mistake(
            "squared ReLU",
            lambda x, w1, b1, w2, b2: torch.relu(x @ w1 + b1) ** 2 @ w2 + b2,
            "your hidden units are squared. max(0, ·) leaves what is positive as it is.",
        ),
        Mistake(
            "b1 subtracted",
            lambda x, w1, b1, w2, b2: torch.relu(x @ w1 - b1) @ w2 + b2,
            "`b1` is subtracted. Equation 2 adds it: a unit that wakes up late has a negative one.",
        ),
        Mistake(
            "biases after the map",
            lambda x, w1, b1, w2, b2: torch.relu(x @ w1 + b1) @ (w2 + b2),
            "`b2` is added to the matrix `w2`: brackets in the wrong place. It is added to the "
            "product.",
        ),
        Mistake(
            "cut at 1",
            lambda x, w1, b1, w2, b2: (x @ w1 + b1).clamp(0, 1) @ w2 + b2,
            "your hidden units are cut off at 1 as well. max(0, ·) leaves what is positive as "
            "it is, however large.",
        ),
        Mistake(
            "normalised",
            lambda x, w1, b1, w2, b2: F.layer_norm(torch.relu(x @ w1 + b1) @ w2 + b2, x.shape[-1:]),
            "the result is normalised. Layer norm stands around the sub-layer and is not part "
            "of it.",
        ),
        Mistake(
            "absolute value",
            lambda x, w1, b1, w2, b2: (x @ w1 + b1).abs() @ w2 + b2,
            "your hidden units hold the absolute value: what is negative is turned over. The ReLU "
            "makes it 0.",
        ),
        Mistake(
            "min",
            lambda x, w1, b1, w2, b2: (x @ w1 + b1).clamp(max=0) @ w2 + b2,
            "your hidden units keep what is negative and lose what is positive. It is the other "
            "way round: max(0, ·), in PyTorch `clamp(min=0)`.",
        ),
        Mistake(
            "no biases",
            lambda x, w1, b1, w2, b2: torch.relu(x @ w1) @ w2,
            "both biases are missing: `b1` before the ReLU, `b2` after the second product.",
        ),
        Mistake(
            "b2 summed",
            lambda x, w1, b1, w2, b2: torch.relu(x @ w1 + b1) @ w2 + b2.sum(),
            "`b2` is summed up before it is added. Each component has a number of its own.",
        ),
        Mistake(
            "awake or not",
            lambda x, w1, b1, w2, b2: (x @ w1 + b1 > 0).to(x.dtype) @ w2 + b2,
            "your hidden units are 1 or 0, awake or not. The ReLU keeps how far a unit is above "
            "its level.",
        ),
    ],
    right="`feed_forward` is right, for one sentence and for a batch",
)

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
                    f"with {units} numbers in b1, {name} must have the shape {shape}; "
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


def _right_only_where(a_is_larger: bool) -> Callable[[Any, Any, Arguments], bool]:
    def shows(answer: Any, expected: Any, given: Arguments) -> bool:
        first, second = given.positional[0].pairs.T
        here = (first > second) if a_is_larger else (first < second)
        right = torch.isclose(answer, expected, rtol=1e-5, atol=1e-5)
        return bool(right[here].all() and here.any() and not right[~here].any())

    return shows


def _lifted_by_a_bias(answer: Any, expected: Any, given: Arguments) -> bool:
    """Return whether b, or a + b, gives way to a fixed number where it is far below zero."""
    first, second = given.positional[0].pairs.T
    lifted = [
        (second < -400, answer - torch.relu(first - second)),
        (first + second < -400, answer - (first - second).abs() / 2),
    ]
    return any(
        bool(below.any() and rest[below].abs().min() > 0 and rest[below].std() < 0.05)
        for below, rest in lifted
    )


def _rounded_by_a_bias(answer: Any, expected: Any, given: Arguments) -> bool:
    """Return whether small numbers have lost their last digits, as beside a large bias.

    All that is left of them are multiples of a float32 step at the bias, 2⁻¹⁶ or more.
    """
    off, steps = (answer - expected).abs().max(), answer * 2**16
    is_cut = bool((steps == steps.round()).all())
    return is_cut and bool(given.positional[0].pairs.abs().max() < 10 and 1e-5 < off < 0.1)


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


larger = OneNetworkCheck(
    name="larger",
    forbidden=[Forbidden(name, "the network has to compute it.") for name in _BY_HAND],
    reference=_by_units((1, -1, 1), (0, 1, 1), (0, -1, -1)),
    cases=[
        Case("two positive numbers", _pairs(1, 1)),
        Case("a positive and b negative", _pairs(1, -1)),
        Case("a negative and b positive", _pairs(-1, 1)),
        Case("two negative numbers", _pairs(-1, -1)),
        Case("numbers around a thousand, of both signs", _pairs(1000, -1000)),
        Case("two negative numbers around a thousand", _pairs(-1000, -1000)),
    ],
    mistakes=[
        Mistake(
            "b without its negative part",
            _by_units((1, -1, 1), (0, 1, 1)),
            "right where b is positive. Where it is negative, max(0, b) is 0 and b is lost. One "
            "more unit can bring the negative part back.",
        ),
        Mistake(
            "a without its negative part",
            _by_units((-1, 1, 1), (1, 0, 1)),
            "right where a is positive. Where it is negative, max(0, a) is 0 and a is lost. One "
            "more unit can bring the negative part back.",
        ),
        Mistake(
            "negative part added",
            _by_units((1, -1, 1), (0, 1, 1), (0, -1, 1)),
            "the unit for the negative part of b writes with the wrong sign: max(0, b) + "
            "max(0, −b) is |b|. The difference of the two is b.",
        ),
        Mistake(
            "smaller",
            _by_units((1, -1, -1), (1, 0, 1), (-1, 0, -1)),
            "this is the smaller of the two.",
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
        Mistake(
            "larger or 0",
            _by_units((1, 0, 1), (0, 1, 1)),
            "this is max(0, a) + max(0, b). The units have to compare the two: one must look at "
            "a − b.",
        ),
        Mistake(
            "sum",
            _by_units((1, 1, 1), (-1, -1, -1)),
            "this is the sum a + b. No unit compares the two: one must look at a − b.",
        ),
        Mistake(
            "mean without its negative part",
            lambda run: run([[1, 1, -1], [1, -1, 1]], [0, 0, 0], [[0.5], [0.5], [0.5]], [0]),
            "right where a + b is positive. Where it is negative, max(0, a + b) is 0 and the mean "
            "of the two is lost. It takes two units, and the distance of the two takes two more.",
        ),
        Mistake(
            "lead the wrong way",
            _by_units((-1, 1, 1), (0, 1, 1), (0, -1, -1)),
            "you add max(0, b − a) to b: what b has more than a is counted twice. Add it to a, or "
            "add max(0, a − b) to b.",
        ),
        Mistake(
            "only b",
            _by_units((0, 1, 1), (0, -1, -1)),
            "this is b, and nothing else. Add what a has more than b, 0 where it has less.",
        ),
        Mistake(
            "only a",
            _by_units((1, 0, 1), (-1, 0, -1)),
            "this is a, and nothing else. Add what b has more than a, 0 where it has less.",
        ),
        Mistake(
            "mean",
            lambda run: run([[0.5, -0.5]] * 2, [0, 0], [[1], [-1]], [0]),
            "this is the mean of the two. No unit compares them: one must look at a − b.",
        ),
        Mistake(
            "twice",
            _by_units((1, -1, 2), (0, 1, 2), (0, -1, -2)),
            "this is twice the larger of the two.",
        ),
    ],
    symptoms=[
        Symptom(
            "rounded by a bias",
            _rounded_by_a_bias,
            "nearly right: a large bias is added and taken off again, and small numbers lose their "
            "last digits. Numbers below minus that bias would be cut off altogether. The negative "
            "part needs a unit of its own.",
        ),
        Symptom(
            "lifted by a bias",
            _lifted_by_a_bias,
            "right for small numbers. A bias lifts a number over the bend only as long as it is "
            "not below minus that bias. Its negative part needs a unit of its own.",
        ),
        Symptom(
            "right where a is larger",
            _right_only_where(True),
            "right where a is the larger one, wrong where b is.",
        ),
        Symptom(
            "right where b is larger",
            _right_only_where(False),
            "right where b is the larger one, wrong where a is.",
        ),
    ],
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
        fixed("the base model and 30 words", 512, 2048, 30),
        fixed("the base model and 4096 words", 512, 2048, 4096),
        fixed("d_model 64, d_ff 100, 50 words", 64, 100, 50),
    ],
    mistakes=[
        Mistake(
            "one matrix of the network",
            _counted(network=lambda d, d_ff: d * d_ff),
            "the network is counted with one of its two matrices (or the attention twice).",
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
        ),
        Mistake(
            "scores without values",
            _counted(scores=lambda d, n: n * d),
            "the scores are counted, the product of the weights with V is not (or the other way).",
        ),
        Mistake(
            "scores of all words for one",
            _counted(scores=lambda d, n: 2 * n * n * d),
            "scores and values are counted for all n words, the other parts for one. Count "
            "everything for one word, or everything for n.",
        ),
        Mistake(
            "scores without d_model",
            _counted(scores=lambda d, n: 2 * n),
            "scores and values are counted without d_model: each of the n·n dot products takes "
            "d_model multiplications.",
        ),
        Mistake(
            "n twice, d_model never",
            _counted(scores=lambda d, n: 2 * n * n),
            "scores and values are counted as n² multiplications, without d_model, and the other "
            "parts for one word. Each of the n·n dot products takes d_model multiplications.",
        ),
        Mistake(
            "half a scores part",
            _counted(scores=lambda d, n: n),
            "scores and values are counted with n multiplications a word. Each of the n dot "
            "products of a word takes d_model of them, and there are two such products.",
        ),
        Mistake(
            "no projections",
            _counted(projections=lambda d: 0),
            "the four projections of attention are missing: W^Q, W^K, W^V and W^O.",
        ),
        Mistake(
            "one projection",
            _counted(projections=lambda d: d * d),
            "attention is counted with one projection. It has four: W^Q, W^K, W^V and W^O.",
        ),
        Mistake(
            "biases",
            lambda d_model, d_ff, length: (
                (2 * d_model * d_ff + d_model + d_ff)
                / (2 * d_model * d_ff + d_model + d_ff + 4 * d_model**2 + 2 * length * d_model)
            ),
            "you count the biases of the network. Only the matrix products count here.",
        ),
        Mistake(
            "all biases",
            lambda d_model, d_ff, length: (
                (2 * d_model * d_ff + d_model + d_ff)
                / (2 * d_model * d_ff + d_ff + 4 * d_model**2 + 5 * d_model + 2 * length * d_model)
            ),
            "you count the biases, of network and attention. Only the matrix products count here.",
        ),
        Mistake(
            "network over attention",
            lambda d_model, d_ff, length: (
                2 * d_model * d_ff / (4 * d_model**2 + 2 * length * d_model)
            ),
            "this is network divided by attention. A share is a part divided by the whole.",
        ),
        Mistake(
            "whole over part",
            lambda d_model, d_ff, length: 1 / _share(d_model, d_ff, length),
            "this is the whole divided by the part. A share is a part divided by the whole.",
        ),
        Mistake(
            "projections for one word",
            lambda d_model, d_ff, length: 2 * d_ff / (2 * d_ff + 4 * d_model / length + 2 * length),
            "the projections are counted for one word, the other parts for all n. Count everything "
            "for one word, or everything for n.",
        ),
        Mistake(
            "size of one head",
            _counted(scores=lambda d, n: n * d // 4),
            "scores and values are counted for one head of eight. The heads together are as wide "
            "as the model.",
        ),
        Mistake(
            "d_model squared in the scores",
            _counted(scores=lambda d, n: 2 * n * d * d),
            "scores and values have d_model twice. Each of the n dot products of a word takes "
            "d_model multiplications.",
        ),
        Mistake(
            "network of one word",
            lambda d_model, d_ff, length: (
                2 * d_ff / (2 * d_ff + 4 * d_model * length + 2 * length**2)
            ),
            "the network is counted for one word, the other parts for all n. Count everything "
            "for one word, or everything for n.",
        ),
        Mistake(
            "every head as wide as the model",
            _counted(projections=lambda d: 25 * d * d),
            "the projections of queries, keys and values are counted eight times. The heads "
            "together are as wide as the model: four matrices of d_model × d_model.",
        ),
        Mistake(
            "a pair",
            lambda d_model, d_ff, length: (
                _share(d_model, d_ff, length),
                1 - _share(d_model, d_ff, length),
            ),
            "you return both shares. Asked is one number, that of the network.",
        ),
        Mistake(
            "in per cent",
            lambda d_model, d_ff, length: 100 * _share(d_model, d_ff, length),
            "these are per cent. Asked is a share between 0 and 1.",
        ),
        Mistake(
            "d_ff taken for 4 d_model",
            lambda d_model, d_ff, length: _share(d_model, 4 * d_model, length),
            "`d_ff` is taken to be 4 · d_model. It is so in the paper; here it is an argument.",
        ),
        Mistake(
            "share of the attention",
            lambda d_model, d_ff, length: 1 - _share(d_model, d_ff, length),
            "this is the share of the attention. Asked is that of the feed-forward network.",
        ),
    ],
    symptoms=[
        Symptom(
            "more than the whole",
            lambda answer, expected, given: float(answer) > 2,
            "a share lies between 0 and 1, and yours is far above. Are brackets missing? "
            "`a / a + b` is 1 + b; a share is `a / (a + b)`.",
        ),
    ],
    right="`feed_forward_share` is right, for short and for long sentences",
)
