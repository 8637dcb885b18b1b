"""Probes that only call the model: one thing is changed, and the logits move or they do not."""

import math

import torch
from torch import Tensor

from walkthrough.doctor import causes
from walkthrough.doctor.examination import MODES, Examination, listed

NOTHING = 1e-6
"""A change below this is none, in standard deviations of the logits: rounding is below 1e-6."""


def kind_of(logits: Tensor) -> str:
    """Return what the numbers are: probabilities, log-probabilities or logits."""
    if logits.min() >= 0 and (logits.sum(-1) - 1).abs().max() < 1e-3:
        return "probabilities"
    return "log-probabilities" if logits.logsumexp(-1).abs().max() < 1e-3 else "logits"


def output(x: Examination) -> None:
    """Are they logits? Does a softmax run over the vocabulary?"""
    kind, y = kind_of(x.start), x.start
    ones = [a for a in (0, 1) if y.shape[a] > 1 and (y.sum(a) - 1).abs().max() < 1e-3]
    if kind == "logits" and y.min() >= 0 and ones:
        over = ("the sentences of the batch", "the positions")[ones[0]]
        x.bug("output.axis", f"along that axis the outputs add up to 1 ({y.shape})", over=over)
    elif kind == "probabilities":
        x.departs("output.probabilities", "each row is positive and adds up to 1")
    else:
        x.same("output.same", kind=kind, size=y.shape[-1])


def not_both(x: Examination) -> bool:
    """Is one of the two sides no part of the model, as in a decoder or an encoder alone?"""
    for side, name in enumerate(("source", "target")):
        pair = [x.source, x.target]
        pair[side] = x.subject.other(pair[side], side)
        once = not x.tape.looked[side] and x.tape.looked[1 - side] == 1  # one stack reads one side
        if once and x.effect(*pair) <= NOTHING:
            x.unseen("model.alone", "all its words were changed", side=name)
            return True
    return False


def first_loss(x: Examination) -> bool | None:
    """Is the first loss near ln V, where the model is untrained?"""
    flat = [p for p in x.model.parameters() if p.dim() == 1 and len(p) > 1]
    if not any(bool((p == p[0]).all()) for p in flat):  # a gain that is no longer 1 everywhere
        x.unseen("first loss.unseen")
        return False
    y, size = x.start.float(), x.start.shape[-1]
    scores = y.clamp_min(1e-12).log() if kind_of(y) == "probabilities" else y
    drawn = torch.Generator().manual_seed(9)
    words = torch.randint(min(2, size - 1), size, y.shape[:2], generator=drawn).to(y.device)
    ratio = _loss(scores, words) / math.log(size)
    witness, ids = f"the first loss is {ratio:.1f} × ln {size}", x.target.unique()
    if ratio <= 3:
        x.same("first loss.same", witness)
        return None
    rest = [n for n in range(size) if n not in ids.tolist()]  # without the words that are read
    others = _loss(scores[..., rest], words % len(rest)) / math.log(len(rest))
    if others > 3:
        x.bug("first loss.far", witness)
        return None
    x.unseen("first loss.copies", f"{witness}; {others:.1f} × ln {len(rest)} without them")
    return False


def _loss(scores: Tensor, words: Tensor) -> float:
    """Return the mean loss of predicting these words."""
    return float(-scores.log_softmax(-1).gather(-1, words[..., None]).mean())


def repeatable(x: Examination) -> None:
    """Does evaluation give the same output twice?"""
    first = x.run(x.source, x.target)
    with torch.no_grad():
        second = x.subject.logits(x.source, x.target, seeded=False)
    x.repeatable = torch.equal(first, second)
    if x.repeatable:
        x.same("repeatable.same")
        return
    noise = x.tape.dropouts
    witness = f"two calls differ by {float(x.moved(first, second).max()):.2g} standard deviations"
    cause = "dropout stays on" if noise else "cause not found"
    where = listed(where for where, _ in noise)
    x.bug("repeatable.differs", f"{witness} of the logits", where, cause=cause)


