"""The figures of chapter 16."""

from walkthrough.ch16_translation.figures.bleu import ngram_grid, ways_chart
from walkthrough.ch16_translation.figures.recipe import (
    caption_viewer,
    seed_picture,
)
from walkthrough.ch16_translation.figures.translation import (
    cost_chart,
    translation_cards,
)

__all__ = [
    "caption_viewer",
    "cost_chart",
    "ngram_grid",
    "seed_picture",
    "translation_cards",
    "ways_chart",
]
