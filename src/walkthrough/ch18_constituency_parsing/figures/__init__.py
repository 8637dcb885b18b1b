"""The figures of chapter 18."""

from walkthrough.ch18_constituency_parsing.figures.rules import next_symbols
from walkthrough.ch18_constituency_parsing.figures.scores import (
    by_length,
    by_sentences,
    seeds_chart,
    table_4,
)
from walkthrough.ch18_constituency_parsing.figures.trees import compared_trees, tree_drawing

__all__ = [
    "by_length",
    "by_sentences",
    "compared_trees",
    "next_symbols",
    "seeds_chart",
    "table_4",
    "tree_drawing",
]