def not_a_number(x: Examination) -> None:
    """Do padded batches stay finite, forward and backward; and a row of nothing but padding?"""
    source, target = x.padded(0), x.padded(1)
    n_words = target.shape[1] - 2 - x.first

    def broken(rows: slice) -> str:
        logits = x.run(source, target, grad=True)[rows, :n_words].float()
        if not bool(torch.isfinite(logits).all()):
            return "logits of words"
        if not logits.requires_grad:
            return ""
        wanted = [p for p in x.model.parameters() if p.requires_grad]
        grads = torch.autograd.grad(logits.logsumexp(-1).sum(), wanted, allow_unused=True)
        return "" if all(bool(g.isfinite().all()) for g in grads if g is not None) else "gradients"

    what = broken(slice(None))
    if what:
        x.bug("not a number.padded", "two words of one sentence replaced by padding", what=what)
        return
    source[0] = x.subject.pads[0]
    if what := broken(slice(1, None)):
        x.departs("not a number.others", what=what)
    elif what := broken(slice(0, 1)):
        x.departs("not a number.row", what=what)
    else:
        x.same("not a number.same")


def future(x: Examination) -> bool | None:
    """Change each target word: no prediction before it may move."""
    leaks: dict[str, Tensor] = {}
    for mode, train in MODES:
        moves = _moves(x, 1, train=train)
        if moves is None:
            x.unseen("future.unseen", mode=mode)
            continue
        if len(moves) < moves.shape[1] and not bool(moves[:, 0].any()):
            x.first = 1  # the model drops the first target word, not the last
        x.written = x.written if train else moves
        leaks[mode] = moves.triu(1 + x.first)
        if x.report.leak is None or bool((leaks[mode] > x.far).any()):
            x.report.leak = moves
    x.leaks = {mode: float(m.max()) for mode, m in leaks.items() if float(m.max()) > x.far}
    if not x.leaks:
        modes = " and in ".join(leaks)
        if leaks:
            x.same("future.same", f"{x.target.shape[1]} words changed", modes=modes)
        return None if leaks else False
    mode = max(x.leaks, key=lambda m: x.leaks[m])
    row, column = divmod(int(leaks[mode].argmax()), leaks[mode].shape[1])
    moves_it = f"another target word {column} moves the logits of position {row + x.first}"
    witness = f"{moves_it} by {x.leaks[mode]:.2g} standard deviations, in {mode}"
    if not x.subject.closed:
        x.unseen("future.masks", witness)
        return False
    only = f", in {mode} only" if len(x.leaks) < len(leaks) else ""
    cause, module = causes.of_future(x, train=mode == "training")
    x.bug("future.seen", witness, module, only=only, cause=cause)
    return None


def _moves(
    x: Examination, side: int, *, source: Tensor | None = None, train: bool = False
) -> Tensor | None:
    """Return how far each prediction (rows) moves with each word of a side (columns), or None.

    Of a `source` that is given, the first sentence is looked at.
    """
    pair = [x.source if source is None else source, x.target]
    here = x.run(*pair, train=train)
    if not torch.equal(here, x.run(*pair, train=train)):
        return None
    moves = torch.zeros(here.shape[1], pair[side].shape[1])
    for j in _some(moves.shape[1]):
        other = [ids.clone() for ids in pair]
        other[side][:, j] = x.subject.other(other[side][:, j], side)
        moved = x.moved(x.run(*other, train=train), here)
        moves[:, j] = moved[: None if source is None else 1].amax(0).float()
    return moves


def source(x: Examination) -> None:
    """Does another source change anything?"""
    effect = x.effect(x.subject.other(x.source, 0))
    x.reads_source = effect > NOTHING
    if x.reads_source:
        x.same("source.same", f"other words move the logits by {effect:.2g} standard deviations")
    else:
        x.bug("source.deaf", "three sentences with other words")


