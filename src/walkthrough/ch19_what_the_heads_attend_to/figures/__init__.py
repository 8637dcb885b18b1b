"""The figures of chapter 19."""

from walkthrough.ch19_what_the_heads_attend_to.figures.head_map import head_map, recorded_row
from walkthrough.ch19_what_the_heads_attend_to.figures.seeds import (
    hidden_chart,
    looks_chart,
    role_map,
    tree_chart,
)
from walkthrough.ch19_what_the_heads_attend_to.figures.trees import bracketed

__all__ = [
    "bracketed",
    "head_map",
    "hidden_chart",
    "looks_chart",
    "recorded_row",
    "role_map",
    "tree_chart",
]
