"""The structures of the phrasebook: each function writes one kind of sentence in both languages."""

from __future__ import annotations

import random
from collections.abc import Callable

from transformer.data.phrasebook.drafts import Draft, Leaf, Node, finish
from transformer.data.phrasebook.example import Example
from transformer.data.phrasebook.lexicon import (
    ADJECTIVES,
    ANIMAL_OBJECTS,
    CAUSES,
    FAME,
    MADE,
    NAMES,
    NOUNS,
    OBJECTS,
    PLACES,
    VERB_PAIRS,
    Noun,
)
from transformer.data.phrasebook.noun_phrases import (
    Phrase,
    choose_adjectives,
    location,
    name_phrase,
    noun_phrase,
    place_name,
    place_phrase,
    two_names,
)
from transformer.data.phrasebook.verb_phrases import (
    add_object,
    add_time,
    adjective_phrase,
    choose_adverb,
    object_phrase,
    takes_relative,
    verb_phrase,
    with_relative,
)

Sides = tuple[Node, Node]

_PEOPLE = tuple(noun for noun in NOUNS.values() if noun.kind == "person")
_ANIMALS = tuple(noun for noun in NOUNS.values() if noun.kind == "animal")
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


def _described(draft: Draft, noun: Noun) -> Phrase:
    determiner = draft.pick(("definite", "definite", "definite", "indefinite", "demonstrative"))
    plural = draft.chance(0.4)
    adjectives = choose_adjectives(draft, noun, 0.3)
    phrase = noun_phrase(draft, noun, plural=plural, determiner=determiner, adjectives=adjectives)
    if not adjectives and determiner != "demonstrative" and takes_relative(phrase):
        return with_relative(draft, phrase) if draft.chance(0.25) else phrase
    return phrase


def _person(draft: Draft) -> Phrase:
    roll = draft.rng.random()
    if roll < 0.3:
        return name_phrase(draft, draft.pick(tuple(NAMES)))
    if roll < 0.38:
        return two_names(draft)
    if roll < 0.52:
        return _pronoun(draft)
    return _described(draft, draft.pick(_PEOPLE))


def _clause(subject: Phrase, predicate: Sides) -> Sides:
    return ["S", subject.french, predicate[0]], ["S", subject.english, predicate[1]]


def transitive(draft: Draft) -> Sides:
    """Write subject, verb and object, in a third of the sentences negated."""
    animal = draft.chance(0.12)
    lemma = draft.pick(tuple(ANIMAL_OBJECTS if animal else OBJECTS))
    negated = draft.chance(0.3)
    subject = _described(draft, draft.pick(_ANIMALS)) if animal else _person(draft)
    if animal and subject.noun in ("hibou", "souris") and lemma == "manger":
        lemma = "regarder"
    adverb = choose_adverb(draft, lemma, negated)
    phrase = verb_phrase(draft, lemma, subject, negated=negated, adverb=adverb)
    add_object(phrase, lemma, object_phrase(draft, lemma, subject, negated=negated))
    return _clause(subject, add_time(draft, phrase, lemma, 0.3).nodes())


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
    subject = _person(draft)
    adverb = choose_adverb(draft, lemma, negated)
    phrase = verb_phrase(draft, lemma, subject, negated=negated, adverb=adverb)
    if lemma == "visiter":
        place = PLACES[draft.pick(tuple(PLACES))]
        draft.combine("place", lemma, place.french)
        add_object(phrase, lemma, place_name(draft, place))
    else:
        phrase.add(*place_phrase(draft, lemma, english=english, origin=lemma == "venir"))
    return _clause(subject, add_time(draft, phrase, lemma, 0.5).nodes())


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
    small = [noun for noun in _ANIMALS if noun.singular in ("chat", "chien", "souris")]
    subject = _described(draft, draft.pick(small)) if animal else _person(draft)
    adverb = choose_adverb(draft, lemma, negated)
    phrase = verb_phrase(draft, lemma, subject, negated=negated, adverb=adverb)
    spots = _ANIMAL_SPOTS if animal else _SPOTS[lemma]
    if lemma == "promener" or draft.chance(0.75):
        phrase.add(*location(draft, *draft.pick(spots)))
    return _clause(subject, add_time(draft, phrase, lemma, 0.3).nodes())


