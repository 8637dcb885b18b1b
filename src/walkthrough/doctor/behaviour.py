"""Probes that only call the model: one thing is changed, and the logits move or they do not."""

import math
from contextlib import suppress

import torch
from torch import Tensor
from torch.nn.functional import pad

from walkthrough.doctor import causes
from walkthrough.doctor.examination import Examination

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


def first_loss(x: Examination) -> bool | None:
    """Is the first loss near ln V, where the model is untrained?"""
    flat = [p for p in x.model.parameters() if p.dim() == 1 and len(p) > 1]
    if not any(bool((p == p[0]).all()) for p in flat):  # a gain that is no longer 1 everywhere
        x.unseen("first loss.unseen")
        return False
    y, size = x.start.float(), x.start.shape[-1]
    logp = y.clamp_min(1e-12).log() if kind_of(y) == "probabilities" else y.log_softmax(-1)
    words = torch.randint(min(2, size - 1), size, y.shape[:2], generator=_drawn(9)).to(y.device)
    ratio = float(-logp.gather(-1, words[..., None]).mean()) / math.log(size)
    say, key = (x.bug, "far") if ratio > 3 else (x.same, "same")
    say(f"first loss.{key}", f"the first loss is {ratio:.1f} × ln {size}")
    return None


def _drawn(seed: int) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def repeatable(x: Examination) -> None:
    """Does evaluation give the same output twice?"""
    with torch.no_grad():
        one, two = x.subject.twice(x.source, x.target)
    x.repeatable = torch.equal(one, two)
    if x.repeatable:
        x.same("repeatable.same")
        return
    noise = x.tape.dropouts if x.tape else []
    apart = float(x.moved(one, two).max())
    x.bug(
        "repeatable.differs",
        f"two calls differ by {apart:.2g} standard deviations of the logits",
        causes.listed(where for where, _ in noise),
        cause="dropout stays on" if noise else "cause not found",
    )


def not_a_number(x: Examination) -> None:
    """Do padded batches stay finite, forward and backward; and a row of nothing but padding?"""
    source, target = x.source.clone(), x.target.clone()
    source[0, -2:], target[0, -2:] = x.subject.pads
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
    for mode, train in (("evaluation", False), ("training", True)):
        moves = _moves(x, train=train)
        if moves is None:
            x.unseen("future.unseen", mode=mode)
            continue
        if len(moves) < moves.shape[1] and not bool(moves[:, 0].any()):
            x.first = 1  # the model drops the first target word, not the last
        leaks[mode] = moves.triu(1 + x.first)
        if x.report.leak is None or bool((leaks[mode] > x.far).any()):
            x.report.leak = moves
    x.leaks = {mode: float(m.max()) for mode, m in leaks.items() if float(m.max()) > x.far}
    if not x.leaks:
        if leaks:
            x.same(
                "future.same", f"{x.target.shape[1]} words changed", modes=" and in ".join(leaks)
            )
        return None if leaks else False
    mode = max(x.leaks, key=lambda m: x.leaks[m])
    row, column = divmod(int(leaks[mode].argmax()), leaks[mode].shape[1])
    witness = (
        f"another target word {column} moves the logits of position {row + x.first} by "
        f"{x.leaks[mode]:.2g} standard deviations, in {mode}"
    )
    if not x.subject.closed:
        x.unseen("future.masks", witness)
        return False
    only = f", in {mode} only" if len(x.leaks) < len(leaks) else ""
    cause, module = causes.of_future(x, train=mode == "training")
    x.bug("future.seen", witness, module, only=only, cause=cause)
    return None


def _moves(x: Examination, *, train: bool) -> Tensor | None:
    """Return how far each prediction (rows) moves with each target word (columns), or None."""
    here = x.run(x.source, x.target, train=train)
    if not torch.equal(here, x.run(x.source, x.target, train=train)):
        return None
    n = x.target.shape[1]
    found = torch.zeros(here.shape[1], n)
    for j in _some(range(n)):
        other = x.target.clone()
        other[:, j] = x.subject.other(other[:, j], 1)
        found[:, j] = x.moved(x.run(x.source, other, train=train), here).amax(0).float()
    return found


