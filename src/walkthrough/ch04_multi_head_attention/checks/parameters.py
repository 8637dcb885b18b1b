"""The check of chapter 04 on counting parameters (§3.2.2)."""

from collections.abc import Callable

from transformer.attention import MultiHeadAttention
from walkthrough.checking import Check, Mistake, fixed


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


n_parameters = Check(
    name="n_parameters",
    reference=_count,
    cases=[
        fixed("the paper's base model without biases", 512, 8, 64, 64, False),
        fixed("the paper's base model with biases", 512, 8, 64, 64, True),
        fixed("d_model 24, 3 heads, d_k 5, d_v 7, with biases", 24, 3, 5, 7, True),
        fixed("d_model 10, 1 head, d_k 6, d_v 3, without biases", 10, 1, 6, 3, False),
    ],
    tolerance=0.0,
    mistakes=[
        Mistake(
            "one head",
            _counted_as(lambda d, h, d_k, d_v: d * (2 * d_k + 2 * d_v)),
            "that counts the matrices of one head. There are n_heads of each.",
        ),
        Mistake(
            "no W^O",
            _counted_as(lambda d, h, d_k, d_v: h * d * (2 * d_k + d_v)),
            "W^O is missing: h·d_v rows, d_model columns.",
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
            "no bias of W^O",
            _counted_as(biases=lambda d, h, d_k, d_v: h * (2 * d_k + d_v)),
            "the bias of W^O is missing: after the heads are joined, the last map adds d_model "
            "numbers.",
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
            "4·d_model²",
            _counted_as(lambda d, h, d_k, d_v: 4 * d * d, lambda d, h, d_k, d_v: 4 * d),
            "4·d_model² holds only where h·d_k = h·d_v = d_model, as in the paper's base model. "
            "Here d_k and d_v are given.",
        ),
    ],
    right="`n_parameters` is right, for {n_cases} modules",
)
