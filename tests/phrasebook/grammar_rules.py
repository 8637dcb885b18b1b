# ruff: noqa: SIM905  (words in a row read better than quoted lists)
"""A linter for the phrasebook's French and English, written apart from the grammar it judges.

The word lists are by hand on purpose: a wrong gender in the lexicon must not pass here.
"""

import re

VOWEL = re.compile(r"(?!hibou)[aeiouyhàâéèêëîïôû]", re.IGNORECASE)
MASCULINE = set(
    "étudiant professeur médecin voisin ami acteur homme enfant chien chat cheval oiseau hibou "
    "livre journal gâteau chapeau hôtel musée jardin voyage travail vent soleil bruit matin soir "
    "dimanche Japon Canada Portugal".split()
)
FEMININE = set(
    "étudiante voisine amie actrice femme souris lettre histoire pomme orange chemise voiture "
    "maison école ville île table promenade vie pluie neige musique Afrique Europe France Italie "
    "Espagne".split()
)
MASCULINE_WORDS = {"un", "le", "ce", "cet", "du", "au", "bel", "vieil", "nouvel"}
FEMININE_WORDS = {"une", "la", "cette", "sa"}
PLURAL_WORDS = set("les des ces ses leurs deux trois aux".split())
ELIDED = {"l'": "le", "n'": "ne", "d'": "de", "qu'": "que", "s'": "se"}
PLURAL_SUBJECT = {"ils", "elles"}
VERBS = {
    "lit": "lisent", "écrit": "écrivent", "mange": "mangent", "achète": "achètent",
    "vend": "vendent", "cherche": "cherchent", "trouve": "trouvent", "regarde": "regardent",
    "connaît": "connaissent", "attend": "attendent", "aime": "aiment", "admire": "admirent",
    "visite": "visitent", "voit": "voient", "aide": "aident", "invite": "invitent",
    "porte": "portent", "dort": "dorment", "chante": "chantent", "promène": "promènent",
    "endort": "endorment", "travaille": "travaillent", "habite": "habitent",
    "voyage": "voyagent", "arrive": "arrivent", "va": "vont", "vient": "viennent",
    "pense": "pensent", "dit": "disent", "rend": "rendent", "est": "sont",
}  # fmt: skip
FRENCH_ADJECTIVES = {
    "m": "noir blanc intéressant italien délicieux".split(),
    "f": "noire blanche intéressante italienne japonaise délicieuse chère longue grande petite "
    "belle vieille nouvelle".split(),
}


def starts_with_vowel(word: str) -> bool:
    return bool(VOWEL.match(word))


def french_errors(tokens: list[str]) -> set[str]:
    """Names of the rules that a French sentence breaks."""
    found = set()
    for word, after in zip(tokens, [*tokens[1:], ""], strict=True):
        vowel = bool(after) and starts_with_vowel(after)
        if word in ("le", "la", "ne", "de", "que", "se") and vowel:
            found.add("elision is missing")
        if word in ELIDED and not vowel:
            found.add("elision before a consonant")
        if word in ("au", "du") and vowel:
            found.add("contraction before a vowel")
        if word in ("de", "à") and after in ("le", "les"):
            found.add("contraction is missing")
        if word in ("sa", "ce", "beau", "nouveau") and vowel:
            found.add("form before a vowel is missing")
        if word in ("cet", "bel", "vieil", "nouvel") and not vowel:
            found.add("form before a vowel stands before a consonant")
        found |= _agreement_errors(word, after)
    pairs = list(zip(["", *tokens], tokens, strict=False))
    if any(a in ("un", "le", "son", "cet") and b == "vieux" for a, b in pairs):
        position = tokens.index("vieux")
        if position + 1 < len(tokens) and starts_with_vowel(tokens[position + 1]):
            found.add("form before a vowel is missing")
    if sum(token in ("ne", "n'") for token in tokens) != tokens.count("pas"):
        found.add("ne and pas belong together")
    if tokens[0] == "des" and tokens[1:2] and tokens[1] in ("petits", "petites", "vieilles"):
        found.add("des before a plural adjective is de")
    return found


def _agreement_errors(word: str, after: str) -> set[str]:
    found = set()
    if word in MASCULINE_WORDS and after in FEMININE:
        found.add("masculine word before a feminine noun")
    if word in FEMININE_WORDS and after in MASCULINE:
        found.add("feminine word before a masculine noun")
    if word == "son" and after in FEMININE and not starts_with_vowel(after):
        found.add("masculine word before a feminine noun")
    if word in MASCULINE and after in FRENCH_ADJECTIVES["f"]:
        found.add("feminine adjective after a masculine noun")
    if word in FEMININE and word != "souris" and after in FRENCH_ADJECTIVES["m"]:
        found.add("masculine adjective after a feminine noun")
    if word in PLURAL_WORDS and after in (MASCULINE | FEMININE) - {"souris"}:
        found.add("plural word before a singular noun")
    subject_is_plural = word in PLURAL_SUBJECT
    if subject_is_plural and after in VERBS:
        found.add("plural subject, singular verb")
    if word in ("il", "elle") and after in VERBS.values():
        found.add("singular subject, plural verb")
    return found


ENGLISH_PLURALS = set(
    "students teachers doctors neighbours friends actors actresses men women children dogs cats "
    "horses birds owls mice books letters stories newspapers apples oranges cakes hats shirts "
    "cars houses hotels museums gardens schools cities islands trips walks".split()
)
ENGLISH_SINGULARS = set(
    "student teacher doctor neighbour friend actor actress man woman child dog cat horse bird owl "
    "mouse book letter story newspaper apple orange cake hat shirt car house hotel museum garden "
    "school city island trip".split()
)
ENGLISH_THIRD = set(
    "reads writes eats buys sells looks finds watches knows waits likes admires visits sees helps "
    "invites wears sleeps sings walks falls works lives travels arrives goes comes thinks says "
    "makes is".split()
)
ENGLISH_BASE = set(
    "read write eat buy sell look find watch know wait like admire visit see help invite wear "
    "sleep sing walk fall work live travel arrive go come think say make are".split()
)


def english_errors(tokens: list[str]) -> set[str]:
    """Names of the rules that an English sentence breaks."""
    found = set()
    for word, after in zip(tokens, [*tokens[1:], ""], strict=True):
        vowel = after[:1].lower() in tuple("aeiou") and after not in ("useful", "United")
        if word == "a" and vowel:
            found.add("an is missing")
        if word == "an" and not vowel:
            found.add("an before a consonant")
        if word in ("a", "an", "this") and after in ENGLISH_PLURALS:
            found.add("singular word before a plural noun")
        if word in ("these", "two", "three", "many") and after in ENGLISH_SINGULARS:
            found.add("plural word before a singular noun")
        if word == "not" and after in ENGLISH_THIRD:
            found.add("ending after does not")
        if word in ("he", "she", "it") and after in ENGLISH_BASE | {"do"}:
            found.add("singular subject, plural verb")
        if word == "they" and after in ENGLISH_THIRD | {"does"}:
            found.add("plural subject, singular verb")
        if word == "more" and after in ("bigger", "smaller", "older", "longer"):
            found.add("comparative said twice")
        if word == "more" and after in ("big", "small", "old", "long"):
            found.add("comparative has an ending")
        if word == after:
            found.add("a word said twice")
        if word in ("the", "a") and after in ("Africa", "France", "Japan", "Paris", "September"):
            found.add("article before a name")
    if tokens[0] in ("Jane", "Alice", "Paul", "Thomas") and tokens[1:2] == ["do"]:
        found.add("singular subject, plural verb")
    return found
