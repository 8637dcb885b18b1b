"""How sentences are written, and how a typed one is read, in time in proportion to its length."""

import time

import pytest

from phrasebook import tokenize
from phrasebook.orthography import choose_article, contract, elide, proper_words


def test_final_punctuation_and_white_space_of_any_kind_is_no_word() -> None:
    assert tokenize("Bonjour Paul \u2003 . … !\u3000\x1f\n", "fr") == ["bonjour", "Paul"]


def test_a_run_of_full_stops_before_a_word_is_read_at_once() -> None:
    """A pattern that looks for the end of the line from every full stop took minutes here."""
    began = time.process_time()
    assert len(tokenize("." * 99_999 + "x", "fr")) == 1
    assert time.process_time() - began < 30


def test_english_adjectives_of_nations_and_sundays_may_be_typed_small() -> None:
    assert tokenize("italian doctors and JAPANESE students sing on sundays", "en") == [
        "Italian", "doctors", "and", "Japanese", "students", "sing", "on", "Sundays",
    ]  # fmt: skip


def test_words_with_a_capital_are_found_by_their_small_letters() -> None:
    assert proper_words("fr")["états-unis"] == "États-Unis"
    assert {"janvier", "italien", "dimanche"}.isdisjoint(proper_words("fr"))
    assert {"jane", "united", "states", "may", "italian"} <= proper_words("en").keys()
    with pytest.raises(ValueError, match="'fr' or 'en', got 'de'"):
        proper_words("de")


@pytest.mark.parametrize(
    ("previous", "word", "spelt"),
    [
        ("le", "étudiant", "l'"),
        ("la", "Afrique", "l'"),
        ("le", "hôtel", "l'"),
        ("le", "hibou", "le"),
        ("la", "table", "la"),
        ("que", "il", "qu'"),
        ("ce", "hôtel", "cet"),
        ("ce", "hibou", "ce"),
        ("sa", "amie", "son"),
        ("les", "amis", "les"),
    ],
)
def test_french_elides_before_vowels_and_a_mute_h(previous: str, word: str, spelt: str) -> None:
    assert elide(previous, word) == spelt


def test_only_le_and_les_contract() -> None:
    assert [contract("de", word) for word in ("le", "les", "la", "l'")] == ["du", "des", "", ""]
    assert [contract("à", word) for word in ("le", "les", "la", "l'")] == ["au", "aux", "", ""]


@pytest.mark.parametrize(
    ("word", "article"),
    [("owl", "an"), ("Italian", "an"), ("book", "a"), ("useful", "a"), ("small", "a")],
)
def test_english_says_an_before_the_sound_of_a_vowel(word: str, article: str) -> None:
    assert choose_article("a", word) == article
    assert choose_article("the", word) == "the"