def source(x: Examination) -> None:
    """Does another source change anything?"""
    other = x.run(x.subject.other(x.source, 0), x.target)
    effect = float(x.moved(other, x.base).max())
    x.reads_source = effect > NOTHING
    if x.reads_source:
        x.same("source.same", f"other words move the logits by {effect:.2g} standard deviations")
    else:
        x.bug("source.deaf", "three sentences with other words")


def words(x: Examination) -> bool | None:
    """Is every word of the source read, and every word already written?"""
    if not x.reads_source:
        return False
    n, last = x.source.shape[1], x.base.shape[1] - 1 + x.first
    padded = x.source.clone()
    padded[0, -2:] = x.subject.pads[0]
    whole = _unread(x, x.source, 0, range(1, n - 1))
    short = [] if whole else _unread(x, padded, 0, range(1, n - 2))
    missing = _unread(x, x.source, 1, range(1, last))
    if whole or short:
        where = "" if whole else ", in a sentence with padding behind it"
        x.bug(
            "words.source", "another word there moves no logit", which=whole or short, where=where
        )
    if last > 2 and missing == _some(range(1, last)):
        x.bug("words.history", f"words 1 to {last - 1} changed, one at a time")
    elif missing:
        x.departs("words.some", "changed one at a time", which=missing)
    if not (whole or short or missing):
        x.same("words.same", "changed one at a time")
    return None


