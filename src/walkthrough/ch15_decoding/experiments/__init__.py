"""The experiments of chapter 15."""

from walkthrough.ch15_decoding.experiments.averaging import EXPERIMENT as AVERAGING
from walkthrough.ch15_decoding.experiments.decoding import (
    STOP,
    TIE,
    NeverReordered,
    log_probs,
    next_words_of,
    source_batch,
    toy,
)
from walkthrough.ch15_decoding.experiments.searches import EXPERIMENT as SEARCHES

__all__ = [
    "AVERAGING",
    "SEARCHES",
    "STOP",
    "TIE",
    "NeverReordered",
    "log_probs",
    "next_words_of",
    "source_batch",
    "toy",
]
