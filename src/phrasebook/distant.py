"""Sentences in which a distant word decides how another is translated (Figures 3 and 4).

`makes` is *fait* or *rend*, `it` is *il* or *elle*, `ses` is *its*, *his* or *her*: which one,
another word of the source says, at a distance that varies. `second_corpus.py` draws from them.
"""

from __future__ import annotations

from typing import Any

from phrasebook.drafts import Draft, Leaf
from phrasebook.lexicon import ADJECTIVES, MONTHS, NAMES, NOUNS, PLACES, SEASONS, Adjective, Noun
from phrasebook.noun_phrases import (
    Phrase,
    choose_adjectives,
    name_phrase,
    noun_phrase,
    place_name,
    place_phrase,
    two_names,
)
from phrasebook.participants import ADULTS, takes_relative, unlike, with_relative
from phrasebook.selection import FAME, OBJECTS
from phrasebook.simple_sentences import Sides, clause
from phrasebook.verb_phrases import VerbPhrase, add_object, add_time, adjective_phrase, verb_phrase

# French, gender, English, preposition of what follows, and what one can make it more of. Each can
# be made (faire) and be made so (rendre), by the same people.
_MAKEABLE: tuple[tuple[Any, ...], ...] = (
    ("voyage", "m", "trip", "avec", ("difficile", "agréable", "long", "intéressant", "cher")),
    ("film", "m", "film", "sur", ("long", "intéressant", "beau", "difficile", "cher")),
    ("gâteau", "m", "cake", "pour", ("beau", "cher")),
    ("tarte", "f", "pie", "pour", ("beau", "cher")),
    ("chapeau", "m", "hat", "pour", ("beau", "cher")),
    ("robe", "f", "dress", "pour", ("beau", "long", "cher")),
    ("liste", "f", "list", "pour", ("long", "intéressant", "utile")),
)
# What else there is to compare it with: French, gender, English, what it may be more of.
_RIVALS: dict[str, tuple[Any, ...]] = {
    "voyage": ("promenade", "f", "walk", ("difficile", "agréable", "long")),
    "film": ("livre", "m", "book", ("long", "intéressant", "utile", "cher")),
    "gâteau": ("tarte", "f", "pie", ("beau", "cher")),
    "tarte": ("gâteau", "m", "cake", ("beau", "cher")),
    "chapeau": ("robe", "f", "dress", ("beau", "cher")),
    "robe": ("chapeau", "m", "hat", ("beau", "cher")),
    "liste": ("lettre", "f", "letter", ("long", "intéressant", "utile")),
}
_PREPOSITIONS = {"avec": "with", "sur": "about", "pour": "for"}

# Who does what to what because he, she or it is so: a reason fits the doer and the thing.
_SHARED_REASONS = {
    "vendre": (("voiture", "maison", "chapeau", "livre", "journal", "cheval"), ("vieux",)),
    "acheter": (("voiture", "chapeau", "chemise", "journal"), ("italien", "japonais")),
    "aimer": (("voiture", "chapeau", "ville", "île", "jardin"), ("italien", "japonais", "célèbre")),
    "admirer": (("voiture", "ville", "île", "jardin"), ("italien", "japonais", "célèbre")),
    "connaître": (("hôtel", "ville", "musée", "histoire", "école"), ("célèbre", "italien")),
    "visiter": (("ville", "île", "musée", "jardin"), ("célèbre", "italien", "japonais")),
    "lire": (("journal", "histoire"), ("italien", "japonais", "célèbre")),
}
# Reasons that fit the thing alone.
_THINGS_REASONS = {
    "vendre": (("voiture", "maison", "chapeau", "chemise"), ("cher",)),
    "acheter": (("livre", "journal", "pomme", "gâteau"), ("utile", "intéressant", "délicieux")),
    "aimer": (("livre", "lettre", "histoire", "musée", "pomme"), ("intéressant", "délicieux")),
    "manger": (("pomme", "orange", "gâteau"), ("délicieux",)),
    "visiter": (("musée", "ville"), ("intéressant",)),
    "lire": (("livre", "lettre", "histoire", "journal"), ("intéressant", "utile", "long")),
}


def _somebody(
    draft: Draft, *, gender: str = "", other: Phrase | None = None, avoid: str = ""
) -> Phrase:
    """Choose one person, perhaps described, not by `avoid`; not the one of `other`."""
    if draft.chance(0.4):
        names = other.other_names if other else list(NAMES)
        return name_phrase(draft, draft.pick([n for n in names if NAMES[n].startswith(gender)]))
    nouns = [noun.singular for noun in ADULTS if noun.gender.startswith(gender)]
    noun = NOUNS[draft.pick(unlike(other, nouns) if other else nouns)]
    words = _described(draft, noun, 0.25, avoid)
    phrase = noun_phrase(draft, noun, plural=False, determiner="definite", adjectives=words)
    return with_relative(draft, phrase) if not words and draft.chance(0.25) else phrase


