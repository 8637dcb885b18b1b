"""How words meet and how sentences are written: elision, contraction, capitals, full stops."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from phrasebook import lexicon

_VOWELS = frozenset("aeiouhâàéèêëîïôû")  # a mute h counts; the aspirated ones are listed
_ELIDED = {"le": "l'", "la": "l'", "ne": "n'", "de": "d'", "que": "qu'", "se": "s'"}
_BEFORE_VOWEL = {"ce": "cet", "sa": "son"}
_CONTRACTED = {
    ("de", "le"): "du",
    ("de", "les"): "des",
    ("à", "le"): "au",
    ("à", "les"): "aux",
}


def starts_with_vowel(french: str) -> bool:
    """Whether French elides before this word: `l'hôtel`, but `le hibou`."""
    return french[0].lower() in _VOWELS and french not in lexicon.ASPIRATED


def elide(previous: str, word: str) -> str:
    """Return a French word as it stands before the next: `le`, `étudiant` → `l'`."""
    if not starts_with_vowel(word):
        return previous
    return _ELIDED.get(previous, _BEFORE_VOWEL.get(previous, previous))


def contract(previous: str, word: str) -> str:
    """Return the one word that two French words become, after elision: `de`, `le` → `du`.

    Words that stay two give the empty string: `de`, `l'`.
    """
    return _CONTRACTED.get((previous, word), "")


def choose_article(previous: str, word: str) -> str:
    """Return the English article `a` as it stands before this word: `an owl`, `a useful book`."""
    if previous == "a" and word[0].lower() in "aeiou" and word not in lexicon.SPOKEN_CONSONANT:
        return "an"
    return previous


def _proper_words() -> dict[str, dict[str, str]]:
    french = [*lexicon.NAMES, *lexicon.PLACES]
    english = [*lexicon.NAMES, *lexicon.MONTHS.values()]
    english += [word for place in lexicon.PLACES.values() for word in place.english]
    english += [a.english for a in lexicon.ADJECTIVES.values() if a.english[0].isupper()]
    english += ["Sundays"]
    return {
        "fr": {word.lower(): word for word in french},
        "en": {word.lower(): word for word in english},
    }


_PROPER = _proper_words()


def proper_words(language: str) -> dict[str, str]:
    """Return the words of a language that keep their capital, by their small letters.

    Raises:
        ValueError: the language is not "fr" or "en".
    """
    _check_language(language)
    return dict(_PROPER[language])


# Word, then apostrophe: l'Afrique → l' Afrique. English: Jane's → Jane 's.
_SPLIT = {"fr": re.compile(r"(?<=')(?=\w)"), "en": re.compile(r"(?<=\w)(?='s$)")}

_FINAL = ".!?…" + "".join(filter(str.isspace, map(chr, range(0x3001))))  # U+3000 is the last space


def _check_language(language: str) -> None:
    if language not in _PROPER:
        raise ValueError(f"language must be 'fr' or 'en', got {language!r}")


def detokenize(tokens: Sequence[str], language: str) -> str:
    """Write tokens as a sentence: capital letter, elided words glued, full stop.

    No tokens give the empty string, because a model may translate into nothing.

    Raises:
        ValueError: the language is not "fr" or "en".
    """
    _check_language(language)
    if not tokens:
        return ""
    text = " ".join(tokens)
    text = text.replace("' ", "'") if language == "fr" else text.replace(" 's", "'s")
    return text[0].upper() + text[1:] + "."


def tokenize(text: str, language: str) -> list[str]:
    """Split a typed sentence into the phrasebook's tokens; the inverse of `detokenize`.

    Straight and curly apostrophes, missing or extra capitals, and final punctuation are accepted.
    Words that the phrasebook does not know keep their form, so that an error can name them.

    Raises:
        ValueError: the language is not "fr" or "en", or the text holds no word.
    """
    _check_language(language)
    text = unicodedata.normalize("NFC", text).translate({0x2019: "'", 0x02BC: "'"})
    text = text.rstrip(_FINAL)
    words = [part for word in text.split() for part in _SPLIT[language].split(word)]
    if not words:
        raise ValueError(f"expected a sentence with at least one word, got {text!r}")
    words[0] = words[0][0].lower() + words[0][1:]
    return [_PROPER[language].get(word.lower(), word) for word in words]
