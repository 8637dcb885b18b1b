"""The check of chapter 09 that runs N encoder and N decoder layers (§3.1)."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from transformer.masks import causal_mask, padding_mask
from walkthrough.checking.base import Arguments, Case, Check, Mistake, arguments

Layers = list[Callable[..., Tensor]]


class _Layer:
    """A small stand-in that is called like a layer of the model and mixes what a mask allows."""

    def __init__(self, generator: torch.Generator) -> None:
        self.own, self.mixed, self.remembered = torch.randn(3, 8, 8, generator=generator) / 3

    def _mix(self, x: Tensor, attend_mask: Tensor) -> Tensor:
        weights = attend_mask[:, 0].float()
        return weights / weights.sum(-1, keepdim=True) @ x


class _EncoderLayer(_Layer):
    def __call__(self, x: Tensor, source_mask: Tensor) -> Tensor:
        return torch.tanh(x @ self.own + self._mix(x, source_mask) @ self.mixed)


class _DecoderLayer(_Layer):
    def __call__(
        self, x: Tensor, memory: Tensor, target_mask: Tensor, source_mask: Tensor
    ) -> Tensor:
        seen = self._mix(x, target_mask) @ self.mixed
        return torch.tanh(x @ self.own + seen + self._mix(memory, source_mask) @ self.remembered)


def _encoded(x: Tensor, layers: Layers, mask: Tensor) -> Tensor:
    for layer in layers:
        x = layer(x, mask)
    return x


def _run(
    source_x: Tensor,
    target_x: Tensor,
    encoder_layers: Layers,
    decoder_layers: Layers,
    source_mask: Tensor,
    target_mask: Tensor,
) -> Tensor:
    memory, x = _encoded(source_x, encoder_layers, source_mask), target_x
    for layer in decoder_layers:
        x = layer(x, memory, target_mask, source_mask)
    return x


def _layer_by_layer(s: Tensor, t: Tensor, enc: Layers, dec: Layers, sm: Tensor, tm: Tensor) -> Any:
    for encoder_layer, decoder_layer in zip(enc, dec, strict=True):
        s = encoder_layer(s, sm)
        t = decoder_layer(t, s, tm, sm)
    return t


def _starting_anew(s: Tensor, t: Tensor, enc: Layers, dec: Layers, sm: Tensor, tm: Tensor) -> Any:
    memory = _encoded(s, enc, sm)
    return [layer(t, memory, tm, sm) for layer in dec][-1]


def _encoder_anew(s: Tensor, t: Tensor, enc: Layers, dec: Layers, sm: Tensor, tm: Tensor) -> Any:
    return _run(s, t, enc[-1:], dec, sm, tm)


def _masks_exchanged(s: Tensor, t: Tensor, enc: Layers, dec: Layers, sm: Tensor, tm: Tensor) -> Any:
    memory = _encoded(s, enc, sm)
    for layer in dec:
        t = layer(t, memory, sm, tm)
    return t


def _no_encoder(s: Tensor, t: Tensor, enc: Layers, dec: Layers, sm: Tensor, tm: Tensor) -> Any:
    return _run(s, t, [], dec, sm, tm)


def _memory_overwritten(
    s: Tensor, t: Tensor, enc: Layers, dec: Layers, sm: Tensor, tm: Tensor
) -> Any:
    memory = _encoded(s, enc, sm)
    for layer in dec:
        memory = layer(t, memory, tm, sm)
    return memory


def _one_layer_repeated(
    s: Tensor, t: Tensor, enc: Layers, dec: Layers, sm: Tensor, tm: Tensor
) -> Any:
    return _run(s, t, enc[:1] * len(enc), dec[:1] * len(dec), sm, tm)


def _decoder_starts_at_the_memory(
    s: Tensor, t: Tensor, enc: Layers, dec: Layers, sm: Tensor, tm: Tensor
) -> Any:
    x = memory = _encoded(s, enc, sm)
    for layer in dec:
        x = layer(x, memory, tm, sm)
    return x


def _stacks_of(source_len: int, target_len: int) -> Callable[[torch.Generator], Arguments]:
    def make(generator: torch.Generator) -> Arguments:
        encoder = [_EncoderLayer(generator) for _ in range(3)]
        decoder = [_DecoderLayer(generator) for _ in range(3)]
        tokens = torch.full((2, source_len), 5)
        tokens[1, -1] = 0  # padding
        sizes = ((2, source_len, 8), (2, target_len, 8))
        source_x, target_x = (torch.randn(*size, generator=generator) for size in sizes)
        masks = padding_mask(tokens), causal_mask(target_len)
        return arguments(source_x, target_x, encoder, decoder, *masks)

    return make


run_stacks = Check(
    name="run_stacks",
    reference=_run,
    cases=[
        Case("4 source and 4 target positions", _stacks_of(4, 4)),
        Case("5 source and 3 target positions", _stacks_of(5, 3)),
    ],
    mistakes=[
        Mistake(
            "layer by layer",
            _layer_by_layer,
            "decoder layer i gets the output of encoder layer i. Every decoder layer gets the "
            "output of the *last* encoder layer, so run the whole encoder first.",
        ),
        Mistake(
            "every decoder layer starts from the target",
            _starting_anew,
            "every decoder layer gets `target_x`, so only the last one counts. A layer gets what "
            "the layer before it has returned.",
        ),
        Mistake(
            "every encoder layer starts from the source",
            _encoder_anew,
            "every encoder layer gets `source_x`, so only the last one counts. A layer gets what "
            "the layer before it has returned.",
        ),
        Mistake(
            "masks exchanged",
            _masks_exchanged,
            "the two masks of the decoder layers are exchanged. `target_mask` comes first: it "
            "belongs to the self-attention; `source_mask` closes the padding of the memory.",
        ),
        Mistake(
            "no encoder",
            _no_encoder,
            "the memory is `source_x` itself: the encoder's layers are not used, or what they "
            "return is lost.",
        ),
        Mistake(
            "memory overwritten",
            _memory_overwritten,
            "you store the result of a decoder layer in `memory`. The memory stays the same for "
            "all decoder layers; what changes from layer to layer is the first argument.",
        ),
        Mistake(
            "one layer repeated",
            _one_layer_repeated,
            "the first layer of each stack runs N times. The layers have equal structure and "
            "different weights: use each once.",
        ),
        Mistake(
            "decoder starts at the memory",
            _decoder_starts_at_the_memory,
            "the decoder starts with the memory. It starts with `target_x`; the memory is its "
            "second argument, in every layer.",
        ),
    ],
    right="`run_stacks` is right: N encoder layers, then N decoder layers that all read the memory",
)
