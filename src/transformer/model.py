"""Encoder, decoder and the whole Transformer (§3, Fig. 1)."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from transformer.attention import MultiHeadAttention
from transformer.cache import DecoderCache
from transformer.config import TransformerConfig
from transformer.embedding import TokenEmbedding
from transformer.feed_forward import PositionwiseFeedForward
from transformer.inputs import check_sentences, check_tokens
from transformer.layers import DecoderLayer, EncoderLayer
from transformer.masks import causal_mask, combine_masks, padding_mask
from transformer.positional import LearnedEncoding, SinusoidalEncoding


@dataclass(frozen=True)
class AttentionMaps:
    """All attention weights of one forward pass, before dropout; rows are queries."""

    encoder: Float[Tensor, "layers batch heads source_len source_len"]
    decoder: Float[Tensor, "layers batch heads target_len target_len"]
    cross: Float[Tensor, "layers batch heads target_len source_len"]


class Encoder(nn.Module):
    """N encoder layers (§3.1), and with pre-norm one last layer norm."""

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        self.layers = nn.ModuleList([EncoderLayer(config) for _ in range(config.n_layers)])
        self.final_norm = _final_norm(config)

    def forward(
        self,
        x: Float[Tensor, "batch source_len d_model"],
        source_mask: Bool[Tensor, "batch 1 1 source_len"],
        *,
        need_weights: bool = False,
    ) -> tuple[Float[Tensor, "batch source_len d_model"], list[Tensor | None]]:
        """Return the memory the decoder attends to, and each layer's weights when asked for."""
        all_weights = []
        for layer in self.layers:
            x, weights = layer(x, source_mask, need_weights=need_weights)
            all_weights.append(weights)
        return self.final_norm(x), all_weights


class Decoder(nn.Module):
    """N decoder layers (§3.1)."""

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        self.layers = nn.ModuleList([DecoderLayer(config) for _ in range(config.n_layers)])
        self.final_norm = _final_norm(config)

    def forward(
        self,
        x: Float[Tensor, "batch target_len d_model"],
        memory: Float[Tensor, "batch source_len d_model"],
        target_mask: Bool[Tensor, "..."] | None,
        source_mask: Bool[Tensor, "batch 1 1 source_len"],
        *,
        cache: DecoderCache | None = None,
        need_weights: bool = False,
    ) -> tuple[Float[Tensor, "batch target_len d_model"], list[list[Tensor | None]]]:
        """Return the states, and each layer's self- and cross-attention weights when asked for."""
        all_weights = []
        for index, layer in enumerate(self.layers):
            caches = (None, None) if cache is None else cache.layers[index]
            x, *weights = layer(
                x, memory, target_mask, source_mask, *caches, need_weights=need_weights
            )
            all_weights.append(weights)
        return self.final_norm(x), all_weights


