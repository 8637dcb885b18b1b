"""Sentences of one clause: each function writes one structure in both languages."""

from __future__ import annotations

from phrasebook.drafts import Draft, Leaf, Node
from phrasebook.lexicon import ADJECTIVES, NAMES, NOUNS, PLACES, Noun
from phrasebook.noun_phrases import (
    Phrase,
    choose_adjectives,
    location,
    name_phrase,
    noun_phrase,
    place_name,
    place_phrase,
)
from phrasebook.participants import (
    ADULTS,
    ANIMALS,
    PEOPLE,
    described,
    object_phrase,
    person,
    takes_relative,
    unlike,
    with_relative,
)
from phrasebook.selection import ANIMAL_OBJECTS, FAME, OBJECTS
from phrasebook.verb_phrases import (
    add_object,
    add_time,
    adjective_phrase,
    choose_adverb,
    verb_phrase,
)

Sides = tuple[Node, Node]


def clause(subject: Phrase, predicate: Sides) -> Sides:
    """Put subject and predicate together."""
    return ["S", subject.french, predicate[0]], ["S", subject.english, predicate[1]]


_EATERS = ("cheval", "oiseau", "souris")


def transitive(draft: Draft) -> Sides:
    """Write subject, verb and object, in a third of the sentences negated."""
    animal = draft.chance(0.12)
    lemma = draft.pick(tuple(ANIMAL_OBJECTS if animal else OBJECTS))
    negated = draft.chance(0.3)
    if animal:
        animals = [noun for noun in ANIMALS if lemma != "manger" or noun.singular in _EATERS]
        subject = described(draft, draft.pick(animals), lemma=lemma, negated=negated)
    else:
        subject = person(draft, lemma=lemma, negated=negated)
    adverb = choose_adverb(draft, lemma, negated)
    phrase = verb_phrase(draft, lemma, subject, negated=negated, adverb=adverb)
    add_object(phrase, lemma, object_phrase(draft, lemma, subject, negated=negated))
    if not adverb:
        add_time(draft, phrase, lemma, 0.3, weekday=not animal)
    return clause(subject, phrase.nodes())


_TRAVEL = (
    ("visiter", ""),
    ("visiter", ""),
    ("habiter", "in"),
    ("travailler", "in"),
    ("voyager", "in"),
    ("arriver", "in"),
    ("aller", "to"),
    ("venir", "from"),
)


def travel(draft: Draft) -> Sides:
    """Write where somebody lives, works, goes or comes from."""
    lemma, english = draft.pick(_TRAVEL)
    negated = draft.chance(0.25)
    subject = person(draft, lemma=lemma, negated=negated)
    adverb = choose_adverb(draft, lemma, negated)
    phrase = verb_phrase(draft, lemma, subject, negated=negated, adverb=adverb)
    if lemma == "visiter":
        place = PLACES[draft.pick(tuple(PLACES))]
        draft.combine("place", lemma, place.french)
        add_object(phrase, lemma, place_name(draft, place))
    else:
        phrase.add(*place_phrase(draft, lemma, english=english, origin=lemma == "venir"))
    return clause(subject, add_time(draft, phrase, lemma, 0.5).nodes())


_SPOTS = {
    "dormir": (("dans", "jardin"), ("dans", "maison"), ("à", "hôtel")),
    "chanter": (("dans", "jardin"), ("dans", "maison"), ("à", "hôtel"), ("à", "école")),
    "promener": (("dans", "jardin"), ("dans", "ville"), ("sur", "île")),
    "travailler": (("à", "musée"), ("à", "hôtel"), ("à", "école"), ("dans", "jardin")),
}


_ANIMAL_SPOTS = (("dans", "jardin"), ("dans", "maison"), ("sous", "table"), ("sur", "table"))


def intransitive(draft: Draft) -> Sides:
    """Write who sleeps, sings, walks or works where."""
    animal = draft.chance(0.35)
    lemmas = ("dormir", "endormir") if animal else tuple(_SPOTS)
    lemma, negated = draft.pick(lemmas), draft.chance(0.25)
    if animal:
        sleeper = NOUNS[draft.pick(("chat", "chien", "souris"))]
        subject = described(draft, sleeper, lemma=lemma, negated=negated)
    else:
        subject = person(draft, lemma=lemma, negated=negated)
    adverb = choose_adverb(draft, lemma, negated)
    phrase = verb_phrase(draft, lemma, subject, negated=negated, adverb=adverb)
    spots = _ANIMAL_SPOTS if animal else _SPOTS[lemma]
    if lemma == "promener" or draft.chance(0.75):
        phrase.add(*location(draft, *draft.pick(spots)))
    add_time(draft, phrase, lemma, 0.3, weekday=not animal)
    return clause(subject, phrase.nodes())


_PREDICATES = tuple(name for name in ADJECTIVES if name != "nouveau")


def _predicable(noun: Noun) -> list[str]:
    return [name for name in noun.adjectives if name in _PREDICATES]


_DESCRIBABLE = tuple(name for name, noun in NOUNS.items() if _predicable(noun))


