"""Known-wrong attentions. The tests must reject every one of them."""

from math import sqrt

import torch
from torch import Tensor


def unscaled(query, key, value, attend_mask=None):
    return _attend(query, key, value, attend_mask, scale=1.0)


def scaled_by_d_model(query, key, value, attend_mask=None):
    n_heads = query.shape[1]
    return _attend(query, key, value, attend_mask, scale=1 / sqrt(query.shape[-1] * n_heads))


def softmax_over_queries(query, key, value, attend_mask=None):
    return _attend(query, key, value, attend_mask, axis=-2)


def inverted_mask(query, key, value, attend_mask=None):
    return _attend(query, key, value, None if attend_mask is None else ~attend_mask)


def mask_that_leaks(query, key, value, attend_mask=None):
    """Zeros in place of −inf: a forbidden key keeps the weight exp(0)."""
    return _attend(query, key, value, attend_mask, fill=0.0)


def mask_ignored(query, key, value, attend_mask=None):
    return _attend(query, key, value, None)


def mask_added_as_numbers(query, key, value, attend_mask=None):
    scores = query @ key.transpose(-2, -1) / sqrt(query.shape[-1])
    scores = scores if attend_mask is None else scores + attend_mask
    return torch.softmax(scores, -1) @ value


def masked_after_softmax(query, key, value, attend_mask=None):
    """Rows no longer sum to 1."""
    weights = torch.softmax(query @ key.transpose(-2, -1) / sqrt(query.shape[-1]), -1)
    return (weights if attend_mask is None else weights * attend_mask) @ value


def keys_as_values(query, key, value, attend_mask=None):
    return _attend(query, key, key[..., : value.shape[-1]], attend_mask)


def _attend(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attend_mask: Tensor | None,
    *,
    scale: float | None = None,
    axis: int = -1,
    fill: float = float("-inf"),
) -> Tensor:
    scores = query @ key.transpose(-2, -1) * (scale or 1 / sqrt(query.shape[-1]))
    if attend_mask is not None:
        scores = scores.masked_fill(~attend_mask, fill)
    return torch.softmax(scores, axis).nan_to_num() @ value


WRONG_ATTENTIONS = [
    unscaled,
    scaled_by_d_model,
    softmax_over_queries,
    inverted_mask,
    mask_that_leaks,
    mask_ignored,
    mask_added_as_numbers,
    masked_after_softmax,
    keys_as_values,
]
