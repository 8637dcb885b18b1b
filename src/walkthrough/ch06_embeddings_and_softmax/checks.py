"""The checks of chapter 06: in and out, what a tie is, its gradient, the size of logits (§3.4)."""

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from walkthrough.checking.base import Arguments, Case, Check, Mistake, Symptom, arguments, fixed

# Exercise: a model without layers ---------------------------------------------------------------


def _logits(tokens: Tensor, weight: Tensor) -> Tensor:
    return math.sqrt(weight.shape[1]) * weight[tokens] @ weight.T


def _without_layers(tokens: Tensor, weight: Tensor) -> Tensor:
    return torch.softmax(_logits(tokens, weight), dim=-1)


def _given_tokens(
    *shape: int, vocab_size: int, d_model: int
) -> Callable[[torch.Generator], Arguments]:
    def make(generator: torch.Generator) -> Arguments:
        tokens = torch.randint(min(vocab_size, d_model), shape, generator=generator)
        weight = torch.randn(vocab_size, d_model, generator=generator) * d_model**-0.5
        return arguments(tokens, weight)

    return make


def _times(factor: Callable[[int, int], float]) -> Callable[[Tensor, Tensor], Tensor]:
    """Return an answer whose logits have another factor, of V and d_model."""
    return lambda tokens, weight: torch.softmax(
        factor(*weight.shape) * weight[tokens] @ weight.T, dim=-1
    )


def _sharpness(answer: Tensor, expected: Tensor) -> float:
    """Return the constant by which the answer's logits are multiplied; NaN where there is none."""
    mine, wanted = (p.log() - p.log().mean(-1, keepdim=True) for p in (answer, expected))
    times = (mine * wanted).sum() / wanted.square().sum()
    return float(times) if torch.allclose(mine, times * wanted, atol=1e-3) else math.nan


