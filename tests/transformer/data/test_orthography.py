"""Reading a typed sentence takes time in proportion to its length."""

import time

from transformer.data.phrasebook import tokenize


def test_final_punctuation_and_white_space_of_any_kind_is_no_word() -> None:
    assert tokenize("Bonjour Paul \u2003 . … !\u3000\x1f\n", "fr") == ["bonjour", "Paul"]


def test_a_run_of_full_stops_before_a_word_is_read_at_once() -> None:
    """A pattern that looks for the end of the line from every full stop took minutes here."""
    began = time.process_time()
    assert len(tokenize("." * 99_999 + "x", "fr")) == 1
    assert time.process_time() - began < 1
