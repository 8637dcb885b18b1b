"""Noun phrases and places: articles, possessives, adjectives, prepositions."""

from __future__ import annotations

from dataclasses import dataclass

from phrasebook.drafts import Draft, Leaf, Node
from phrasebook.lexicon import ADJECTIVES, NAMES, NOUNS, PLACES, Adjective, Noun, Place
from phrasebook.orthography import starts_with_vowel


@dataclass
class Phrase:
    """A noun phrase on both sides, with what the rest of the sentence must agree with."""

    french: Node
    english: Node
    feminine: bool
    plural: bool
    kind: str  # "person", "animal", "thing" or "place"
    heads: tuple[int, ...]  # links of the nouns it is about
    noun: str  # lemma, pronoun, place, name or both names

    @property
    def other_names(self) -> list[str]:
        """Names of people that this phrase does not mention."""
        return [name for name in NAMES if name not in self.noun.split()]

    @property
    def possessive(self) -> str:
        """English possessive for what belongs to this phrase."""
        return "their" if self.plural else self._choose("its", "her", "his")

    @property
    def object_pronoun(self) -> str:
        """English pronoun that stands for this phrase as an object."""
        return "them" if self.plural else self._choose("it", "her", "him")

    @property
    def subject_pronoun(self) -> str:
        """English pronoun that stands for this phrase as a subject."""
        return "they" if self.plural else self._choose("it", "she", "he")

    def _choose(self, thing: str, woman: str, man: str) -> str:
        if self.kind != "person":
            return thing
        return woman if self.feminine else man


# Determiner → French masculine, feminine, plural; English singular, plural.
_DETERMINERS = {
    "definite": (("le", "la", "les"), ("the", "the")),
    "indefinite": (("un", "une", "des"), ("a", "")),
    "demonstrative": (("ce", "cette", "ces"), ("this", "these")),
    "two": (("", "", "deux"), ("", "two")),
    "three": (("", "", "trois"), ("", "three")),
    "negated": (("", "", "de"), ("", "")),
    "generic": (("", "", "les"), ("", "")),
}


def _determiner(
    draft: Draft, noun: Noun, plural: bool, name: str, owner: Phrase | None
) -> tuple[list[Leaf], list[Leaf]]:
    link = draft.link()
    if name == "many":
        return [Leaf("beaucoup", (link,)), Leaf("de", (link,))], [Leaf("many", (link,))]
    if name == "possessive":
        assert owner is not None
        forms = ("leur", "leur", "leurs") if owner.plural else ("son", "sa", "ses")
        draft.antecedents += [(link, head) for head in owner.heads]
        english = owner.possessive
    else:
        forms, by_number = _DETERMINERS[name]
        english = by_number[plural]
    french = forms[2] if plural else forms[noun.feminine]
    if not english:
        return [Leaf(french)], []
    return [Leaf(french, (link,))], [Leaf(english, (link,))]


def _describe(
    draft: Draft, noun: Noun, plural: bool, adjectives: tuple[Adjective, ...]
) -> tuple[list[Leaf], list[Leaf], list[Leaf]]:
    before, after, english = [], [], []
    for adjective in adjectives:
        link = draft.link()
        draft.combine("adjective", noun.singular, adjective.masculine)
        form = adjective.agree(noun.feminine, plural)
        if adjective.before_noun:
            if not (plural or noun.feminine) and starts_with_vowel(noun.singular):
                form = adjective.before_vowel or form
            before.append(Leaf(form, (link,)))
        else:
            after.append(Leaf(form, (link,)))
        english.append(Leaf(adjective.english, (link,)))
    return before, after, english


def noun_phrase(
    draft: Draft,
    noun: Noun,
    *,
    plural: bool,
    determiner: str,
    adjectives: tuple[Adjective, ...] = (),
    owner: Phrase | None = None,
) -> Phrase:
    """Build determiner, adjectives and noun in both languages.

    With determiner "genitive", `owner` is whose it is (`le livre de Jane` → Jane's book); with
    "possessive", it is what `son` refers to.
    """
    head = draft.link()
    before, after, english = _describe(draft, noun, plural, adjectives)
    genitive = determiner == "genitive"
    article, english_article = _determiner(
        draft, noun, plural, "definite" if genitive else determiner, owner
    )
    if plural and before and article[0].word == "des":
        article[0].word = "de"
    word = Leaf(noun.plural if plural else noun.singular, (head,))
    french: Node = ["NP", *article, *before, word, *after]
    english_word = Leaf(noun.english_plural if plural else noun.english, (head,))
    english_node: Node = ["NP", *english_article, *english, english_word]
    if genitive:
        assert owner is not None
        article[0].links = ()
        link = draft.link()
        french = ["NP", french, ["PP", Leaf("de", (link,)), owner.french]]
        owned = [*english, english_word]
        english_node = ["NP", [*owner.english, Leaf("'s", (link,))], *owned]
    return Phrase(french, english_node, noun.feminine, plural, noun.kind, (head,), noun.singular)


