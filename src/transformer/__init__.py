"""The Transformer of "Attention Is All You Need" (Vaswani et al., 2017, arXiv:1706.03762v7)."""

from transformer.attention import MultiHeadAttention, scaled_dot_product_attention
from transformer.config import BOS_ID, EOS_ID, PAD_ID, UNK_ID, TransformerConfig
from transformer.masks import causal_mask, combine_masks, padding_mask
from transformer.model import AttentionMaps, Transformer
from transformer.positional import sinusoidal_encoding

__all__ = [
    "BOS_ID",
    "EOS_ID",
    "PAD_ID",
    "UNK_ID",
    "AttentionMaps",
    "MultiHeadAttention",
    "Transformer",
    "TransformerConfig",
    "causal_mask",
    "combine_masks",
    "padding_mask",
    "scaled_dot_product_attention",
    "sinusoidal_encoding",
]
