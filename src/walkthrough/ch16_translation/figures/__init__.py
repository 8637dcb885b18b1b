"""The figures of chapter 16."""

from walkthrough.ch16_translation.figures.bleu import CASES, shadows, ways_chart
from walkthrough.ch16_translation.figures.seeds import dots
from walkthrough.ch16_translation.figures.translation import cost_chart, translation_cards

__all__ = ["CASES", "cost_chart", "dots", "shadows", "translation_cards", "ways_chart"]
