"""The check of chapter 04 on counting parameters (§3.2.2)."""

from collections.abc import Callable

from transformer.attention import MultiHeadAttention
from walkthrough.checking.base import Arguments, Check, Mistake, Symptom, fixed


def _count(d_model: int, n_heads: int, d_k: int, d_v: int, bias: bool) -> int:
    module = MultiHeadAttention(d_model=d_model, n_heads=n_heads, d_k=d_k, d_v=d_v, bias=bias)
    return sum(parameter.numel() for parameter in module.parameters())


def _weights_of(d_model: int, n_heads: int, d_k: int, d_v: int) -> int:
    return n_heads * d_model * (2 * d_k + 2 * d_v)


def _biases_of(d_model: int, n_heads: int, d_k: int, d_v: int) -> int:
    return n_heads * (2 * d_k + d_v) + d_model


def _counted_as(
    weights: Callable[..., int] = _weights_of, biases: Callable[..., int] = _biases_of
) -> Callable[..., int]:
    def count(d_model: int, n_heads: int, d_k: int, d_v: int, bias: bool) -> int:
        sizes = (d_model, n_heads, d_k, d_v)
        return weights(*sizes) + (biases(*sizes) if bias else 0)

    return count


def _only_biases_wrong(result: int, expected: int, given: Arguments) -> bool:
    *sizes, bias = given.positional
    weights = _weights_of(*sizes)
    return bias and 0 < result - weights < weights / 2


