"""The figures of chapter 16."""

from walkthrough.ch16_translation.figures.bleu import ngram_grid, ways_chart
from walkthrough.ch16_translation.figures.translation import (
    cost_chart,
    setting_table,
    translation_cards,
)

__all__ = ["cost_chart", "ngram_grid", "setting_table", "translation_cards", "ways_chart"]