def _copula_subject(draft: Draft, speaker: Phrase | None) -> tuple[Phrase, str]:
    if draft.chance(0.15):
        name = name_phrase(draft, draft.pick(speaker.other_names if speaker else tuple(NAMES)))
        return name, draft.pick(("célèbre", "italien", "japonais"))
    noun = NOUNS[draft.pick(unlike(speaker, _DESCRIBABLE) if speaker else _DESCRIBABLE)]
    subject = noun_phrase(
        draft,
        noun,
        plural=draft.chance(0.35),
        determiner=draft.pick(("definite", "definite", "demonstrative")),
    )
    if takes_relative(subject) and draft.chance(0.25):
        subject = with_relative(draft, subject)
    return subject, draft.pick(_predicable(noun))


def copula(draft: Draft, speaker: Phrase | None = None) -> Sides:
    """Write `la maison est petite`, negated or not, sometimes across a relative clause.

    `speaker` is who says so, if anybody, and is not spoken of.
    """
    subject, adjective = _copula_subject(draft, speaker)
    phrase = verb_phrase(draft, "être", subject, negated=draft.chance(0.3))
    phrase.add(*adjective_phrase(draft, ADJECTIVES[adjective], subject))
    return clause(subject, phrase.nodes())


_COMPARABLE = ("grand", "petit", "beau", "vieux", "long", "intéressant", "utile", "célèbre", "cher")


_COMPARISONS = tuple(
    (first, second, adjective)
    for first in NOUNS.values()
    for second in NOUNS.values()
    for adjective in _COMPARABLE
    if first.singular != second.singular
    and first.group == second.group
    and adjective in first.adjectives
    and adjective in second.adjectives
    and first.english != second.english
    and not {first.singular, second.singular} & {"homme", "femme", "enfant"}
    and not (first.kind == "animal" and adjective in ("grand", "petit"))
)


def comparison(draft: Draft) -> Sides:
    """Write `le livre est plus intéressant que l'histoire`."""
    if draft.chance(0.15):
        names = list(NAMES)
        subject = name_phrase(draft, names.pop(int(draft.rng.random() * len(names))))
        other, adjective = name_phrase(draft, draft.pick(names)), "célèbre"
    else:
        first, second, adjective = draft.pick(_COMPARISONS)
        plural = draft.chance(0.3)
        determiner = draft.pick(("definite", "definite", "demonstrative"))
        subject = noun_phrase(draft, first, plural=plural, determiner=determiner)
        other = noun_phrase(draft, second, plural=plural, determiner="definite")
    phrase = verb_phrase(draft, "être", subject, negated=draft.chance(0.2))
    phrase.add(*adjective_phrase(draft, ADJECTIVES[adjective], subject, than=other))
    return clause(subject, phrase.nodes())


_CITIES = tuple(place.french for place in PLACES.values() if not place.article)


def famous_for(draft: Draft) -> Sides:
    """Write `la ville est célèbre pour ses musées`: `ses` is its, her, his or their."""
    owner = draft.pick(("person", "person", "place", "place", *FAME))
    if owner == "person":
        subject = name_phrase(draft, draft.pick(tuple(NAMES)))
        if draft.chance(0.5):
            subject = described(draft, draft.pick(ADULTS), lemma="être", negated=True)
    elif owner == "place":
        place = draft.pick([place for place in PLACES.values() if place.article != "les"])
        draft.combine("place", "être", place.french)
        subject = place_name(draft, place)
    else:
        subject = noun_phrase(
            draft,
            NOUNS[owner],
            plural=draft.chance(0.2),
            determiner=draft.pick(("definite", "demonstrative")),
            adjectives=choose_adjectives(draft, NOUNS[owner], 0.2, verb="être"),
        )
    noun = NOUNS[draft.pick(FAME[owner])]
    alone = (not subject.plural and subject.noun not in PLACES) or subject.noun in _CITIES
    thing = noun_phrase(
        draft,
        noun,
        plural=noun.kind != "thing" or not alone or draft.chance(0.6),
        determiner="possessive",
        adjectives=choose_adjectives(draft, noun, 0.25),
        owner=subject,
    )
    phrase = verb_phrase(draft, "être", subject, negated=draft.chance(0.15))
    french, english = adjective_phrase(draft, ADJECTIVES["célèbre"], subject)
    link = draft.link()
    french.append(["PP", Leaf("pour", (link,)), thing.french])
    english.append(["PP", Leaf("for", (link,)), thing.english])
    return clause(subject, phrase.add(french, english).nodes())


def travel_of_somebody(draft: Draft, speaker: Phrase) -> Sides:
    """Write what a speaker says about where somebody else lives, works or comes from."""
    lemma, english = draft.pick((("habiter", "in"), ("travailler", "in"), ("venir", "from")))
    people = ADULTS if lemma == "travailler" else PEOPLE
    if draft.chance(0.4):
        subject = name_phrase(draft, draft.pick(speaker.other_names))
    else:
        noun = NOUNS[draft.pick(unlike(speaker, [noun.singular for noun in people]))]
        subject = noun_phrase(draft, noun, plural=draft.chance(0.3), determiner="definite")
    phrase = verb_phrase(draft, lemma, subject, negated=draft.chance(0.2))
    phrase.add(*place_phrase(draft, lemma, english=english, origin=lemma == "venir"))
    return clause(subject, phrase.nodes())
