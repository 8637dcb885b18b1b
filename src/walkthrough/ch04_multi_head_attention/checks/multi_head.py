"""The checks of chapter 04, multi-head attention (§3.2.2)."""

import math
from collections.abc import Callable

import torch
from torch import Tensor

from transformer.attention import MultiHeadAttention, scaled_dot_product_attention
from walkthrough.checking.base import Arguments, Case, Check, Mistake, Symptom, arguments, fixed

# Exercise: the whole thing from given matrices


def _heads(
    query: Tensor, key: Tensor, value: Tensor, w_q: Tensor, w_k: Tensor, w_v: Tensor
) -> Tensor:
    output, _ = scaled_dot_product_attention(query @ w_q, key @ w_k, value @ w_v)
    return output  # (n_heads, query_len, d_v)


def _multi_head(
    query: Tensor, key: Tensor, value: Tensor, w_q: Tensor, w_k: Tensor, w_v: Tensor, w_o: Tensor
) -> Tensor:
    return _heads(query, key, value, w_q, w_k, w_v).transpose(0, 1).flatten(1) @ w_o


def _weighted(weigh: Callable[[Tensor, Tensor], Tensor]) -> Callable[..., Tensor]:
    """Multi-head attention with `weigh(scores, w_q)` for scale and softmax."""

    def attend(query: Tensor, key: Tensor, value: Tensor, *w: Tensor) -> Tensor:
        w_q, w_k, w_v, w_o = w
        scores = (query @ w_q) @ (key @ w_k).transpose(-2, -1)
        return (weigh(scores, w_q) @ (value @ w_v)).transpose(0, 1).flatten(1) @ w_o

    return attend


def _one_wide_head(query: Tensor, key: Tensor, value: Tensor, *w: Tensor) -> Tensor:
    w_q, w_k, w_v = (matrices.transpose(0, 1).flatten(1) for matrices in w[:3])
    output, _ = scaled_dot_product_attention(query @ w_q, key @ w_k, value @ w_v)
    return output @ w[3]


def _scaled_by_value(query: Tensor, key: Tensor, value: Tensor, *w: Tensor) -> Tensor:
    by_value = _weighted(lambda scores, w_q: (scores / math.sqrt(w[2].shape[-1])).softmax(-1))
    return by_value(query, key, value, *w)


def _given(query_len: int, key_len: int) -> Callable[[torch.Generator], Arguments]:
    n_heads, d_model, d_k, d_v = 3, 12, 5, 7  # all differ, and so does d_model / n_heads

    def make(generator: torch.Generator) -> Arguments:
        lengths = (query_len, key_len, key_len)
        sizes: list[tuple[int, ...]] = [(length, d_model) for length in lengths]
        sizes += [(n_heads, d_model, d) for d in (d_k, d_k, d_v)] + [(n_heads * d_v, d_model)]
        # matrices of a size that gives scores with variance of about 1
        scale = d_model**-0.5
        return arguments(
            *(
                torch.randn(*s, generator=generator) * (1 if n < 3 else scale)
                for n, s in enumerate(sizes)
            )
        )

    return make


def _like(function: Callable[..., Tensor]) -> Callable[..., bool]:
    def shows(result: Tensor, expected: Tensor, given: Arguments) -> bool:
        return torch.allclose(result, function(*given.positional), atol=1e-5)

    return shows


def _has_dimension_for_heads(result: Tensor, expected: Tensor, given: Arguments) -> bool:
    return result.dim() == expected.dim() + 1 and 1 not in result.shape  # 1: a batch


