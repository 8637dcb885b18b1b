"""Scaled dot-product and multi-head attention (§3.2)."""

from math import sqrt

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float
from torch import Tensor, nn


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
    _check_inputs(query, key, value, attend_mask, dropout)
    scale = 1 / sqrt(query.shape[-1]) if scale is None else scale
    if attend_mask is not None:  # the fused kernel wants a row of keys as a matrix
        attend_mask = torch.atleast_2d(attend_mask)
    if not need_weights:
        output = F.scaled_dot_product_attention(
            query, key, value, attn_mask=attend_mask, dropout_p=dropout, scale=scale
        )
        return output, None

    scores = query @ key.transpose(-2, -1) * scale  # (*batch, query_len, key_len)
    if attend_mask is not None:
        scores = scores.masked_fill(~attend_mask, float("-inf"))
    weights = torch.softmax(scores, dim=-1)
    if attend_mask is not None:  # a row of −inf gives NaN: such a query attends to nothing
        weights = weights.masked_fill(~attend_mask.any(dim=-1, keepdim=True), 0.0)
    return F.dropout(weights, dropout) @ value, weights


class KeyValueCache:
    """Projected keys and values of one attention, kept from one decoding step to the next.

    A growing cache (decoder self-attention) appends each step's keys and values; it holds room for
    `ROOM` positions to come, so that most steps copy only what is new. A fixed one
    (encoder–decoder attention) stores the first and returns them ever after. Positions come first
    in memory: what is filled lies together, whatever the room behind it.
    """

    ROOM = 16

    def __init__(self, *, growing: bool) -> None:
        self.growing = growing
        self.length = 0  # positions stored
        self._stored: tuple[Tensor, Tensor] | None = None  # both (length and room, batch, heads, d)
        self._before: tuple[Tensor, Tensor] | None = None  # memory for the next rows selected

    def fixed(self) -> tuple[Tensor, Tensor] | None:
        """Return what is stored if it stays as it is, so that nothing needs to be projected."""
        return None if self.growing or self._stored is None else self._filled(*self._stored)

    def append(
        self,
        key: Float[Tensor, "batch heads new_len d_k"],
        value: Float[Tensor, "batch heads new_len d_v"],
    ) -> tuple[Float[Tensor, "batch heads key_len d_k"], Float[Tensor, "batch heads key_len d_v"]]:
        """Store the keys and values of new positions behind the old; return all of them."""
        keys, values = self._stored or (None, None)
        self._stored = self._behind(keys, key), self._behind(values, value)
        self.length += key.shape[-2]
        return self._filled(*self._stored)

    @torch.no_grad()
    def select(self, rows: Tensor) -> None:
        """Keep, repeat or reorder rows of the batch, as beam search and finished sentences need."""
        if self._stored is not None:
            before = self._before or self._stored
            pairs = zip(self._stored, before, strict=True)
            keys, values = (self._taken(stored, rows, old) for stored, old in pairs)
            self._before = self._stored if self.growing else None
            self._stored = keys, values

    def _filled(self, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
        filled = slice(self.length)
        return keys[filled].permute(1, 2, 0, 3), values[filled].permute(1, 2, 0, 3)

    def _behind(self, stored: Tensor | None, new: Tensor) -> Tensor:
        new = new.permute(2, 0, 1, 3)
        end = self.length + len(new)
        if stored is None or end > len(stored):
            room = self.ROOM if self.growing else 0
            larger = new.new_empty(end + room, *new.shape[1:])
            if stored is not None:
                larger[: self.length] = stored[: self.length]
            stored = larger
        stored[self.length : end] = new
        return stored

    def _taken(self, stored: Tensor, rows: Tensor, before: Tensor) -> Tensor:
        shape = (len(stored), len(rows), *stored.shape[2:])
        is_free = before is not stored and before.shape == shape
        taken = before if is_free else stored.new_empty(shape)
        filled = slice(self.length)  # index_select is faster than [:, rows]
        torch.index_select(stored[filled], 1, rows, out=taken[filled])
        return taken


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
        if (d_k is None or d_v is None) and d_model % n_heads:
            raise ValueError(
                f"d_model must be a multiple of n_heads: got d_model={d_model}, n_heads={n_heads}"
            )
        self.n_heads = n_heads
        self.d_k = d_model // n_heads if d_k is None else d_k
        self.d_v = d_model // n_heads if d_v is None else d_v
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
        k, v = self._keys_and_values(key, value, cache)
        output, weights = scaled_dot_product_attention(
            q,
            k,
            v,
            attend_mask,
            scale=self.scale,
            dropout=self.dropout if self.training else 0.0,
            need_weights=need_weights,
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

    def _keys_and_values(
        self, key: Tensor, value: Tensor, cache: KeyValueCache | None
    ) -> tuple[Tensor, Tensor]:
        stored = None if cache is None else cache.fixed()
        if stored is not None:
            return stored
        k = self.split_heads(self.key_proj(key))
        v = self.split_heads(self.value_proj(value))
        return (k, v) if cache is None else cache.append(k, v)


def _check_inputs(
    query: Tensor, key: Tensor, value: Tensor, attend_mask: Tensor | None, dropout: float
) -> None:
    if query.shape[-1] != key.shape[-1]:
        raise ValueError(
            f"query and key must have the same d_k, got {query.shape[-1]} and {key.shape[-1]}"
        )
    if key.shape[-2] != value.shape[-2]:
        raise ValueError(
            "key and value must have the same length, "
            f"got {key.shape[-2]} and {value.shape[-2]} positions"
        )
    if not 0.0 <= dropout < 1.0:
        raise ValueError(f"dropout must lie in [0, 1), got {dropout}")
    if attend_mask is None:
        return
    if attend_mask.dtype != torch.bool:
        raise ValueError(
            f"attend_mask must be boolean with True = may attend, got dtype {attend_mask.dtype}"
        )
    scores_shape = (*query.shape[:-1], key.shape[-2])
    # by hand: torch.broadcast_shapes also handles symbolic sizes and is a hundred times slower
    fits = attend_mask.ndim <= len(scores_shape) and all(
        size in (1, wanted)
        for size, wanted in zip(reversed(attend_mask.shape), reversed(scores_shape), strict=False)
    )
    if not fits:
        raise ValueError(
            f"attend_mask must broadcast to the scores' shape {scores_shape}, "
            f"got {tuple(attend_mask.shape)}"
        )
