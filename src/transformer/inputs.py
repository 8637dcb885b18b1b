"""What the model refuses: every error names the rule and the values."""

import torch
from torch import Tensor


def check_attention(
    query: Tensor, key: Tensor, value: Tensor, attend_mask: Tensor | None, dropout: float
) -> None:
    """Raise ValueError unless shapes and mask fit each other and dropout lies in [0, 1)."""
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


def check_tokens(name: str, tokens: Tensor) -> None:
    """Raise ValueError unless `tokens` are rows of whole numbers, and at least one."""
    if tokens.ndim != 2 or tokens.numel() == 0:
        raise ValueError(
            f"{name} must have shape (batch, length) with at least one sentence and one token, "
            f"got {tuple(tokens.shape)}"
        )
    if tokens.is_floating_point() or tokens.dtype == torch.bool:
        raise ValueError(f"{name} must hold token ids as whole numbers, got dtype {tokens.dtype}")


def check_sentences(target: Tensor, memory: Tensor, source: Tensor) -> None:
    """Raise ValueError unless each target has its source, and each source its memory."""
    if memory.shape[:2] != source.shape or len(target) != len(source):
        raise ValueError(
            "target, memory and source must belong to the same sentences: got shapes "
            f"{tuple(target.shape)}, {tuple(memory.shape)}, {tuple(source.shape)}"
        )
