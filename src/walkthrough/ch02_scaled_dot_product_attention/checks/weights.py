"""The checks of chapter 02, scaled dot-product attention (§3.2.1).

Each mistake is a whole wrong implementation: the check runs it on the same inputs as the reader's
function and names it when the results agree.
"""

import math
from collections.abc import Callable

import torch
from torch import Tensor

from transformer.attention import scaled_dot_product_attention
from walkthrough.checking.base import Arguments, Case, Check, Mistake, Symptom, drawn

# Exercise: the weights ---------------------------------------------------------------------------


def _weights(query: Tensor, key: Tensor) -> Tensor:
    _, weights = scaled_dot_product_attention(query, key, key, need_weights=True)
    assert weights is not None
    return weights


def _scores(query: Tensor, key: Tensor) -> Tensor:
    return query @ key.transpose(-2, -1)


def _weights_divided_by(divisor: Callable[[Tensor, Tensor], float]) -> Callable[..., Tensor]:
    def weights(query: Tensor, key: Tensor) -> Tensor:
        return (_scores(query, key) / divisor(query, key)).softmax(-1)

    return weights


def _weights_over(dim: int) -> Callable[..., Tensor]:
    def weights(query: Tensor, key: Tensor) -> Tensor:
        return (_scores(query, key) / math.sqrt(query.shape[-1])).softmax(dim)

    return weights


def _sums_to_one_over(dim: int) -> Callable[..., bool]:
    def shows(result: Tensor, expected: Tensor, given: Arguments) -> bool:
        sums = result.sum(dim)
        one = torch.allclose(sums, torch.ones_like(sums), atol=1e-4)
        return one and result.shape == expected.shape  # else the axes are not what they seem

    return shows


attention_weights = Check(
    name="attention_weights",
    reference=_weights,
    cases=[
        drawn("8 heads, 3 queries, 5 keys, d_k = 64", (2, 8, 3, 64), (2, 8, 5, 64)),
        drawn("4 heads, 6 queries, 4 keys, d_k = 16", (1, 4, 6, 16), (1, 4, 4, 16)),
    ],
    mistakes=[
        Mistake(
            "no scale",
            _weights_divided_by(lambda q, k: 1.0),
            "the scores are not divided by √d_k: these are the weights of plain dot-product "
            "attention. They are too close to 0 and 1.",
        ),
        Mistake(
            "divides by √d_model",
            _weights_divided_by(lambda q, k: math.sqrt(q.shape[1] * q.shape[-1])),
            "the scores are divided by √d_model (heads · d_k) and not by √d_k. With 8 heads that "
            "is √8 times too much: the weights are too even.",
        ),
        Mistake(
            "divides by √512",
            _weights_divided_by(lambda q, k: math.sqrt(512)),
            "the scores are divided by √512 whatever the input is. 512 is the paper's d_model. "
            "The divisor is √d_k: read d_k from the last dimension of `query`.",
        ),
        Mistake(
            "divides by d_k",
            _weights_divided_by(lambda q, k: q.shape[-1]),
            "the scores are divided by d_k: the square root is missing. The variance of a dot "
            "product grows with d_k, its standard deviation with √d_k.",
        ),
        Mistake(
            "multiplies by √d_k",
            _weights_divided_by(lambda q, k: q.shape[-1] ** -0.5),
            "the scores are multiplied by √d_k. Divide.",
        ),
        Mistake(
            "divides by the root of the length",
            _weights_divided_by(lambda q, k: math.sqrt(k.shape[-2])),
            "the scores are divided by the square root of the number of keys. That is "
            "`key.shape[-2]`; d_k is `key.shape[-1]`.",
        ),
        Mistake(
            "softmax over queries",
            _weights_over(-2),
            "these weights sum to 1 over queries: softmax ran over the wrong axis. "
            "The keys of one query stand in the last dimension.",
        ),
        Mistake(
            "softmax over heads",
            _weights_over(1),
            "these weights sum to 1 over heads: softmax ran over dimension 1. "
            "Use the last dimension, `dim=-1`, which holds the keys.",
        ),
        Mistake(
            "softmax over the batch",
            _weights_over(0),
            "these weights sum to 1 over the batch: softmax ran over dimension 0. "
            "Use the last dimension, `dim=-1`, which holds the keys.",
        ),
        Mistake(
            "scale after softmax",
            lambda query, key: _scores(query, key).softmax(-1) / math.sqrt(query.shape[-1]),
            "the division by √d_k comes after softmax. The rows no longer sum to 1, and the "
            "softmax has saturated before. Divide the scores, then apply softmax.",
        ),
        Mistake(
            "no softmax",
            lambda query, key: _scores(query, key) / math.sqrt(query.shape[-1]),
            "these are the scaled scores. Softmax over the keys turns them into weights.",
        ),
        Mistake(
            "keys look at queries",
            lambda query, key: _weights(key, query),
            "rows and columns have changed places: rows belong to queries, columns to keys. "
            "The product is query @ keyᵀ.",
        ),
    ],
    symptoms=[
        Symptom(
            "columns sum to 1",
            _sums_to_one_over(-2),
            "these weights sum to 1 over queries, so softmax ran over the wrong axis; "
            "something else differs as well.",
        ),
    ],
    right="`attention_weights` is right: rows sum to 1, and the scale is 1/√d_k",
)


