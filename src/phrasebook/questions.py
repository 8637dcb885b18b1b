"""Questions with a known answer: which word of the source decides a translation (Figures 3 and 4).

Each relation asks about one kind of word (`makes`, `it`, `ses`). The *answer* are the words of the
same sentence that decide its translation: *more difficult* for `makes`, the noun for a pronoun.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from phrasebook.example import Example
from phrasebook.lexicon import ADJECTIVES


@dataclass(frozen=True)
class Relation:
    """A word that is asked about, and the translations between which its answer decides.

    `needed` says whether the translation depends on the answer at all; where not, a head may look
    at it all the same.
    """

    name: str
    asks: tuple[str, ...]  # words of the source
    choices: tuple[tuple[str, ...], ...]  # words of the target that exclude each other
    source_language: str
    structures: tuple[str, ...]
    needed: bool = True


_SES = ("liked_for", "famous_for")
RELATIONS = {
    relation.name: relation
    for relation in (
        Relation(
            "makes → fait, rend",
            ("makes", "make"),
            (("fait", "rend"), ("font", "rendent")),
            "en",
            ("made",),
        ),
        Relation("it → il, elle", ("it",), (("il", "elle"),), "en", ("because_who",)),
        Relation("it → le, la", ("it",), (("le", "la"),), "en", ("and_it",)),
        Relation(
            "he, she → il, elle", ("he", "she"), (("il", "elle"),), "en", ("because_who",), False
        ),
        Relation(
            "its, his, her → son, sa, ses",
            ("its", "his", "her"),
            (("son", "sa", "ses"),),
            "en",
            _SES,
            False,
        ),
        Relation(
            "il, elle → it, he, she",
            ("il", "elle"),
            (("it", "he", "she"),),
            "fr",
            ("because_who",),
        ),
        Relation(
            "le, la, l' → it, him, her",
            ("le", "la", "l'"),
            (("it", "him", "her"),),
            "fr",
            ("and_it",),
        ),
        Relation(
            "son, sa, ses → its, his, her",
            ("son", "sa", "ses"),
            (("its", "his", "her"),),
            "fr",
            _SES,
        ),
    )
}
_MORE = ("more", *(a.comparative for a in ADJECTIVES.values() if a.comparative))


@dataclass(frozen=True)
class Question:
    """One word of a source sentence whose translation another word decides.

    `query` and `answers` are places in `source`, `predicted` is the place of the translation in
    `target`, `wrong` are the other translations. `written` are the places in `target` where the
    answers are translated, as far as they stand before `predicted`. No `answers`: there is nothing
    to find in the sentence, as in "Paul makes the cake".
    """

    relation: str
    source: tuple[str, ...]
    target: tuple[str, ...]
    query: int
    answers: tuple[int, ...]
    predicted: int
    wrong: tuple[str, ...]
    written: tuple[int, ...]

    @property
    def right(self) -> str:
        """The word that the target has."""
        return self.target[self.predicted]


def questions(example: Example, relation: Relation) -> Iterator[Question]:
    """Yield what a relation asks about one sentence pair; often nothing."""
    forward = relation.source_language == "fr"
    source, target = example.source, example.target
    links = example.alignment
    antecedents = dict(example.source_antecedents)
    if not forward:
        source, target, links = target, source, frozenset((j, i) for i, j in links)
        antecedents = dict(example.target_antecedents)
    for query, word in enumerate(source):
        if word not in relation.asks:
            continue
        if relation.structures == ("made",):
            answers = _made_more(source, query, target)
        elif query in antecedents:
            answers = (antecedents[query],)
        else:
            continue
        translated = sorted(j for i, j in links if i in answers)
        for predicted in sorted(j for i, j in links if i == query):
            for choice in relation.choices:
                if target[predicted] in choice:
                    yield Question(
                        relation.name,
                        source,
                        target,
                        query,
                        answers,
                        predicted,
                        tuple(other for other in choice if other != target[predicted]),
                        tuple(place for place in translated if place < predicted),
                    )


def _made_more(english: tuple[str, ...], query: int, french: tuple[str, ...]) -> tuple[int, ...]:
    """Return where `more difficult` or `longer` stands, if that is what is made."""
    if not {"rend", "rendent"} & set(french):
        return ()
    return comparative(english, query)


def comparative(english: tuple[str, ...], start: int) -> tuple[int, ...]:
    """Return where the first `more difficult` or `longer` from `start` on stands; () for none."""
    place = next((i for i in range(start, len(english)) if english[i] in _MORE), None)
    if place is None:
        return ()
    return (place, place + 1) if english[place] == "more" else (place,)
