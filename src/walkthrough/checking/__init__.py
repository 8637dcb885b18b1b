"""Checks for exercises: what is wrong with an answer, said so that it is true and helps.

An answer is compared with the reference on every case. If it differs, a reader is told, in this
order: a mistake by name, when it gives the very same results in all cases; the case or the entry
that fails, and what is special about it; a relation to the right results (a factor, a shift, an
order, a shape), when it is proved on all cases, three at least. Nothing is guessed.

How to write one, in half an hour (`tools/book/skeleton/checks.py` is one to begin with):

1. The reference, in the form that the solution has not. Its tolerance is that of float32.
2. Three hostile cases or more, before any mistake. Ask what a wrong answer would survive: sizes
   that are all different, one that is 1, nothing at all; large, tiny and equal numbers; a batch;
   what stands first, last, twice; a part switched off (a bias of 0, an open mask), since "right for
   a bias of 0; wrong for …" finds what no list foresees. `special` says what sets a case apart. It
   is told where no other case fails: it must be true of any answer that fails there alone.
3. The three to eight mistakes that people make. One that fails in a single case with a `special`,
   or whose sentence adds nothing to what is said without it, does not belong there. What the page
   itself warns of comes first: `where` is its heading there, `also` the variants of the slip.
4. `assert_check_is_sound(check)` in the chapter's test, and the answers of three readers.

A `Symptom` is a property of a wrong result that no function makes; prefer a case. `ValueCheck`
judges a number, `OwnCheck` whatever an experiment can tell. What a reader must not call is
`forbidden`.
"""

from walkthrough.checking.base import Check
from walkthrough.checking.cases import (
    Arguments,
    Case,
    Mistake,
    Symptom,
    arguments,
    drawn,
    fixed,
)
from walkthrough.checking.forbidden import Forbidden
from walkthrough.checking.own import OwnCheck
from walkthrough.checking.values import ValueCheck, WrongValue
from walkthrough.checking.verdict import Verdict

__all__ = [
    "Arguments",
    "Case",
    "Check",
    "Forbidden",
    "Mistake",
    "OwnCheck",
    "Symptom",
    "ValueCheck",
    "Verdict",
    "WrongValue",
    "arguments",
    "drawn",
    "fixed",
]
