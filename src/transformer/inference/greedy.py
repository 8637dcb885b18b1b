"""Greedy decoding: at every step the most probable token, for a whole batch (§6.1)."""

import torch
from jaxtyping import Float, Int
from torch import Tensor

from transformer.config import BOS_ID, EOS_ID, PAD_ID, TransformerConfig
from transformer.inference.cache import DecoderCache
from transformer.inference.constraint import Constraint, advance, allow
from transformer.model import Transformer

EXTRA_TOKENS = 50
"""Output may be this much longer than the input (§6.1); for trees it is 300 (§6.3)."""


@torch.inference_mode()
def greedy_decode(
    model: Transformer,
    source: Int[Tensor, "batch source_len"],
    *,
    max_len: int | None = None,
    extra_tokens: int = EXTRA_TOKENS,
    constraint: Constraint | None = None,
) -> list[list[int]]:
    """Translate each row of `source`; returns token ids without the start and end tokens.

    A sentence ends with its end token, or after `max_len` tokens, the end token included; by
    default source tokens + `extra_tokens`, counted for each sentence, so that a translation does
    not depend on the rest of the batch. Finished sentences leave the computation. Equal logits: the
    lower id. Never padding, never a second start token, and nothing that `constraint` closes.

    Raises:
        ValueError: max_len or extra_tokens below 1, a source the model refuses, or a constraint
            that leaves nothing to choose.
        FloatingPointError: the model's probabilities are not numbers.
    """
    limits = output_limits(source, max_len, extra_tokens, model.config)
    decoded: list[list[int]] = [[] for _ in range(len(source))]
    memory = inference_encode(model, source)
    cache = DecoderCache(model.config.n_layers)
    rows = torch.arange(len(source), device=source.device)  # which sentence each row decodes
    tokens = torch.full_like(rows, BOS_ID)
    states = [] if constraint is None else [constraint.start(n) for n in range(len(source))]
    for length in range(1, int(limits.max()) + 1):
        decoder_states = model.decode(tokens[:, None], memory, source, cache=cache)
        logits = forbid_special(model.project(decoder_states[:, -1]))
        if constraint is not None:
            logits = allow(logits, constraint, states)
        tokens = most_probable(logits)
        if logits.gather(-1, tokens[:, None]).isnan().any():  # NaN counts as the highest
            raise FloatingPointError("the model's probabilities are not numbers")
        for row, token in zip(rows.tolist(), tokens.tolist(), strict=True):
            if token != EOS_ID:
                decoded[row].append(token)
        is_open = (tokens != EOS_ID) & (limits[rows] > length)
        if not is_open.any():
            break
        keep = is_open.nonzero().squeeze(-1)
        if constraint is not None:
            states = advance(constraint, [states[row] for row in keep.tolist()], tokens[keep])
        if len(keep) == len(rows):
            continue
        cache.select(keep, sources=keep)
        rows, tokens, memory, source = rows[keep], tokens[keep], memory[keep], source[keep]
    # the token that reaches the limit is the end token's place
    return [ids[: int(limit) - 1] for ids, limit in zip(decoded, limits, strict=True)]


def output_limits(
    source: Int[Tensor, "batch source_len"],
    max_len: int | None,
    extra_tokens: int = EXTRA_TOKENS,
    config: TransformerConfig | None = None,
) -> Int[Tensor, " batch"]:
    """Most tokens each sentence may become, the end token included (§6.1: input + 50).

    Not more than there are places, where these are learned.
    """
    if max_len is not None and max_len < 1:
        raise ValueError(f"max_len must be at least 1 (the end token), got {max_len}")
    if extra_tokens < 1:
        raise ValueError(f"extra_tokens must be at least 1, got {extra_tokens}")
    lengths = (source != PAD_ID).sum(dim=-1)
    limits = lengths + extra_tokens if max_len is None else torch.full_like(lengths, max_len)
    return limits.clamp(max=config.max_len) if config and config.positions == "learned" else limits


def inference_encode(model: Transformer, source: Int[Tensor, "batch source_len"]) -> Tensor:
    """Put the model in evaluation mode and encode.

    Raises:
        ValueError: an empty batch, or a sentence that is only padding.
    """
    model.eval()
    memory = model.encode(source)
    empty = (source == PAD_ID).all(dim=-1).nonzero().flatten().tolist()
    if empty:
        raise ValueError(f"every source needs a token that is not padding, rows {empty} have none")
    return memory


def most_probable(logits: Float[Tensor, "batch vocab_size"]) -> Int[Tensor, " batch"]:
    """Return the token with the highest logit in each row; of equal ones the lower id.

    On a CPU NumPy looks for it: over 10 000 tokens its argmax takes a tenth of PyTorch's time,
    which is a quarter of that of the product with the vocabulary.
    """
    if logits.device.type == "cpu":
        precise = logits.to(torch.promote_types(logits.dtype, torch.float32))  # NumPy: no bfloat16
        return torch.from_numpy(precise.numpy().argmax(axis=-1))
    return logits.argmax(dim=-1)


def forbid_special(logits: Tensor) -> Tensor:
    """Make padding and the start token impossible, in place."""
    for token in (PAD_ID, BOS_ID):  # by slices: a list of indices takes ten times as long
        logits[..., token] = float("-inf")
    return logits