def words(x: Examination) -> bool | None:
    """Is every word of the source read, and every word already written?"""
    if not x.reads_source:
        return False
    whole = _moves(x, 0)
    if whole is None or x.written is None:
        return False
    n, inside = x.source.shape[1], range(1, x.base.shape[1] - 1 + x.first)
    which, where = _unread(whole, range(1, n - 1)), ""
    if not which and (padded := _moves(x, 0, source=x.padded(0))) is not None:
        which, where = _unread(padded, range(1, n - 2)), ", in a sentence with padding behind it"
    if which:
        x.bug("words.source", "another word there moves no logit", which=which, where=where)
    missing = _unread(x.written[-1:], inside)
    if len(inside) > 1 and missing == _some(x.target.shape[1], inside):
        x.bug("words.history", f"words 1 to {inside[-1]} changed, one at a time")
    elif missing:
        x.departs("words.some", "changed one at a time", which=missing)
    if not which and not missing:
        x.same("words.same", "changed one at a time")
    return None


def _some(n: int, inside: range | None = None) -> list[int]:
    """Return all of n places, or of many six, and of these the ones inside a range."""
    places = range(n) if n < 20 else (0, 1, 2, n // 2, n - 2, n - 1)
    return [j for j in places if inside is None or j in inside]


def _unread(moves: Tensor, inside: range) -> list[int]:
    """Return the places inside a range whose word moves nothing."""
    return [j for j in _some(moves.shape[1], inside) if moves[:, j].max() <= NOTHING]


def batch(x: Examination) -> None:
    """Give a sentence other company, change its company's padding, and leave it alone."""
    effects: dict[str, float] = {}
    for mode, train in MODES:
        here = x.run(x.source, x.target, train=train)
        if torch.equal(here, x.run(x.source, x.target, train=train)):
            for row in (0, -1):
                pair = x.subject.other(x.source, 0), x.subject.other(x.target, 1)
                pair[0][row], pair[1][row] = x.source[row], x.target[row]
                effect = float(x.moved(x.run(*pair, train=train), here)[row].max())
                how = f"other words in the other sentences, in {mode}"
                effects[how] = max(effect, effects.get(how, 0.0))
    padded = x.padded(0)
    other = padded.clone()
    other[1, -3:] = x.subject.pads[0]
    moved = x.moved(x.run(other, x.target), x.run(padded, x.target))
    effects["padding in another sentence"] = float(moved[[0, *range(2, len(moved))]].max())
    if x.repeatable:
        try:
            alone = x.run(x.source[-1:], x.target[-1:])
            effects["the last sentence alone"] = float(x.moved(alone, x.base[-1:]).max())
        except Exception as error:  # it takes batches only
            x.unseen("batch.alone", error=f"{type(error).__name__}: {error}")
    seen = {how: e for how, e in effects.items() if e > x.far}
    witness = "; ".join(
        f"{how}: {e:.2g} standard deviations" for how, e in (seen or effects).items()
    )
    if seen:
        cause, module = causes.of_company(x, list(seen))
        x.bug("batch.seen", witness, module, cause=cause)
    else:
        x.same("batch.same", witness)


def order(x: Examination) -> bool | None:
    """Turn the source round; repeat one target word."""
    if not x.reads_source:
        return False
    turned = x.effect(x.source.flip(1))
    witness = f"turned round, it moves the logits by {turned:.2g} standard deviations"
    if turned < x.far / 10:
        x.bug("order.source", witness, cause=causes.of_order(x))
    else:
        x.same("order.same", witness)
    one_word = x.target[:, :1].expand_as(x.target).contiguous()
    rows = x.run(x.source, one_word)[:, 1:]
    apart = float(x.moved(rows, rows[:, :1].expand_as(rows)).max())
    if apart < x.far / 10 and x.tape.positions[0] and not x.tape.positions[1]:
        x.bug("order.target", f"its predictions are {apart:.1g} standard deviations apart")
    return None


def without_gradients(x: Examination) -> None:
    """Does `no_grad` compute what is computed with gradients?"""
    source = x.padded(0)
    apart = float(x.moved(x.run(source, x.target), x.run(source, x.target, grad=True)).max())
    say, key = (x.bug, "differs") if apart > x.far else (x.same, "same")
    say(f"no_grad.{key}", f"{apart:.2g} standard deviations")