multi_head = Check(
    name="multi_head",
    reference=_multi_head,
    cases=[
        Case("4 queries and 4 keys", _given(4, 4)),
        Case("3 queries and 5 keys", _given(3, 5)),
    ],
    mistakes=[
        Mistake(
            "no W^O",
            lambda q, k, v, w_q, w_k, w_v, w_o: (
                _heads(q, k, v, w_q, w_k, w_v).transpose(0, 1).flatten(1)
            ),
            "this is Concat(head_1, …, head_h): `w_o` is not used. The heads stand side by side "
            "and are never mixed.",
        ),
        Mistake(
            "merged without transposing",
            lambda q, k, v, w_q, w_k, w_v, w_o: (
                _heads(q, k, v, w_q, w_k, w_v).reshape(q.shape[0], -1) @ w_o
            ),
            "the heads are right, and merged in the wrong order: a row holds what one head found "
            "for several words. Exchange heads and words before you flatten.",
        ),
        Mistake(
            "divides by √d_model",
            _weighted(lambda s, w_q: (s / math.sqrt(w_q.shape[1])).softmax(-1)),
            "the scores are divided by √d_model. Each head divides by the root of its own size, "
            "√d_k: the last dimension of `w_q`.",
        ),
        Mistake(
            "divides by √(h·d_k)",
            _weighted(lambda s, w_q: (s / math.sqrt(w_q.shape[0] * w_q.shape[2])).softmax(-1)),
            "the scores are divided by √(h·d_k), the size of all heads together. Each head "
            "divides by the root of its own size, √d_k.",
        ),
        Mistake(
            "divides by √(d_model / h)",
            _weighted(lambda s, w_q: (s / math.sqrt(w_q.shape[1] / len(w_q))).softmax(-1)),
            "the scores are divided by √(d_model / h). In the paper that equals √d_k; here d_k is "
            "given by the matrices, so take the last dimension of `w_q`.",
        ),
        Mistake(
            "divides by √d_v",
            _scaled_by_value,
            "the scores are divided by √d_v, the size of the values. A score is a dot product "
            "over d_k components: the last dimension of `w_q`.",
        ),
        Mistake(
            "divides by √h",
            _weighted(lambda s, w_q: (s / math.sqrt(len(w_q))).softmax(-1)),
            "the scores are divided by the root of the number of heads. Each head divides by the "
            "root of its own size, √d_k: the last dimension of `w_q`.",
        ),
        Mistake(
            "divides by d_k",
            _weighted(lambda s, w_q: (s / w_q.shape[-1]).softmax(-1)),
            "the scores are divided by d_k, without the root.",
        ),
        Mistake(
            "multiplies by √d_k",
            _weighted(lambda s, w_q: (s * math.sqrt(w_q.shape[-1])).softmax(-1)),
            "the scores are multiplied by √d_k. They are divided by it.",
        ),
        Mistake(
            "no softmax",
            _weighted(lambda s, w_q: s / math.sqrt(w_q.shape[-1])),
            "softmax is missing: the scores themselves are used as weights.",
        ),
        Mistake(
            "heads interleaved",
            lambda q, k, v, w_q, w_k, w_v, w_o: (
                _heads(q, k, v, w_q, w_k, w_v).permute(1, 2, 0).flatten(1) @ w_o
            ),
            "the heads are interleaved before `w_o`: component 1 of all heads, then component 2. "
            "Concat puts head 1 whole, then head 2 whole.",
        ),
        Mistake(
            "heads in reverse order",
            lambda q, k, v, w_q, w_k, w_v, w_o: (
                _heads(q, k, v, w_q, w_k, w_v).flip(0).transpose(0, 1).flatten(1) @ w_o
            ),
            "the heads are put together in reverse order. The first rows of `w_o` belong to head "
            "1.",
        ),
        Mistake(
            "queries and keys exchanged",
            lambda q, k, v, w_q, w_k, w_v, w_o: _multi_head(q, k, v, w_k, w_q, w_v, w_o),
            "`w_q` and `w_k` are exchanged: queries are made with `w_q`, keys with `w_k`.",
        ),
        Mistake(
            "no scale",
            _weighted(lambda s, w_q: s.softmax(-1)),
            "the scores are not divided by √d_k.",
        ),
        Mistake(
            "softmax over heads",
            _weighted(lambda s, w_q: (s / math.sqrt(w_q.shape[-1])).softmax(0)),
            "the heads compete with each other: softmax ran over dimension 0. Each head has a "
            "softmax of its own, over the keys, `dim=-1`.",
        ),
        Mistake(
            "softmax over queries",
            _weighted(lambda s, w_q: (s / math.sqrt(w_q.shape[-1])).softmax(-2)),
            "softmax ran over the queries. It runs over the keys, `dim=-1`.",
        ),
        Mistake(
            "one wide head",
            _one_wide_head,
            "this is one head of size h·d_k: its scores are the sums of the heads' scores, with "
            "one softmax for all. Split before you multiply queries and keys.",
        ),
        Mistake(
            "W^O transposed",
            lambda q, k, v, w_q, w_k, w_v, w_o: _multi_head(q, k, v, w_q, w_k, w_v, w_o.T),
            "`w_o` is transposed. Rows hold words here, so the product is `concat @ w_o`. "
            "(`nn.Linear` keeps its matrix transposed; this argument does not.)",
        ),
        Mistake(
            "values from the keys",
            lambda q, k, v, w_q, w_k, w_v, w_o: _multi_head(q, k, k, w_q, w_k, w_v, w_o),
            "the values are made from `key`. They are made from `value`, which need not be the "
            "same tensor.",
        ),
        Mistake(
            "one head for all",
            lambda q, k, v, w_q, w_k, w_v, w_o: (
                _heads(q, k, v, w_q[:1], w_k[:1], w_v[:1])[0].repeat(1, len(w_q)) @ w_o
            ),
            "every head uses the matrices of the first. Head i has `w_q[i]`, `w_k[i]`, `w_v[i]`.",
        ),
    ],
    symptoms=[
        Symptom(
            "all from the queries",
            _like(lambda q, k, v, *w: _multi_head(q, q, q, *w)),
            "keys and values are both made from `query`: this is self-attention. Keys come from "
            "`key`, values from `value`.",
        ),
        Symptom(
            "heads not merged",
            _has_dimension_for_heads,
            "your result still has a dimension for the heads. Merge them: exchange heads and "
            "words, flatten, then multiply by `w_o`.",
        ),
        Symptom(
            "values from the queries",
            _like(lambda q, k, v, *w: _multi_head(q, k, q, *w)),
            "the values are made from `query`. In encoder–decoder attention these would be the "
            "decoder's words. Values come from `value`.",
        ),
        Symptom(
            "keys from the queries",
            _like(lambda q, k, v, *w: _multi_head(q, q, v, *w)),
            "the keys are made from `query`, so every word looks at its own sentence. Keys come "
            "from `key`.",
        ),
    ],
    right="`multi_head` is right: three heads, one softmax each, mixed by W^O",
)

# Exercise: count the parameters


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
    ],
    right="`n_parameters` is right, for three modules",
)
