"""What the C program evalb prints for the sample that it comes with (§6.3).

https://nlp.cs.nyu.edu/evalb/, `sample/sample.tst` and `sample.rsl`: the sentences whose words agree
and on which its settings leave nothing out. evalb reads a part of speech around each word and does
not count it, so it is left out here.
"""

from transformer.data.phrasebook import parse_brackets

GOLD = parse_brackets("(S (A this) (B is (A a test)))")
"""The gold tree of all of them."""

PRINTED = {
    "(S (A this) (B is (A a test)))": (4, 4, 4),
    "(S (A this) (B is (C a test)))": (3, 4, 4),
    "(S (C this) (B is (A a test)))": (3, 4, 4),
    "(S (A this) (B is a (A test)))": (3, 4, 4),
    "(S (A this is) (A a test))": (2, 4, 3),
    "(S this is a test)": (1, 4, 1),
    "(S (A this) (B is (A (A a test))))": (4, 4, 5),
    "(S (A this) (B is (A (A (A (A (A a test)))))))": (4, 4, 8),
}
"""A predicted tree → evalb's columns: matched brackets, gold brackets, predicted ("test") ones."""
