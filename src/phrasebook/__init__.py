"""The phrasebook: a grammar of ours that writes French–English pairs, with everything known.

Every pair has its gold word alignment, both parse trees and the antecedents of its pronouns, so
that what a model attends to can be measured. The English is a function of the French.
"""

from phrasebook.example import Example
from phrasebook.grammar import STRUCTURES, jane
from phrasebook.orthography import detokenize, tokenize
from phrasebook.splits import HELD_OUT, Phrasebook, phrasebook, sentences

__all__ = [
    "HELD_OUT",
    "STRUCTURES",
    "Example",
    "Phrasebook",
    "detokenize",
    "jane",
    "phrasebook",
    "sentences",
    "tokenize",
]
