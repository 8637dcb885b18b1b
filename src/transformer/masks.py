"""Who may attend to whom (§3.1, §3.2.3, §4). Masks are boolean; True means *may attend*."""

from functools import reduce
from operator import and_

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


def neighbourhood_mask(
    length: int, r: int, *, device: torch.device | str | None = None
) -> Bool[Tensor, "1 1 length length"]:
    """Let a position attend to the r positions around it, itself in the middle (§4, restricted).

    At both ends of the sentence there are fewer. The mask saves no operation: the closed scores
    are computed, then thrown away.

    Raises:
        ValueError: r is even (a position has no middle place in its neighbourhood) or below 1.
    """
    if r < 1 or r % 2 == 0:
        raise ValueError(f"r must be odd and at least 1, got {r}")
    position = torch.arange(length, device=device)
    return ((position[:, None] - position).abs() <= r // 2)[None, None]


def combine_masks(*masks: Bool[Tensor, "..."] | None) -> Bool[Tensor, "..."] | None:
    """Allow what every mask allows; `None` allows everything.

    Raises:
        ValueError: the masks' shapes do not broadcast together.
    """
    given = [mask for mask in masks if mask is not None]
    if not given:
        return None
    try:
        return reduce(and_, given)
    except RuntimeError as error:
        shapes = " and ".join(str(tuple(mask.shape)) for mask in given)
        raise ValueError(f"masks must broadcast together, got shapes {shapes}") from error
