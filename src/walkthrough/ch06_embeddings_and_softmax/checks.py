"""The checks of chapter 06: in and out, what a tie is, and its gradient (§3.4)."""

import copy
import functools
import math
from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from walkthrough.checking import Arguments, Case, Check, Mistake, Verdict, arguments

# Exercise: a model without layers ---------------------------------------------------------------


def _states(tokens: Tensor, weight: Tensor) -> Tensor:
    return math.sqrt(weight.shape[1]) * weight[tokens]


def _without_layers(
    change: Callable[[Tensor], Tensor] = lambda states: states, dim: int = -1
) -> Callable[[Tensor, Tensor], Tensor]:
    """The model, or one whose states are changed on their way."""
    return lambda tokens, weight: torch.softmax(change(_states(tokens, weight)) @ weight.T, dim)


def _times(factor: Callable[[int, int], float]) -> Callable[[Tensor, Tensor], Tensor]:
    """The model with another factor, of V and d_model."""
    return lambda tokens, weight: torch.softmax(
        factor(*weight.shape) * weight[tokens] @ weight.T, dim=-1
    )


def _given_tokens(
    *shape: int, vocab_size: int, d_model: int, own_logit: float | None = None
) -> Callable[[torch.Generator], Arguments]:
    """Tokens and a matrix; `own_logit` is that of a word after itself, where it is given."""

    def make(generator: torch.Generator) -> Arguments:
        tokens = torch.randint(min(vocab_size, d_model), shape, generator=generator)
        weight = torch.randn(vocab_size, d_model, generator=generator) * d_model**-0.5
        if own_logit:
            weight = F.normalize(weight, dim=-1) * (own_logit / d_model**0.5) ** 0.5
        return arguments(tokens, weight)

    return make


without_layers = Check(
    name="without_layers",
    reference=_without_layers(),
    cases=[
        Case("7 words, d_model = 16", _given_tokens(2, 3, vocab_size=7, d_model=16)),
        Case("20 words, d_model = 8", _given_tokens(2, 3, vocab_size=20, d_model=8)),
        Case("as many words as components", _given_tokens(2, 3, vocab_size=6, d_model=6)),
        Case("one sentence without a batch", _given_tokens(4, vocab_size=9, d_model=6)),
        Case("a single word, of shape ()", _given_tokens(vocab_size=9, d_model=4)),
        Case("logits near 60", _given_tokens(2, 3, vocab_size=7, d_model=16, own_logit=60.0)),
    ],
    mistakes=[
        Mistake(
            "no factor",
            _times(lambda v, d: 1.0),
            "the factor √d_model is missing: on the way in the rows are multiplied by it.",
            "Why √d_model?",
        ),
        Mistake(
            "divided as in attention",
            _times(lambda v, d: d**-0.5),
            "the rows are divided by √d_model, as attention's scores are by √d_k. An embedding is "
            "multiplied: its entries are small.",
            "Why √d_model?",
        ),
        Mistake(
            "factor on both ways",
            _times(lambda v, d: d),
            "the logits are d_model times the product of two rows: either the factor lacks its "
            "root, or it stands on the way out as well. It is √d_model, on the way in.",
        ),
        Mistake(
            "root of the vocabulary",
            _times(lambda v, d: v**0.5),
            "your factor is the root of the number of words, `weight.shape[0]`. It should be the "
            "root of the number of components, `weight.shape[1]`.",
        ),
        Mistake(
            "not transposed",
            lambda tokens, weight: torch.softmax(_states(tokens, weight) @ weight, dim=-1),
            "the matrix is not transposed on the way out. Words are its rows, and the product "
            "needs them as columns. With as many words as components this passes without an error.",
        ),
        Mistake(
            "logits",
            lambda tokens, weight: _states(tokens, weight) @ weight.T,
            "these are logits: any numbers. Softmax makes probabilities of them.",
        ),
        Mistake(
            "softmax over positions",
            _without_layers(dim=-2),
            "softmax ran over the sentences or their words, which then compete with each other. "
            "At each position the words of the vocabulary compete, `dim=-1`.",
            also=(_without_layers(dim=0),),
        ),
    ],
    right="`without_layers` is right. Look which word gets the highest probability",
)

