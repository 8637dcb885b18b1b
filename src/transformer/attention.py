"""Scaled dot-product and multi-head attention (§3.2)."""

from math import sqrt

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float
from torch import Tensor, nn

from transformer.cache import KeyValueCache
from transformer.config import head_size
from transformer.inputs import check_attention


def scaled_dot_product_attention(
    query: Float[Tensor, "*batch query_len d_k"],
    key: Float[Tensor, "*batch key_len d_k"],
    value: Float[Tensor, "*batch key_len d_v"],
    attend_mask: Bool[Tensor, "..."] | None = None,
    *,
    scale: float | None = None,
    dropout: float = 0.0,
    need_weights: bool = False,
) -> tuple[Float[Tensor, "*batch query_len d_v"], Float[Tensor, "*batch query_len key_len"] | None]:
    """Return softmax(QKᵀ · scale) V and, when asked for, the weights (§3.2.1, Eq. 1).

    `scale` is 1/√d_k unless given. A query that may attend to nothing gets zeros. Without
    `need_weights` PyTorch's fused kernel does the work and never stores the weights. The weights
    returned are those before dropout: each row sums to 1.

    Raises:
        ValueError: the shapes do not fit, the mask is not boolean or does not broadcast to
            (…, query_len, key_len), or dropout lies outside [0, 1).
    """
    check_attention(query, key, value, attend_mask, dropout)
    scale = 1 / sqrt(query.shape[-1]) if scale is None else scale
    if not need_weights:  # the fused kernel wants a row of keys as a matrix
        mask = None if attend_mask is None else torch.atleast_2d(attend_mask)
        return F.scaled_dot_product_attention(query, key, value, mask, dropout, scale=scale), None

    scores = query @ key.transpose(-2, -1) * scale  # (*batch, query_len, key_len)
    if attend_mask is not None:
        scores = scores.masked_fill(~attend_mask, float("-inf"))
    weights = torch.softmax(scores, dim=-1)
    if attend_mask is not None:  # a row of −inf gives NaN: such a query attends to nothing
        weights = weights.masked_fill(~attend_mask, 0.0)
    return F.dropout(weights, dropout) @ value, weights


class MultiHeadAttention(nn.Module):
    """h attentions side by side on projections of the same input, mixed by W^O (§3.2.2).

    The h matrices W_i^Q ∈ R^{d_model × d_k} stand side by side in one matrix `query_proj`, and
    likewise for keys and values. `d_k` and `d_v` left out mean d_model / n_heads.

    Raises:
        ValueError: d_model is not a multiple of n_heads while d_k or d_v is left out.
    """

    def __init__(
        self,
        *,
        d_model: int,
        n_heads: int,
        d_k: int | None = None,
        d_v: int | None = None,
        dropout: float = 0.0,
        bias: bool = True,
        scale_scores: bool = True,
    ) -> None:
        super().__init__()
        self.n_heads = n_heads
        self.d_k = head_size(d_model, n_heads) if d_k is None else d_k
        self.d_v = head_size(d_model, n_heads) if d_v is None else d_v
        self.dropout = dropout
        self.scale = 1 / sqrt(self.d_k) if scale_scores else 1.0
        self.query_proj = nn.Linear(d_model, n_heads * self.d_k, bias=bias)  # W^Q
        self.key_proj = nn.Linear(d_model, n_heads * self.d_k, bias=bias)  # W^K
        self.value_proj = nn.Linear(d_model, n_heads * self.d_v, bias=bias)  # W^V
        self.output_proj = nn.Linear(n_heads * self.d_v, d_model, bias=bias)  # W^O

    def forward(
        self,
        query: Float[Tensor, "batch query_len d_model"],
        key: Float[Tensor, "batch key_len d_model"],
        value: Float[Tensor, "batch key_len d_model"],
        attend_mask: Bool[Tensor, "..."] | None = None,
        *,
        cache: KeyValueCache | None = None,
        need_weights: bool = False,
    ) -> tuple[
        Float[Tensor, "batch query_len d_model"],
        Float[Tensor, "batch heads query_len all_keys"] | None,
    ]:
        """Attend with every head and mix the results; weights per head when asked for.

        With a cache, `key` and `value` hold the new positions only; the stored ones come first.
        The mask must then cover all of them.
        """
        q = self.split_heads(self.query_proj(query))
        k, v = self.keys_and_values(key, value, cache)
        dropout = self.dropout if self.training else 0.0
        output, weights = scaled_dot_product_attention(
            q, k, v, attend_mask, scale=self.scale, dropout=dropout, need_weights=need_weights
        )
        return self.output_proj(self.merge_heads(output)), weights

    def split_heads(
        self, x: Float[Tensor, "batch length heads_times_d"]
    ) -> Float[Tensor, "batch heads length d"]:
        """Give every head its own slice of the last dimension."""
        return x.unflatten(-1, (self.n_heads, -1)).transpose(1, 2)

    def merge_heads(
        self, x: Float[Tensor, "batch heads length d"]
    ) -> Float[Tensor, "batch length heads_times_d"]:
        """Put the heads' results side by side again: Concat(head_1, …, head_h)."""
        return x.transpose(1, 2).flatten(-2)

    def keys_and_values(
        self, key: Tensor, value: Tensor, cache: KeyValueCache | None
    ) -> tuple[Tensor, Tensor]:
        """Project both to every head's d_k and d_v; a cache adds what it has, or has them all."""
        stored = None if cache is None else cache.fixed()
        if stored is not None:
            return stored
        k, v = self.split_heads(self.key_proj(key)), self.split_heads(self.value_proj(value))
        return (k, v) if cache is None else cache.append(k, v)
