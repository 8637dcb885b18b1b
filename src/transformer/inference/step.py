"""One position through the decoder, on plain tensors (§6.1).

A step of a small model is a few dozen products of some microseconds each. Calling modules around
them, checking shapes and finding parameters by name takes twice as long again. In a larger one a
step of few rows waits for its matrices to come out of memory: laid out as the product reads them,
they come in two thirds of the time.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from transformer.attention import MultiHeadAttention
from transformer.cache import DecoderCache, KeyValueCache
from transformer.embedding import TokenEmbedding
from transformer.feed_forward import PositionwiseFeedForward
from transformer.layers import DecoderLayer, ResidualNorm
from transformer.masks import padding_mask
from transformer.model import Transformer
from transformer.positional import LearnedEncoding, SinusoidalEncoding

PLAIN = {
    DecoderLayer,
    LearnedEncoding,
    MultiHeadAttention,
    PositionwiseFeedForward,
    ResidualNorm,
    SinusoidalEncoding,
    TokenEmbedding,
    nn.Dropout,
    nn.LayerNorm,
    nn.Linear,
    nn.ModuleList,
}


class Step(NamedTuple):
    """A way to decode a position, and one to project its states to logits.

    `shares_sources`: rows of one source, as beams are, stand together and come with it once.
    """

    decode: Callable[..., Tensor]
    project: Callable[[Tensor], Tensor]
    shares_sources: bool


@torch.no_grad()
def step_decoder(model: Transformer) -> Step:
    """Return what does for the newest position what `model.decode` and `model.project` do, sooner.

    Its results are the same to the last bit; of a single row and of beams, which a processor adds
    up in another order, to rounding. It is the model's own two methods where modules of another
    kind, or hooks, do something else. The weights are those of now, the token is no padding,
    nothing is dropped.
    """
    if not _is_plain(model):
        return Step(model.decode, model.project, shares_sources=False)
    quick = _PlainDecoder(model)
    return Step(quick.decode, quick.project, shares_sources=True)


class _PlainDecoder:
    def __init__(self, model: Transformer) -> None:
        self.model, self.embedding = model, model.target_embedding
        self.layers = [_PlainLayer.of(layer) for layer in model.decoder.layers]
        self.output = _Product(_laid_out(model.output_weight), model.output_bias)
        self.source: Tensor | None = None  # of which `mask` is known
        self.mask: Tensor | None = None

    def decode(
        self, tokens: Tensor, memory: Tensor, source: Tensor, *, cache: DecoderCache
    ) -> Tensor:
        if source is not self.source:
            self.source, self.mask = source, _added_mask(source, memory.dtype)
        x = F.embedding(tokens[:, 0], self.embedding.weight) * self.embedding.scale
        if self.model.positions is not None:
            x += self.model.positions(1, cache.length)
        for layer, caches in zip(self.layers, cache.layers, strict=True):
            x = layer.step(x, memory, self.mask, *caches)
        states: Tensor = self.model.decoder.final_norm(x[:, None])
        return states

    def project(self, states: Tensor) -> Tensor:
        return self.output(states.flatten(0, -2)).unflatten(0, states.shape[:-1])


@dataclass(frozen=True)
class _Product:
    weight: Tensor  # as x @ weight has it
    bias: Tensor | None

    @classmethod
    def of(cls, *linears: nn.Linear) -> "_Product":
        """One product for several of the same input, their results side by side."""
        weight = torch.cat([linear.weight for linear in linears])
        biases: list[Tensor] = [linear.bias for linear in linears if linear.bias is not None]
        return cls(_laid_out(weight), torch.cat(biases) if biases else None)

    def __call__(self, x: Tensor) -> Tensor:
        if self.bias is None:
            return torch.mm(x, self.weight)
        return torch.addmm(self.bias, x, self.weight)


@dataclass(frozen=True, kw_only=True)
class _PlainLayer:
    own: MultiHeadAttention
    cross: MultiHeadAttention
    own_inputs: _Product  # query, key, value
    own_output: _Product
    cross_query: _Product
    cross_output: _Product
    expand: _Product
    contract: _Product
    activation: Callable[[Tensor], Tensor]
    norms: tuple[nn.LayerNorm, ...]
    is_post_norm: bool

    @classmethod
    def of(cls, layer: Any) -> "_PlainLayer":
        own, cross, inner = layer.self_attention, layer.cross_attention, layer.feed_forward
        return cls(
            own=own,
            cross=cross,
            own_inputs=_Product.of(own.query_proj, own.key_proj, own.value_proj),
            own_output=_Product.of(own.output_proj),
            cross_query=_Product.of(cross.query_proj),
            cross_output=_Product.of(cross.output_proj),
            expand=_Product.of(inner.expand),
            contract=_Product.of(inner.contract),
            activation=inner.activation,
            norms=tuple(residual.layer_norm for residual in layer.residuals),
            is_post_norm=layer.residuals[0].is_post_norm,
        )

    def step(
        self,
        x: Tensor,  # (rows, d_model)
        memory: Tensor,
        mask: Tensor | None,
        own_cache: KeyValueCache,
        cross_cache: KeyValueCache,
    ) -> Tensor:
        parts = (
            lambda y: self._attend_to_own(y, own_cache),
            lambda y: self._attend_to_source(y, memory, mask, cross_cache),
            lambda y: self.contract(self.activation(self.expand(y))),
        )
        for part, norm in zip(parts, self.norms, strict=True):
            if self.is_post_norm:
                x = _normed(part(x).add_(x), norm)
            else:
                x = part(_normed(x, norm)).add_(x)
        return x

    def _attend_to_own(self, x: Tensor, cache: KeyValueCache) -> Tensor:
        heads, d_k, d_v = self.own.n_heads, self.own.d_k, self.own.d_v
        inputs = self.own_inputs(x).split([heads * d_k, heads * d_k, heads * d_v], dim=-1)
        query, key, value = (part.view(len(x), heads, 1, -1) for part in inputs)
        output = F.scaled_dot_product_attention(
            query, *cache.append(key, value), scale=self.own.scale
        )
        return self.own_output(output.view(len(x), -1))

    def _attend_to_source(
        self, x: Tensor, memory: Tensor, mask: Tensor | None, cache: KeyValueCache
    ) -> Tensor:
        keys, values = self.cross.keys_and_values(memory, memory, cache)
        # rows of one source, as beams are, are queries of one attention
        queries = self.cross_query(x).view(len(memory), -1, self.cross.n_heads, self.cross.d_k)
        output = F.scaled_dot_product_attention(
            queries.transpose(1, 2), keys, values, attn_mask=mask, scale=self.cross.scale
        )
        return self.cross_output(output.transpose(1, 2).reshape(len(x), -1))


def _is_plain(model: Transformer) -> bool:
    methods = ("decode", "project", "_embed")
    is_own = all(
        getattr(type(model), name) is getattr(Transformer, name) and name not in vars(model)
        for name in methods
    )
    parts = (model.target_embedding, model.dropout, *model.decoder.layers.modules())
    modules = [*parts, *([] if model.positions is None else [model.positions])]
    return (
        is_own
        and all(type(module) in PLAIN for module in modules)
        and not any(  # somebody watches
            module._forward_hooks or module._forward_pre_hooks
            for module in (model.decoder, *modules)
        )
    )


def _laid_out(weight: Tensor) -> Tensor:
    transposed = weight.t()
    return transposed.contiguous() if weight.device.type == "cpu" else transposed


def _added_mask(source: Tensor, dtype: torch.dtype) -> Tensor | None:
    """−∞ where there is padding; nothing where there is none. The kernel makes it from booleans."""
    mask = padding_mask(source)
    if mask.all():
        return None
    return torch.zeros_like(mask, dtype=dtype).masked_fill_(~mask, float("-inf"))


def _normed(x: Tensor, norm: nn.LayerNorm) -> Tensor:
    return torch.layer_norm(x, x.shape[-1:], norm.weight, norm.bias, norm.eps)
