"""The rows of Table 3: what each changes, what the paper prints, and the same change in small.

The models come from `TransformerConfig.table3`, the one place that lists them. The two rows on
label smoothing change the loss and not the model; they are added here.
"""

import math
from dataclasses import dataclass

from transformer.config import TransformerConfig

BASE, BIG = "base", "big"
SMOOTHING = 0.1


@dataclass(frozen=True)
class Row:
    """A row of Table 3. `group` is its letter; base and big have none."""

    name: str
    config: TransformerConfig
    smoothing: float = SMOOTHING

    @property
    def group(self) -> str:
        """The letter of the group, or the name of a row without one."""
        return self.name.split()[0]


PRINTED = {
    "base": (4.92, 25.8),
    "A h=1": (5.29, 24.9),
    "A h=4": (5.00, 25.5),
    "A h=16": (4.91, 25.8),
    "A h=32": (5.01, 25.4),
    "B d_k=16": (5.16, 25.1),
    "B d_k=32": (5.01, 25.4),
    "C N=2": (6.11, 23.7),
    "C N=4": (5.19, 25.3),
    "C N=8": (4.88, 25.5),
    "C d_model=256": (5.75, 24.5),
    "C d_model=1024": (4.66, 26.0),
    "C d_ff=1024": (5.12, 25.4),
    "C d_ff=4096": (4.75, 26.2),
    "D dropout=0.0": (5.77, 24.6),
    "D dropout=0.2": (4.95, 25.5),
    "D smoothing=0.0": (4.67, 25.3),
    "D smoothing=0.2": (5.47, 25.7),
    "E learned positions": (4.92, 25.7),
    "big": (4.33, 26.4),
}
"""Perplexity and BLEU, measured on the development set newstest2013."""
_SMOOTHINGS = {"D smoothing=0.0": 0.0, "D smoothing=0.2": 0.2}
_MODELS = TransformerConfig.table3()
_BASE = _MODELS[BASE]

ROWS = {
    name: Row(name, _MODELS.get(name, _BASE), _SMOOTHINGS.get(name, SMOOTHING)) for name in PRINTED
}
"""Every row of the table by name, in the paper's order."""

NOT_IN_SMALL = ("A h=4", "A h=16", "B d_k=32", "C N=4", BIG)
"""The mild step between base and a row that is trained, and big, which changes four things."""
SMALL_ROWS = {name: row for name, row in ROWS.items() if name not in NOT_IN_SMALL}
"""Base and the fourteen rows that are trained in small."""

CONTROL = "B d_k=16, wider"
CONTROLS = {CONTROL: Row(CONTROL, _MODELS["B d_k=16"].replace(d_ff=2632))}
"""What the table lacks: row B with the parameters that it lost put into the feed-forward networks.

In small it has base's number of parameters to a thousandth.
"""

TRAINED = SMALL_ROWS | CONTROLS


def in_small(row: Row, *, width: int, depth: int, max_len: int) -> TransformerConfig:
    """Return a row's model with every absolute size divided: widths by `width`, N by `depth`.

    The number of heads, the dropout and the kind of positions stay what they are. The vocabulary is
    still the paper's; `max_len` says how many positions there are to learn.

    Raises:
        ValueError: a size is no multiple of its divisor.
    """
    sizes = {}
    for name in ("d_model", "d_ff", "d_k", "d_v", "n_layers"):
        divisor = depth if name == "n_layers" else width
        size = getattr(row.config, name)
        if size % divisor:
            raise ValueError(f"{row.name}: {name} must be a multiple of {divisor}, got {size}")
        sizes[name] = size // divisor
    return row.config.replace(**sizes, max_len=max_len)


def printed_difference(row: str) -> float:
    """Return by how much more perplexity than base the paper prints, in 100 · ln."""
    return 100 * math.log(PRINTED[row][0] / PRINTED[BASE][0])