# Exercise: additive attention --------------------------------------------------------------------


def _additive(
    query: Tensor, key: Tensor, query_proj: Tensor, key_proj: Tensor, v: Tensor
) -> Tensor:
    hidden = (query @ query_proj)[:, None, :] + (key @ key_proj)[None, :, :]
    return torch.tanh(hidden) @ v


def _sums(query: Tensor, key: Tensor, query_proj: Tensor, key_proj: Tensor) -> Tensor:
    return (query @ query_proj).unsqueeze(1) + (key @ key_proj).unsqueeze(0)


def _additive_inputs(label: str, query_len: int, key_len: int) -> Case:
    d_k, width = 6, 6
    return drawn(label, (query_len, d_k), (key_len, d_k), (d_k, width), (d_k, width), (width,))


additive_scores = Check(
    name="additive_scores",
    reference=_additive,
    cases=[
        _additive_inputs("3 queries and 5 keys", 3, 5),
        _additive_inputs("4 queries and 4 keys", 4, 4),
    ],
    mistakes=[
        Mistake(
            "no tanh",
            lambda query, key, query_proj, key_proj, v: _sums(query, key, query_proj, key_proj) @ v,
            "tanh is missing. Without it a score is a query's part plus a key's part, so all "
            "queries rank the keys in the same order.",
        ),
        Mistake(
            "tanh outside",
            lambda query, key, query_proj, key_proj, v: torch.tanh(
                _sums(query, key, query_proj, key_proj) @ v
            ),
            "tanh is applied after the product with `v`. It belongs inside: tanh first, then `v`.",
        ),
        Mistake(
            "product for the sum",
            lambda query, key, query_proj, key_proj, v: (
                torch.tanh((query @ query_proj).unsqueeze(1) * (key @ key_proj).unsqueeze(0)) @ v
            ),
            "the projected query and key are multiplied. They are added: hence the name.",
        ),
        Mistake(
            "tanh before the sum",
            lambda query, key, query_proj, key_proj, v: (
                (torch.tanh(query @ query_proj).unsqueeze(1) + torch.tanh(key @ key_proj)) @ v
            ),
            "tanh is applied to the two parts before they are added. A score is then a query's "
            "part plus a key's part, and all queries rank the keys in the same order.",
        ),
        Mistake(
            "summed without v",
            lambda query, key, query_proj, key_proj, v: torch.tanh(
                _sums(query, key, query_proj, key_proj)
            ).sum(-1),
            "`v` is not used: the hidden values are summed with weight 1.",
        ),
        Mistake(
            "projections exchanged",
            lambda query, key, query_proj, key_proj, v: _additive(
                query, key, key_proj, query_proj, v
            ),
            "the two projections have changed places: `query_proj` goes with the query.",
        ),
        Mistake(
            "projections transposed",
            lambda query, key, query_proj, key_proj, v: _additive(
                query, key, query_proj.T, key_proj.T, v
            ),
            "the projections are transposed. The formula multiplies columns, W q; here rows hold "
            "the vectors, so the product is `query @ query_proj`.",
        ),
        Mistake(
            "rows are keys",
            lambda query, key, query_proj, key_proj, v: (
                _additive(query, key, query_proj, key_proj, v).T
            ),
            "rows and columns have changed places: rows belong to queries, columns to keys.",
        ),
        Mistake(
            "softmax included",
            lambda query, key, query_proj, key_proj, v: _additive(
                query, key, query_proj, key_proj, v
            ).softmax(-1),
            "these are the weights already. The scores are asked for, without softmax.",
        ),
        Mistake(
            "scaled",
            lambda query, key, query_proj, key_proj, v: (
                _additive(query, key, query_proj, key_proj, v) / math.sqrt(query.shape[-1])
            ),
            "the scores are divided by √d_k. Additive attention has no such factor: tanh keeps "
            "every term between −1 and 1.",
        ),
    ],
    right="`additive_scores` is right: one row a query, one column a key",
)
