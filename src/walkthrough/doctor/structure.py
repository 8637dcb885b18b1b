"""What the tape says of attention, norms, sums and dropout, each with numbers to witness it."""

import math
from collections import Counter

from torch import nn

from walkthrough.doctor.causes import apart, confirmed, listed
from walkthrough.doctor.examination import Examination
from walkthrough.doctor.tape import Attention, Tape

ACTIVE = {"relu", "threshold", "clamp_min", "maximum", "clamp"}
PAPER_DROPS = ("a sub-layer's output", "embedding and positions")
UNSEEN = "a place that was not seen"


def _attentions(x: Examination, *kinds: str) -> list[Attention]:
    ones = x.tape.attentions if x.tape else []
    return [a for a in ones if not kinds or a.kind in kinds]


def _d_model(tape: Tape) -> int:
    return next((table.shape[1] for table in tape.tables.values()), 0)


def heads(x: Examination) -> bool | None:
    """Does a row of queries, keys, values or of the merge hold several positions?"""
    if x.tape is None or not (x.tape.merges or x.tape.mixed):
        x.unseen("heads.unseen")
        return False
    found = confirmed(x, x.tape)
    for what in dict.fromkeys(one.what for one in found):
        where = listed(one.where for one in found if one.what == what)
        key = "merge" if what == "merge" else "split"
        x.bug(f"heads.{key}", "a row moved by hand moves parts of other rows", where, what=what)
    shared = [a for a in _attentions(x) if a.query.shape == (a.d_k, a.d_k)]
    shared = [a for a in shared if a.d_k < _d_model(x.tape)]
    if shared:
        n, d_k = f"{len(shared)} of {len(_attentions(x))} attentions", shared[0].d_k
        x.bug("heads.one_projection", n, listed(a.where for a in shared), d_k=d_k)
    if not found and not shared:
        x.same("heads.same", f"{x.tape.merges} merges followed")
    return None


def softmax(x: Examination) -> bool | None:
    """Do a word's weights add up to 1 over the keys?"""
    ones = [(a, a.added_up) for a in _attentions(x) if a.added_up is not None]
    if not ones:
        x.unseen("softmax.unseen")
        return False
    odd = [(a, far) for a, far in ones if far > 1e-3]
    if not odd:
        x.same("softmax.same", f"{len(ones)} attentions")
        return None
    weights, far = odd[0][0].weights, max(far for _, far in odd)
    last = weights.dim() - 1
    other = [d for d in range(last) if float((weights.sum(d) - 1).abs().max()) < 1e-3]
    whole = float((weights.sum(last) - 1).abs().max()) < 1e-3
    along = f", along axis {other[0]} of {tuple(weights.shape)} they add up to 1" if other else ""
    say, key = (x.bug, "axis") if other and not whole else (x.departs, "changed")
    say(f"softmax.{key}", f"up to {far:.2g} away{along}", listed(a.where for a, _ in odd))
    return None


def scale(x: Examination) -> None:
    """By what are scores multiplied before the softmax?"""
    ones = [a for a in _attentions(x) if a.query.kind == a.key.kind == "lin"]
    odd = [a for a in ones if abs(a.scale * math.sqrt(a.d_k) - 1) > 1e-2]
    if not ones or x.tape is None:
        x.unseen("scale.unseen")
    elif not odd:
        x.same("scale.same", f"{len(ones)} attentions, d_k {ones[0].d_k}")
    else:
        a, whole = odd[0], _d_model(x.tape)
        how = f"multiplied by {a.scale:.4g}"
        if abs(a.scale - 1) < 1e-6:
            how = "not scaled"
        elif whole and abs(a.scale * math.sqrt(whole) - 1) < 1e-2:
            how = f"divided by √d_model = {math.sqrt(whole):.4g}"
        witness, where = f"{len(odd)} of {len(ones)} attentions", listed(a.where for a in odd)
        x.departs("scale.other", witness, where, how=how, root=f"{math.sqrt(a.d_k):.4g}")


def masks(x: Examination) -> None:
    """Is anything closed, in sentences without padding, that the paper leaves open?"""
    named = {"encoder": "the encoder's self-attention", "cross": "the attention to the source"}
    closed = False
    for kind, which in named.items():
        ones = [(a, (a.weights == 0) & (a.scores < -900)) for a in _attentions(x, kind)]
        shut = [(a, m) for a, m in ones if bool(m.any())]
        closed = closed or bool(shut)
        if shut:
            witness, where = f"{len(shut)} of {len(ones)} maps", listed(a.where for a, _ in shut)
            share = f"{100 * float(shut[0][1].float().mean()):.0f}"
            x.departs("masks.closed", witness, where, share=share, which=which)
    counts = Counter(a.kind for a in _attentions(x) if a.kind)
    if counts:
        x.same("layers.same", counts=", ".join(f"{n} {kind}" for kind, n in counts.items()))
    if not closed and counts["encoder"] and counts["cross"]:
        x.same("masks.same")


