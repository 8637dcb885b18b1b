"""Files with one slip each, walked through Figure 1 with the book's weights (§3)."""

from dataclasses import dataclass

from transformer.config import EOS_ID
from walkthrough.capstone import book, solution
from walkthrough.capstone.slips import SLIPS, module_of
from walkthrough.capstone.walk import Walk, place, walk
from walkthrough.doctor.calling import Subject

FORGOTTEN = {
    "the root of d_model": "no √d_model",
    "that sines and cosines take turns": "halves",
    "to divide by √d_k": "no scale",
    "the norm's place": "pre-norm",
    "the ReLU": "no ReLU",
    "that the next word is closed": "one too far",
    "the source's padding": "source's padding read",
}
"""What the figure calls a slip, and its name in `slips.toml`."""


@dataclass(frozen=True)
class Walked:
    """What the walk found in a file, and how it translates with the book's weights."""

    walk: Walk
    translation: str


def walked(slip: str = "") -> Walked:
    """Walk the right file, or that with the slip of this name.

    Raises:
        ValueError: there is no such slip.
    """
    known = {one.name: one for one in SLIPS}
    if slip and slip not in known:
        raise ValueError(f"a slip is one of {list(known)}; got {slip!r}")
    made = module_of(known[slip]).Transformer if slip else solution.Transformer
    model = made(**book.sizes()).eval()
    subject = Subject(model, model, (0, 0))
    placed, sure = place(model, subject, None)
    found = walk(model, subject, placed, sure, {known[slip].part: "wrong"} if slip else {})
    codec = book.translator()[1]
    source = [*codec.encode(book.SENTENCE), EOS_ID]
    return Walked(found, codec.decode(book.greedy(subject.logits, [source])[0]))
