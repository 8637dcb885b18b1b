"""Residual connections with layer norm, and the two kinds of layer (§3.1)."""

from collections.abc import Sequence

from jaxtyping import Bool, Float
from torch import Tensor, nn

from transformer.attention import MultiHeadAttention
from transformer.cache import KeyValueCache
from transformer.config import TransformerConfig
from transformer.feed_forward import PositionwiseFeedForward


class ResidualNorm(nn.Module):
    """LayerNorm(x + Dropout(Sublayer(x))), "Add & Norm" around every sub-layer (§3.1, §5.4).

    That is the paper's post-norm. Pre-norm, common later: x + Dropout(Sublayer(LayerNorm(x))).
    """

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        self.is_post_norm = config.norm == "post"
        self.layer_norm = nn.LayerNorm(config.d_model, eps=config.layer_norm_eps, bias=config.bias)
        self.dropout = nn.Dropout(config.dropout)

    def before(self, x: Float[Tensor, "*batch d_model"]) -> Float[Tensor, "*batch d_model"]:
        """Return the sub-layer's input: `x`, normalised in pre-norm."""
        return x if self.is_post_norm else self.layer_norm(x)

    def forward(
        self, x: Float[Tensor, "*batch d_model"], y: Float[Tensor, "*batch d_model"]
    ) -> Float[Tensor, "*batch d_model"]:
        """Add the sub-layer's output, `y`, to `x`; in post-norm, normalise the sum."""
        x = x + self.dropout(y)
        return self.layer_norm(x) if self.is_post_norm else x


class EncoderLayer(nn.Module):
    """Self-attention, then the feed-forward network (§3.1, left of Fig. 1)."""

    residuals: Sequence[ResidualNorm]

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        self.self_attention = attention_of(config)
        self.feed_forward = feed_forward_of(config)
        self.residuals = nn.ModuleList([ResidualNorm(config) for _ in range(2)])  # type: ignore[assignment]

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
        first, second = self.residuals
        y = first.before(x)
        y, weights = self.self_attention(y, y, y, source_mask, need_weights=need_weights)
        x = first(x, y)
        y = self.feed_forward(second.before(x))
        x = second(x, y)
        return x, weights


class DecoderLayer(nn.Module):
    """Masked self-attention, encoder–decoder attention, feed-forward (§3.1, right of Fig. 1)."""

    residuals: Sequence[ResidualNorm]

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        self.self_attention = attention_of(config)
        self.cross_attention = attention_of(config)
        self.feed_forward = feed_forward_of(config)
        self.residuals = nn.ModuleList([ResidualNorm(config) for _ in range(3)])  # type: ignore[assignment]

    def forward(
        self,
        x: Float[Tensor, "batch target_len d_model"],
        memory: Float[Tensor, "batch source_len d_model"],
        target_mask: Bool[Tensor, "..."] | None,
        source_mask: Bool[Tensor, "batch 1 1 source_len"],
        self_cache: KeyValueCache | None = None,
        cross_cache: KeyValueCache | None = None,
        *,
        need_weights: bool = False,
    ) -> tuple[
        Float[Tensor, "batch target_len d_model"],
        Float[Tensor, "batch heads target_len all_targets"] | None,
        Float[Tensor, "batch heads target_len source_len"] | None,
    ]:
        """Return the layer's output, and its self- and cross-attention weights when asked for.

        In encoder–decoder attention the queries come from the decoder, the keys and values from
        `memory`, the encoder's output (§3.2.3).
        """
        first, second, third = self.residuals
        y = first.before(x)
        y, self_weights = self.self_attention(
            y, y, y, target_mask, cache=self_cache, need_weights=need_weights
        )
        x = first(x, y)
        y = second.before(x)
        y, cross_weights = self.cross_attention(
            y, memory, memory, source_mask, cache=cross_cache, need_weights=need_weights
        )
        x = second(x, y)
        y = self.feed_forward(third.before(x))
        x = third(x, y)
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
