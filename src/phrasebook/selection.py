"""What goes together without absurdity: who does what to what, and what makes what difficult."""

from __future__ import annotations

from phrasebook.lexicon import NOUNS

# What each verb's object may be. Place names are allowed where PLACE_OBJECTS says so.
_PEOPLE = tuple(noun for noun in NOUNS if NOUNS[noun].kind == "person")


_ANIMALS = tuple(noun for noun in NOUNS if NOUNS[noun].kind == "animal")


_TEXTS = ("livre", "lettre", "histoire", "journal")


_FOOD = ("pomme", "orange", "gâteau")


_CLOTHES = ("chapeau", "chemise")


_SIGHTS = ("maison", "hôtel", "musée", "jardin", "école", "ville", "île")


OBJECTS = {
    "lire": _TEXTS,
    "écrire": ("livre", "lettre", "histoire"),
    "manger": _FOOD,
    "acheter": ("livre", "journal", *_FOOD, *_CLOTHES, "voiture", "maison", "chien", "cheval"),
    "vendre": ("livre", "journal", *_FOOD, *_CLOTHES, "voiture", "maison", "cheval"),
    "chercher": (*_PEOPLE, *_ANIMALS, "livre", "lettre", "journal", *_CLOTHES, "hôtel", "école"),
    "trouver": (*_ANIMALS, "livre", "lettre", "journal", *_CLOTHES, "hôtel", "pomme"),
    "regarder": (*_ANIMALS, "enfant", "acteur", "actrice", "homme", "femme"),
    "connaître": (*_PEOPLE, "histoire", "hôtel", "musée", "jardin", "école", "ville", "île"),
    "attendre": (*_PEOPLE, "lettre"),
    "aimer": (*_ANIMALS, *_TEXTS, *_FOOD, *_CLOTHES, "voiture", *_SIGHTS),
    "admirer": (*_PEOPLE, "cheval", "oiseau", "chapeau", "voiture", *_SIGHTS),
    "visiter": ("musée", "jardin", "école", "ville", "île", "maison"),
    "voir": (*_PEOPLE, *_ANIMALS, "voiture", "maison", "île"),
    "aider": _PEOPLE,
    "inviter": _PEOPLE,
    "porter": _CLOTHES,
}


ANIMAL_OBJECTS = {
    "manger": ("pomme", "gâteau"),
    "voir": ("chien", "chat", "cheval", "oiseau", "souris", "enfant", "voisin", "voisine"),
    "regarder": ("chat", "oiseau", "souris", "enfant"),
}


PLACE_OBJECTS = ("visiter", "connaître", "aimer")


# "Jane cherche la lettre et la trouve": first verb, second verb.
VERB_PAIRS = (
    ("acheter", "lire"),
    ("acheter", "manger"),
    ("acheter", "porter"),
    ("acheter", "vendre"),
    ("chercher", "trouver"),
    ("trouver", "lire"),
    ("trouver", "vendre"),
    ("écrire", "vendre"),
    ("voir", "aider"),
    ("voir", "inviter"),
    ("voir", "admirer"),
    ("connaître", "aider"),
    ("connaître", "inviter"),
    ("connaître", "admirer"),
    ("attendre", "aider"),
    ("inviter", "attendre"),
)


# "La ville est célèbre pour ses musées": who or what is famous, and for what.
FAME = {
    "ville": ("musée", "jardin", "hôtel", "école", "maison"),
    "île": ("jardin", "oiseau", "cheval", "maison", "hôtel"),
    "hôtel": ("jardin", "gâteau"),
    "école": ("jardin", "professeur", "étudiante"),
    "musée": ("jardin",),
    "place": ("musée", "jardin", "hôtel", "école", "acteur", "actrice"),
    "person": ("livre", "histoire", "gâteau", "lettre", "chapeau"),
}


# "La pluie rend le voyage plus difficile": cause, gender, English, and what it makes things.
CAUSES = (
    ("pluie", "f", "rain", ("difficile", "long")),
    ("neige", "f", "snow", ("difficile", "long", "beau")),
    ("vent", "m", "wind", ("difficile", "long")),
    ("soleil", "m", "sun", ("agréable", "beau")),
    ("musique", "f", "music", ("agréable", "intéressant")),
    ("bruit", "m", "noise", ("difficile",)),
)


# What is made so: noun, plural, gender, English, plural, what may be said of it.
MADE = (
    ("voyage", "voyages", "m", "trip", "trips", ("difficile", "long", "agréable", "intéressant")),
    ("promenade", "promenades", "f", "walk", "walks", ("difficile", "long", "agréable", "beau")),
    ("travail", "", "m", "work", "", ("difficile", "agréable", "intéressant")),
    ("vie", "", "f", "life", "", ("difficile", "agréable", "intéressant")),
)
