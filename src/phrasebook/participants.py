"""Who acts and on what: subjects and objects that suit the verb."""

from __future__ import annotations

from collections.abc import Sequence

from phrasebook.drafts import Draft, Leaf
from phrasebook.lexicon import NAMES, NOUNS, PLACES, Noun
from phrasebook.noun_phrases import (
    Phrase,
    choose_adjectives,
    location,
    name_phrase,
    noun_phrase,
    place_name,
    place_phrase,
    two_names,
)
from phrasebook.selection import ANIMAL_OBJECTS, OBJECTS, PLACE_OBJECTS
from phrasebook.verb_phrases import verb_phrase

PEOPLE = tuple(noun for noun in NOUNS.values() if noun.kind == "person")


ANIMALS = tuple(noun for noun in NOUNS.values() if noun.kind == "animal")


ADULTS = tuple(noun for noun in PEOPLE if noun.singular != "enfant")
_GROWN_UP = ("acheter", "vendre", "inviter", "travailler", "voyager")
_PRONOUNS = (("il", "he"), ("elle", "she"), ("ils", "they"), ("elles", "they"))


def _pronoun(draft: Draft) -> Phrase:
    french, english = draft.pick(_PRONOUNS)
    link = draft.link()
    return Phrase(
        ["NP", Leaf(french, (link,))],
        ["NP", Leaf(english, (link,))],
        french.startswith("elle"),
        french.endswith("s"),
        "person",
        (link,),
        french,
    )


def described(draft: Draft, noun: Noun, *, lemma: str, negated: bool) -> Phrase:
    """Choose article, number, adjectives and perhaps a relative clause for a subject."""
    options = ("definite", "definite", "definite", "demonstrative", "indefinite")
    determiner = draft.pick(options[:-1] if negated else options)
    plural = draft.chance(0.4)
    adjectives = choose_adjectives(draft, noun, 0.3, verb=lemma)
    phrase = noun_phrase(draft, noun, plural=plural, determiner=determiner, adjectives=adjectives)
    asleep = noun.kind == "animal" and lemma in ("dormir", "endormir")
    if not adjectives and determiner != "demonstrative" and takes_relative(phrase) and not asleep:
        return with_relative(draft, phrase, lemma) if draft.chance(0.25) else phrase
    return phrase


def person(draft: Draft, *, lemma: str, negated: bool = False) -> Phrase:
    """Choose who does something: a name, two names, a pronoun, or a described person."""
    roll = draft.rng.random()
    if roll < 0.3:
        return name_phrase(draft, draft.pick(tuple(NAMES)))
    if roll < 0.38:
        return two_names(draft)
    if roll < 0.52:
        return _pronoun(draft)
    noun = draft.pick(ADULTS if lemma in _GROWN_UP else PEOPLE)
    return described(draft, noun, lemma=lemma, negated=negated)


def with_relative(draft: Draft, phrase: Phrase, avoid: str = "") -> Phrase:
    """Attach a clause with `qui`: `le professeur qui habite à Paris` → who; things take that.

    `avoid` is the verb of the main clause, which the relative clause does not repeat.
    """
    link = draft.link()
    verbs = [verb for verb in ("habiter", "venir", "travailler") if verb != avoid]
    if phrase.noun == "enfant":
        verbs = verbs[:-1]
    verb = {"person": draft.pick(verbs), "animal": "dormir"}.get(phrase.kind, "être")
    clause = verb_phrase(draft, verb, phrase)
    if phrase.kind == "person":
        origin = verb == "venir"
        english = "from" if origin else "in"
        clause.add(*place_phrase(draft, verb, english=english, origin=origin))
    else:
        clause.add(*location(draft, "sous" if verb == "dormir" else "sur", "table"))
    french, english_clause = clause.nodes()
    pronoun = "who" if phrase.kind == "person" else "that"
    phrase.french = [
        "NP",
        phrase.french,
        ["SBAR", ["WHNP", Leaf("qui", (link,))], ["S", french]],
    ]
    phrase.english = [
        "NP",
        phrase.english,
        ["SBAR", ["WHNP", Leaf(pronoun, (link,))], ["S", english_clause]],
    ]
    return phrase


