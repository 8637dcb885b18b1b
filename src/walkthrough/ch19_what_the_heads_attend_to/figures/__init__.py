"""The figures of chapter 19."""

from walkthrough.ch19_what_the_heads_attend_to.figures.seeds import by_seed, sets_chart
from walkthrough.ch19_what_the_heads_attend_to.figures.stills import (
    captions_chart,
    causes_chart,
    tree_chart,
)

__all__ = ["by_seed", "captions_chart", "causes_chart", "sets_chart", "tree_chart"]
