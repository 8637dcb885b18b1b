"""The check of chapter 04 on multi-head attention from matrices (§3.2.2)."""

import math
from collections.abc import Callable

import torch
from torch import Tensor

from transformer.attention import scaled_dot_product_attention
from walkthrough.checking.base import Arguments, Case, Check, Mistake, Symptom, arguments


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


def _blocks(blocks: Callable[[Tensor, int], Tensor], n_left_out: int = 0) -> Callable[..., Tensor]:
    """Multi-head attention as a sum over heads, with `blocks(w_o, head)` for the rows of W^O."""

    def attend(query: Tensor, key: Tensor, value: Tensor, *w: Tensor) -> Tensor:
        found = _heads(query, key, value, *w[:3])
        kept = list(enumerate(found))[: len(found) - n_left_out]
        return torch.stack([head @ blocks(w[3], place) for place, head in kept]).sum(0)

    return attend


def _first_head_only(query: Tensor, key: Tensor, value: Tensor, *w: Tensor) -> Tensor:
    return _heads(query, key, value, *w[:3])[0] @ w[3].chunk(len(w[0]))[0]


def _mean_weights(query: Tensor, key: Tensor, value: Tensor, *w: Tensor) -> Tensor:
    mean = _weighted(lambda s, w_q: _softmax(s, w_q).mean(0, keepdim=True).expand_as(s))
    return mean(query, key, value, *w)


def _softmax(scores: Tensor, w_q: Tensor) -> Tensor:
    return (scores / math.sqrt(w_q.shape[-1])).softmax(-1)


def _reshaped_matrices(query: Tensor, key: Tensor, value: Tensor, *w: Tensor) -> Tensor:
    n_heads, d_model = w[0].shape[:2]
    q, k, v = (
        (x @ matrices.reshape(d_model, -1)).unflatten(-1, (n_heads, -1)).transpose(0, 1)
        for x, matrices in zip((query, key, value), w[:3], strict=True)
    )
    return scaled_dot_product_attention(q, k, v)[0].transpose(0, 1).flatten(1) @ w[3]


def _causal(scores: Tensor, w_q: Tensor) -> Tensor:
    later = torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1)
    return _softmax(scores.masked_fill(later, -math.inf), w_q)


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
        Mistake(
            "divides by √key_len",
            _weighted(lambda s, w_q: (s / math.sqrt(s.shape[-1])).softmax(-1)),
            "the scores are divided by the root of the number of keys. Each head divides by the "
            "root of its own size, √d_k: the last dimension of `w_q`.",
        ),
        Mistake(
            "divides by √64",
            _weighted(lambda s, w_q: (s / 8).softmax(-1)),
            "the scores are divided by 8, the paper's √64. Here d_k is given by the matrices: the "
            "last dimension of `w_q`.",
        ),
        Mistake(
            "softmax over queries, no scale",
            _weighted(lambda s, w_q: s.softmax(-2)),
            "two things: softmax ran over the queries, not over the keys, and the scores are not "
            "divided by √d_k.",
        ),
        Mistake(
            "mean of the heads' weights",
            _mean_weights,
            "the weights of the heads are averaged, so all heads look at the same words. Each head "
            "keeps its own weights.",
        ),
        Mistake(
            "one head too few",
            _blocks(lambda w_o, place: w_o.chunk(3)[place], n_left_out=1),
            "the last head is missing.",
        ),
        Mistake(
            "first head only",
            _first_head_only,
            "this is the first head alone. Does a `return` inside the loop end it in the first "
            "round?",
        ),
        Mistake(
            "the same rows of W^O for all heads",
            _blocks(lambda w_o, place: w_o.chunk(3)[0]),
            "every head is multiplied by the first d_v rows of `w_o`. Head i has rows of its own.",
        ),
        Mistake(
            "matrices reshaped",
            _reshaped_matrices,
            "the stacked matrices were made one by `reshape`, which mixes the rows of different "
            "heads. Put them side by side: `torch.cat(list(w_q), dim=-1)`.",
        ),
        Mistake(
            "causal mask",
            _weighted(_causal),
            "later keys are closed. No mask is asked for here.",
        ),
        Mistake(
            "one wide head, scaled by √d_k",
            lambda query, key, value, *w: _one_wide_head(
                query * math.sqrt(len(w[0])), key, value, *w
            ),
            "this is one head: its scores are the sums of the heads' scores, with one softmax for "
            "all. Split before you multiply queries and keys.",
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
