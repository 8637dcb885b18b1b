"""Is padding read? It is put behind the sentences, and its row of the embedding is shaken."""

from contextlib import suppress

import torch
from torch import Tensor
from torch.nn.functional import pad

from walkthrough.doctor import causes
from walkthrough.doctor.behaviour import kind_of
from walkthrough.doctor.examination import Examination


def padding(x: Examination) -> bool | None:
    """Put padding behind the sentences, and shake the row of padding: no word's logits may move."""
    done = [_padding_of(x, side) for side in (0, 1)]
    return None if any(done) else False


def _padding_of(x: Examination, side: int) -> bool:
    name, subject = ("source", "target")[side], x.subject
    if side and x.leaks:
        x.unseen("padding.future")
        return False
    effects, pads, pad_id = _effects(x, side), subject.pads, subject.pads[side]
    witness = "; ".join(f"{how}: {e:.2g} standard deviations" for how, e in effects.items())
    if not effects:
        x.unseen("padding.length", side=name)
        return False
    if max(effects.values()) <= x.far:
        x.same("padding.same", witness, side=name)
        return True
    for other in range(subject.words[0]) if x.guessed and side == 0 else ():
        subject.pads = (other, other)
        if other != pad_id and max((_effects(x, 0) or {"": 1.0}).values()) <= x.far:
            x.unseen("padding.other", witness, given=pad_id, other=other)
            return True
    subject.pads = pads
    if not subject.closed:
        x.unseen("padding.masks", witness, side=name)
        return False
    cause, module = causes.of_padding(x) if side == 0 else (causes.NOT_FOUND, "")
    x.bug("padding.read", witness, module, side=name, cause=cause)
    return True


def _effects(x: Examination, side: int) -> dict[str, float]:
    """Return how far words' logits move with padding behind a side, and with padding's row."""
    effects, pad_id = {}, x.subject.pads[side]
    if x.subject.any_length and x.repeatable:
        pair = [x.source, x.target]
        pair[side] = pad(pair[side], (0, 3), value=pad_id)
        with suppress(Exception):  # it may take no longer sentences
            effects[f"three tokens {pad_id} behind the sentence"] = x.effect(*pair)
    table = x.tape.tables.get(side)
    if isinstance(table, torch.nn.Parameter) and pad_id < len(table):
        pair, n = [x.source, x.target], x.base.shape[1]
        if _row_moves(x, table, pad_id, pair, n) <= x.far:  # it is nothing else
            pair[side] = x.padded(side, slice(None))
            moved = _row_moves(x, table, pad_id, pair, n - 2 * side)
            effects[f"the embedding of token {pad_id} moved"] = moved
    return effects


def _row_moves(x: Examination, table: Tensor, pad_id: int, pair: list[Tensor], n: int) -> float:
    """Return how far the first predictions move with a row of the embedding, but for its logit."""

    def clean() -> Tensor:
        y = x.run(*pair)[:, :n].float()
        y = y.clamp_min(1e-12).log() if kind_of(y) == "probabilities" else y
        return y[..., torch.arange(y.shape[-1], device=y.device) != pad_id].log_softmax(-1)

    before, was = clean(), table.data[pad_id].clone()
    table.data[pad_id] += (
        torch.randn(was.shape, generator=torch.Generator().manual_seed(5)).to(was)
        * table.data.std()
    )
    after = clean()
    table.data[pad_id] = was
    return float(x.moved(after, before).max())