without_layers = Check(
    name="without_layers",
    reference=_without_layers,
    cases=[
        Case("7 words, d_model = 16", _given_tokens(2, 3, vocab_size=7, d_model=16)),
        Case("20 words, d_model = 8", _given_tokens(2, 3, vocab_size=20, d_model=8)),
        Case("as many words as components", _given_tokens(2, 3, vocab_size=6, d_model=6)),
        Case("one sentence without a batch", _given_tokens(4, vocab_size=9, d_model=6)),
    ],
    mistakes=[
        Mistake(
            "cosines",
            lambda tokens, weight: torch.softmax(
                weight.shape[1] ** 0.5
                * nn.functional.normalize(weight, dim=-1)[tokens]
                @ nn.functional.normalize(weight, dim=-1).T,
                dim=-1,
            ),
            "the rows were brought to length 1 first. A logit is the plain product with the "
            "row, and a longer row gets larger ones.",
        ),
        Mistake(
            "the word itself left out",
            lambda tokens, weight: torch.softmax(
                (weight.shape[1] ** 0.5 * weight[tokens] @ weight.T).scatter(
                    -1, tokens[..., None], float("-inf")
                ),
                dim=-1,
            ),
            "the input word gets no probability. Nothing forbids it: its own row is one of all.",
        ),
        Mistake(
            "no factor",
            _times(lambda v, d: 1.0),
            "the factor √d_model is missing: on the way in the rows are multiplied by it.",
        ),
        Mistake(
            "divides",
            _times(lambda v, d: d**-0.5),
            "the rows are divided by √d_model. They are small already; the factor multiplies.",
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
            "columns",
            lambda tokens, weight: torch.softmax(
                math.sqrt(weight.shape[1]) * weight.T[tokens] @ weight, dim=-1
            ),
            "you pick columns of the matrix. A word is a row.",
        ),
        Mistake(
            "not transposed",
            lambda tokens, weight: torch.softmax(
                math.sqrt(weight.shape[1]) * weight[tokens] @ weight, dim=-1
            ),
            "the matrix is not transposed on the way out. Words are its rows, and the product "
            "needs them as columns. With as many words as components this passes without an error.",
        ),
        Mistake(
            "normalised rows",
            lambda tokens, weight: torch.softmax(
                math.sqrt(weight.shape[1])
                * nn.functional.normalize(weight[tokens], dim=-1)
                @ weight.T,
                dim=-1,
            ),
            "every row is brought to length 1 first. The factor is the same for all words, and "
            "rows keep their own lengths.",
        ),
        Mistake(
            "embeddings",
            lambda tokens, weight: math.sqrt(weight.shape[1]) * weight[tokens],
            "these are the embeddings. There is no state in between here: take them to the output, "
            "logits first, then softmax.",
        ),
        Mistake(
            "logits",
            _logits,
            "these are logits: any numbers. Softmax makes probabilities of them.",
        ),
        Mistake(
            "log-probabilities",
            lambda tokens, weight: torch.log_softmax(_logits(tokens, weight), dim=-1),
            "these are logarithms of probabilities. Return the probabilities: `softmax`.",
        ),
        Mistake(
            "sigmoid",
            lambda tokens, weight: torch.sigmoid(_logits(tokens, weight)),
            "a sigmoid looks at each word alone, so the numbers of a place do not sum to 1. "
            "Softmax lets the words compete.",
        ),
        Mistake(
            "powers",
            lambda tokens, weight: _logits(tokens, weight).exp(),
            "these are the powers e^z, not yet divided by their sum over the vocabulary.",
        ),
        Mistake(
            "divided by the sum of logits",
            lambda tokens, weight: (
                _logits(tokens, weight) / _logits(tokens, weight).sum(-1, keepdim=True)
            ),
            "you divide logits by their sum. Some are negative: take e^z of each first, which is "
            "what softmax does.",
        ),
        Mistake(
            "softmax twice",
            lambda tokens, weight: torch.softmax(_without_layers(tokens, weight), dim=-1),
            "softmax was taken twice. After the first one the numbers are probabilities already.",
        ),
        Mistake(
            "softmax over positions",
            lambda tokens, weight: torch.softmax(_logits(tokens, weight), dim=-2),
            "softmax ran over the positions: the words of the sentence compete with each other. "
            "At each position the words of the vocabulary compete, `dim=-1`.",
        ),
        Mistake(
            "softmax over the first dimension",
            lambda tokens, weight: torch.softmax(_logits(tokens, weight), dim=0),
            "softmax ran over the first dimension, the sentences of the batch. It runs over the "
            "vocabulary, `dim=-1`.",
        ),
        Mistake(
            "best word",
            lambda tokens, weight: _logits(tokens, weight).argmax(-1),
            "this is the word with the highest logit. Asked are the probabilities of all words.",
        ),
    ],
    symptoms=[
        Symptom(
            "a matrix of its own",
            lambda answer, expected, given: answer.requires_grad,
            "your result depends on a matrix that is made inside: `nn.Embedding` and `nn.Linear` "
            "start with random numbers of their own. Both ends use `weight`, as it was given.",
        ),
        Symptom(
            "one result for several words",
            lambda answer, expected, given: (
                answer.ndim == expected.ndim - 1 and answer.shape[-1] == expected.shape[-1]
            ),
            "several words share one result: was a mean or a sum taken over a dimension of "
            "`tokens`? Each word has probabilities of its own.",
        ),
        Symptom(
            "not a distribution",
            lambda answer, expected, given: (
                answer.shape == expected.shape
                and not torch.allclose(answer.sum(-1), torch.ones(()), atol=1e-3)
            ),
            "the numbers of a place do not sum to 1. At each position the words of the vocabulary "
            "compete: softmax over the last dimension, and nothing after it.",
        ),
        Symptom(
            "negated",
            lambda answer, expected, given: _sharpness(answer, expected) < 0,
            "the order of the words is turned round: the logits have the wrong sign.",
        ),
        Symptom(
            "another factor",
            lambda answer, expected, given: _sharpness(answer, expected) > 0,
            "the words are in the right order, but the probabilities are too even or too sharp: "
            "your logits are the right ones times a constant. Is the factor √d_model, once, and "
            "is it e that is raised to the power of the logits?",
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


def _two_ends(kind: str) -> Callable[[torch.Generator], Arguments]:
    return lambda generator: arguments(TwoEnds(kind, torch.randn(5, 4, generator=generator)))


is_tied = Check(
    name="is_tied",
    reference=lambda model: model.embedding.weight is model.head.weight,
    cases=[
        Case("a model whose two ends are one parameter", _two_ends("one parameter")),
        Case("a model whose head holds a copy", _two_ends("copy")),
        Case("a model with two matrices of zeros", _two_ends("zeros")),
        Case("a model with two parameters over one memory", _two_ends("one memory")),
        Case("a model with two matrices that differ", _two_ends("other")),
    ],
    mistakes=[
        Mistake(
            "compares values",
            lambda model: torch.equal(model.embedding.weight, model.head.weight),
            "your test says yes to a copy. Equal numbers can lie in two places, and go apart with "
            "the first step of training.",
        ),
        Mistake(
            "compares addresses",
            lambda model: model.embedding.weight.data_ptr() == model.head.weight.data_ptr(),
            "your test says yes to two parameters over one memory. They have one address, "
            "but the optimiser sees two: each has a gradient and a step of its own, so the matrix "
            "is moved twice. Ask whether it is one parameter.",
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
        Mistake(
            "upside down",
            lambda model: model.embedding.weight is not model.head.weight,
            "your answers are all upside down.",
        ),
    ],
    symptoms=[
        Symptom(
            "refuses a tie",
            lambda answer, expected, given: bool(expected) and not answer,
            "your test says no to a model whose two ends are one parameter.",
        ),
        Symptom(
            "accepts equal numbers",
            lambda answer, expected, given: (
                bool(answer) and given.positional[0].kind in ("copy", "zeros")
            ),
            "your test says yes to two parameters with equal numbers. They go apart with the "
            "first step of training.",
        ),
        Symptom(
            "accepts one memory",
            lambda answer, expected, given: (
                bool(answer) and given.positional[0].kind == "one memory"
            ),
            "your test says yes to two parameters over one memory. A change of one is a change of "
            "the other, but the optimiser sees two: each has a gradient and a step of its own, so "
            "the matrix is moved twice. Ask whether it is one parameter.",
        ),
    ],
    right="`is_tied` is right: one parameter, one gradient, one step",
)

# Exercise: the gradient of a matrix with two uses -----------------------------------------------


def _gradient(tokens: Tensor, targets: Tensor, weight: Tensor) -> Tensor:
    return sum(_parts_of_gradient(tokens, targets, weight), torch.zeros_like(weight))


def _parts_of_gradient(
    tokens: Tensor,
    targets: Tensor,
    weight: Tensor,
    *,
    factor: float | None = None,
    back: float | None = None,
) -> tuple[Tensor, Tensor]:
    """Return what the input and the output give; `factor` is the √d of the states, `back` of the
    way back."""
    factor = math.sqrt(weight.shape[1]) if factor is None else factor
    back = factor if back is None else back
    states = factor * weight[tokens]
    of_logits = _of_logits(states, targets, weight)
    of_states = of_logits @ weight
    way_in = torch.zeros_like(weight).index_add_(0, tokens, back * of_states)
    return way_in, of_logits.T @ states


def _gradient_of_probabilities(tokens: Tensor, targets: Tensor, weight: Tensor) -> Tensor:
    """What the probabilities give, without the 1 that is taken away at the right words."""
    root = math.sqrt(weight.shape[1])
    states = root * weight[tokens]
    shares = torch.softmax(states @ weight.T, dim=-1) / len(tokens)
    return (shares.T @ states).index_add(0, tokens, root * shares @ weight)


def _of_logits(states: Tensor, targets: Tensor, weight: Tensor) -> Tensor:
    probabilities = torch.softmax(states @ weight.T, dim=-1)
    wanted = nn.functional.one_hot(targets, len(weight)).to(weight.dtype)
    return (probabilities - wanted) / len(targets)


def _overwritten(tokens: Tensor, targets: Tensor, weight: Tensor) -> Tensor:
    states = math.sqrt(weight.shape[1]) * weight[tokens]
    of_logits = _of_logits(states, targets, weight)
    result = of_logits.T @ states
    result[tokens] += math.sqrt(weight.shape[1]) * of_logits @ weight
    return result


def _replaced(tokens: Tensor, targets: Tensor, weight: Tensor) -> Tensor:
    way_in, way_out = _parts_of_gradient(tokens, targets, weight)
    way_out[tokens] = way_in[tokens]
    return way_out


def _without_targets(tokens: Tensor, targets: Tensor, weight: Tensor) -> Tensor:
    states = math.sqrt(weight.shape[1]) * weight[tokens]
    of_logits = torch.softmax(states @ weight.T, dim=-1) / len(targets)
    way_in = math.sqrt(weight.shape[1]) * of_logits @ weight
    return (of_logits.T @ states).index_add_(0, tokens, way_in)


def _at_the_targets(tokens: Tensor, targets: Tensor, weight: Tensor) -> Tensor:
    states = math.sqrt(weight.shape[1]) * weight[tokens]
    of_logits = _of_logits(states, targets, weight)
    way_in = math.sqrt(weight.shape[1]) * of_logits @ weight
    return (of_logits.T @ states).index_add_(0, targets, way_in)


def _sentence(tokens: list[int], targets: list[int]) -> Callable[[torch.Generator], Arguments]:
    def make(generator: torch.Generator) -> Arguments:
        weight = torch.randn(8, 4, generator=generator) * 0.5
        return arguments(torch.tensor(tokens), torch.tensor(targets), weight)

    return make


gradient = Check(
    name="gradient",
    reference=_gradient,
    cases=[
        Case("one word", _sentence([3], [5])),
        Case("three words, all different", _sentence([0, 1, 2], [1, 2, 3])),
        Case("a sentence with one word twice", _sentence([4, 6, 4, 7], [6, 4, 7, 0])),
        Case("a word that is its own target", _sentence([2, 5], [2, 1])),
    ],
    mistakes=[
        Mistake(
            "right word only",
            lambda tokens, targets, weight: (
                _gradient(tokens, targets, weight)
                - _gradient_of_probabilities(tokens, targets, weight)
            ),
            "the probabilities are missing: the gradient of the logits is p minus 1 at the "
            "right word, for all words, and not −1 at the right one alone.",
        ),
        Mistake(
            "factor twice at the output",
            lambda tokens, targets, weight: (
                _parts_of_gradient(tokens, targets, weight)[0]
                + math.sqrt(weight.shape[1]) * _parts_of_gradient(tokens, targets, weight)[1]
            ),
            "the factor stands twice in the output’s part: the states hold it already.",
        ),
        Mistake(
            "mean in one part only",
            lambda tokens, targets, weight: (
                len(tokens) * _parts_of_gradient(tokens, targets, weight)[0]
                + _parts_of_gradient(tokens, targets, weight)[1]
            ),
            "the output’s part is divided by the number of words, the embedding’s part is not. "
            "The loss is a mean, so both are.",
        ),
        Mistake(
            "states for their gradient",
            lambda tokens, targets, weight: _parts_of_gradient(tokens, targets, weight)[
                1
            ].index_add(0, tokens, weight.shape[1] * weight[tokens]),
            "what you add to the rows of the input words are the states. It should be the "
            "*gradient* of the states, √d_model · (p − y) / n · E.",
        ),
        Mistake(
            "the loss",
            lambda tokens, targets, weight: nn.functional.cross_entropy(
                math.sqrt(weight.shape[1]) * weight[tokens] @ weight.T, targets
            ),
            "this is the loss itself. Asked is its gradient, which has the shape of `weight`.",
        ),
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
            lambda tokens, targets, weight: sum(
                _parts_of_gradient(tokens, targets, weight, back=1.0), torch.zeros_like(weight)
            ),
            "the factor is missing on the way back: a state is √d_model times a row, so the row's "
            "gradient is √d_model times the state's.",
        ),
        Mistake(
            "no factor at all",
            lambda tokens, targets, weight: sum(
                _parts_of_gradient(tokens, targets, weight, factor=1.0), torch.zeros_like(weight)
            ),
            "the factor √d_model is missing on both ways: states are √d_model times a row.",
        ),
        Mistake(
            "factor forgotten at the output",
            lambda tokens, targets, weight: (
                _parts_of_gradient(tokens, targets, weight)[0]
                + _parts_of_gradient(tokens, targets, weight)[1] / math.sqrt(weight.shape[1])
            ),
            "the output's part is the product with the bare rows. It met the states, which are "
            "√d_model times as long.",
        ),
        Mistake(
            "factor on the way back only",
            lambda tokens, targets, weight: sum(
                _parts_of_gradient(
                    tokens, targets, weight, factor=1.0, back=math.sqrt(weight.shape[1])
                ),
                torch.zeros_like(weight),
            ),
            "the factor stands on the way back and not in the states, which are √d_model times "
            "a row. So the probabilities are others.",
        ),
        Mistake(
            "factor twice on the way back",
            lambda tokens, targets, weight: sum(
                _parts_of_gradient(tokens, targets, weight, back=float(weight.shape[1])),
                torch.zeros_like(weight),
            ),
            "the embedding's part has d_model in place of √d_model: the factor counts once on the "
            "way back.",
        ),
        Mistake(
            "divided on the way back",
            lambda tokens, targets, weight: sum(
                _parts_of_gradient(tokens, targets, weight, back=weight.shape[1] ** -0.5),
                torch.zeros_like(weight),
            ),
            "on the way back you divide by √d_model. A state is √d_model times a row, so the row's "
            "gradient is √d_model times the state's.",
        ),
        Mistake(
            "difference of the two",
            lambda tokens, targets, weight: (
                _parts_of_gradient(tokens, targets, weight)[1]
                - _parts_of_gradient(tokens, targets, weight)[0]
            ),
            "the two parts have different signs. Both are gradients of one loss: add them.",
        ),
        Mistake(
            "tokens for targets",
            lambda tokens, targets, weight: _gradient(tokens, tokens, weight),
            "you take the input words for the right answers. The 1 is subtracted at the next word, "
            "`targets`.",
        ),
        Mistake(
            "overwritten",
            _overwritten,
            "right where all words differ. Where a word occurs twice, `result[tokens] += …` keeps "
            "only one of its two gradients. `index_add_` adds them.",
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
        Mistake(
            "mean over the vocabulary",
            lambda tokens, targets, weight: (
                len(tokens) / len(weight) * _gradient(tokens, targets, weight)
            ),
            "you divide by the size of the vocabulary. The loss is a mean over the n words.",
        ),
        Mistake(
            "mean over all logits",
            lambda tokens, targets, weight: _gradient(tokens, targets, weight) / len(weight),
            "you divide by the number of all logits, n times the vocabulary. The loss is a mean "
            "over the n words.",
        ),
        Mistake(
            "of the logits",
            lambda tokens, targets, weight: _of_logits(
                math.sqrt(weight.shape[1]) * weight[tokens], targets, weight
            ),
            "this is the gradient of the logits. Two products lead on from it: to the matrix that "
            "made the logits, and through the states to the rows that made the states.",
        ),
        Mistake(
            "every row",
            lambda tokens, targets, weight: (
                _parts_of_gradient(tokens, targets, weight)[1]
                + _parts_of_gradient(tokens, targets, weight)[0].sum(0)
            ),
            "the embedding's part is added to every row. It belongs to the rows of the input "
            "words, each word's to its own: `index_add_`.",
        ),
        Mistake(
            "downhill",
            lambda tokens, targets, weight: -_gradient(tokens, targets, weight),
            "the sign is wrong: this is the direction in which the loss falls. A gradient points "
            "to where it rises.",
        ),
        Mistake(
            "no targets",
            _without_targets,
            "the right answers are missing. The gradient of the logits is p, minus 1 at the right "
            "word.",
        ),
        Mistake(
            "rows of the targets",
            _at_the_targets,
            "the embedding's part lands in the rows of the targets. The rows of the input words, "
            "`tokens`, made the states.",
        ),
        Mistake(
            "mean of the two",
            lambda tokens, targets, weight: _gradient(tokens, targets, weight) / 2,
            "you take the mean of the two parts. One matrix with two uses gets their sum.",
        ),
    ],
    right="`gradient` is right: the sum of two parts, and words that occur twice count twice",
)

# Exercise: how large are the logits? ------------------------------------------------------------


def _logit_std(d_model: int, weight_std: float) -> float:
    return math.sqrt(d_model) * weight_std


logit_std = Check(
    name="logit_std",
    reference=_logit_std,
    cases=[
        fixed("d_model 512, standard deviation 1", 512, 1.0),
        fixed("d_model 512, standard deviation 512^−0.5", 512, 512**-0.5),
        fixed("d_model 64, standard deviation 0.5", 64, 0.5),
        fixed("d_model 10, standard deviation 0.3", 10, 0.3),
        fixed("d_model 300, standard deviation 2", 300, 2.0),
    ],
    mistakes=[
        Mistake(
            "variances added",
            lambda d_model, weight_std: (d_model + weight_std**2) ** 0.5,
            "the two variances are added. The variance of a *product* of independent numbers "
            "with mean 0 is the product of their variances.",
        ),
        Mistake(
            "sum of variances",
            lambda d_model, weight_std: (d_model * (1 + weight_std**2)) ** 0.5,
            "each product is given the variance 1 + weight_std², which is that of a sum. A "
            "product of independent numbers with mean 0 has the product of the variances.",
        ),
        Mistake(
            "no root",
            lambda d_model, weight_std: d_model * weight_std,
            "the root is missing. Variances of independent terms add up, standard deviations do "
            "not: d_model terms make the standard deviation √d_model times as large.",
        ),
        Mistake(
            "variance",
            lambda d_model, weight_std: d_model * weight_std**2,
            "this is the variance. Asked is its root, the standard deviation.",
        ),
        Mistake(
            "divides",
            lambda d_model, weight_std: weight_std / math.sqrt(d_model),
            "this is the standard deviation of a mean over d_model terms. A dot product is a sum.",
        ),
        Mistake(
            "entry squared",
            lambda d_model, weight_std: math.sqrt(d_model) * weight_std**2,
            "`weight_std` is squared and the root does not cover it. The variance is "
            "d_model · weight_std², and its root √d_model · weight_std.",
        ),
        Mistake(
            "components only",
            lambda d_model, weight_std: math.sqrt(d_model),
            "`weight_std` is missing: this is right for entries of standard deviation 1 only.",
        ),
        Mistake(
            "mean of products",
            lambda d_model, weight_std: weight_std**2 / d_model,
            "this is the variance of a mean over d_model terms. A dot product is a sum, and asked "
            "is the standard deviation.",
        ),
        Mistake(
            "one term",
            lambda d_model, weight_std: weight_std,
            "this is the standard deviation of a single product. The dot product has d_model of "
            "them.",
        ),
        Mistake(
            "root of everything",
            lambda d_model, weight_std: math.sqrt(d_model * weight_std),
            "the root covers `weight_std`, which is a standard deviation already.",
        ),
        Mistake(
            "whole root",
            lambda d_model, weight_std: math.isqrt(d_model) * weight_std,
            "the root of d_model was cut to a whole number.",
        ),
        Mistake(
            "root of a root",
            lambda d_model, weight_std: d_model**0.25 * weight_std,
            "the root was taken twice: d_model terms make the *variance* d_model times as large, "
            "so the standard deviation √d_model times.",
        ),
    ],
    symptoms=[
        Symptom(
            "a sample",
            lambda answer, expected, given: (
                float(answer) % 1 != 0 and abs(float(answer) / expected - 1) < 0.1
            ),
            "close, as a measured value is. Asked is the number itself: derive it from the "
            "variance of one product.",
        ),
    ],
    right="`logit_std` is right. With weight_std = d_model^−0.5 it is 1 for every d_model",
)
