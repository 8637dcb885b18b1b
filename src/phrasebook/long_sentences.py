"""Sentences whose words depend on distant ones: pronouns, reasons, comparisons made."""

from __future__ import annotations

from phrasebook.drafts import Draft, Leaf, Node
from phrasebook.lexicon import ADJECTIVES, NOUNS
from phrasebook.noun_phrases import (
    Phrase,
    choose_adjectives,
    location,
    name_phrase,
    noun_phrase,
    place_phrase,
)
from phrasebook.participants import ADULTS, person, plural_for, unlike, with_relative
from phrasebook.selection import CAUSES, MADE, OBJECTS, VERB_PAIRS
from phrasebook.simple_sentences import Sides, clause, copula, travel_of_somebody
from phrasebook.verb_phrases import add_object, adjective_phrase, choose_adverb, verb_phrase


def _coordinated(draft: Draft, first: Sides, second: Sides, word: tuple[str, str]) -> Sides:
    link = draft.link()
    return (
        ["VP", first[0], Leaf(word[0], (link,)), second[0]],
        ["VP", first[1], Leaf(word[1], (link,)), second[1]],
    )


def object_pronoun(draft: Draft) -> Sides:
    """Write `achète le livre et le lit`: the gender of `le`, `la`, `l'` comes from its noun."""
    first, second = draft.pick(VERB_PAIRS)
    subject = person(draft, lemma="vendre" if second == "vendre" else first)
    nouns = [noun for noun in OBJECTS[first] if noun in OBJECTS[second]]
    negated = draft.chance(0.3)
    if NOUNS[nouns[0]].kind == "person" and draft.chance(0.35):
        thing = name_phrase(draft, draft.pick(subject.other_names))
    else:
        noun = NOUNS[draft.pick(unlike(subject, nouns))]
        draft.combine("object", first, noun.singular)
        draft.combine("object", second, noun.singular)
        options: tuple[str, ...] = ("definite", "indefinite", "demonstrative", "two", "possessive")
        if first == "connaître":
            options = ("definite", "demonstrative", "possessive")
        determiner = draft.pick(options if noun.owned else options[:-1])
        if second == "porter":
            determiner = "indefinite"
        plural = plural_for(draft, noun, second, determiner, subject)
        verb = "trouver" if second == "trouver" else first
        adjectives = choose_adjectives(draft, noun, 0.3, verb=verb)
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
    return clause(subject, joined)


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
    subject = person(draft, lemma=lemma, negated=negated)
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
    inner = clause(stands_for, is_so.nodes())
    why = draft.link()
    phrase.add(
        ["SBAR", Leaf("parce", (why,)), Leaf("que", (why,)), inner[0]],
        ["SBAR", Leaf("because", (why,)), inner[1]],
    )
    return clause(subject, phrase.nodes())


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
        owner = noun_phrase(draft, draft.pick(ADULTS), plural=True, determiner="definite")
        if draft.chance(0.4):
            owner = with_relative(draft, owner, "travailler")
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
    feminine = gender == "f"
    le = "la" if feminine else "le"
    subject = Phrase(
        ["NP", Leaf(le, (article,)), Leaf(cause, (key,))],
        ["NP", Leaf("the", (article,)), Leaf(english, (key,))],
        feminine,
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
    return clause(subject, phrase.nodes())


def reported(draft: Draft) -> Sides:
    """Write `Paul pense que le livre est intéressant`."""
    lemma = draft.pick(("penser", "dire"))
    subject = person(draft, lemma=lemma)
    inner = draft.pick((copula, travel_of_somebody))(draft, subject)
    phrase = verb_phrase(draft, lemma, subject)
    link = draft.link()
    phrase.add(["SBAR", Leaf("que", (link,)), inner[0]], ["SBAR", Leaf("that", (link,)), inner[1]])
    return clause(subject, phrase.nodes())
