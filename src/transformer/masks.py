"""Who may attend to whom (§3.1, §3.2.3). Masks are boolean and True means *may attend*."""

import torch
from jaxtyping import Bool, Int
from torch import Tensor

from transformer.config import PAD_ID


def padding_mask(
    tokens: Int[Tensor, "batch key_len"], pad_id: int = PAD_ID
) -> Bool[Tensor, "batch 1 1 key_len"]:
    """Let every query attend to real tokens and to no padding (used in all three attentions)."""
    return (tokens != pad_id)[:, None, None, :]


def causal_mask(
    query_len: int, key_len: int | None = None, *, device: torch.device | str | None = None
) -> Bool[Tensor, "1 1 query_len key_len"]:
    """Let a position attend to itself and to earlier ones (§3.2.3, "prevent leftward flow").

    With more keys than queries the queries are the last positions, as in decoding with a cache.

    Raises:
        ValueError: there are fewer keys than queries.
    """
    key_len = query_len if key_len is None else key_len
    if key_len < query_len:
        raise ValueError(f"key_len must be at least query_len: got {key_len} < {query_len}")
    ones = torch.ones(query_len, key_len, dtype=torch.bool, device=device)
    return ones.tril(diagonal=key_len - query_len)[None, None]


def combine_masks(*masks: Bool[Tensor, "..."] | None) -> Bool[Tensor, "..."] | None:
    """Allow what every mask allows; `None` allows everything.

    Raises:
        ValueError: the masks' shapes do not broadcast together.
    """
    given = [mask for mask in masks if mask is not None]
    if not given:
        return None
    try:
        torch.broadcast_shapes(*(mask.shape for mask in given))
    except RuntimeError:
        shapes = " and ".join(str(tuple(mask.shape)) for mask in given)
        raise ValueError(f"masks must broadcast together, got shapes {shapes}") from None
    combined = given[0]
    for mask in given[1:]:
        combined = combined & mask
    return combined
