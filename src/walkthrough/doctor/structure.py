"""What the tape says of attention, norms, sums and dropout, each with numbers to witness it."""

import math
from collections import Counter
from typing import Any

import torch
from torch import Tensor, nn

from walkthrough.doctor.examination import Examination, listed
from walkthrough.doctor.tags import Attention

ACTIVE = {"relu", "threshold", "clamp_min", "maximum", "clamp"}
PAPER_DROPS = ("a sub-layer's output", "embedding and positions")
UNSEEN = "a place that was not seen"


def _d_model(x: Examination) -> int:
    return next((table.shape[1] for table in x.tape.tables.values()), 0)


def heads(x: Examination) -> bool | None:
    """Does a row of queries, keys, values or of the merge hold several positions?"""
    mixed = [(where, what) for where, what, is_mixed in x.followed if is_mixed]
    merges = sum(what == "merge" for _, what, _ in x.followed)
    if not merges and not mixed:
        x.unseen("heads.unseen")
        return False
    for what in dict.fromkeys(what for _, what in mixed):
        where = listed(where for where, kind in mixed if kind == what)
        key = "merge" if what == "merge" else "split"
        x.bug(f"heads.{key}", "rows were numbered, and the numbers followed", where, what=what)
    ones = x.attentions()
    shared = [a for a in ones if a.query.shape == (a.d_k, a.d_k) and a.d_k < _d_model(x)]
    if shared:
        odd, d_k = [a.where for a in shared], shared[0].d_k
        x.judge("heads", "attentions", ones, odd, say=x.bug, key="one_projection", d_k=d_k)
    if not mixed and not shared:
        x.same("heads.same", f"{merges} merges followed")
    return None


def softmax(x: Examination) -> bool | None:
    """Do a word's weights add up to 1 over the keys?"""
    ones = [(a, a.added_up) for a in x.attentions() if a.added_up is not None]
    odd = [(a, far) for a, far in ones if far > 1e-3]
    say, key, witness = x.departs, "changed", ""
    if odd:
        weights, far = odd[0][0].weights, max(far for _, far in odd)
        sums = [float((weights.sum(d) - 1).abs().max()) < 1e-3 for d in range(weights.dim())]
        witness = f"; up to {far:.2g} away"
        if True in sums and not sums[-1]:
            along = f"along axis {sums.index(True)} of {tuple(weights.shape)} they add up to 1"
            say, key, witness = x.bug, "axis", f"{witness}, {along}"
    x.judge("softmax", "attentions", ones, [a.where for a, _ in odd], witness, say=say, key=key)
    return None if ones else False


def scale(x: Examination) -> None:
    """By what are scores multiplied before the softmax?"""
    known = [a for a in x.attentions() if not math.isnan(a.scale)]
    ones = [a for a in known if a.query.kind == a.key.kind == "lin"]
    odd = [a for a in ones if abs(a.scale * math.sqrt(a.d_k) - 1) > 1e-2]
    words: dict[str, Any] = {}
    if odd:
        a, whole = odd[0], math.sqrt(_d_model(x))
        how = "not scaled" if abs(a.scale - 1) < 1e-6 else f"multiplied by {a.scale:.4g}"
        if abs(a.scale * whole - 1) < 1e-2:
            how = f"divided by √d_model = {whole:.4g}"
        words = {"how": how, "root": f"{math.sqrt(a.d_k):.4g}"}
    unit = f"attentions, d_k {ones[0].d_k}" if ones else ""
    x.judge("scale", unit, ones, [a.where for a in odd], **words)


def _closed(a: Attention) -> float:
    """Return which share of a map is closed: far below all else, not only small beside the best."""
    shut = (a.weights == 0) & (a.scores < -900)
    opened = a.scores[~shut].abs().max() if bool((~shut).any()) else torch.zeros(())
    return float((shut & (a.scores < -4 * opened)).float().mean())


def masks(x: Examination) -> None:
    """Is anything closed, in sentences without padding, that the paper leaves open?"""
    counts = Counter(a.kind for a in x.attentions() if a.kind)
    if counts:
        x.same("layers.same", counts=", ".join(f"{n} {kind}" for kind, n in counts.items()))
    else:
        x.unseen("layers.unseen")
    named = {"encoder": "the encoder's self-attention", "cross": "the attention to the source"}
    closed = False
    for kind, which in named.items():
        ones = x.attentions(kind)
        shut = [(a.where, by) for a in ones if (by := _closed(a))]
        closed = closed or bool(shut)
        if shut:
            where, share = [name for name, _ in shut], f"{100 * shut[0][1]:.0f}"
            x.judge("masks", "maps", ones, where, key="closed", share=share, which=which)
    if not closed and counts["encoder"] and counts["cross"]:
        x.same("masks.same")


def _apart(x: Examination, tensor: Tensor | None, other: Tensor | None, *, normed: bool) -> float:
    """Return how far two tensors are apart, or, if less, `one` (or both, if `normed`) unnormed."""
    pairs = [
        (tensor, other),
        (x.tape.before_norm(tensor), x.tape.before_norm(other) if normed else other),
    ]
    fit = [(a, b) for a, b in pairs if a is not None and b is not None and a.shape == b.shape]
    return min((float((a - b).detach().abs().max()) for a, b in fit), default=0.0)


