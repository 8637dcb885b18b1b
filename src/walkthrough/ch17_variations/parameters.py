"""In which matrices the parameters of a row of Table 3 stand."""

from collections.abc import Mapping
from functools import cache

import torch

from transformer.config import TransformerConfig
from transformer.model import Transformer

FEWEST = 4  # tokens of the smallest vocabulary: the special ones
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
    """Return how many trained values each part has.

    They are counted on a real model with one layer a stack and as few tokens as there can be; what
    repeats is then multiplied, so that nobody has to fill a gigabyte for a number.
    """
    counts = dict.fromkeys(PARTS, 0)
    for name, shape in _shapes(config.replace(n_layers=1, dropout=0.0, vocab_size=FEWEST)).items():
        copies = config.n_layers if ".layers." in name else 1
        n_values = shape.numel()
        if part_of(name) == "words":
            n_values = n_values // FEWEST * config.vocab_size
        counts[part_of(name)] += copies * n_values
    return counts


@cache
def _shapes(config: TransformerConfig) -> Mapping[str, torch.Size]:
    return {name: parameter.shape for name, parameter in Transformer(config).named_parameters()}


def part_of(name: str) -> str:
    """Return the part that a parameter belongs to, by its name in the model.

    Raises:
        ValueError: it belongs to none.
    """
    for part, words in PARTS.items():
        if any(word in name for word in words):
            return part
    raise ValueError(f"no part has a parameter called {name!r}")