def _described(draft: Draft, noun: Noun, probability: float, avoid: str) -> tuple[Adjective, ...]:
    chosen = choose_adjectives(draft, noun, probability)[:1]
    return tuple(adjective for adjective in chosen if adjective.masculine != avoid)


def _time_of_year(draft: Draft) -> Sides:
    link, noun = draft.link(), draft.link()
    words = SEASONS if draft.chance(0.5) else MONTHS
    french, english = draft.pick(tuple(words.items()))
    preposition = "au" if french == "printemps" else "en"
    return (
        ["PP", Leaf(preposition, (link,)), ["NP", Leaf(french, (noun,))]],
        ["PP", Leaf("in", (link,)), ["NP", Leaf(english, (noun,))]],
    )


def _about_a_noun(draft: Draft, thing: Phrase, preposition: str, whom: Phrase) -> None:
    link = draft.link()
    words = Leaf(preposition, (link,)), Leaf(_PREPOSITIONS[preposition], (link,))
    thing.french = ["NP", thing.french, ["PP", words[0], whom.french]]
    thing.english = ["NP", thing.english, ["PP", words[1], whom.english]]


def _made_thing(draft: Draft, french: str, gender: str, english: str) -> Phrase:
    article, head = draft.link(), draft.link()
    feminine, this = gender == "f", draft.chance(0.25)
    le = ("cette" if feminine else "ce") if this else ("la" if feminine else "le")
    return Phrase(
        ["NP", Leaf(le, (article,)), Leaf(french, (head,))],
        ["NP", Leaf("this" if this else "the", (article,)), Leaf(english, (head,))],
        feminine,
        False,
        "thing",
        (head,),
        french,
    )


def made(draft: Draft) -> Sides:
    """Write `fait le voyage` or `rend le voyage … plus agréable`; both are `makes` in English.

    Sometimes another thing is `plus agréable`, which makes no difference to the verb.
    """
    subject = two_names(draft) if draft.chance(0.2) else _somebody(draft)
    *words, preposition, qualities = draft.pick(_MAKEABLE)
    thing = _made_thing(draft, *words)
    if thing.noun == "voyage" and draft.chance(0.6):
        to = place_phrase(draft, "voyage", english="to")
        thing.french, thing.english = ["NP", thing.french, to[0]], ["NP", thing.english, to[1]]
    if draft.chance(0.6):
        whom = _somebody(draft, other=subject)
        if preposition == "sur" and draft.chance(0.5):
            whom = place_name(draft, PLACES[draft.pick(tuple(PLACES))])
        _about_a_noun(draft, thing, preposition, whom)
    key, more = draft.link(), draft.chance(0.5)
    verb = ("rendent", "rend") if more else ("font", "fait")
    phrase = VerbPhrase(
        [Leaf(verb[not subject.plural], (key,))],
        [],
        [Leaf(("make", "makes")[not subject.plural], (key,))],
    )
    if more:
        french, english = adjective_phrase(
            draft, ADJECTIVES[draft.pick(qualities)], thing, more=True
        )
        phrase.add(["S", thing.french, french], ["S", thing.english, english])
    else:
        phrase.add(thing.french, thing.english)
    if thing.noun == "voyage" and draft.chance(0.3):
        phrase.add(*_time_of_year(draft))
    whole = clause(subject, phrase.nodes())
    return _but_another_is_more(draft, whole, _RIVALS[thing.noun]) if draft.chance(0.25) else whole


def _but_another_is_more(draft: Draft, first: Sides, rival: tuple[Any, ...]) -> Sides:
    """Go on with `mais la tarte est plus belle`."""
    *words, qualities = rival
    other = _made_thing(draft, *words)
    phrase = verb_phrase(draft, "être", other)
    phrase.add(*adjective_phrase(draft, ADJECTIVES[draft.pick(qualities)], other, more=True))
    second, link = clause(other, phrase.nodes()), draft.link()
    return (
        ["S", first[0], Leaf("mais", (link,)), second[0]],
        ["S", first[1], Leaf("but", (link,)), second[1]],
    )


