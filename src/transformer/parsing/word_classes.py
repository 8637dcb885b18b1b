"""What an unknown word looks like: capitals, digits, and its ending (§6.3: 16 000 words are known).

A parser meets words that its training never held; in CRAFT's test articles, one in ten. Their shape
says much of what they are: `-ed` is a verb, `p53` a name. So rare words are read as their class.
"""

import re

# fmt: off
ENDINGS = (
    "ability", "ation", "ative", "ional", "ising", "izing", "ified", "ically", "ments", "ness",
    "ions", "ists", "ises", "izes", "ated", "ates", "ment", "able", "ible", "ance", "ence",
    "ally", "ical", "ious", "ist", "ism", "ity", "ing", "ion", "ous", "ive", "ful", "est",
    "ers", "ies", "ary", "ial", "ble", "als", "ics", "ase", "ene", "ine", "ose", "ant", "ent",
    "ish", "ify", "ize", "ise", "ed", "er", "es", "ly", "al", "ic", "or", "us", "is", "um",
    "ia", "ae", "ss", "s", "y", "e", "a", "o",
)
# fmt: on
_BY_LENGTH = sorted(ENDINGS, key=len, reverse=True)
SHORTEST_STEM = 3


def word_class(word: str) -> str:
    """Return the class of a word: `Growing` is `Aa-ing`, `mutants` `a-s`, `BRCA1` `A0`, `12.5` `0`.

    Letters become `A` or `a`, digits `0`, everything else `-`; runs become one. Words of small
    letters, or with one capital in front, get the longest ending that leaves a stem.
    """
    shape = re.sub(r"[^\W\d_]", lambda match: "A" if match[0].isupper() else "a", word)
    shape = re.sub(r"\d", "0", shape)
    shape = re.sub(r"[^Aa0]", "-", shape)
    shape = re.sub(r"(.)\1+", r"\1", shape)
    if shape not in ("a", "Aa"):
        return shape[:4]
    lower = word.lower()
    for ending in _BY_LENGTH:
        if lower.endswith(ending) and len(lower) >= len(ending) + SHORTEST_STEM:
            return f"{shape}-{ending}"
    return shape