def _coordinated(draft: Draft, first: Sides, second: Sides, word: tuple[str, str]) -> Sides:
    link = draft.link()
    return (
        ["VP", first[0], Leaf(word[0], (link,)), second[0]],
        ["VP", first[1], Leaf(word[1], (link,)), second[1]],
    )


def object_pronoun(draft: Draft) -> Sides:
    """Write `achète le livre et le lit`: the gender of `le`, `la`, `l'` comes from its noun."""
    first, second = draft.pick(VERB_PAIRS)
    subject = _person(draft)
    nouns = [noun for noun in OBJECTS[first] if noun in OBJECTS[second]]
    negated = draft.chance(0.3)
    if NOUNS[nouns[0]].kind == "person" and draft.chance(0.35) and subject.noun != "names":
        thing = name_phrase(draft, draft.pick([name for name in NAMES if name != subject.noun]))
    else:
        noun = NOUNS[draft.pick(nouns)]
        draft.combine("object", first, noun.singular)
        draft.combine("object", second, noun.singular)
        options = ("definite", "definite", "indefinite", "demonstrative", "two", "possessive")
        determiner = draft.pick(options if noun.owned else options[:-1])
        plural = determiner == "two" or draft.chance(0.3)
        if second == "porter":
            determiner, plural = "indefinite", subject.plural
        adjectives = choose_adjectives(draft, noun, 0.3)
        if "trouver" in (first, second):
            adjectives = tuple(a for a in adjectives if a.before_noun)
        thing = noun_phrase(
            draft,
            noun,
            plural=plural,
            determiner=determiner,
            adjectives=adjectives,
            owner=subject if determiner == "possessive" else None,
        )
    left = add_object(verb_phrase(draft, first, subject), first, thing).nodes()
    right = verb_phrase(draft, second, subject, negated=negated, pronoun=thing).nodes()
    joined = _coordinated(draft, left, right, ("mais", "but") if negated else ("et", "and"))
    return _clause(subject, joined)


# Why somebody does something to a thing: verbs, reasons for, reasons against.
_REASONS = {
    "lire": (("intéressant", "utile"), ()),
    "acheter": (("utile", "rouge", "noir", "blanc", "délicieux", "intéressant"), ("cher",)),
    "manger": (("délicieux",), ()),
    "visiter": (("intéressant", "célèbre"), ()),
    "aimer": (("rouge", "délicieux", "intéressant", "long"), ("cher", "long")),
}


def because(draft: Draft) -> Sides:
    """Write `lit le livre parce qu'il est intéressant`: the pronoun's antecedent is the object."""
    lemma = draft.pick(tuple(_REASONS))
    negated = draft.chance(0.35)
    subject = _person(draft)
    against = negated and draft.chance(0.5)
    reasons = _REASONS[lemma][1] if against else _REASONS[lemma][0]
    reasons = reasons or _REASONS[lemma][0]
    against = against and bool(_REASONS[lemma][1])
    nouns = [
        noun
        for noun in (NOUNS[name] for name in OBJECTS[lemma])
        if noun.kind == "thing" and any(reason in noun.adjectives for reason in reasons)
    ]
    noun = draft.pick(nouns)
    draft.combine("object", lemma, noun.singular)
    reason = draft.pick([reason for reason in reasons if reason in noun.adjectives])
    determiner = draft.pick(("definite", "definite", "demonstrative"))
    plural = draft.chance(0.35) and not (lemma == "aimer" and determiner == "definite")
    thing = noun_phrase(draft, noun, plural=plural, determiner=determiner)
    phrase = add_object(verb_phrase(draft, lemma, subject, negated=negated), lemma, thing)
    link = draft.link()
    draft.antecedents += [(link, head) for head in thing.heads]
    french = ("elle" if noun.feminine else "il") + ("s" if plural else "")
    stands_for = Phrase(
        ["NP", Leaf(french, (link,))],
        ["NP", Leaf(thing.subject_pronoun, (link,))],
        noun.feminine,
        plural,
        "thing",
        (link,),
        noun.singular,
    )
    is_so = verb_phrase(draft, "être", stands_for, negated=negated and not against)
    is_so.add(*adjective_phrase(draft, ADJECTIVES[reason], stands_for))
    inner = _clause(stands_for, is_so.nodes())
    why = draft.link()
    phrase.add(
        ["SBAR", Leaf("parce", (why,)), Leaf("que", (why,)), inner[0]],
        ["SBAR", Leaf("because", (why,)), inner[1]],
    )
    return _clause(subject, phrase.nodes())


