"""In which matrices the parameters of a row of Table 3 stand."""

from collections.abc import Mapping

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
    with torch.device("meta"):
        model = Transformer(config.replace(n_layers=1))
    counts = dict.fromkeys(PARTS, 0)
    for name, parameter in model.named_parameters():
        copies = config.n_layers if ".layers." in name else 1
        counts[part_of(name)] += copies * parameter.numel()
    return counts


def part_of(name: str) -> str:
    """Return the part that a parameter belongs to, by its name in the model.

    Raises:
        ValueError: it belongs to none.
    """
    for part, words in PARTS.items():
        if any(word in name for word in words):
            return part
    raise ValueError(f"no part has a parameter called {name!r}")
