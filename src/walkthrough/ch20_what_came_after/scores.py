"""The largest score of each head, and the rule that keeps it below a bound (QK-clip)."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from jaxtyping import Float
from torch import Tensor, nn

from transformer.attention import MultiHeadAttention
from walkthrough.ch20_what_came_after.blocks import TodaysAttention

Seen = dict[MultiHeadAttention, Float[Tensor, " heads"]]


@contextmanager
def seen_scores(model: nn.Module) -> Iterator[Seen]:
    """Yield the size of the largest score of each head in the last pass, before softmax."""
    seen: Seen = {}

    @torch.no_grad()
    def look(module: MultiHeadAttention, given: tuple[Tensor, ...]) -> None:
        query, key, _, mask = given
        if isinstance(module, TodaysAttention):
            q, k = module.heads(query, key)
            k = k.repeat_interleave(module.n_heads // module.n_groups, dim=1)
        else:
            q = module.split_heads(module.query_proj(query))
            k = module.split_heads(module.key_proj(key))
        scores = (q @ k.mT * module.scale).masked_fill(~mask, 0)
        seen[module] = scores.abs().amax(dim=(0, 2, 3))

    attentions = [m for m in model.modules() if isinstance(m, MultiHeadAttention)]
    hooks = [one.register_forward_pre_hook(look) for one in attentions]  # type: ignore[arg-type]
    try:
        yield seen
    finally:
        for hook in hooks:
            hook.remove()


@torch.no_grad()
def clip_scores(seen: Seen, bound: float) -> None:
    """Shrink queries and keys of each head whose largest score passed the bound, back to it.

    Half of the factor goes to either, weights and biases; other heads stay as they are.

    Raises:
        ValueError: heads that share their keys, which no head may shrink alone.
    """
    for attention, largest in seen.items():
        rows = [part.out_features for part in (attention.query_proj, attention.key_proj)]
        if rows[0] != rows[1]:
            raise ValueError(f"a bound needs a key for each head: {rows[0]} and {rows[1]} rows")
        shrink = (bound / largest).clamp(max=1).sqrt()
        for part in (*attention.query_proj.parameters(), *attention.key_proj.parameters()):
            by_head = part.unflatten(0, (attention.n_heads, -1))
            by_head.mul_(shrink.view(-1, *[1] * part.ndim))