def because_who(draft: Draft) -> Sides:
    """Write `la voisine vend le chapeau parce qu'elle est vieille`, or `parce qu'il est vieux`.

    Where both could be meant by their adjective, they differ in gender; else only the thing can.
    """
    shared = draft.chance(0.6)
    reasons = _SHARED_REASONS if shared else _THINGS_REASONS
    lemma = draft.pick(tuple(reasons))
    nouns, adjectives = reasons[lemma]
    noun = NOUNS[draft.pick(nouns)]
    reason = draft.pick([name for name in adjectives if name in noun.adjectives])
    differ = shared or draft.chance(0.25)
    gender = ("f", "m")[noun.feminine] if differ else noun.gender
    while True:
        subject = _somebody(draft, gender=gender, avoid=reason)
        known = NOUNS.get(subject.noun)
        if not shared or known is None or reason in known.adjectives:
            break
    of_person = shared and draft.chance(0.5)
    thing = noun_phrase(
        draft,
        noun,
        plural=False,
        determiner=draft.pick(("definite", "definite", "demonstrative")),
        adjectives=_described(draft, noun, 0.3, reason),
    )
    if takes_relative(thing) and draft.chance(0.25):
        thing = with_relative(draft, thing)
    draft.combine("object", lemma, noun.singular)
    phrase = add_object(verb_phrase(draft, lemma, subject), lemma, thing)
    if lemma in ("vendre", "acheter") and draft.chance(0.4):
        phrase.add(*place_phrase(draft, lemma, english="in"))
    add_time(draft, phrase, lemma, 0.35, weekday=False)
    meant = subject if of_person else thing
    link, why = draft.link(), draft.link()
    draft.antecedents += [(link, head) for head in meant.heads]
    pronoun = Phrase(
        ["NP", Leaf("elle" if meant.feminine else "il", (link,))],
        ["NP", Leaf(meant.subject_pronoun, (link,))],
        meant.feminine,
        False,
        meant.kind,
        (link,),
        meant.noun,
    )
    is_so = verb_phrase(draft, "être", pronoun)
    inner = clause(
        pronoun, is_so.add(*adjective_phrase(draft, ADJECTIVES[reason], pronoun)).nodes()
    )
    phrase.add(
        ["SBAR", Leaf("parce", (why,)), Leaf("que", (why,)), inner[0]],
        ["SBAR", Leaf("because", (why,)), inner[1]],
    )
    return clause(subject, phrase.nodes())


def liked_for(draft: Draft) -> Sides:
    """Write `Jane aime la ville pour ses musées`: `ses` belongs to the city, not to Jane."""
    subject = _somebody(draft)
    lemma = draft.pick(("aimer", "admirer"))
    kind = draft.pick(("person", "person", "place", "ville", "île", "hôtel", "école"))
    if kind == "person":
        owner = _somebody(draft, other=subject)
    elif kind == "place":
        owner = place_name(draft, PLACES[draft.pick([p for p in PLACES if p != "États-Unis"])])
    else:
        owner = noun_phrase(
            draft,
            NOUNS[kind],
            plural=False,
            determiner=draft.pick(("definite", "demonstrative")),
            adjectives=choose_adjectives(draft, NOUNS[kind], 0.4),
        )
    phrase = add_object(verb_phrase(draft, lemma, subject), lemma, owner)
    if kind != "person" and draft.chance(0.4):
        phrase.add(*_time_of_year(draft))
    noun = NOUNS[draft.pick(FAME[kind])]
    thing = noun_phrase(
        draft,
        noun,
        plural=kind != "person" or draft.chance(0.5),
        determiner="possessive",
        adjectives=choose_adjectives(draft, noun, 0.25),
        owner=owner,
    )
    link = draft.link()
    phrase.add(
        ["PP", Leaf("pour", (link,)), thing.french], ["PP", Leaf("for", (link,)), thing.english]
    )
    return clause(subject, phrase.nodes())


# Somebody does one thing and then another to the same thing, or to the same person.
_WITH_THINGS = (
    ("acheter", "vendre"),
    ("acheter", "lire"),
    ("acheter", "manger"),
    ("chercher", "trouver"),
    ("trouver", "vendre"),
    ("trouver", "lire"),
)
_WITH_PEOPLE = (
    ("voir", "aider"),
    ("voir", "inviter"),
    ("connaître", "aider"),
    ("connaître", "admirer"),
    ("chercher", "trouver"),
)


def and_it(draft: Draft) -> Sides:
    """Write `achète la voiture en Italie et la vend`: places and times stand in between."""
    with_people = draft.chance(0.35)
    first, second = draft.pick(_WITH_PEOPLE if with_people else _WITH_THINGS)
    subject = _somebody(draft)
    if with_people:
        meant = _somebody(draft, other=subject)
    else:
        common = [n for n in OBJECTS[first] if n in OBJECTS[second] and NOUNS[n].kind == "thing"]
        noun = NOUNS[draft.pick(common)]
        meant = noun_phrase(
            draft,
            noun,
            plural=False,
            determiner=draft.pick(("definite", "demonstrative", "indefinite")),
            adjectives=choose_adjectives(draft, noun, 0.25, verb="trouver"),
        )
        if takes_relative(meant) and draft.chance(0.25):
            meant = with_relative(draft, meant)
    left = add_object(verb_phrase(draft, first, subject), first, meant)
    if not with_people and first in ("acheter", "trouver") and draft.chance(0.5):
        left.add(*place_phrase(draft, first, english="in"))
    add_time(draft, left, first, 0.4)
    negated = draft.chance(0.3)
    right = verb_phrase(draft, second, subject, negated=negated, pronoun=meant).nodes()
    link, sides = draft.link(), left.nodes()
    word = ("mais", "but") if negated else ("et", "and")
    return clause(
        subject,
        (
            ["VP", sides[0], Leaf(word[0], (link,)), right[0]],
            ["VP", sides[1], Leaf(word[1], (link,)), right[1]],
        ),
    )
