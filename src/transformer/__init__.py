"""The Transformer of "Attention Is All You Need" (Vaswani et al., 2017, arXiv:1706.03762v7)."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from transformer.attention import MultiHeadAttention, scaled_dot_product_attention
    from transformer.config import BOS_ID, EOS_ID, PAD_ID, UNK_ID, TransformerConfig
    from transformer.masks import causal_mask, combine_masks, padding_mask
    from transformer.model import AttentionMaps, Transformer
    from transformer.positional import sinusoidal_encoding
    from transformer.translator import Translator

__all__ = [
    "BOS_ID",
    "EOS_ID",
    "PAD_ID",
    "UNK_ID",
    "AttentionMaps",
    "MultiHeadAttention",
    "Transformer",
    "TransformerConfig",
    "Translator",
    "causal_mask",
    "combine_masks",
    "padding_mask",
    "scaled_dot_product_attention",
    "sinusoidal_encoding",
]
_MODULES = ("config", "masks", "attention", "positional", "model", "translator")


def __getattr__(name: str) -> Any:
    # on demand, so that `python -m transformer` answers Ctrl-C while torch is being loaded
    if name in _MODULES:
        return import_module(f"transformer.{name}")
    for module in _MODULES if name in __all__ else ():
        value = getattr(import_module(f"transformer.{module}"), name, None)
        if value is not None:
            globals()[name] = value
            return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_MODULES})
