"""The checks of chapter 06: look-up, prediction, what sharing means, the size of logits (§3.4)."""

import math
from collections.abc import Callable

import torch
from torch import Tensor, nn

from walkthrough.checking.base import Arguments, Case, Check, Mistake, arguments, fixed

# Exercise: from ids to vectors ------------------------------------------------------------------


def _embed(tokens: Tensor, weight: Tensor) -> Tensor:
    return weight[tokens] * math.sqrt(weight.shape[1])


def _given_tokens(
    *shape: int, vocab_size: int, d_model: int
) -> Callable[[torch.Generator], Arguments]:
    def make(generator: torch.Generator) -> Arguments:
        tokens = torch.randint(min(vocab_size, d_model), shape, generator=generator)
        weight = torch.randn(vocab_size, d_model, generator=generator) * d_model**-0.5
        return arguments(tokens, weight)

    return make


embed = Check(
    name="embed",
    reference=_embed,
    cases=[
        Case("7 words, d_model = 16", _given_tokens(2, 3, vocab_size=7, d_model=16)),
        Case("20 words, d_model = 8", _given_tokens(2, 3, vocab_size=20, d_model=8)),
        Case("one sentence without a batch", _given_tokens(4, vocab_size=9, d_model=6)),
    ],
    mistakes=[
        Mistake(
            "no factor",
            lambda tokens, weight: weight[tokens],
            "these are the rows as they stand in the matrix. The factor √d_model is missing.",
        ),
        Mistake(
            "divides",
            lambda tokens, weight: weight[tokens] / math.sqrt(weight.shape[1]),
            "the rows are divided by √d_model. They are small already; the factor multiplies.",
        ),
        Mistake(
            "no root",
            lambda tokens, weight: weight[tokens] * weight.shape[1],
            "your factor is d_model. It should be its square root.",
        ),
        Mistake(
            "root of the vocabulary",
            lambda tokens, weight: weight[tokens] * math.sqrt(weight.shape[0]),
            "your factor is the root of the number of words, `weight.shape[0]`. It should be the "
            "root of the number of components, `weight.shape[1]`.",
        ),
        Mistake(
            "columns",
            lambda tokens, weight: weight.T[tokens] * math.sqrt(weight.shape[1]),
            "these are columns of the matrix. A word is a row.",
        ),
        Mistake(
            "normalised rows",
            lambda tokens, weight: (
                nn.functional.normalize(weight[tokens], dim=-1) * math.sqrt(weight.shape[1])
            ),
            "every row is brought to length 1 first. The factor is the same for all words, and "
            "rows keep their own lengths.",
        ),
    ],
    right="`embed` is right: rows, and all of them √d_model times as long",
)

# Exercise: from a state to probabilities --------------------------------------------------------


def _next_word(states: Tensor, weight: Tensor) -> Tensor:
    return torch.softmax(states @ weight.T, dim=-1)


def _given_states(
    batch: int, length: int, vocab_size: int, d_model: int
) -> Callable[[torch.Generator], Arguments]:
    def make(generator: torch.Generator) -> Arguments:
        states = torch.randn(batch, length, d_model, generator=generator)
        weight = torch.randn(vocab_size, d_model, generator=generator) * d_model**-0.5
        return arguments(states, weight)

    return make


next_word = Check(
    name="next_word",
    reference=_next_word,
    cases=[
        Case("7 words, d_model = 4", _given_states(2, 3, 7, 4)),
        Case("as many words as components", _given_states(2, 3, 4, 4)),
    ],
    mistakes=[
        Mistake(
            "logits",
            lambda states, weight: states @ weight.T,
            "these are logits: any numbers. Softmax makes probabilities of them.",
        ),
        Mistake(
            "log-probabilities",
            lambda states, weight: torch.log_softmax(states @ weight.T, dim=-1),
            "these are logarithms of probabilities. Return the probabilities: `softmax`.",
        ),
        Mistake(
            "softmax over positions",
            lambda states, weight: torch.softmax(states @ weight.T, dim=1),
            "softmax ran over the positions: the words of the sentence compete with each other. "
            "At each position the words of the vocabulary compete, `dim=-1`.",
        ),
        Mistake(
            "softmax over sentences",
            lambda states, weight: torch.softmax(states @ weight.T, dim=0),
            "softmax ran over the sentences of the batch. It runs over the vocabulary, `dim=-1`.",
        ),
        Mistake(
            "not transposed",
            lambda states, weight: torch.softmax(states @ weight, dim=-1),
            "the matrix is not transposed. Words are its rows, and the product needs them as "
            "columns. With as many words as components this passes without an error.",
        ),
        Mistake(
            "factor at the output",
            lambda states, weight: torch.softmax(
                states @ weight.T * math.sqrt(weight.shape[1]), dim=-1
            ),
            "the logits are multiplied by √d_model. The factor belongs to the embedding; the "
            "projection uses the matrix as it is.",
        ),
        Mistake(
            "divided at the output",
            lambda states, weight: torch.softmax(
                states @ weight.T / math.sqrt(weight.shape[1]), dim=-1
            ),
            "the logits are divided by √d_model. That is the scale of attention scores; the "
            "projection uses the matrix as it is.",
        ),
    ],
    right="`next_word` is right: each row sums to 1 over the vocabulary",
)

# Exercise: is it one matrix? --------------------------------------------------------------------


def _is_tied(one: Tensor, other: Tensor) -> bool:
    return one.data_ptr() == other.data_ptr()


def _two_tensors(kind: str) -> Callable[[torch.Generator], Arguments]:
    def make(generator: torch.Generator) -> Arguments:
        weight = torch.randn(5, 4, generator=generator)
        first, second = {
            "the same": (weight, weight),
            "another name": (weight, weight.detach()),
            "copy": (weight, weight.clone()),
            "halves": tuple(torch.cat([weight, weight]).chunk(2)),
            "zeros": (torch.zeros(5, 4), torch.zeros(5, 4)),
            "other": (weight, torch.randn(5, 4, generator=generator)),
        }[kind]
        return arguments(first, second)  # copied by the check, shared memory included

    return make


is_tied = Check(
    name="is_tied",
    reference=_is_tied,
    cases=[
        Case("one tensor, given twice", _two_tensors("the same")),
        Case("two tensors over the same numbers", _two_tensors("another name")),
        Case("a tensor and its copy", _two_tensors("copy")),
        Case("two halves of one tensor", _two_tensors("halves")),
        Case("two matrices of zeros", _two_tensors("zeros")),
        Case("two random matrices", _two_tensors("other")),
    ],
    mistakes=[
        Mistake(
            "compares values",
            torch.equal,
            "your test says yes to a copy. Equal numbers can lie in two places, and go apart with "
            "the first step of training.",
        ),
        Mistake(
            "compares objects",
            lambda one, other: one is other,
            "your test says no to two tensors that lie over the same numbers. Two objects can "
            "share their memory: ask where the numbers lie, `data_ptr()`.",
        ),
        Mistake(
            "compares storages",
            lambda one, other: (
                one.untyped_storage().data_ptr() == other.untyped_storage().data_ptr()
            ),
            "your test says yes to two halves of one tensor: they lie in one storage, at "
            "different places. Ask where the numbers begin, `data_ptr()` of the tensors.",
        ),
        Mistake(
            "compares shapes",
            lambda one, other: one.shape == other.shape,
            "your test says yes to any two matrices of the same shape.",
        ),
    ],
    right="`is_tied` is right: it looks at where the numbers lie",
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
    ],
    mistakes=[
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
    ],
    right="`logit_std` is right. With weight_std = d_model^−0.5 it is 1 for every d_model",
)
