"""The experiments of chapter 15."""

from walkthrough.ch15_decoding.experiments.decoding import (
    STOP,
    TIE,
    NeverReordered,
    counted,
    decode_work,
    log_probs,
    next_words_of,
    source_batch,
)

__all__ = [
    "STOP",
    "TIE",
    "NeverReordered",
    "counted",
    "decode_work",
    "log_probs",
    "next_words_of",
    "source_batch",
]