_PREDICATES = tuple(name for name in ADJECTIVES if name != "nouveau")


def _predicable(noun: Noun) -> list[str]:
    return [name for name in noun.adjectives if name in _PREDICATES]


_DESCRIBABLE = tuple(noun for noun in NOUNS.values() if _predicable(noun))


def _copula_subject(draft: Draft) -> tuple[Phrase, str]:
    if draft.chance(0.15):
        name = name_phrase(draft, draft.pick(tuple(NAMES)))
        return name, draft.pick(("célèbre", "italien", "japonais"))
    noun = draft.pick(_DESCRIBABLE)
    subject = noun_phrase(
        draft,
        noun,
        plural=draft.chance(0.35),
        determiner=draft.pick(("definite", "definite", "demonstrative")),
    )
    if takes_relative(subject) and draft.chance(0.25):
        subject = with_relative(draft, subject)
    return subject, draft.pick(_predicable(noun))


def copula(draft: Draft) -> Sides:
    """Write `la maison est petite`, negated or not, sometimes across a relative clause."""
    subject, adjective = _copula_subject(draft)
    phrase = verb_phrase(draft, "être", subject, negated=draft.chance(0.3))
    phrase.add(*adjective_phrase(draft, ADJECTIVES[adjective], subject))
    return _clause(subject, phrase.nodes())


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
    return _clause(subject, phrase.nodes())


def famous_for(draft: Draft) -> Sides:
    """Write `la ville est célèbre pour ses musées`: `ses` is its, her, his or their."""
    owner = draft.pick(("person", "person", "place", "place", *FAME))
    if owner == "person":
        subject = name_phrase(draft, draft.pick(tuple(NAMES)))
        if draft.chance(0.5):
            subject = _described(draft, draft.pick(_PEOPLE))
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
            adjectives=choose_adjectives(draft, NOUNS[owner], 0.2),
        )
    noun = NOUNS[draft.pick(FAME[owner])]
    thing = noun_phrase(
        draft,
        noun,
        plural=noun.kind != "thing" or draft.chance(0.75),
        determiner="possessive",
        adjectives=choose_adjectives(draft, noun, 0.25),
        owner=subject,
    )
    phrase = verb_phrase(draft, "être", subject, negated=draft.chance(0.15))
    french, english = adjective_phrase(draft, ADJECTIVES["célèbre"], subject)
    link = draft.link()
    french.append(["PP", Leaf("pour", (link,)), thing.french])
    english.append(["PP", Leaf("for", (link,)), thing.english])
    return _clause(subject, phrase.add(french, english).nodes())


def _made(draft: Draft) -> tuple[Phrase, tuple[str, ...]]:
    singular, plural_form, gender, english, english_plural, qualities = draft.pick(MADE)
    plural = bool(plural_form) and draft.chance(0.25)
    french_word, english_word = (plural_form, english_plural) if plural else (singular, english)
    head, article = draft.link(), draft.link()
    feminine = gender == "f"
    le = "les" if plural else ("la" if feminine else "le")
    french: Node = ["NP", Leaf(le, (article,)), Leaf(french_word, (head,))]
    words = [Leaf("the", (article,)), Leaf(english_word, (head,))]
    if singular == "vie":
        words = words[1:]
    phrase = Phrase(french, ["NP", *words], feminine, plural, "thing", (head,), singular)
    return phrase, qualities


def _extend_made(draft: Draft, made: Phrase) -> None:
    sides = []
    if made.noun == "travail" and draft.chance(0.6):
        owner = noun_phrase(draft, draft.pick(_PEOPLE), plural=True, determiner="definite")
        if draft.chance(0.4):
            owner = with_relative(draft, owner)
        link = draft.link()
        sides.append(
            (["PP", Leaf("de", (link,)), owner.french], ["PP", Leaf("of", (link,)), owner.english])
        )
    elif made.noun == "promenade" and draft.chance(0.6):
        sides.append(location(draft, *draft.pick((("dans", "jardin"), ("dans", "ville")))))
    elif made.noun in ("voyage", "vie") and draft.chance(0.7):
        to = "to" if made.noun == "voyage" else "in"
        sides.append(place_phrase(draft, made.noun, english=to))
    for french, english in sides:
        made.french = ["NP", made.french, french]
        made.english = ["NP", made.english, english]


