"""What the switches of the page do to many sentences: the same breaks, in the package's model."""

import copy
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from phrasebook import Example
from phrasebook.codec import PhrasebookCodec
from transformer.attention import MultiHeadAttention
from transformer.config import BOS_ID, EOS_ID, PAD_ID
from transformer.inference import greedy_decode
from transformer.inference.greedy import inference_encode, output_limits
from transformer.model import AttentionMaps, Transformer

KINDS = ("encoder", "decoder", "cross")


def broken(
    model: Transformer, *, mask: bool = True, positions: bool = True, scale: bool = True
) -> Transformer:
    """Return a copy of the trained model without the target mask, the positions or the scale."""
    config = model.config.replace(
        causal=mask and model.config.causal,
        positions=model.config.positions if positions else "none",
        scale_scores=scale and model.config.scale_scores,
    )
    other = Transformer(config).eval()
    other.load_state_dict(model.state_dict())
    return other


def with_heads(model: Transformer, gains: dict[str, Float[Tensor, "layers heads"]]) -> Transformer:
    """Return a copy whose heads count as much as `gains` says, by kind: 0 switches one off.

    Raises:
        ValueError: a kind that no model has.
    """
    if not set(gains) <= set(KINDS):
        raise ValueError(f"kinds of attention are {', '.join(KINDS)}, got {', '.join(gains)}")
    other = copy.deepcopy(model)
    with torch.no_grad():
        for kind, rows in gains.items():
            for attention, row in zip(_attentions(other, kind), rows, strict=True):
                columns = row.repeat_interleave(model.config.d_v)
                attention.output_proj.weight.mul_(columns)
    return other


def only_head(model: Transformer, head: int) -> Transformer:
    """Return a copy in which every attention has this one head left; the first is 0."""
    gains = torch.zeros(model.config.n_layers, model.config.n_heads)
    gains[:, head] = 1
    return with_heads(model, dict.fromkeys(KINDS, gains))


def each_head_off(model: Transformer) -> dict[tuple[str, int, int], Transformer]:
    """Return a copy for every single head, by kind, layer and head, without that head."""
    found = {}
    for kind in KINDS:
        for place in range(model.config.n_layers * model.config.n_heads):
            gains = torch.ones(model.config.n_layers, model.config.n_heads)
            gains.view(-1)[place] = 0
            layer, head = divmod(place, model.config.n_heads)
            found[kind, layer, head] = with_heads(model, {kind: gains})
    return found


def _attentions(model: Transformer, kind: str) -> list[MultiHeadAttention]:
    if kind == "encoder":
        return [layer.self_attention for layer in model.encoder.layers]  # type: ignore[misc]
    name = "self_attention" if kind == "decoder" else "cross_attention"
    return [getattr(layer, name) for layer in model.decoder.layers]


@dataclass(frozen=True)
class Changes:
    """What became of the translations of the model as it was trained, in sentences."""

    same: int
    other_order: int
    lost_a_word: int
    never_ends: int

    def __str__(self) -> str:
        """One line of a table."""
        return (
            f"{self.same:3} the same, {self.other_order} in another order, "
            f"{self.lost_a_word:3} lose a word, {self.never_ends:2} never end"
        )


def changes(
    model: Transformer, other: Transformer, codec: PhrasebookCodec, examples: Sequence[Example]
) -> Changes:
    """Compare the greedy translations of two models; what never ends is stopped by the limit."""
    source = _batch(codec, examples)
    wanted = greedy_decode(model, source)
    found = greedy_decode(other, source) if other.config.causal else decode_anew(other, source)
    limits = output_limits(source, None).tolist()
    pairs = list(zip(wanted, found, strict=True))
    return Changes(
        same=sum(a == b for a, b in pairs),
        other_order=sum(a != b and sorted(a) == sorted(b) for a, b in pairs),
        lost_a_word=sum(not set(a) <= set(b) for a, b in pairs),
        never_ends=sum(len(b) == limit - 1 for b, limit in zip(found, limits, strict=True)),
    )


def longer_than_source(
    model: Transformer, codec: PhrasebookCodec, examples: Sequence[Example]
) -> list[int]:
    """Return by how many tokens each greedy translation is longer than its source (§6.1: 50)."""
    source = _batch(codec, examples)
    lengths = (source != PAD_ID).sum(dim=-1).tolist()  # both sides with their end token
    found = greedy_decode(model, source)
    return [len(ids) + 1 - n for ids, n in zip(found, lengths, strict=True)]


def _batch(codec: PhrasebookCodec, examples: Sequence[Example]) -> Tensor:
    rows = [torch.tensor([*codec.encode(e.source_text), EOS_ID]) for e in examples]
    return torch.nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=PAD_ID)


@torch.inference_mode()
def decode_anew(model: Transformer, source: Tensor) -> list[list[int]]:
    """Decode greedily and without a cache: a model without a mask changes its early words."""
    memory, limits = inference_encode(model, source), output_limits(source, None).tolist()
    decoded: list[list[int]] = [[] for _ in source]
    is_open = list(range(len(source)))
    while is_open:
        target = torch.tensor([[BOS_ID, *decoded[row]] for row in is_open])
        states = model.decode(target, memory[is_open], source[is_open])
        tokens = model.project(states[:, -1]).argmax(dim=-1).tolist()
        for row, token in zip(is_open, tokens, strict=True):
            if token != EOS_ID:
                decoded[row].append(token)
        is_open = [
            row
            for row, token in zip(is_open, tokens, strict=True)
            if token != EOS_ID and len(decoded[row]) < limits[row] - 1
        ]
    return decoded


def weight_on_later_words(
    model: Transformer, codec: PhrasebookCodec, examples: Sequence[Example]
) -> float:
    """Return the share of the decoder's self-attention that goes to words not yet written."""
    shares = []
    for maps in _maps(model, codec, examples):
        length = maps.decoder.shape[-1]
        later = torch.ones(length, length).triu(1).bool()
        shares.append(maps.decoder[..., later].sum() / maps.decoder.sum())
    return float(torch.stack(shares).mean())


def largest_weight(
    model: Transformer, codec: PhrasebookCodec, examples: Sequence[Example]
) -> float:
    """Return the mean of the largest weight of a row, over all rows, heads and layers."""
    rows = [
        torch.cat([kind.amax(-1).flatten() for kind in (maps.encoder, maps.decoder, maps.cross)])
        for maps in _maps(model, codec, examples)
    ]
    return float(torch.cat(rows).mean())


def _maps(
    model: Transformer, codec: PhrasebookCodec, examples: Sequence[Example]
) -> Iterator[AttentionMaps]:
    for e in examples:
        source = torch.tensor([[*codec.encode(e.source_text), EOS_ID]])
        yield model.attention(source, torch.tensor([[BOS_ID, *codec.encode_target(e.target_text)]]))
