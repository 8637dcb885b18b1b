"""Decoding (§6.1): greedy, beam search, and from text to text."""

from transformer.cache import DecoderCache
from transformer.inference.beam import Hypothesis, beam_search, length_penalty
from transformer.inference.constraint import Constraint
from transformer.inference.greedy import greedy_decode
from transformer.inference.translate import Decoding, Translation, translate, translate_stream

__all__ = [
    "Constraint",
    "DecoderCache",
    "Decoding",
    "Hypothesis",
    "Translation",
    "beam_search",
    "greedy_decode",
    "length_penalty",
    "translate",
    "translate_stream",
]