def makes_more(draft: Draft) -> Sides:
    """Write `rend le voyage en Italie plus difficile`: the adjective agrees at a distance."""
    while True:
        cause, gender, english, effects = draft.pick(CAUSES)
        made, qualities = _made(draft)
        common = [effect for effect in effects if effect in qualities]
        if common:
            break
    _extend_made(draft, made)
    key, article = draft.link(), draft.link()
    le = "la" if gender == "f" else "le"
    subject = Phrase(
        ["NP", Leaf(le, (article,)), Leaf(cause, (key,))],
        ["NP", Leaf("the", (article,)), Leaf(english, (key,))],
        gender == "f",
        False,
        "thing",
        (key,),
        cause,
    )
    if cause == "musique":
        subject.english = ["NP", subject.english[2]]
        subject.french[1].links = ()
    negated = draft.chance(0.2)
    adverb = choose_adverb(draft, "rendre", negated)
    phrase = verb_phrase(draft, "rendre", subject, negated=negated, adverb=adverb)
    more = adjective_phrase(draft, ADJECTIVES[draft.pick(common)], made, more=True)
    phrase.add(["S", made.french, more[0]], ["S", made.english, more[1]])
    return _clause(subject, phrase.nodes())


def reported(draft: Draft) -> Sides:
    """Write `Paul pense que le livre est intéressant`."""
    lemma = draft.pick(("penser", "dire"))
    subject = _person(draft)
    inner = draft.pick((copula, travel_of_somebody))(draft)
    phrase = verb_phrase(draft, lemma, subject)
    link = draft.link()
    phrase.add(["SBAR", Leaf("que", (link,)), inner[0]], ["SBAR", Leaf("that", (link,)), inner[1]])
    return _clause(subject, phrase.nodes())


def travel_of_somebody(draft: Draft) -> Sides:
    """Write a short clause about where somebody lives or comes from, for use inside another."""
    lemma, english = draft.pick((("habiter", "in"), ("travailler", "in"), ("venir", "from")))
    subject = noun_phrase(
        draft, draft.pick(_PEOPLE), plural=draft.chance(0.3), determiner="definite"
    )
    if draft.chance(0.4):
        subject = name_phrase(draft, draft.pick(tuple(NAMES)))
    phrase = verb_phrase(draft, lemma, subject, negated=draft.chance(0.2))
    phrase.add(*place_phrase(draft, lemma, english=english, origin=lemma == "venir"))
    return _clause(subject, phrase.nodes())


# Structure → how to write it, and how often it is drawn.
STRUCTURES: dict[str, tuple[Callable[[Draft], Sides], int]] = {
    "transitive": (transitive, 30),
    "travel": (travel, 14),
    "intransitive": (intransitive, 10),
    "object_pronoun": (object_pronoun, 12),
    "because": (because, 8),
    "copula": (copula, 8),
    "comparison": (comparison, 6),
    "famous_for": (famous_for, 8),
    "makes_more": (makes_more, 10),
    "reported": (reported, 8),
}
_DRAWN = tuple(name for name, (_, weight) in STRUCTURES.items() for _ in range(weight))


def draw(rng: random.Random) -> Example:
    """Write one sentence pair at random."""
    draft = Draft(rng)
    structure = draft.pick(_DRAWN)
    french, english = STRUCTURES[structure][0](draft)
    return finish(draft, structure, french, english)


def jane() -> Example:
    """Return the running sentence: `Jane visite l'Afrique en septembre`."""
    draft = Draft(random.Random(0))
    subject = name_phrase(draft, "Jane")
    phrase = verb_phrase(draft, "visiter", subject)
    add_object(phrase, "visiter", place_name(draft, PLACES["Afrique"]))
    preposition, month = draft.link(), draft.link()
    phrase.add(
        ["PP", Leaf("en", (preposition,)), ["NP", Leaf("septembre", (month,))]],
        ["PP", Leaf("in", (preposition,)), ["NP", Leaf("September", (month,))]],
    )
    draft.combine("place", "visiter", "Afrique")
    return finish(draft, "transitive", *_clause(subject, phrase.nodes()))