_ON_A_TABLE = ("texts", "food", "clothes")


def takes_relative(phrase: Phrase) -> bool:
    """Whether a relative clause of ours makes sense after this noun."""
    noun = NOUNS.get(phrase.noun)
    return noun is not None and (
        noun.kind == "person"
        or noun.group in _ON_A_TABLE
        or phrase.noun in ("chat", "chien", "souris")
    )


_OPEN = ("definite", "definite", "definite", "indefinite", "demonstrative", "two", "three", "many")


_CLOSED = ("definite", "definite", "definite", "demonstrative", "negated")


def _determiner_for(draft: Draft, lemma: str, owned: bool, negated: bool) -> str:
    if owned and lemma not in ("visiter", "acheter") and draft.chance(0.25):
        return "possessive"
    if owned and draft.chance(0.12) and lemma != "porter":
        return "genitive"
    if lemma == "porter" and not negated:
        return draft.pick(("indefinite", "indefinite", "demonstrative"))
    if lemma == "aimer":
        return draft.pick(("definite", "definite", "demonstrative"))
    return draft.pick(_CLOSED if negated else _OPEN)


_SHARED = ("people", "animals", "vehicles", "buildings")  # several owners may have one together


def plural_for(draft: Draft, noun: Noun, lemma: str, determiner: str, subject: Phrase) -> bool:
    """Choose singular or plural: two people have two hats, but perhaps one house."""
    if determiner in ("two", "three", "many", "negated"):
        return True
    if lemma == "porter":
        return subject.plural
    if determiner == "possessive" and noun.group == "buildings":
        return False
    if determiner == "possessive" and subject.plural and noun.group not in _SHARED:
        return True
    return draft.chance(0.35)


def unlike(subject: Phrase, nouns: Sequence[str]) -> Sequence[str]:
    """Leave out nouns that English could not tell from the subject."""
    if subject.noun not in NOUNS:
        return nouns
    return [noun for noun in nouns if NOUNS[noun].english != NOUNS[subject.noun].english]


def object_phrase(draft: Draft, lemma: str, subject: Phrase, *, negated: bool) -> Phrase:
    """Choose what the verb acts on: a noun it selects, a place where it takes one, a name."""
    if lemma in PLACE_OBJECTS and draft.chance(0.4):
        place = PLACES[draft.pick(tuple(PLACES))]
        draft.combine("place", lemma, place.french)
        return place_name(draft, place)
    nouns = ANIMAL_OBJECTS[lemma] if subject.kind == "animal" else OBJECTS[lemma]
    noun = NOUNS[draft.pick(unlike(subject, nouns))]
    if noun.kind == "person" and subject.kind == "person" and draft.chance(0.15):
        return name_phrase(draft, draft.pick(subject.other_names))
    draft.combine("object", lemma, noun.singular)
    owned = noun.owned and subject.kind == "person"
    owned = owned and not (lemma == "voir" and noun.kind == "thing")
    determiner = _determiner_for(draft, lemma, owned, negated)
    if determiner == "negated" and noun.kind == "person":
        determiner = "definite"
    plural = plural_for(draft, noun, lemma, determiner, subject)
    if lemma == "aimer" and plural and determiner == "definite":
        determiner = "generic"
    owner = subject if determiner == "possessive" else None
    if determiner == "genitive":
        owner = _owner(draft, subject)
    adjectives = choose_adjectives(draft, noun, 0.4, verb=lemma)
    phrase = noun_phrase(
        draft, noun, plural=plural, determiner=determiner, adjectives=adjectives, owner=owner
    )
    simple = determiner in ("definite", "indefinite", "two", "three") and len(adjectives) < 2
    if simple and takes_relative(phrase) and draft.chance(0.08):
        return with_relative(draft, phrase, lemma)
    return phrase


def _owner(draft: Draft, subject: Phrase) -> Phrase:
    if draft.chance(0.5):
        return name_phrase(draft, draft.pick(subject.other_names))
    noun = draft.pick(("voisin", "voisine", "médecin", "acteur", "actrice", "professeur"))
    if noun == subject.noun:
        noun = "étudiante"
    return noun_phrase(draft, NOUNS[noun], plural=False, determiner="definite")
