"""Residual connections with layer norm, and the two kinds of layer (§3.1)."""

from collections.abc import Callable

from jaxtyping import Bool, Float
from torch import Tensor, nn

from transformer.attention import KeyValueCache, MultiHeadAttention
from transformer.config import TransformerConfig
from transformer.feed_forward import PositionwiseFeedForward


class ResidualNorm(nn.Module):
    """The connection around every sub-layer.

    Post-norm, the paper's: LayerNorm(x + Dropout(Sublayer(x))) (§3.1, §5.4).
    Pre-norm, common later: x + Dropout(Sublayer(LayerNorm(x))).
    """

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        self.is_post_norm = config.norm == "post"
        self.layer_norm = nn.LayerNorm(config.d_model, eps=config.layer_norm_eps, bias=config.bias)
        self.dropout = nn.Dropout(config.dropout)

    def forward(
        self,
        x: Float[Tensor, "batch length d_model"],
        sublayer: Callable[[Tensor], Tensor],
    ) -> Float[Tensor, "batch length d_model"]:
        """Add the sub-layer's output to its input and normalise."""
        if self.is_post_norm:
            return self.layer_norm(x + self.dropout(sublayer(x)))
        return x + self.dropout(sublayer(self.layer_norm(x)))


class EncoderLayer(nn.Module):
    """Self-attention, then the feed-forward network (§3.1, left of Fig. 1)."""

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        self.self_attention = attention_of(config)
        self.feed_forward = feed_forward_of(config)
        self.residuals = nn.ModuleList([ResidualNorm(config) for _ in range(2)])

    def forward(
        self,
        x: Float[Tensor, "batch source_len d_model"],
        source_mask: Bool[Tensor, "batch 1 1 source_len"],
        *,
        need_weights: bool = False,
    ) -> tuple[
        Float[Tensor, "batch source_len d_model"],
        Float[Tensor, "batch heads source_len source_len"] | None,
    ]:
        """Return the layer's output and, when asked for, its attention weights."""
        weights: Tensor | None = None

        def self_attend(y: Tensor) -> Tensor:
            nonlocal weights
            y, weights = self.self_attention(y, y, y, source_mask, need_weights=need_weights)
            return y

        x = self.residuals[0](x, self_attend)
        x = self.residuals[1](x, self.feed_forward)
        return x, weights


class DecoderLayer(nn.Module):
    """Masked self-attention, encoder–decoder attention, feed-forward (§3.1, right of Fig. 1)."""

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        self.self_attention = attention_of(config)
        self.cross_attention = attention_of(config)
        self.feed_forward = feed_forward_of(config)
        self.residuals = nn.ModuleList([ResidualNorm(config) for _ in range(3)])

    def forward(
        self,
        x: Float[Tensor, "batch target_len d_model"],
        memory: Float[Tensor, "sources source_len d_model"],
        target_mask: Bool[Tensor, "..."] | None,
        source_mask: Bool[Tensor, "sources 1 1 source_len"],
        *,
        self_cache: KeyValueCache | None = None,
        cross_cache: KeyValueCache | None = None,
        need_weights: bool = False,
    ) -> tuple[
        Float[Tensor, "batch target_len d_model"],
        Float[Tensor, "batch heads target_len all_targets"] | None,
        Float[Tensor, "sources heads queries source_len"] | None,
    ]:
        """Return the layer's output, and its self- and cross-attention weights when asked for.

        In encoder–decoder attention the queries come from the decoder, the keys and values from
        `memory`, the encoder's output (§3.2.3). Rows that share a source, as beams do, are queries
        of one attention: its queries do not see each other.
        """
        self_weights: Tensor | None = None
        cross_weights: Tensor | None = None

        def self_attend(y: Tensor) -> Tensor:
            nonlocal self_weights
            y, self_weights = self.self_attention(
                y, y, y, target_mask, cache=self_cache, need_weights=need_weights
            )
            return y

        def cross_attend(y: Tensor) -> Tensor:
            nonlocal cross_weights
            shape = y.shape
            if y.shape[0] != memory.shape[0]:  # len() would be a constant for an export
                y = y.reshape(memory.shape[0], -1, shape[-1])
            y, cross_weights = self.cross_attention(
                y, memory, memory, source_mask, cache=cross_cache, need_weights=need_weights
            )
            return y.reshape(shape)

        x = self.residuals[0](x, self_attend)
        x = self.residuals[1](x, cross_attend)
        x = self.residuals[2](x, self.feed_forward)
        return x, self_weights, cross_weights


def attention_of(config: TransformerConfig) -> MultiHeadAttention:
    """Build one multi-head attention of the configured sizes."""
    return MultiHeadAttention(
        d_model=config.d_model,
        n_heads=config.n_heads,
        d_k=config.d_k,
        d_v=config.d_v,
        dropout=config.attention_dropout,
        bias=config.bias,
        scale_scores=config.scale_scores,
    )


def feed_forward_of(config: TransformerConfig) -> PositionwiseFeedForward:
    """Build one feed-forward network of the configured sizes."""
    return PositionwiseFeedForward(
        d_model=config.d_model, d_ff=config.d_ff, bias=config.bias, activation=config.activation
    )
