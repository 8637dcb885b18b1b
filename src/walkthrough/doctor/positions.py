"""What is added to the embeddings: the paper's table, another known one, or one that is learned."""

import math
from collections.abc import Iterator

import torch
from torch import Tensor

from walkthrough.doctor.causes import along_batch
from walkthrough.doctor.examination import Examination


def _forms(n: int, d: int) -> Iterator[tuple[str, bool, Tensor]]:
    """Yield position tables seen in the wild, the paper's first, and whether one is a mistake."""
    place = torch.arange(n, dtype=torch.float64)[:, None]
    c, half = torch.arange(d, dtype=torch.float64), torch.arange(d // 2, dtype=torch.float64)
    even, paper = c % 2 == 0, 2 * (c // 2) / d

    def pairs(exponent: Tensor, base: int = 10000, sines: Tensor = even) -> Tensor:
        angle = place / base**exponent
        return torch.where(sines, angle.sin(), angle.cos())

    def halves(exponent: Tensor) -> Tensor:
        angle = place / 10000**exponent
        return torch.cat([angle.sin(), angle.cos()], 1)

    twice = "the exponent is twice too large"
    yield "", False, pairs(paper)
    marian = halves(2 * half / d)
    yield "sines in the first half, cosines in the second, as Marian has them", False, marian
    tensor2tensor = halves(half / max(d // 2 - 1, 1))
    yield "in halves, with d/2 − 1 in the exponent, as tensor2tensor has them", False, tensor2tensor
    yield "cosine before sine", False, pairs(paper, sines=~even)
    yield "base 1000 in place of 10000", False, pairs(paper, 1000)
    yield f"{twice} (4i/d in place of 2i/d)", True, pairs(2 * paper)
    yield f"{twice} (2c/d with c the channel)", True, pairs(2 * c / d)
    apart = "sine and cosine of a pair turn at different rates (c/d with c the channel)"
    yield apart, True, pairs(c / d)
    yield "multiplied by the wavelength, not divided", True, pairs(-paper)
    yield "sines only", True, pairs(paper, sines=even | ~even)
    yield "cosines only", True, pairs(paper, sines=even & ~even)


def printed(n: int, d: int) -> Tensor:
    """Return the paper's table, of n positions and d channels."""
    return next(_forms(n, d))[2]


def positions(x: Examination) -> bool | None:
    """Which table is added to the embeddings, and is it the paper's?"""
    found = [] if along_batch(x) else [_table(x, side) for side in (0, 1)]
    if not any(found):
        x.unseen("positions.unseen")
        return False
    for name, one in zip(("source", "target"), found, strict=True):
        if one is not None and one[1]:
            x.departs("positions.learned", side=name)
        elif one is not None:
            _compare(x, name, one[0])
    x.report.positions = found[0][0] if found[0] else None
    return None


def _table(x: Examination, side: int) -> tuple[Tensor, bool] | None:
    """Return what is added to a side's words, a row a position, and whether it is trained."""
    n, ones = x.subject.lengths[side], x.tape.positions[side]
    whole = [one for one in ones if n in one[0].shape[:-1]]  # some add one word's at a time
    for y, trained, *_ in whole or [one for one in ones if max(one[0].shape[:-1]) > 3]:
        if y.dim() == 3:
            y = y[:, 0] if y.shape[0] == n else y[0]
        return y.cpu(), trained
    return None


def _compare(x: Examination, side: str, table: Tensor) -> None:
    n, d = table.shape if table.dim() == 2 else (0, 1)
    forms = _forms(n + 5, d) if n > 2 and d % 2 == 0 else iter(())
    far = ((form, (table.double()[:, None] - form[2]).abs().amax(-1)) for form in forms)
    near = next(((form, by) for form, by in far if float(by.amin(1).max()) < 2e-3), None)
    if near is None:
        x.unseen("positions.unknown", side=side)
        return
    (form, wrong, _), rows = near[0], near[1].argmin(1).tolist()
    apart = float((printed(n, d) - table.double()).abs().max())
    witness = f"largest difference from the paper's table {apart:.2g}, in {n} rows"
    begin = f"they begin with position {rows[0]}" if rows[0] else ""
    if rows != list(range(rows[0], rows[0] + n)):
        x.bug("positions.rows", witness, side=side, rows=rows)
    elif wrong:
        x.bug("positions.wrong", witness, side=side, form=form)
    elif form or begin:
        form = "; ".join(filter(None, (form, begin)))
        x.departs("positions.other", witness, side=side, form=form)
    else:
        x.same("positions.same", witness, side=side)


def embedding_scale(x: Examination) -> None:
    """Are embeddings multiplied by √d_model?"""
    seen = [*x.tape.positions[0], *x.tape.positions[1]]
    # the numbers themselves must say it too
    ratios = [
        (tag.scale, float(y.norm()) / tag.info)
        for *_, tag, y in seen
        if tag.kind == "tok" and tag.info
    ]
    if not ratios or any(abs(ratio - abs(by)) > 1e-2 * abs(by) for by, ratio in ratios):
        x.unseen("√d_model.unseen")
        return
    root = math.sqrt(seen[0][-1].shape[-1])
    factors = sorted({round(by, 4) for by, _ in ratios})
    if all(abs(by / root - 1) < 1e-2 for by in factors):
        x.same("√d_model.same", "measured on the embeddings", root=f"{root:.4g}")
    else:
        by = ", ".join(f"{factor:g}" for factor in factors)
        x.departs("√d_model.other", "measured on the embeddings", factors=by, root=f"{root:.4g}")
