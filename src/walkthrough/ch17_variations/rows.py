"""The rows of Table 3: what each changes, what the paper prints, and the same change in small.

The models come from `TransformerConfig.table3`, the one place that lists them. The two rows on
label smoothing change the loss and not the model; they are added here.
"""

from dataclasses import dataclass, fields

from transformer.analysis.cost import PAPER_PARAMETERS
from transformer.config import TransformerConfig

BASE, BIG = "base", "big"
SMOOTHING = 0.1


@dataclass(frozen=True)
class Printed:
    """What the paper prints in a row, measured on the development set newstest2013."""

    perplexity: float
    bleu: float


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

    @property
    def printed(self) -> Printed:
        """The scores that the paper prints."""
        return PRINTED[self.name]

    @property
    def millions(self) -> int | None:
        """The parameters that the paper prints, in millions; None where it prints none."""
        return PAPER_PARAMETERS.get(self.name)

    @property
    def changes(self) -> dict[str, tuple[object, object]]:
        """Every setting that differs from base: what base has, what this row has."""
        found: dict[str, tuple[object, object]] = {
            field.name: (getattr(_BASE, field.name), getattr(self.config, field.name))
            for field in fields(TransformerConfig)
        }
        found["smoothing"] = (SMOOTHING, self.smoothing)
        return {name: values for name, values in found.items() if values[0] != values[1]}


PRINTED = {
    "base": Printed(4.92, 25.8),
    "A h=1": Printed(5.29, 24.9),
    "A h=4": Printed(5.00, 25.5),
    "A h=16": Printed(4.91, 25.8),
    "A h=32": Printed(5.01, 25.4),
    "B d_k=16": Printed(5.16, 25.1),
    "B d_k=32": Printed(5.01, 25.4),
    "C N=2": Printed(6.11, 23.7),
    "C N=4": Printed(5.19, 25.3),
    "C N=8": Printed(4.88, 25.5),
    "C d_model=256": Printed(5.75, 24.5),
    "C d_model=1024": Printed(4.66, 26.0),
    "C d_ff=1024": Printed(5.12, 25.4),
    "C d_ff=4096": Printed(4.75, 26.2),
    "D dropout=0.0": Printed(5.77, 24.6),
    "D dropout=0.2": Printed(4.95, 25.5),
    "D smoothing=0.0": Printed(4.67, 25.3),
    "D smoothing=0.2": Printed(5.47, 25.7),
    "E learned positions": Printed(4.92, 25.7),
    "big": Printed(4.33, 26.4),
}
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