def memory(x: Examination) -> None:
    """Do all decoder layers read the same output of the encoder?"""
    ones = [(a, a.key.root) for a in _attentions(x, "cross") if a.key.root is not None]
    if not ones or x.tape is None:
        return
    before = {id(out): tag.root for _, tag, _, out, _ in x.tape.norms}
    first = ones[0][1]
    far = 0.0
    for _, root in ones:
        # each layer may normalise the memory with a norm of its own
        choices = [(root, first), (before.get(id(root)), before.get(id(first)))]
        pairs = [(a, b) for a, b in choices if a is not None and b is not None]
        same_shape = [(a, b) for a, b in pairs if a.shape == b.shape]
        far = max(far, min((apart(a, b) for a, b in same_shape), default=0.0))
    where = listed(a.where for a, _ in ones)
    if any((tag := x.tape.tag(root)) and tag.kind in ("sum", "tok") for _, root in ones):
        x.departs("memory.embeddings", module=where)
    elif far > 1e-4:
        x.departs("memory.levels", f"largest difference {far:.2g}", where)
    else:
        x.same("memory.same", f"{len(ones)} layers")


def feed_forward(x: Examination) -> bool | None:
    """Which bend stands between the two maps of the feed-forward network?"""
    seen = x.tape.bends if x.tape else []
    ones = [(where, fn, tag) for where, fn, tag, out in seen if tag.shape[0] == out < tag.shape[1]]
    if not ones:
        x.unseen("feed-forward.unseen")
        return False
    straight = [where for where, fn, _ in ones if not fn]
    fns, n = sorted({fn for _, fn, _ in ones if fn}), f"{len(ones)} networks"
    if straight:
        x.bug("feed-forward.straight", f"{len(straight)} of {n}", listed(straight))
    if set(fns) - ACTIVE:
        x.departs("feed-forward.other", n, fns=", ".join(fns))
    elif fns:
        x.same("feed-forward.same", n)
    if not all(tag.bias for *_, tag in ones):
        x.departs("feed-forward.bias", n)
    return None


def norms(x: Examination) -> None:
    """How is normalised?"""
    if x.tape is None:
        return
    inside = sum(not registered for *_, registered in x.tape.norms)
    if inside:
        x.departs("norm.inside", n=inside)
    names = {m: name for name, m in x.model.named_modules()}
    found = x.tape.norm_modules
    for how, n in Counter(found.values()).items():
        where = listed(names[m] for m, one in found.items() if one == how)
        if how == "layer":
            x.same("norm.same", f"{n} norms")
        elif "over positions" in how:
            x.departs("norm.over_positions", f"{n} norms", where)
        else:
            x.departs("norm.rms" if how == "rms" else "norm.unbiased", f"{n} norms")
    if not found and not inside:
        x.unseen("norm.unseen")


def norm_place(x: Examination) -> None:
    """Does a norm stand behind the sum, or before the sub-layer?"""
    if x.tape is None or not x.tape.sums or not x.tape.norms:
        x.unseen("norm's place.unseen")
        return
    n = f"{len(x.tape.norms)} norms"
    post = any(tag.kind == "res" and id(out) in x.tape.added for _, tag, _, out, _ in x.tape.norms)
    pre = any(id(tag.root) in x.tape.added for _, tag, *_ in x.tape.norms)
    if post and not pre:
        x.same("norm's place.same", n)
    else:
        x.departs("norm's place.pre" if pre and not post else "norm's place.mixed", n)
    if post and any(tag.kind == "sum" for _, tag, *_ in x.tape.norms):
        x.departs("norm's place.embeddings")


def residual(x: Examination) -> None:
    """Is a sub-layer's result added to what the sub-layer began with?"""
    if x.tape is None or not x.tape.sums:
        x.unseen("residual.unseen")
        return
    before = {id(out): tag.root for _, tag, _, out, _ in x.tape.norms}
    odd = []
    for where, branch, skip in x.tape.sums:
        begun = (branch.root, before.get(id(branch.root)))
        near = [
            apart(root, skip.root)
            for root in begun
            if root is not None and skip.root is not None and root.shape == skip.root.shape
        ]
        if near and min(near) > 1e-4:
            odd.append((where, min(near)))
    if odd:
        witness = f"{len(odd)} of {len(x.tape.sums)} sums; the two differ by {odd[0][1]:.2g}"
        x.departs("residual.other", witness, listed(where for where, _ in odd))
    else:
        x.same("residual.same", f"{len(x.tape.sums)} sums")


def dropout(x: Examination) -> None:
    """Where are numbers dropped in training?"""
    tape = x.tapes.get(True)
    if tape is None:
        return
    places = Counter(on for _, on in tape.dropouts)
    if not places:
        drops = any(m.p > 0 for m in x.model.modules() if isinstance(m, nn.Dropout))
        say, key = (x.departs, "never") if drops else (x.unseen, "unseen")
        say(f"dropout.{key}")
        return
    if not any(tape.positions.values()):  # then it stands where the sum would be
        places[PAPER_DROPS[1]] += places.pop("the embedding alone", 0)
    extra = [f"{on} ({n} times)" for on, n in places.items() if on not in (*PAPER_DROPS, UNSEEN)]
    missing = [on for on in PAPER_DROPS if on not in places and UNSEEN not in places]
    if extra:
        x.departs("dropout.extra", places=", ".join(extra))
    if missing:
        x.departs("dropout.missing", places=" and on ".join(missing))
    if not extra and not missing and UNSEEN not in places:
        x.same("dropout.same")
