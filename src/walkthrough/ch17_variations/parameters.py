"""In which matrices the parameters of a row of Table 3 stand."""

from collections.abc import Mapping
from functools import cache

import torch

from transformer.config import TransformerConfig
from transformer.model import Transformer

PARTS = {
    "words": ("output_weight",),
    "positions": ("positions",),
    "queries and keys": ("query_proj", "key_proj"),
    "values and W^O": ("value_proj", "output_proj"),
    "feed-forward": ("expand", "contract"),
    "layer norms": ("norm",),
}
"""Part of the model → what the names of its parameters have in them."""


def by_part(config: TransformerConfig) -> Mapping[str, int]:
    """Return how many trained values each part has, counted on a model with one layer a stack.

    On PyTorch's device `meta` a model has shapes and no numbers.
    """
    counts = dict.fromkeys(PARTS, 0)
    for name, n_values in _sizes(config.replace(n_layers=1, dropout=0.0)).items():
        copies = config.n_layers if ".layers." in name else 1
        counts[part_of(name)] += copies * n_values
    return counts


@cache
def _sizes(config: TransformerConfig) -> Mapping[str, int]:
    with torch.device("meta"):
        model = Transformer(config)
    return {name: parameter.numel() for name, parameter in model.named_parameters()}


def part_of(name: str) -> str:
    """Return the part that a parameter belongs to, by its name in the model.

    Raises:
        ValueError: it belongs to none.
    """
    for part, words in PARTS.items():
        if any(word in name for word in words):
            return part
    raise ValueError(f"no part has a parameter called {name!r}")
