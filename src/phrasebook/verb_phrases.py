"""Verb phrases: agreement, negation, adverbs, pronouns before the verb, time, predicates."""

from __future__ import annotations

from dataclasses import dataclass

from phrasebook.drafts import Draft, Leaf, Node
from phrasebook.lexicon import DAYTIMES, FREQUENCY, MONTHS, SEASONS, VERBS, Adjective, Verb
from phrasebook.noun_phrases import Phrase


@dataclass
class VerbPhrase:
    """A verb and what follows it, open for more on both sides."""

    french: list[Node | Leaf]
    auxiliary: list[Node | Leaf]  # English "does not", or nothing
    english: list[Node | Leaf]

    def add(self, french: Node, english: Node) -> VerbPhrase:
        """Append a constituent on each side."""
        self.french.append(french)
        self.english.append(english)
        return self

    def nodes(self) -> tuple[Node, Node]:
        """Return the two finished phrases."""
        inner: Node = ["VP", *self.english]
        return ["VP", *self.french], ["VP", *self.auxiliary, inner] if self.auxiliary else inner


def _auxiliary(
    verb: Verb, plural: bool, key: int, negation: int | None, adverb: Node | None
) -> tuple[list[Node | Leaf], list[Node | Leaf]]:
    before: list[Node | Leaf] = [adverb] if adverb else []
    if verb.lemma == "être":
        words: list[Node | Leaf] = [Leaf("are" if plural else "is", (key,))]
        return [], words + ([Leaf("not", (negation,))] if negation else [])
    if negation:
        does = Leaf("do" if plural else "does", (key,))
        return [does, Leaf("not", (negation,))], [*before, Leaf(verb.english, (key,))]
    return [], [*before, Leaf(verb.english if plural else verb.english_singular, (key,))]


def verb_phrase(
    draft: Draft,
    lemma: str,
    subject: Phrase,
    *,
    negated: bool = False,
    adverb: str = "",
    pronoun: Phrase | None = None,
) -> VerbPhrase:
    """Conjugate a verb for its subject: `ne` and `pas` around it, an object pronoun before it.

    `pronoun` is the phrase that an object pronoun stands for.
    """
    verb, key = VERBS[lemma], draft.link()
    negation = draft.link() if negated else None
    french: list[Node | Leaf] = []
    if negation:
        draft.combine("negation", lemma, "pas")
        french.append(Leaf("ne", (negation,)))
    after: list[Node | Leaf] = []
    if pronoun is not None:
        link = draft.link()
        word = "les" if pronoun.plural else ("la" if pronoun.feminine else "le")
        french.append(["NP", Leaf(word, (link,))])
        after.append(["NP", Leaf(pronoun.object_pronoun, (link,))])
        draft.antecedents += [(link, head) for head in pronoun.heads]
    if verb.reflexive:
        french.append(Leaf("se", (key,)))
    french.append(Leaf(verb.plural if subject.plural else verb.singular, (key,)))
    if negation:
        french.append(Leaf("pas", (negation,)))
    english_adverb: Node | None = None
    if adverb:
        link = draft.link()
        french.append(["ADVP", Leaf(adverb, (link,))])
        english_adverb = ["ADVP", Leaf(FREQUENCY[adverb], (link,))]
    auxiliary, english = _auxiliary(verb, subject.plural, key, negation, english_adverb)
    if verb.complement:
        english.append(["ADJP", Leaf(verb.complement, (key,))])
    if verb.particle and after:
        after = [["PP", Leaf(verb.particle, (key,)), *after]]
    return VerbPhrase(french, auxiliary, english + after)


def add_object(phrase: VerbPhrase, lemma: str, thing: Phrase) -> VerbPhrase:
    """Append the object, with the English particle of the verb: looks *for* the letter."""
    english = thing.english
    particle = VERBS[lemma].particle
    if particle:
        key = next(leaf.links for leaf in phrase.english if isinstance(leaf, Leaf))
        english = ["PP", Leaf(particle, key), english]
    return phrase.add(thing.french, english)


def choose_adverb(draft: Draft, lemma: str, negated: bool) -> str:
    """Choose an adverb of frequency, or none; after `pas` only `souvent` is natural."""
    if not VERBS[lemma].often or not draft.chance(0.2):
        return ""
    return "souvent" if negated else draft.pick(tuple(FREQUENCY))


def add_time(
    draft: Draft, phrase: VerbPhrase, lemma: str, probability: float, *, weekday: bool = True
) -> VerbPhrase:
    """Append a month, a season, a time of day or a weekday, where the verb takes one."""
    kind = VERBS[lemma].times
    if not kind or not draft.chance(probability):
        return phrase
    link, noun = draft.link(), draft.link()
    if kind == "year":
        names = SEASONS if draft.chance(0.25) else MONTHS
        word, english = draft.pick(tuple(names.items()))
        french = "au" if word == "printemps" else "en"
        return phrase.add(
            ["PP", Leaf(french, (link,)), ["NP", Leaf(word, (noun,))]],
            ["PP", Leaf("in", (link,)), ["NP", Leaf(english, (noun,))]],
        )
    if weekday and draft.chance(0.3):
        return phrase.add(
            ["NP", Leaf("le", (link,)), Leaf("dimanche", (noun,))],
            ["PP", Leaf("on", (link,)), ["NP", Leaf("Sundays", (noun,))]],
        )
    word, english = draft.pick(tuple(DAYTIMES.items()))
    return phrase.add(
        ["NP", Leaf("le", (link,)), Leaf(word, (noun,))],
        ["PP", Leaf("in", (link,)), ["NP", Leaf("the", (link,)), Leaf(english, (noun,))]],
    )


def adjective_phrase(
    draft: Draft,
    adjective: Adjective,
    noun: Phrase,
    *,
    than: Phrase | None = None,
    more: bool = False,
) -> tuple[Node, Node]:
    """Build a predicate: `intéressante`, `plus difficile`, `plus belle que la maison`."""
    link = draft.link()
    draft.combine("adjective", noun.noun, adjective.masculine)
    form = Leaf(adjective.agree(noun.feminine, noun.plural), (link,))
    if not (more or than):
        return ["ADJP", form], ["ADJP", Leaf(adjective.english, (link,))]
    degree = draft.link()
    french: Node = ["ADJP", Leaf("plus", (degree,)), form]
    if adjective.comparative:
        english: Node = ["ADJP", Leaf(adjective.comparative, (degree, link))]
    else:
        english = ["ADJP", Leaf("more", (degree,)), Leaf(adjective.english, (link,))]
    if than is not None:
        word = draft.link()
        french.append(["PP", Leaf("que", (word,)), than.french])
        english.append(["PP", Leaf("than", (word,)), than.english])
    return french, english
