"""Causes for what the calls have seen, where the tape has a witness; else: cause not found."""

from torch import nn

from walkthrough.doctor.examination import Examination, listed
from walkthrough.doctor.tape import record

NOT_FOUND = "Seen, cause not found."
Cause = tuple[str, str]
"""A sentence, and the modules in which it was seen."""
_ALONG_BATCH = "What is added to the embeddings runs along the batch, not along the sentence."


def of_future(x: Examination, *, train: bool) -> Cause:
    """Why is the future seen?"""
    ones = [a for a in x.tapes[train].attentions if a.kind == "decoder"]
    ahead = [(a.where, (a.weights > 1e-7).flatten(0, -3).any(0).triu(1)) for a in ones]
    ahead = [(where, later) for where, later in ahead if bool(later.any())]
    if not ahead or odd_sums(x):
        return _elsewhere(x)
    later, n = ahead[0][1], ahead[0][1].shape[-1]
    how = "to some later words"
    if int(later.sum()) == n * (n - 1) // 2:
        how = "to every later word"
    elif not bool(later.triu(2).any()):
        how = "one place too far"
    sentence = f"The decoder's self-attention is open {how} ({len(ahead)} of {len(ones)} maps)."
    return sentence, listed(where for where, _ in ahead)


def of_padding(x: Examination) -> Cause:
    """Why is padding of the source read?"""
    padded = x.padded(0, slice(None))
    seen = record(x.subject, x.tape.norm_modules, source=padded).attentions
    read: list[str] = []
    maps = []
    names = {"encoder": "encoder's self-attention", "cross": "attention to the source"}
    for kind, name in names.items():
        ones = [a for a in seen if a.kind == kind and a.weights.shape[-1] == padded.shape[1]]
        opened = [a.where for a in ones if float(a.weights[..., -2:].max()) > 1e-7]
        read += opened
        maps += [f"the {name} ({len(opened)} of {len(ones)} maps)"] if opened else []
    if not read:
        return _elsewhere(x)
    return f"Weight goes to padding in {' and in '.join(maps)}.", listed(read)


def of_company(x: Examination, seen: list[str]) -> Cause:
    """Why do sentences of a batch see each other?"""
    if seen == ["padding in another sentence"]:
        only = "Only another's padding matters"
        return f"{only}: a mask is used for a sentence that is not its own.", ""
    return (_ALONG_BATCH, "") if along_batch(x) else _elsewhere(x)


def of_order(x: Examination) -> str:
    """Why is the order of the source not seen?"""
    if along_batch(x):
        return _ALONG_BATCH
    if x.tape.tables and not x.tape.positions[0]:
        return "Nothing was seen that is added to the embeddings."
    return NOT_FOUND


def along_batch(x: Examination) -> bool:
    """Does what is added to the embeddings differ by sentence, and not by place?"""
    for table, *_, z in (*x.tape.positions[0], *x.tape.positions[1]):
        of_batch = tuple(n if n == x.subject.batch else 1 for n in z.shape[:2])
        if table.dim() == 3 and table.shape[:2] == of_batch:
            return True
    return False


def _elsewhere(x: Examination) -> Cause:
    """Causes that are no mask: the merge, norms, softmax, and batch norms in training."""
    if mixed := [where for where, _, is_mixed in x.followed if is_mixed]:
        return "Heads are split or merged across positions.", listed(mixed)
    if over := [name for name, how in x.norms.items() if "over positions" in how]:
        return "A norm takes its mean over positions too.", listed(over)
    if odd := odd_sums(x):
        return "A word's attention weights do not add up to 1.", listed(odd)
    batch_norm = nn.modules.batchnorm._BatchNorm
    if norms := [name for name, m in x.model.named_modules() if isinstance(m, batch_norm)]:
        return "In training, a batch norm takes its mean over the whole batch.", listed(norms)
    return NOT_FOUND, ""


def odd_sums(x: Examination) -> list[str]:
    """Return where weights do not add up to 1; in training dropout changes that sum."""
    return [a.where for a in x.attentions() if (a.added_up or 0) > 1e-3]
