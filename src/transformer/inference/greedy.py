"""Greedy decoding: at every step the most probable token, for a whole batch (§6.1)."""

from math import isnan

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor

from transformer.cache import DecoderCache
from transformer.config import BOS_ID, EOS_ID, PAD_ID, TransformerConfig
from transformer.inference.constraint import Constraint, advance, allow
from transformer.inference.step import Step, step_decoder
from transformer.model import Transformer

EXTRA_TOKENS = 50
"""Output may be this much longer than the input (§6.1); for trees it is 300 (§6.3)."""

ENCODED_AT_ONCE = 25
"""Sentences of a batch that are encoded together, on a CPU, without the padding of the others."""


@torch.inference_mode()
def greedy_decode(
    model: Transformer,
    source: Int[Tensor, "batch source_len"],
    *,
    max_len: int | None = None,
    extra_tokens: int = EXTRA_TOKENS,
    constraint: Constraint | None = None,
    step: Step | None = None,
) -> list[list[int]]:
    """Translate each row of `source`; returns token ids without the start and end tokens.

    A sentence ends with its end token, or after `max_len` tokens, the end token included; by
    default source tokens + `extra_tokens`, counted for each sentence, so that a translation does
    not depend on the rest of the batch. Finished sentences leave the computation. Equal logits: the
    lower id. Never padding, never a second start token, and nothing that `constraint` closes. Who
    has several batches may make one `step_decoder(model)` for all of them, and pass it as `step`.

    Raises:
        ValueError: max_len or extra_tokens below 1, a source the model refuses, or a constraint
            that leaves nothing to choose.
        FloatingPointError: the model's probabilities are not numbers.
    """
    limits = output_limits(source, max_len, extra_tokens, model.config).tolist()
    decoded: list[list[int]] = [[] for _ in limits]
    memory = inference_encode(model, source)
    step = step or step_decoder(model)
    cache = DecoderCache(model.config.n_layers)
    rows = list(range(len(source)))  # which sentence each row decodes
    tokens = torch.full_like(source[:, 0], BOS_ID)
    states = [] if constraint is None else [constraint.start(n) for n in rows]
    # the token at the limit is the end token, whatever the model would say
    for length in range(1, max(limits)):
        decoder_states = step.decode(tokens[:, None], memory, source, cache=cache)
        logits = forbid_special(step.project(decoder_states[:, -1]))
        if constraint is not None:
            logits = allow(logits, constraint, states)
        tokens = most_probable(logits)
        if isnan(logits.gather(-1, tokens[:, None]).sum()):  # NaN counts as the highest
            raise FloatingPointError("the model's probabilities are not numbers")
        places = []  # of the rows that go on
        for place, (row, token) in enumerate(zip(rows, tokens.tolist(), strict=True)):
            if token != EOS_ID:
                decoded[row].append(token)
                if length + 1 < limits[row]:
                    places.append(place)
        if not places:
            break
        if len(places) < len(rows):
            keep = torch.tensor(places, device=source.device)
            cache.select(keep, sources=keep)
            tokens, memory, source = tokens[keep], memory[keep], source[keep]
            rows = [rows[place] for place in places]
        if constraint is not None:
            states = advance(constraint, [states[place] for place in places], tokens)
    return [ids[: limit - 1] for ids, limit in zip(decoded, limits, strict=True)]


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
    empty = (source == PAD_ID).all(dim=-1).nonzero().flatten().tolist()
    if empty:
        raise ValueError(f"every source needs a token that is not padding, rows {empty} have none")
    if len(source) <= ENCODED_AT_ONCE or source.device.type != "cpu":
        return model.encode(source)
    parts = []
    for part in source.split(ENCODED_AT_ONCE):
        width = int((part != PAD_ID).any(dim=0).nonzero().max()) + 1
        memory = model.encode(part[:, :width])
        parts.append(F.pad(memory, (0, 0, 0, source.shape[1] - width)))
    return torch.cat(parts)


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