# Exercise: is it one matrix? --------------------------------------------------------------------


class TwoEnds(nn.Module):
    """An embedding and a head over 5 words of 4 components; `kind` says what they share.

    A deep copy of parameters separates memory that they share, so a copy is made anew.
    """

    def __init__(self, kind: str, numbers: Tensor) -> None:
        super().__init__()
        self.kind, self.numbers = kind, numbers
        self.embedding = nn.Embedding.from_pretrained(numbers.clone(), freeze=False)
        self.head = nn.Linear(4, 5, bias=False)
        if kind == "one parameter":
            self.head.weight = self.embedding.weight
        elif kind == "one memory":
            self.head.weight.data = self.embedding.weight.data
        elif kind == "copy":
            self.head.weight.data = self.embedding.weight.data.clone()
        elif kind == "zeros":
            for parameter in self.parameters():
                parameter.data.zero_()
        else:
            self.head.weight.data = 1.0 - 2.0 * numbers

    def __deepcopy__(self, memo: dict[int, Any]) -> "TwoEnds":
        """Return a model of the same kind, built anew."""
        return TwoEnds(self.kind, self.numbers)


class _OnFreshModels(Check):
    """Hands over a model of its own at each call: who asks an optimiser trains it."""

    def __call__(self, function: Any) -> Verdict:
        if not callable(function):
            return super().__call__(function)

        @functools.wraps(function)
        def on_a_fresh_one(model: TwoEnds) -> Any:
            return function(copy.deepcopy(model))

        return super().__call__(on_a_fresh_one)


def _two_ends(kind: str) -> Callable[[torch.Generator], Arguments]:
    return lambda generator: arguments(TwoEnds(kind, torch.randn(5, 4, generator=generator)))


EQUAL = "Equal numbers in two places go apart with the first step of training."

is_tied = _OnFreshModels(
    name="is_tied",
    reference=lambda model: model.embedding.weight is model.head.weight,
    cases=[
        Case("a model whose two ends are one parameter", _two_ends("one parameter")),
        Case("a model whose head holds a copy", _two_ends("copy"), EQUAL),
        Case("a model with two matrices of zeros", _two_ends("zeros"), EQUAL),
        Case("a model with two parameters over one memory", _two_ends("one memory")),
        Case("a model with two matrices that differ", _two_ends("other")),
    ],
    mistakes=[
        Mistake(
            "compares values",
            lambda model: torch.equal(model.embedding.weight, model.head.weight),
            "your test says yes to a copy. Equal numbers can lie in two places, and go apart with "
            "the first step of training.",
            "A copy instead of a tie",
        ),
        Mistake(
            "compares addresses",
            lambda model: model.embedding.weight.data_ptr() == model.head.weight.data_ptr(),
            "your test says yes to two parameters over one memory. A change of one is a change of "
            "the other, but the optimiser sees two: each has a gradient and a step of its own, so "
            "the matrix is moved twice. Ask whether it is one parameter.",
            "A copy instead of a tie",
        ),
        Mistake(
            "compares modules",
            lambda model: model.embedding is model.head,
            "your test says no to every model, also to one whose two ends are one parameter. If it "
            "compares the two modules: they always differ. Compare their weights.",
        ),
        Mistake(
            "always yes",
            lambda model: model.embedding.weight.shape == model.head.weight.shape,
            "your test says yes to any two matrices of the same shape.",
        ),
    ],
    right="`is_tied` is right: one parameter, one gradient, one step",
)

# Exercise: the gradient of a matrix with two uses -----------------------------------------------


