"""The words of the phrasebook: their forms and their translations."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Noun:
    """A French noun, its translation, and the adjectives that may describe it."""

    singular: str
    plural: str
    gender: str  # "m" or "f"
    english: str
    english_plural: str
    kind: str  # "person", "animal" or "thing"
    adjectives: tuple[str, ...]
    owned: bool  # can follow "son", "sa", "ses" or belong to somebody
    group: str  # nouns of one group may be compared with each other

    @property
    def feminine(self) -> bool:
        """Whether articles, adjectives and pronouns take the feminine form."""
        return self.gender == "f"


@dataclass(frozen=True)
class Adjective:
    """A French adjective in its four forms, with the form before a vowel where it differs."""

    masculine: str
    feminine: str
    masculine_plural: str
    feminine_plural: str
    english: str
    before_noun: bool = False
    before_vowel: str = ""
    comparative: str = ""  # English synthetic comparative; empty: "more" + adjective

    def agree(self, feminine: bool, plural: bool) -> str:
        """Return the form that agrees with a noun of this gender and number."""
        forms = (
            (self.masculine, self.masculine_plural),
            (self.feminine, self.feminine_plural),
        )
        return forms[feminine][plural]


@dataclass(frozen=True)
class Verb:
    """A French verb in the third person of the present, with its translation."""

    lemma: str
    singular: str
    plural: str
    english: str
    english_singular: str
    particle: str = ""  # "for" in "looks for"
    complement: str = ""  # "asleep" in "falls asleep"
    reflexive: bool = False
    times: str = ""  # the kind of time phrase it takes: "year", "day" or none
    often: bool = False  # takes an adverb of frequency


@dataclass(frozen=True)
class Place:
    """A city, country or continent; the article decides its French prepositions."""

    french: str
    english: tuple[str, ...]
    article: str  # "" for cities, else "la", "le", "les"


def _adjectives() -> dict[str, Adjective]:
    first = [
        Adjective("grand", "grande", "grands", "grandes", "big", True, "", "bigger"),
        Adjective("petit", "petite", "petits", "petites", "small", True, "", "smaller"),
        Adjective("beau", "belle", "beaux", "belles", "beautiful", True, "bel"),
        Adjective("vieux", "vieille", "vieux", "vieilles", "old", True, "vieil", "older"),
        Adjective("nouveau", "nouvelle", "nouveaux", "nouvelles", "new", True, "nouvel"),
        Adjective("long", "longue", "longs", "longues", "long", True, "", "longer"),
    ]
    after = [
        Adjective("rouge", "rouge", "rouges", "rouges", "red"),
        Adjective("noir", "noire", "noirs", "noires", "black"),
        Adjective("blanc", "blanche", "blancs", "blanches", "white"),
        Adjective("intéressant", "intéressante", "intéressants", "intéressantes", "interesting"),
        Adjective("utile", "utile", "utiles", "utiles", "useful"),
        Adjective("célèbre", "célèbre", "célèbres", "célèbres", "famous"),
        Adjective("italien", "italienne", "italiens", "italiennes", "Italian"),
        Adjective("japonais", "japonaise", "japonais", "japonaises", "Japanese"),
        Adjective("délicieux", "délicieuse", "délicieux", "délicieuses", "delicious"),
        Adjective("cher", "chère", "chers", "chères", "expensive"),
        Adjective("difficile", "difficile", "difficiles", "difficiles", "difficult"),
        Adjective("agréable", "agréable", "agréables", "agréables", "pleasant"),
    ]
    return {adjective.masculine: adjective for adjective in first + after}


ADJECTIVES = _adjectives()


# French singular, plural, gender | English singular, plural | kind, owned?, group | adjectives
_NOUN_TABLE = """
étudiant étudiants m | student students | person - people | nouveau italien japonais
étudiante étudiantes f | student students | person - people | nouveau italien japonais
professeur professeurs m | teacher teachers | person owned people | vieux nouveau célèbre italien
médecin médecins m | doctor doctors | person owned people | vieux nouveau célèbre japonais
voisin voisins m | neighbour neighbours | person owned people | vieux nouveau italien
voisine voisines f | neighbour neighbours | person owned people | vieux nouveau italien
ami amis m | friend friends | person owned people | vieux nouveau japonais
amie amies f | friend friends | person owned people | vieux nouveau japonais
acteur acteurs m | actor actors | person - people | vieux célèbre italien japonais
actrice actrices f | actress actresses | person - people | vieux célèbre italien japonais
homme hommes m | man men | person - people | vieux célèbre japonais
femme femmes f | woman women | person - people | vieux célèbre italien
enfant enfants m | child children | person - people | italien japonais
chien chiens m | dog dogs | animal owned animals | grand petit vieux noir blanc
chat chats m | cat cats | animal owned animals | grand petit beau vieux noir blanc
cheval chevaux m | horse horses | animal owned animals | grand petit beau vieux noir blanc
oiseau oiseaux m | bird birds | animal owned animals | grand petit beau noir blanc
hibou hiboux m | owl owls | animal - animals | grand petit beau vieux blanc
souris souris f | mouse mice | animal - animals | petit noir blanc
livre livres m | book books | thing owned texts | petit vieux nouveau rouge intéressant utile cher
lettre lettres f | letter letters | thing owned texts | vieux nouveau long intéressant
histoire histoires f | story stories | thing owned texts | beau vieux long intéressant célèbre
journal journaux m | newspaper newspapers | thing owned texts | vieux italien japonais utile
pomme pommes f | apple apples | thing owned food | petit rouge délicieux
orange oranges f | orange oranges | thing owned food | petit délicieux
gâteau gâteaux m | cake cakes | thing owned food | petit beau délicieux cher
chapeau chapeaux m | hat hats | thing owned clothes | grand vieux nouveau noir blanc italien cher
chemise chemises f | shirt shirts | thing owned clothes | vieux nouveau noir blanc italien cher
voiture voitures f | car cars | thing owned vehicles | petit vieux nouveau rouge italien cher
maison maisons f | house houses | thing owned buildings | grand petit beau vieux nouveau blanc cher
hôtel hôtels m | hotel hotels | thing - buildings | grand petit beau vieux nouveau célèbre cher
musée musées m | museum museums | thing - buildings | grand petit nouveau célèbre intéressant
jardin jardins m | garden gardens | thing owned buildings | grand petit beau japonais célèbre
école écoles f | school schools | thing owned buildings | grand petit vieux nouveau italien
ville villes f | city cities | thing - places | grand petit beau vieux italien célèbre intéressant
île îles f | island islands | thing - places | grand petit beau italien japonais
table tables f | table tables | thing - furniture |
"""


def _nouns() -> dict[str, Noun]:
    nouns = {}
    for line in _NOUN_TABLE.strip().splitlines():
        french, english, use, adjectives = (part.split() for part in line.split("|"))
        singular, plural, gender = french
        kind, owned, group = use
        nouns[singular] = Noun(
            singular,
            plural,
            gender,
            english[0],
            english[1],
            kind,
            tuple(adjectives),
            owned == "owned",
            group,
        )
    return nouns


NOUNS = _nouns()


VERBS = {
    verb.lemma: verb
    for verb in [
        Verb("lire", "lit", "lisent", "read", "reads", times="day", often=True),
        Verb("écrire", "écrit", "écrivent", "write", "writes", times="day", often=True),
        Verb("manger", "mange", "mangent", "eat", "eats", times="day", often=True),
        Verb("acheter", "achète", "achètent", "buy", "buys", times="year"),
        Verb("vendre", "vend", "vendent", "sell", "sells", times="year"),
        Verb("chercher", "cherche", "cherchent", "look", "looks", particle="for"),
        Verb("trouver", "trouve", "trouvent", "find", "finds"),
        Verb("regarder", "regarde", "regardent", "watch", "watches", times="day", often=True),
        Verb("connaître", "connaît", "connaissent", "know", "knows"),
        Verb("attendre", "attend", "attendent", "wait", "waits", particle="for", often=True),
        Verb("aimer", "aime", "aiment", "like", "likes"),
        Verb("admirer", "admire", "admirent", "admire", "admires"),
        Verb("visiter", "visite", "visitent", "visit", "visits", times="year", often=True),
        Verb("voir", "voit", "voient", "see", "sees", often=True),
        Verb("aider", "aide", "aident", "help", "helps", times="day", often=True),
        Verb("inviter", "invite", "invitent", "invite", "invites", times="year", often=True),
        Verb("porter", "porte", "portent", "wear", "wears", times="day", often=True),
        Verb("dormir", "dort", "dorment", "sleep", "sleeps", times="day", often=True),
        Verb("chanter", "chante", "chantent", "sing", "sings", times="day", often=True),
        Verb("promener", "promène", "promènent", "walk", "walks", "", "", True, "day", True),
        Verb("endormir", "endort", "endorment", "fall", "falls", "", "asleep", True, "day", True),
        Verb("travailler", "travaille", "travaillent", "work", "works", times="year", often=True),
        Verb("habiter", "habite", "habitent", "live", "lives"),
        Verb("voyager", "voyage", "voyagent", "travel", "travels", times="year", often=True),
        Verb("arriver", "arrive", "arrivent", "arrive", "arrives", times="year"),
        Verb("aller", "va", "vont", "go", "goes", times="year", often=True),
        Verb("venir", "vient", "viennent", "come", "comes"),
        Verb("penser", "pense", "pensent", "think", "thinks"),
        Verb("dire", "dit", "disent", "say", "says"),
        Verb("rendre", "rend", "rendent", "make", "makes", often=True),
        Verb("être", "est", "sont", "be", "is"),
    ]
}


NAMES = {"Jane": "f", "Alice": "f", "Paul": "m", "Thomas": "m"}


PLACES = {
    place.french: place
    for place in [
        Place("Paris", ("Paris",), ""),
        Place("Londres", ("London",), ""),
        Place("Rome", ("Rome",), ""),
        Place("Afrique", ("Africa",), "la"),
        Place("Europe", ("Europe",), "la"),
        Place("France", ("France",), "la"),
        Place("Italie", ("Italy",), "la"),
        Place("Espagne", ("Spain",), "la"),
        Place("Japon", ("Japan",), "le"),
        Place("Canada", ("Canada",), "le"),
        Place("Portugal", ("Portugal",), "le"),
        Place("États-Unis", ("United", "States"), "les"),
    ]
}


MONTHS = {
    "janvier": "January",
    "février": "February",
    "mars": "March",
    "avril": "April",
    "mai": "May",
    "juin": "June",
    "juillet": "July",
    "août": "August",
    "septembre": "September",
    "octobre": "October",
    "novembre": "November",
    "décembre": "December",
}


SEASONS = {"printemps": "spring", "été": "summer", "automne": "autumn", "hiver": "winter"}


DAYTIMES = {"matin": "morning", "soir": "evening"}


FREQUENCY = {"souvent": "often", "parfois": "sometimes", "rarement": "rarely"}


# French words that begin with an aspirated h: no elision, no liaison form before them.
ASPIRATED = frozenset({"hibou", "hiboux"})


# English words written with a vowel but spoken with a consonant: "a useful book".
SPOKEN_CONSONANT = frozenset({"useful", "United"})
