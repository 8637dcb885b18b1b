"""The check of chapter 04 on multi-head attention from matrices (§3.2.2)."""

import math
from collections.abc import Callable

import torch
from torch import Tensor

from transformer.attention import scaled_dot_product_attention
from walkthrough.checking import Arguments, Case, Check, Mistake, Symptom, arguments


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


def _divided(by: Callable[[Tensor], float]) -> Callable[[Tensor, Tensor], Tensor]:
    return lambda scores, w_q: (scores / by(w_q)).softmax(-1)


def _scaled(scores: Tensor, w_q: Tensor) -> Tensor:
    return scores / math.sqrt(w_q.shape[-1])


def _one_wide_head(query: Tensor, key: Tensor, value: Tensor, *w: Tensor) -> Tensor:
    w_q, w_k, w_v = (matrices.transpose(0, 1).flatten(1) for matrices in w[:3])
    output, _ = scaled_dot_product_attention(query @ w_q, key @ w_k, value @ w_v)
    return output @ w[3]


def _given(
    query_len: int,
    key_len: int,
    n_heads: int = 3,
    *,
    size: float = 1.0,
    keys_are_values: bool = False,
) -> Callable[[torch.Generator], Arguments]:
    d_model, d_k, d_v = 12, 5, 7  # all differ, and so does d_model / n_heads

    def make(generator: torch.Generator) -> Arguments:
        lengths = (query_len, key_len, key_len)
        sizes: list[tuple[int, ...]] = [(length, d_model) for length in lengths]
        sizes += [(n_heads, d_model, d) for d in (d_k, d_k, d_v)] + [(n_heads * d_v, d_model)]
        drawn = [torch.randn(*shape, generator=generator) for shape in sizes]
        # matrices of a size that gives scores with variance of about 1
        matrices = [matrix / math.sqrt(d_model) for matrix in drawn[3:]]
        key = drawn[2] if keys_are_values else size * drawn[1]
        return arguments(drawn[0], key, drawn[2], *matrices)

    return make


def _like(function: Callable[..., Tensor]) -> Callable[..., bool]:
    def shows(result: Tensor, expected: Tensor, given: Arguments) -> bool:
        made = function(*given.positional)
        return result.shape == made.shape and torch.allclose(result, made, atol=1e-5)

    return shows


multi_head = Check(
    name="multi_head",
    reference=_multi_head,
    cases=[
        Case("4 queries and 4 keys", _given(4, 4)),
        Case("keys and values from the same words", _given(3, 5, keys_are_values=True)),
        Case("1 query and 6 keys", _given(1, 6)),
        Case("a single head", _given(2, 4, n_heads=1)),
        Case("keys of 0, so that all weights are equal", _given(3, 4, size=0.0)),
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
            where="Merged without the exchange",
        ),
        Mistake(
            "all from the queries",
            lambda q, k, v, *w: _multi_head(q, q, q, *w),
            "keys and values are both made from `query`: this is self-attention. Keys come from "
            "`key`, values from `value`.",
        ),
        Mistake(
            "divides by √d_model",
            _weighted(lambda s, w_q: (s / math.sqrt(w_q.shape[1])).softmax(-1)),
            "the scores are divided by √d_model. Each head divides by the root of its own size, "
            "√d_k: the last dimension of `w_q`.",
        ),
        Mistake(
            "no scale",
            _weighted(lambda s, w_q: s.softmax(-1)),
            "the scores are not divided by √d_k, the root of the last dimension of `w_q`.",
        ),
        Mistake(
            "softmax over heads",
            _weighted(lambda s, w_q: _scaled(s, w_q).softmax(0)),
            "the heads compete with each other: softmax ran over dimension 0. Each head has a "
            "softmax of its own, over the keys, `dim=-1`.",
        ),
        Mistake(
            "one wide head",
            _one_wide_head,
            "this is one head of size h·d_k: its scores are the sums of the heads' scores, with "
            "one softmax for all. Split before you multiply queries and keys.",
        ),
        Mistake(
            "softmax over queries",
            _weighted(lambda s, w_q: _scaled(s, w_q).softmax(-2)),
            "softmax ran over the queries, so they compete for each key. The keys of one query "
            "stand in the last dimension, `dim=-1`.",
        ),
    ],
    symptoms=[
        Symptom(
            "values from the queries",
            _like(lambda q, k, v, *w: _multi_head(q, k, q, *w)),
            "the values are made from `query`. In encoder–decoder attention these would be the "
            "decoder's words. Values come from `value`.",
            where="Values from the decoder",
        ),
        Symptom(
            "values from the keys",
            _like(lambda q, k, v, *w: _multi_head(q, k, k, *w)),
            "the weights are right; the values are made from `key`. Values come from `value`.",
        ),
        Symptom(
            "keys from the values",
            _like(lambda q, k, v, *w: _multi_head(q, v, v, *w)),
            "the keys are made from `value`, so the weights are wrong. Keys come from `key`.",
        ),
        Symptom(
            "the queries' matrices for the keys",
            _like(lambda q, k, v, w_q, w_k, *w: _multi_head(q, k, v, w_q, w_q, *w)),
            "the keys are made with `w_q`. They have matrices of their own, `w_k`.",
        ),
        Symptom(
            "one map for all heads",
            _like(_weighted(lambda s, w_q: _scaled(s, w_q).softmax(-1).mean(0))),
            "all heads attend with one map, the mean of theirs. Each head mixes its own values "
            "with its own weights.",
            where="One map for all heads",
        ),
        Symptom(
            "interleaved",
            _like(
                lambda q, k, v, w_q, w_k, w_v, w_o: (
                    _heads(q, k, v, w_q, w_k, w_v).permute(1, 2, 0).flatten(1) @ w_o
                )
            ),
            "the heads are right, and interleaved: component 1 of all heads, then component 2. "
            "Concat puts head 1 whole, then head 2 whole.",
        ),
        *(
            Symptom(
                f"divides by {size}",
                _like(_weighted(_divided(by))),
                f"the scores are divided by {size}. Each head divides by √d_k, the root of its own "
                "size: the last dimension of `w_q`.",
            )
            for size, by in {
                "√(h · d_k)": lambda w_q: math.sqrt(len(w_q) * w_q.shape[-1]),
                "d_k without the root": lambda w_q: w_q.shape[-1],
            }.items()
        ),
        Symptom(
            "keys from the queries",
            _like(lambda q, k, v, *w: _multi_head(q, q, v, *w)),
            "the keys are made from `query`, so every word looks at its own sentence. Keys come "
            "from `key`.",
        ),
    ],
    right="`multi_head` is right: one softmax a head, mixed by W^O",
)