def _some(places: range) -> list[int]:
    """Return all places, or of a long sentence six."""
    n = len(places)
    return list(places) if n < 20 else [places[i] for i in (0, 1, 2, n // 2, n - 2, n - 1)]


def _unread(x: Examination, source: Tensor, side: int, places: range) -> list[int]:
    """Return the places of the first sentence whose word moves nothing, in its last prediction."""
    before = x.run(source, x.target)[0]
    found = []
    for j in _some(places):
        pair = [source.clone(), x.target.clone()]
        pair[side][:, j] = x.subject.other(pair[side][:, j], side)
        moved = x.moved(x.run(*pair)[0], before)
        if float((moved[-1:] if side else moved).max()) <= NOTHING:
            found.append(j)
    return found


def batch(x: Examination) -> None:
    """Give a sentence other company, change its company's padding, and leave it alone."""
    found: dict[str, float] = {}
    for mode, train in (("evaluation", False), ("training", True)):
        here = x.run(x.source, x.target, train=train)
        if torch.equal(here, x.run(x.source, x.target, train=train)):
            for row in (0, -1):
                pair = x.subject.other(x.source, 0), x.subject.other(x.target, 1)
                pair[0][row], pair[1][row] = x.source[row], x.target[row]
                effect = float(x.moved(x.run(*pair, train=train), here)[row].max())
                how = f"other words in the other sentences, in {mode}"
                found[how] = max(effect, found.get(how, 0.0))
    padded = x.source.clone()
    padded[0, -2:] = x.subject.pads[0]
    other = padded.clone()
    other[1, -3:] = x.subject.pads[0]
    moved = x.moved(x.run(other, x.target), x.run(padded, x.target))
    found["padding in another sentence"] = float(moved[[0, *range(2, len(moved))]].max())
    if x.repeatable:
        try:
            alone = x.run(x.source[-1:], x.target[-1:])
            found["the last sentence alone"] = float(x.moved(alone, x.base[-1:]).max())
        except Exception as error:  # it takes batches only
            x.unseen("batch.alone", error=f"{type(error).__name__}: {error}")
    seen = {how: e for how, e in found.items() if e > x.far}
    witness = "; ".join(f"{how}: {e:.2g} standard deviations" for how, e in (seen or found).items())
    if seen:
        cause, module = causes.of_company(x, list(seen))
        x.bug("batch.seen", witness, module, cause=cause)
    else:
        x.same("batch.same", witness)


def order(x: Examination) -> bool | None:
    """Turn the source round; repeat one target word."""
    if not x.reads_source:
        return False
    turned = float(x.moved(x.run(x.source.flip(1), x.target), x.base).max())
    witness = f"turned round, it moves the logits by {turned:.2g} standard deviations"
    if turned < x.far / 10:
        x.bug("order.source", witness, cause=causes.of_order(x))
    else:
        x.same("order.same", witness)
    one_word = x.target[:, :1].expand_as(x.target).contiguous()
    rows = x.run(x.source, one_word)[:, 1:]
    apart = float(x.moved(rows, rows[:, :1].expand_as(rows)).max())
    if apart < x.far / 10 and x.tape and x.tape.positions[0] and not x.tape.positions[1]:
        x.bug("order.target", f"its predictions are {apart:.1g} standard deviations apart")
    return None


def without_gradients(x: Examination) -> bool | None:
    """Does `no_grad` compute what is computed with gradients?"""
    source = x.source.clone()
    source[0, -2:] = x.subject.pads[0]
    apart = float(x.moved(x.run(source, x.target), x.run(source, x.target, grad=True)).max())
    say, key = (x.bug, "differs") if apart > x.far else (x.same, "same")
    say(f"no_grad.{key}", f"{apart:.2g} standard deviations")
    return None


def padding(x: Examination) -> bool | None:
    """Put padding behind the sentences, and shake the row of padding: no word's logits may move."""
    done = [_padding_of(x, side) for side in (0, 1)]
    return None if any(done) else False


def _padding_of(x: Examination, side: int) -> bool:
    name = ("source", "target")[side]
    if side and x.leaks:
        x.unseen("padding.future")
        return False
    effects, pad_id = _effects(x, side), x.subject.pads[side]
    if not effects:
        x.unseen("padding.length", side=name)
        return False
    if max(effects.values()) <= x.far:
        x.same("padding.same", _told(effects, pad_id), side=name)
        return True
    others = range(x.subject.words[0]) if x.guessed and side == 0 else ()
    for other in others:
        x.subject.pads = (other, other)
        if other != pad_id and max((_effects(x, 0) or {"": 1.0}).values()) <= x.far:
            x.unseen("padding.other", _told(effects, pad_id), given=pad_id, other=other)
            return True
    x.subject.pads = (pad_id, pad_id) if others else x.subject.pads
    if not x.subject.closed:
        x.unseen("padding.masks", _told(effects, pad_id), side=name)
        return False
    cause, module = causes.of_padding(x) if side == 0 else (causes.NOT_FOUND, "")
    x.bug("padding.read", _told(effects, pad_id), module, side=name, cause=cause)
    return True


def _told(effects: dict[str, float], pad_id: int) -> str:
    said = {
        "behind": f"three tokens {pad_id} behind the sentence",
        "row": f"the embedding of token {pad_id} moved",
    }
    return "; ".join(f"{said[how]}: {e:.2g} standard deviations" for how, e in effects.items())


def _effects(x: Examination, side: int) -> dict[str, float]:
    """Return how far words' logits move with padding behind a side, and with padding's row."""
    found, pad_id = {}, x.subject.pads[side]
    if x.subject.any_length and x.repeatable:
        pair = [x.source, x.target]
        pair[side] = pad(pair[side], (0, 3), value=pad_id)
        with suppress(Exception):  # it may take no longer sentences
            found["behind"] = float(x.moved(x.run(*pair)[:, : x.base.shape[1]], x.base).max())
    table = x.tape.tables.get(side) if x.tape else None
    if table is not None and pad_id < len(table):
        pair = [x.source.clone(), x.target.clone()]
        if _row_moves(x, table, pad_id, pair, x.base.shape[1]) <= x.far:  # it is nothing else
            pair[side][:, -2:] = pad_id
            n_words = x.base.shape[1] - (2 if side else 0)
            found["row"] = _row_moves(x, table, pad_id, pair, n_words)
    return found


def _row_moves(
    x: Examination, table: Tensor, pad_id: int, pair: list[Tensor], n_words: int
) -> float:
    """Return how far the first predictions move with a row of the embedding, but for its logit."""

    def clean() -> Tensor:
        y = x.run(*pair)[:, :n_words].float()
        y = y.clamp_min(1e-12).log() if kind_of(y) == "probabilities" else y
        return y[..., torch.arange(y.shape[-1], device=y.device) != pad_id].log_softmax(-1)

    before, was = clean(), table.data[pad_id].clone()
    noise = torch.randn(was.shape, generator=_drawn(5)).to(was)
    table.data[pad_id] += noise * table.data.std()
    after = clean()
    table.data[pad_id] = was
    return float(x.moved(after, before).max())