class Transformer(nn.Module):
    """The model of the paper: from source and shifted target tokens to logits (§3, Fig. 1).

    One matrix serves both embeddings and the output projection (§3.4) unless
    `config.tie_embeddings` is off; then the two sides may have vocabularies of their own. Sentences
    are padded on the right with `PAD_ID`.
    """

    output_bias: nn.Parameter | None

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        self.config = config
        self.source_embedding, self.target_embedding = (
            TokenEmbedding(vocab_size=size, d_model=config.d_model, scale=config.scale_embeddings)
            for size in config.vocab_sizes
        )
        self.output_weight = nn.Parameter(self.target_embedding.weight.detach().clone())
        if config.tie_embeddings:
            self.target_embedding.weight = self.source_embedding.weight
            self.output_weight = self.source_embedding.weight
        bias = nn.Parameter(torch.zeros(config.vocab_sizes[1])) if config.output_bias else None
        self.register_parameter("output_bias", bias)
        self.positions = _positions(config)
        self.dropout = nn.Dropout(config.dropout)
        self.encoder = Encoder(config)
        self.decoder = Decoder(config)
        self.reset_parameters()

    def forward(
        self, source: Int[Tensor, "batch source_len"], target: Int[Tensor, "batch target_len"]
    ) -> Float[Tensor, "batch target_len vocab_size"]:
        """Return the logits of the token after each target position.

        `target` is the decoder's input: it starts with the start token, so that position t sees
        the tokens before t and predicts token t ("shifted right").

        Raises:
            ValueError: see `encode` and `decode`.
        """
        return self.project(self.states(source, target))

    def states(
        self, source: Int[Tensor, "batch source_len"], target: Int[Tensor, "batch target_len"]
    ) -> Float[Tensor, "batch target_len d_model"]:
        """Return the decoder's output before the projection to the vocabulary."""
        return self.decode(target, self.encode(source), source)

    def encode(
        self, source: Int[Tensor, "batch source_len"]
    ) -> Float[Tensor, "batch source_len d_model"]:
        """Return the encoder's output for `source`.

        Raises:
            ValueError: the batch is empty, ids are not whole numbers of the vocabulary, or learned
                positions run out.
        """
        memory, _ = self._encode(source, need_weights=False)
        return memory

    def decode(
        self,
        target: Int[Tensor, "batch target_len"],
        memory: Float[Tensor, "batch source_len d_model"],
        source: Int[Tensor, "batch source_len"],
        *,
        cache: DecoderCache | None = None,
    ) -> Float[Tensor, "batch target_len d_model"]:
        """Return the decoder's states; `source` is needed for its padding only.

        With a cache, `target` holds the positions that are new since the last call.

        Raises:
            ValueError: as `encode`; or target, memory and source differ in batch or length.
        """
        states, _ = self._decode(target, memory, source, cache=cache, need_weights=False)
        return states

    def project(
        self, states: Float[Tensor, "*batch d_model"]
    ) -> Float[Tensor, "*batch vocab_size"]:
        """Return logits: the states times the transposed embedding matrix (§3.4)."""
        return F.linear(states, self.output_weight, self.output_bias)

    @torch.no_grad()
    def attention(
        self, source: Int[Tensor, "batch source_len"], target: Int[Tensor, "batch target_len"]
    ) -> AttentionMaps:
        """Return every layer's and head's attention weights; call `eval()` first."""
        memory, encoder = self._encode(source, need_weights=True)
        _, decoder = self._decode(target, memory, source, cache=None, need_weights=True)
        return AttentionMaps(
            encoder=_stack(encoder),
            decoder=_stack([self_weights for self_weights, _ in decoder]),
            cross=_stack([cross_weights for _, cross_weights in decoder]),
        )

    @torch.no_grad()
    def reset_parameters(self) -> None:
        """Draw new weights: Xavier for matrices, zero biases, embeddings at d_model^−0.5.

        The paper states no initialisation. `residual_init="scaled"` multiplies the last matrix of
        every residual branch (W^O and W2) by (2N)^−0.5: with full-size branches, an untrained
        post-norm encoder makes all words alike, whatever its width, and learns late to tell them
        apart (chapter 08).
        """
        branch_scale = (2 * self.config.n_layers) ** -0.5
        for module in self.modules():
            if isinstance(module, nn.Linear):
                nn.init.xavier_uniform_(module.weight)
                if module.bias is not None:
                    nn.init.zeros_(module.bias)
            elif isinstance(module, TokenEmbedding | LearnedEncoding):
                nn.init.normal_(module.weight, std=self.config.d_model**-0.5)
        if not self.config.tie_embeddings:
            nn.init.normal_(self.output_weight, std=self.config.d_model**-0.5)
        if self.config.residual_init == "scaled":
            for module in self.modules():
                if isinstance(module, MultiHeadAttention):
                    module.output_proj.weight.mul_(branch_scale)
                elif isinstance(module, PositionwiseFeedForward):
                    module.contract.weight.mul_(branch_scale)

    @property
    def n_parameters(self) -> int:
        """Number of trained values; a shared matrix counts once."""
        return sum(parameter.numel() for parameter in self.parameters())

    def _encode(self, source: Tensor, *, need_weights: bool) -> tuple[Tensor, list[Tensor | None]]:
        check_tokens("source", source)
        x = self._embed(self.source_embedding, source, start=0)
        return self.encoder(x, padding_mask(source), need_weights=need_weights)

    def _decode(
        self,
        target: Tensor,
        memory: Tensor,
        source: Tensor,
        *,
        cache: DecoderCache | None,
        need_weights: bool,
    ) -> tuple[Tensor, list[list[Tensor | None]]]:
        check_tokens("target", target)
        check_sentences(target, memory, source)
        start = 0 if cache is None else cache.length
        x = self._embed(self.target_embedding, target, start=start)
        return self.decoder(
            x,
            memory,
            self._target_mask(target, start),
            padding_mask(source),
            cache=cache,
            need_weights=need_weights,
        )

    def _embed(self, embedding: TokenEmbedding, tokens: Tensor, *, start: int) -> Tensor:
        x = embedding(tokens)
        if self.positions is not None:
            x = x + self.positions(tokens.shape[1], start)
        return self.dropout(x)

    def _target_mask(self, target: Tensor, start: int) -> Tensor | None:
        length = target.shape[1]
        causal = None
        if self.config.causal and length > 1:
            causal = causal_mask(length, start + length, device=target.device)
        # with a cache, the sentences at hand are unfinished and hold no padding
        padding = padding_mask(target) if start == 0 else None
        return combine_masks(causal, padding)


def _positions(config: TransformerConfig) -> nn.Module | None:
    if config.positions == "sinusoidal":
        return SinusoidalEncoding(d_model=config.d_model, max_len=config.max_len)
    if config.positions == "learned":
        return LearnedEncoding(d_model=config.d_model, max_len=config.max_len)
    return None


def _final_norm(config: TransformerConfig) -> nn.Module:
    if config.norm == "post":
        return nn.Identity()
    return nn.LayerNorm(config.d_model, eps=config.layer_norm_eps, bias=config.bias)


def _stack(weights: Sequence[Tensor | None]) -> Tensor:
    return torch.stack([layer for layer in weights if layer is not None])
