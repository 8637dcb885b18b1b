"""Causes for what the calls have seen, where the tape has a witness; else: cause not found."""

from collections.abc import Iterable

from torch import Tensor, nn

from walkthrough.doctor.examination import Examination
from walkthrough.doctor.tape import Attention, Mixed, Tape, record

NOT_FOUND = "Seen, cause not found."
Cause = tuple[str, str]
"""A sentence, and the modules in which it was seen."""


def listed(names: Iterable[str]) -> str:
    """Return names without repetition, as a list."""
    return ", ".join(dict.fromkeys(name for name in names if name))


def of_future(x: Examination, *, train: bool) -> Cause:
    """Why is the future seen?"""
    tape = x.tapes.get(train)
    if tape is None:
        return NOT_FOUND, ""
    ones = [a for a in tape.attentions if a.kind == "decoder" and a.weights.dim() > 2]
    if odd_sums(x):
        return _elsewhere(x, tape)
    ahead = [(a, (a.weights > 1e-7).flatten(0, -3).any(0).triu(1)) for a in ones]
    ahead = [(a, later) for a, later in ahead if bool(later.any())]
    if not ahead:
        return _elsewhere(x, tape)
    later, n = ahead[0][1], ahead[0][1].shape[-1]
    how = "to some later words"
    if int(later.sum()) == n * (n - 1) // 2:
        how = "to every later word"
    elif not bool(later.triu(2).any()):
        how = "one place too far"
    said = f"The decoder's self-attention is open {how} ({len(ahead)} of {len(ones)} maps)."
    return said, listed(a.where for a, _ in ahead)


def of_padding(x: Examination) -> Cause:
    """Why is padding of the source read?"""
    if x.tape is None:
        return NOT_FOUND, ""
    padded = x.source.clone()
    padded[:, -2:] = x.subject.pads[0]
    tape = record(x.subject, x.tape.norm_modules, source=padded)
    read: list[Attention] = []
    said = []
    for kind, name in (
        ("encoder", "encoder's self-attention"),
        ("cross", "attention to the source"),
    ):
        ones = [
            a for a in tape.attentions if a.kind == kind and a.weights.shape[-1] == padded.shape[1]
        ]
        opened = [a for a in ones if float(a.weights[..., -2:].max()) > 1e-7]
        read += opened
        said += [f"the {name} ({len(opened)} of {len(ones)} maps)"] if opened else []
    if not read:
        return _elsewhere(x, x.tape)
    return f"Weight goes to padding in {' and in '.join(said)}.", listed(a.where for a in read)


def of_company(x: Examination, seen: list[str]) -> Cause:
    """Why do sentences of a batch see each other?"""
    if seen == ["padding in another sentence"]:
        return (
            "Only another's padding matters: a mask is used for a sentence that is not its own.",
            "",
        )
    train = all(how.endswith("training") for how in seen)
    tape = x.tapes.get(train)
    if tape is None:
        return NOT_FOUND, ""
    return (_ALONG_BATCH, "") if along_batch(x) else _elsewhere(x, tape)


def of_order(x: Examination) -> str:
    """Why is the order of the source not seen?"""
    if x.tape is None:
        return NOT_FOUND
    if along_batch(x):
        return _ALONG_BATCH
    nothing = "Nothing was seen that is added to the embeddings."
    return NOT_FOUND if x.tape.positions[0] else nothing


_ALONG_BATCH = "What is added to the embeddings runs along the batch, not along the sentence."


def apart(one: Tensor, other: Tensor) -> float:
    """Return the largest difference."""
    return float((one.detach() - other.detach()).abs().max())


def along_batch(x: Examination) -> bool:
    """Does what is added to the embeddings differ by sentence, and not by place?"""
    seen = [(y, z) for side in (0, 1) for y, *_, z in x.tape.positions[side]] if x.tape else []
    return any(
        y.dim() == 3 and y.shape[:2] == tuple(n if n == x.subject.batch else 1 for n in z.shape[:2])
        for y, z in seen
    )


def _elsewhere(x: Examination, tape: Tape) -> Cause:
    """Causes that are no mask: the merge, norms, softmax, and batch norms in training."""
    if found := confirmed(x, tape):
        return "Heads are split or merged across positions.", listed(m.where for m in found)
    names = {m: name for name, m in x.model.named_modules()}
    if over := [names[m] for m, how in tape.norm_modules.items() if "over positions" in how]:
        return "A norm takes its mean over positions too.", listed(over)
    if odd := odd_sums(x):
        return "A word's attention weights do not add up to 1.", listed(odd)
    batch_norm = nn.modules.batchnorm._BatchNorm
    if norms := [names[m] for m in x.model.modules() if isinstance(m, batch_norm)]:
        return "In training, a batch norm takes its mean over the whole batch.", listed(norms)
    return NOT_FOUND, ""


def odd_sums(x: Examination) -> list[str]:
    """Return where weights do not add up to 1; in training dropout changes that sum."""
    return [a.where for a in x.tape.attentions if (a.added_up or 0) > 1e-3] if x.tape else []


def confirmed(x: Examination, tape: Tape) -> list[Mixed]:
    """Return rows that mix positions: moving one row by hand moves a part of another."""
    found = []
    for one in tape.mixed[:8]:
        norms = tape.norm_modules
        before = record(x.subject, norms, keep=one.n_use).kept
        after = record(x.subject, norms, keep=one.n_use, poke=one.origin).kept
        if one.origin >= 0 and before is not None and after is not None:
            moved = (before - after).abs() > 1e-4
            parts = bool((moved.any(-1) & ~moved.all(-1)).any())
            places = int(moved.any(-1).flatten(0, -2).any(0).sum()) if moved.dim() > 2 else 1
            if parts or (one.what != "merge" and places > 1):
                found.append(one)
    return found
