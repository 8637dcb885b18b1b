"""Word links of the phrasebook, read one by one by hand, and what stands for a whole corpus.

They pin the corpus of the default arguments: whoever changes the grammar reads new ones.
"""

from hashlib import sha256

ALIGNMENTS = {
    "Jane visite l'Afrique en août.": [
        ("Jane", "Jane"),
        ("visite", "visits"),
        ("Afrique", "Africa"),
        ("en", "in"),
        ("août", "August"),
    ],
    "Jane cherche la chemise mais ne la trouve pas.": [
        ("Jane", "Jane"),
        ("cherche", "looks"),
        ("cherche", "for"),
        ("la", "the"),
        ("chemise", "shirt"),
        ("mais", "but"),
        ("ne", "not"),
        ("la", "it"),
        ("trouve", "does"),
        ("trouve", "find"),
        ("pas", "not"),
    ],
    "Alice ne travaille pas souvent.": [
        ("Alice", "Alice"),
        ("ne", "not"),
        ("travaille", "does"),
        ("travaille", "work"),
        ("pas", "not"),
        ("souvent", "often"),
    ],
    "La neige rend le voyage en Italie plus long.": [
        ("la", "the"),
        ("neige", "snow"),
        ("rend", "makes"),
        ("le", "the"),
        ("voyage", "trip"),
        ("en", "to"),
        ("Italie", "Italy"),
        ("plus", "longer"),
        ("long", "longer"),
    ],
    "Jane n'écrit pas d'histoires.": [
        ("Jane", "Jane"),
        ("n'", "not"),
        ("écrit", "does"),
        ("écrit", "write"),
        ("pas", "not"),
        ("histoires", "stories"),
    ],
    "Elle aime les chapeaux.": [("elle", "she"), ("aime", "likes"), ("chapeaux", "hats")],
    "Elles invitent parfois beaucoup d'amies.": [
        ("elles", "they"),
        ("invitent", "invite"),
        ("parfois", "sometimes"),
        ("beaucoup", "many"),
        ("d'", "many"),
        ("amies", "friends"),
    ],
    "Jane vient du Japon.": [
        ("Jane", "Jane"),
        ("vient", "comes"),
        ("du", "from"),
        ("Japon", "Japan"),
    ],
    "Ils admirent l'oiseau d'Alice.": [
        ("ils", "they"),
        ("admirent", "admire"),
        ("oiseau", "bird"),
        ("d'", "'s"),
        ("Alice", "Alice"),
    ],
}


def fingerprint(examples):
    """Of everything that is known about these pairs: it changes with any word, link or tree."""
    found = sha256()
    for example in examples:
        facts = vars(example) | {"alignment": sorted(example.alignment)}
        found.update(repr(facts).encode())
    return found.hexdigest()