def memory(x: Examination) -> None:
    """Do all decoder layers read the same output of the encoder?"""
    ones = [(a.where, a.key.root) for a in x.attentions("cross") if a.key.root is not None]
    if not ones:
        return
    where, kinds = listed(where for where, _ in ones), [x.tape.tag(root) for _, root in ones]
    # each layer may normalise the memory with a norm of its own
    far = max(_apart(x, root, ones[0][1], normed=True) for _, root in ones)
    twice = len({w for w, _ in ones}) < len(ones)  # a layer that is called several times
    if any(tag and tag.kind in ("sum", "tok") for tag in kinds):
        x.departs("memory.embeddings", module=where)
    elif far > 1e-4 and twice:
        x.unseen("memory.unseen")
    elif far > 1e-4:
        x.departs("memory.levels", f"largest difference {far:.2g}", where)
    else:
        x.same("memory.same", f"{len(ones)} layers")


def feed_forward(x: Examination) -> bool | None:
    """Which bend stands between the two maps of the feed-forward network?"""
    bends = [bend for bend in x.tape.bends if bend[2].shape[0] == bend[3] < bend[2].shape[1]]
    straight = [where for where, fn, *_ in bends if not fn]
    others = {fn for _, fn, *_ in bends if fn} - ACTIVE
    if straight:
        x.judge("feed-forward", "networks", bends, straight, say=x.bug, key="straight")
    if others or not straight:
        odd = [where for where, fn, *_ in bends if fn in others]
        x.judge("feed-forward", "networks", bends, odd, fns=", ".join(sorted(others)))
    bare = [where for where, _, tag, _ in bends if not tag.bias]
    if bare:
        x.judge("feed-forward", "networks", bends, bare, key="bias")
    return None if bends else False


def norms(x: Examination) -> None:
    """How is normalised?"""
    inside = sum(not registered for *_, registered in x.tape.norms)
    if inside:
        x.departs("norm.inside", n=inside)
    for how, n in Counter(x.norms.values()).items():
        where = listed(name for name, kind in x.norms.items() if kind == how)
        if how == "layer":
            x.same("norm.same", f"{n} norms")
        elif "over positions" in how:
            x.departs("norm.over_positions", f"{n} norms", where)
        else:
            x.departs("norm.rms" if how == "rms" else "norm.unbiased", f"{n} norms")
    if not x.norms and not inside:
        x.unseen("norm.unseen")


def norm_place(x: Examination) -> None:
    """Does a norm stand behind the sum, or before the sub-layer?"""
    tape, n = x.tape, f"{len(x.tape.norms)} norms"
    if not tape.sums or not tape.norms:
        x.unseen("norm's place.unseen")
        return
    added = {id(skip.root) for *_, skip in tape.sums}
    post = any(tag.kind == "res" and id(out) in added for tag, out, _ in tape.norms)
    pre = any(id(tag.root) in added for tag, *_ in tape.norms)
    if pre:
        x.departs(f"norm's place.{'mixed' if post else 'pre'}", n)
    elif post:
        x.same("norm's place.same", n)
    else:
        x.unseen("norm's place.unseen")
    if post and any(tag.kind == "sum" for tag, *_ in tape.norms):
        x.departs("norm's place.embeddings")


def residual(x: Examination) -> None:
    """Is a sub-layer's result added to what the sub-layer began with?"""
    sums = [one for one in x.tape.sums if one[1].root is not None]
    far = [(w, _apart(x, b.root, skip.root, normed=False)) for w, b, skip in sums]
    odd = [(where, by) for where, by in far if by > 1e-4]
    witness = f"; the two differ by {odd[0][1]:.2g}" if odd else ""
    x.judge("residual", "sums", sums, [where for where, _ in odd], witness)


def dropout(x: Examination) -> None:
    """Where are numbers dropped in training?"""
    tape = x.tapes[True]
    places = Counter(on for _, on in tape.dropouts)
    if not places:
        drops = any(m.p > 0 for m in x.model.modules() if isinstance(m, nn.Dropout))
        say, key = (x.departs, "never") if drops else (x.unseen, "unseen")
        if tape.calls:  # it was followed at all
            say(f"dropout.{key}")
        return
    if not any(tape.positions.values()):  # then it stands where the sum would be
        places[PAPER_DROPS[1]] += places.pop("the embedding alone", 0)
    extra = [
        f"{on} ({'once' if n == 1 else f'{n} times'})"
        for on, n in places.items()
        if on not in (*PAPER_DROPS, UNSEEN)
    ]
    missing = [on for on in PAPER_DROPS if on not in places and UNSEEN not in places]
    if extra and missing:
        x.departs("dropout.moved", places=", ".join(extra), missing=" and on ".join(missing))
    elif extra:
        x.departs("dropout.extra", places=", ".join(extra))
    elif missing:
        x.departs("dropout.missing", places=" and on ".join(missing))
    elif UNSEEN in places:
        x.unseen("dropout.lost")
    else:
        x.same("dropout.same")
