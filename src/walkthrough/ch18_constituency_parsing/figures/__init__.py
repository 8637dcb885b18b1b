"""The figures of chapter 18."""

from walkthrough.ch18_constituency_parsing.figures.rules import next_symbols
from walkthrough.ch18_constituency_parsing.figures.scores import (
    by_way,
    table_4,
    ways_chart,
)
from walkthrough.ch18_constituency_parsing.figures.trees import compared_trees
from walkthrough.ch18_constituency_parsing.figures.walk import tree_walk

__all__ = [
    "by_way",
    "compared_trees",
    "next_symbols",
    "table_4",
    "tree_walk",
    "ways_chart",
]
