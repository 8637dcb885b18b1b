"""The phrasebook: a grammar of ours that writes French–English pairs, with everything known.

Every pair has its gold word alignment, both parse trees and the antecedents of its pronouns, so
that what a model attends to can be measured. The English is a function of the French.
"""

from transformer.data.phrasebook.example import Example, Tree, brackets, leaves, parse_brackets
from transformer.data.phrasebook.grammar import STRUCTURES, jane
from transformer.data.phrasebook.orthography import detokenize, tokenize
from transformer.data.phrasebook.splits import HELD_OUT, Phrasebook, phrasebook, sentences

__all__ = [
    "HELD_OUT",
    "STRUCTURES",
    "Example",
    "Phrasebook",
    "Tree",
    "brackets",
    "detokenize",
    "jane",
    "leaves",
    "parse_brackets",
    "phrasebook",
    "sentences",
    "tokenize",
]