n_parameters = Check(
    name="n_parameters",
    reference=_count,
    cases=[
        fixed("the paper's base model without biases", 512, 8, 64, 64, False),
        fixed("the paper's base model with biases", 512, 8, 64, 64, True),
        fixed("d_model 24, 3 heads, d_k 5, d_v 7", 24, 3, 5, 7, True),
    ],
    tolerance=0.0,
    mistakes=[
        Mistake(
            "one head",
            _counted_as(lambda d, h, d_k, d_v: d * (2 * d_k + 2 * d_v)),
            "that counts the matrices of one head. There are n_heads of each.",
        ),
        Mistake(
            "one head, biases too",
            _counted_as(
                lambda d, h, d_k, d_v: d * (2 * d_k + 2 * d_v),
                lambda d, h, d_k, d_v: 2 * d_k + d_v + d,
            ),
            "that is a multi-head attention with one head. There are n_heads of each W^Q, W^K and "
            "W^V, and W^O has h·d_v rows.",
        ),
        Mistake(
            "no W^O",
            _counted_as(lambda d, h, d_k, d_v: h * d * (2 * d_k + d_v)),
            "W^O is missing: h·d_v rows, d_model columns.",
        ),
        Mistake(
            "no W^O, nor its bias",
            _counted_as(
                lambda d, h, d_k, d_v: h * d * (2 * d_k + d_v),
                lambda d, h, d_k, d_v: h * (2 * d_k + d_v),
            ),
            "the fourth map is missing: W^O has h·d_v rows and d_model columns, and its bias has "
            "d_model components.",
        ),
        Mistake(
            "W^O for every head",
            _counted_as(lambda d, h, d_k, d_v: h * d * (2 * d_k + d_v) + h * h * d_v * d),
            "W^O is counted once a head. There is one, with h·d_v rows and d_model columns.",
        ),
        Mistake(
            "W^O of size d_model · d_model",
            _counted_as(lambda d, h, d_k, d_v: h * d * (2 * d_k + d_v) + d * d),
            "W^O is counted with d_model rows. It has a row for each column of Concat: h·d_v.",
        ),
        Mistake(
            "W^O with d_k",
            _counted_as(lambda d, h, d_k, d_v: h * d * (2 * d_k + d_v) + h * d_k * d),
            "W^V or W^O is counted with d_k. A head hands over values, of size d_v: W^V has h·d_v "
            "columns, and W^O as many rows.",
        ),
        Mistake(
            "W^O of one head",
            _counted_as(lambda d, h, d_k, d_v: h * d * (2 * d_k + d_v) + d_v * d),
            "W^O is counted with the d_v rows of one head. It has h·d_v.",
        ),
        Mistake(
            "queries and values alone",
            _counted_as(lambda d, h, d_k, d_v: h * d * (d_k + 2 * d_v)),
            "one of W^Q and W^K is missing: both have h·d_k columns.",
        ),
        Mistake(
            "no bias of W^O",
            _counted_as(biases=lambda d, h, d_k, d_v: h * (2 * d_k + d_v)),
            "the bias of W^O is missing: d_model numbers.",
        ),
        Mistake(
            "4·d_model biases",
            _counted_as(biases=lambda d, h, d_k, d_v: 4 * d),
            "the matrices are right. The biases are counted as 4·d_model, which holds only where "
            "h·d_k = h·d_v = d_model. A bias has a number for each component of its map's output.",
        ),
        Mistake(
            "no biases",
            _counted_as(biases=lambda d, h, d_k, d_v: 0),
            "the matrices are right and `bias=True` changes nothing. Each of the four maps then "
            "adds a vector: as many numbers as its output has components.",
        ),
        Mistake(
            "bias of W^O of size h·d_v",
            _counted_as(biases=lambda d, h, d_k, d_v: h * (2 * d_k + 2 * d_v)),
            "the bias of W^O has the size of its output, d_model, and not of its input, h·d_v.",
        ),
        Mistake(
            "biases of one head",
            _counted_as(biases=lambda d, h, d_k, d_v: 2 * d_k + d_v + d),
            "the matrices are right, and the biases of queries, keys and values are those of one "
            "head. There are n_heads of each.",
        ),
        Mistake(
            "biases always",
            lambda d, h, d_k, d_v, bias: _weights_of(d, h, d_k, d_v) + _biases_of(d, h, d_k, d_v),
            "the biases are counted even with `bias=False`.",
        ),
        Mistake(
            "4·d_model²",
            _counted_as(lambda d, h, d_k, d_v: 4 * d * d, lambda d, h, d_k, d_v: 4 * d),
            "4·d_model² holds only where h·d_k = h·d_v = d_model, as in the paper's base model. "
            "Here d_k and d_v are given.",
        ),
        Mistake(
            "bias means the opposite",
            lambda d, h, d_k, d_v, bias: _counted_as()(d, h, d_k, d_v, not bias),
            "the biases are counted with `bias=False` and left out with `bias=True`.",
        ),
        Mistake(
            "one map missing, its bias too",
            _counted_as(
                lambda d, h, d_k, d_v: h * d * (d_k + 2 * d_v),
                lambda d, h, d_k, d_v: h * (d_k + d_v) + d,
            ),
            "one of W^Q and W^K is missing, with its bias: both have h·d_k columns.",
        ),
        Mistake(
            "biases of the inputs' size",
            _counted_as(biases=lambda d, h, d_k, d_v: 3 * d + h * d_v),
            "the matrices are right. Each bias has the size of its map's input; it has a number "
            "for each component of the *output*.",
        ),
        Mistake(
            "bias of W^O for every head",
            _counted_as(biases=lambda d, h, d_k, d_v: h * (2 * d_k + d_v + d)),
            "the bias of W^O is counted once a head. There is one, of d_model numbers.",
        ),
    ],
    symptoms=[
        Symptom(
            "biases alone are wrong",
            _only_biases_wrong,
            "the matrices are counted right, the biases are not. Each of the four maps adds as "
            "many numbers as its output has components: h·d_k, h·d_k, h·d_v and d_model.",
        ),
        Symptom(
            "several numbers",
            lambda result, expected, given: len(result) > 1,
            "several numbers are returned. Add them up, those of the biases only with `bias=True`.",
        ),
    ],
    right="`n_parameters` is right, for three modules",
)