def _parts_of_gradient(
    tokens: Tensor,
    targets: Tensor,
    weight: Tensor,
    *,
    there: float | None = None,
    back: float | None = None,
    taken: float = 1.0,
) -> tuple[Tensor, Tensor]:
    """Return what input and output give; `there`, `back`: √d on both ways; `taken`: y's 1."""
    factor = math.sqrt(weight.shape[1])
    states = (there or factor) * weight[tokens]
    probabilities = torch.softmax(states @ weight.T, dim=-1)
    of_logits = (probabilities - taken * F.one_hot(targets, len(weight))) / len(targets)
    way_in = torch.zeros_like(weight).index_add_(0, tokens, (back or factor) * of_logits @ weight)
    return way_in, of_logits.T @ states


def _gradient(tokens: Tensor, targets: Tensor, weight: Tensor, **changes: float) -> Tensor:
    way_in, way_out = _parts_of_gradient(tokens, targets, weight, **changes)
    return way_in + way_out


def _but(**changes: float) -> Callable[[Tensor, Tensor, Tensor], Tensor]:
    return lambda tokens, targets, weight: _gradient(tokens, targets, weight, **changes)


def _replaced(tokens: Tensor, targets: Tensor, weight: Tensor) -> Tensor:
    way_in, way_out = _parts_of_gradient(tokens, targets, weight)
    way_out[tokens] = way_in[tokens]
    return way_out


def _sentence(
    tokens: list[int], targets: list[int], size: float = 0.5, d_model: int = 4
) -> Callable[[torch.Generator], Arguments]:
    """A sentence, and a matrix of 8 words whose entries scatter by `size`."""

    def make(generator: torch.Generator) -> Arguments:
        weight = torch.randn(8, d_model, generator=generator) * size
        return arguments(torch.tensor(tokens), torch.tensor(targets), weight)

    return make


gradient = Check(
    name="gradient",
    reference=_gradient,
    cases=[
        Case("one word", _sentence([3], [5])),
        Case("one component, where the factor is 1", _sentence([0, 1, 2], [1, 2, 3], d_model=1)),
        Case(
            "a sentence with one word twice",
            _sentence([4, 6, 4, 7], [6, 4, 7, 0]),
            "`result[tokens] += …` keeps only one of the two gradients of a word that occurs "
            "twice. `index_add_` adds them.",
        ),
        Case("a word that is its own target", _sentence([2, 5], [2, 1])),
        Case("logits of tens", _sentence([1, 0, 3], [0, 3, 6], size=2.0)),
    ],
    mistakes=[
        Mistake(
            "output only",
            lambda tokens, targets, weight: _parts_of_gradient(tokens, targets, weight)[1],
            "this is what the output gives. The embedding's part is missing: the gradient goes on "
            "through the states, back to the rows of the input words.",
        ),
        Mistake(
            "input only",
            lambda tokens, targets, weight: _parts_of_gradient(tokens, targets, weight)[0],
            "this is what the embedding gives. The output's part is missing: the matrix made the "
            "logits as well.",
        ),
        Mistake(
            "no factor on the way back",
            _but(back=1.0),
            "the factor is missing on the way back: a state is √d_model times a row, so the row's "
            "gradient is √d_model times the state's.",
        ),
        Mistake(
            "no factor on the way in",
            _but(there=1.0),
            "the states are the bare rows, without the factor √d_model. (A row's gradient has it "
            "again, because a state is √d_model times a row.)",
            "Why √d_model?",
            (_but(there=1.0, back=1.0),),
        ),
        Mistake(
            "no one-hot",
            _but(taken=0.0),
            "the gradient of the logits is p − y. You leave y out, which is 1 at the right word, "
            "so nothing says which word that is.",
        ),
        Mistake(
            "tokens for targets",
            lambda tokens, targets, weight: _gradient(tokens, tokens, weight),
            "you take the input words for the right answers. The 1 is subtracted at the next word, "
            "`targets`.",
        ),
        Mistake(
            "replaced",
            _replaced,
            "`result[tokens] = …` replaces what the output gave to these rows. Both parts count: "
            "add them, with `index_add_`.",
        ),
        Mistake(
            "sum",
            lambda tokens, targets, weight: len(tokens) * _gradient(tokens, targets, weight),
            "this is the gradient of the sum over the words. The loss is their mean.",
        ),
    ],
    right="`gradient` is right: the sum of two parts, and words that occur twice count twice",
)
