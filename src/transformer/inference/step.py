"""One position through the decoder, on plain tensors (§6.1).

A step of a small model is a few dozen products of some microseconds each. Calling modules around
them, checking shapes and finding parameters by name takes twice as long again.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from transformer.attention import KeyValueCache, MultiHeadAttention
from transformer.feed_forward import PositionwiseFeedForward
from transformer.layers import DecoderLayer, ResidualNorm
from transformer.masks import padding_mask
from transformer.model import DecodingCache, Transformer

PLAIN = {
    DecoderLayer,
    MultiHeadAttention,
    PositionwiseFeedForward,
    ResidualNorm,
    nn.Dropout,
    nn.LayerNorm,
    nn.Linear,
    nn.ModuleList,
}

Affine = tuple[Tensor, Tensor | None]
"""Weight and bias, of a product or of a layer norm."""


def step_decoder(model: Transformer) -> Callable[..., Tensor]:
    """Return a function that does for the newest position what `model.decode` does, but sooner.

    Its results are the same to the last bit. It is `model.decode` itself where modules of another
    kind, or hooks, do something else. The weights are those of now, the token is no padding.
    """
    modules = list(model.decoder.layers.modules())
    is_plain = type(model).decode is Transformer.decode and "decode" not in vars(model)
    is_plain &= all(type(module) in PLAIN for module in modules)
    for module in (model.decoder, *modules):  # somebody watches
        is_plain &= not (module._forward_hooks or module._forward_pre_hooks)
    if not is_plain:
        return model.decode
    layers = [_PlainLayer.of(module) for module in modules if isinstance(module, DecoderLayer)]

    def decode(tokens: Tensor, memory: Tensor, source: Tensor, *, cache: DecodingCache) -> Tensor:
        x = model._embed(model.target_embedding, tokens, start=cache.length)[:, 0]
        mask = padding_mask(source)
        for index, layer in enumerate(layers):
            x = layer.step(x, memory, mask, *cache.layer(index))
        states: Tensor = model.decoder.final_norm(x[:, None])
        return states

    return decode


@dataclass(frozen=True, kw_only=True)
class _PlainLayer:
    own: MultiHeadAttention
    cross: MultiHeadAttention
    own_products: tuple[Affine, ...]  # query, key, value, output
    cross_products: tuple[Affine, ...]  # query, output
    feed_forward: tuple[Affine, ...]
    activation: Callable[[Tensor], Tensor]
    norms: tuple[Affine, ...]
    eps: float
    is_post_norm: bool

    @classmethod
    def of(cls, layer: DecoderLayer) -> "_PlainLayer":
        own, cross, inner = layer.self_attention, layer.cross_attention, layer.feed_forward
        residuals: list[Any] = list(layer.residuals)
        return cls(
            own=own,
            cross=cross,
            own_products=_affine(own.query_proj, own.key_proj, own.value_proj, own.output_proj),
            cross_products=_affine(cross.query_proj, cross.output_proj),
            feed_forward=_affine(inner.expand, inner.contract),
            activation=inner.activation,
            norms=_affine(*(residual.layer_norm for residual in residuals)),
            eps=residuals[0].layer_norm.eps,
            is_post_norm=residuals[0].is_post_norm,
        )

    def step(
        self,
        x: Tensor,  # (rows, d_model)
        memory: Tensor,
        source_mask: Tensor,
        own_cache: KeyValueCache,
        cross_cache: KeyValueCache,
    ) -> Tensor:
        parts = (
            lambda y: self._attend_to_own(y, own_cache),
            lambda y: self._attend_to_source(y, memory, source_mask, cross_cache),
            self._feed_forward,
        )
        for part, norm in zip(parts, self.norms, strict=True):
            if self.is_post_norm:
                x = self._normed(x + part(x), norm)
            else:
                x = x + part(self._normed(x, norm))
        return x

    def _attend_to_own(self, x: Tensor, cache: KeyValueCache) -> Tensor:
        *inputs, output = self.own_products
        shape = (len(x), self.own.n_heads, 1, -1)
        query, key, value = (F.linear(x, *product).view(shape) for product in inputs)
        found = F.scaled_dot_product_attention(
            query, *cache.append(key, value), scale=self.own.scale
        )
        return F.linear(found.view(len(x), -1), *output)

    def _attend_to_source(
        self, x: Tensor, memory: Tensor, mask: Tensor, cache: KeyValueCache
    ) -> Tensor:
        query, output = self.cross_products
        stored = cache.fixed() or self.cross._keys_and_values(memory, memory, cache)
        queries = F.linear(x, *query).view(len(memory), -1, self.cross.n_heads, self.cross.d_k)
        found = F.scaled_dot_product_attention(
            queries.transpose(1, 2), *stored, attn_mask=mask, scale=self.cross.scale
        )
        return F.linear(found.transpose(1, 2).reshape(len(x), -1), *output)

    def _feed_forward(self, x: Tensor) -> Tensor:
        expand, contract = self.feed_forward
        return F.linear(self.activation(F.linear(x, *expand)), *contract)

    def _normed(self, x: Tensor, norm: Affine) -> Tensor:
        return torch.layer_norm(x, x.shape[-1:], *norm, self.eps)


def _affine(*modules: nn.Linear | nn.LayerNorm) -> tuple[Affine, ...]:
    return tuple((module.weight, module.bias) for module in modules)