_UNSUITED = {"écrire": ("vieux", "célèbre", "rouge", "cher", "utile"), "être": ("célèbre",)}


def choose_adjectives(
    draft: Draft, noun: Noun, probability: float, *, verb: str = ""
) -> tuple[Adjective, ...]:
    """Choose none, one or two adjectives that suit noun and verb; two stand on its two sides."""
    if not noun.adjectives or not draft.chance(probability):
        return ()
    first = ADJECTIVES[draft.pick(noun.adjectives)]
    if first.masculine in _UNSUITED.get(verb, ()):
        return ()
    if verb == "trouver":  # "trouve le journal utile" could mean that it seems useful
        return (first,) if first.before_noun else ()
    if not first.before_noun or not draft.chance(0.3):
        return (first,)
    colours = [name for name in noun.adjectives if name in _SECOND]
    return (first, ADJECTIVES[draft.pick(colours)]) if colours else (first,)


_SECOND = ("rouge", "noir", "blanc", "italien", "japonais")


def name_phrase(draft: Draft, name: str) -> Phrase:
    """Build a person's name."""
    head = draft.link()
    leaf = Leaf(name, (head,))
    feminine = NAMES[name] == "f"
    return Phrase(
        ["NP", leaf], ["NP", Leaf(name, (head,))], feminine, False, "person", (head,), name
    )


def two_names(draft: Draft) -> Phrase:
    """Build two names joined by `et`."""
    names = list(NAMES)
    first = name_phrase(draft, names.pop(int(draft.rng.random() * len(names))))
    second = name_phrase(draft, draft.pick(names))
    link = draft.link()
    return Phrase(
        ["NP", first.french, Leaf("et", (link,)), second.french],
        ["NP", first.english, Leaf("and", (link,)), second.english],
        first.feminine and second.feminine,
        True,
        "person",
        first.heads + second.heads,
        f"{first.noun} {second.noun}",
    )


def place_name(draft: Draft, place: Place, *, article: bool = True) -> Phrase:
    """Build the name of a place: `l'Afrique` → Africa, `les États-Unis` → the United States."""
    head = draft.link()
    french: Node = ["NP", Leaf(place.french, (head,))]
    english: Node = ["NP", *(Leaf(word, (head,)) for word in place.english)]
    plural = place.article == "les"
    links: tuple[int, ...] = ()
    if plural:
        links = (draft.link(),)
        english.insert(1, Leaf("the", links))
    if article and place.article:
        french.insert(1, Leaf(place.article, links))
    return Phrase(french, english, place.article == "la", plural, "place", (head,), place.french)


def place_phrase(
    draft: Draft, construction: str, *, english: str, origin: bool = False
) -> tuple[Node, Node]:
    """Build preposition and place: `en France`, `au Japon`, `à Paris`, `aux États-Unis`."""
    names = [name for name in PLACES if PLACES[name].article or construction != "voyager"]
    place = PLACES[draft.pick(names)]
    draft.combine("place", construction, place.french)
    country = place.article == "la"
    name = place_name(draft, place, article=not country)
    link = draft.link()
    word = "de" if origin else ("en" if country else "à")
    return ["PP", Leaf(word, (link,)), name.french], ["PP", Leaf(english, (link,)), name.english]


def location(draft: Draft, french: str, noun: str) -> tuple[Node, Node]:
    """Build preposition and a definite noun: `dans le jardin`, `au musée`."""
    link = draft.link()
    english = {"dans": "in", "sur": "on", "sous": "under", "à": "at"}[french]
    where = noun_phrase(draft, NOUNS[noun], plural=False, determiner="definite")
    return ["PP", Leaf(french, (link,)), where.french], [
        "PP",
        Leaf(english, (link,)),
        where.english,
    ]
