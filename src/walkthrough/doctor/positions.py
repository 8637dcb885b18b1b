"""What is added to the embeddings: the paper's table, another known one, or one that is learned."""

import math

import torch
from torch import Tensor

from walkthrough.doctor.causes import along_batch
from walkthrough.doctor.examination import Examination


def _forms(n: int, d: int) -> dict[str, tuple[bool, Tensor]]:
    """Return position tables seen in the wild, the paper's first, and whether one is a mistake."""
    pos = torch.arange(n, dtype=torch.float64)[:, None]
    c, half = torch.arange(d, dtype=torch.float64), torch.arange(d // 2, dtype=torch.float64)
    paper = -2 * (c // 2) / d

    def pairs(rate: Tensor, first: int = 0) -> Tensor:
        return torch.where(c % 2 == first, (pos * rate).sin(), (pos * rate).cos())

    def halves(exponent: Tensor) -> Tensor:
        angle = pos * 10000**exponent
        return torch.cat([angle.sin(), angle.cos()], 1)

    return {
        "": (False, pairs(10000**paper)),
        "sines in the first half, cosines in the second, as Marian has them": (
            False,
            halves(-2 * half / d),
        ),
        "in halves, with d/2 − 1 in the exponent, as tensor2tensor has them": (
            False,
            halves(-half / max(d // 2 - 1, 1)),
        ),
        "cosine before sine": (False, pairs(10000**paper, 1)),
        "base 1000 in place of 10000": (False, pairs(1000**paper)),
        "the exponent is twice too large (4i/d in place of 2i/d)": (
            True,
            pairs(10000 ** (2 * paper)),
        ),
        "the exponent is twice too large (2c/d with c the channel)": (
            True,
            pairs(10000 ** (-2 * c / d)),
        ),
        "sine and cosine of a pair turn at different rates (c/d with c the channel)": (
            True,
            pairs(10000 ** (-c / d)),
        ),
        "multiplied by the wavelength, not divided": (True, pairs(10000**-paper)),
        "sines only": (True, (pos * 10000**paper).sin()),
        "cosines only": (True, (pos * 10000**paper).cos()),
    }


def printed(n: int, d: int) -> Tensor:
    """Return the paper's table, of n positions and d channels."""
    return _forms(n, d)[""][1]


def layout(table: Tensor) -> tuple[str, bool, list[int]] | None:
    """Return the form of a table, whether it is a mistake, and the position of each row."""
    if table.dim() != 2 or len(table) < 3 or table.shape[1] % 2:
        return None
    for name, (wrong, want) in _forms(len(table) + 5, table.shape[1]).items():
        far = (table.double()[:, None] - want[None]).abs().amax(-1)
        if float(far.amin(1).max()) < 2e-3:
            return name, wrong, far.argmin(1).tolist()
    return None


def positions(x: Examination) -> bool | None:
    """Which table is added to the embeddings, and is it the paper's?"""
    if x.tape is None or not any(x.tape.positions.values()) or along_batch(x):
        x.unseen("positions.unseen")
        return False
    for side, name in enumerate(("source", "target")):
        for table, trained, *_ in x.tape.positions[side][:1]:
            y = table.cpu()
            if y.dim() == 3:
                y = y[:, 0] if y.shape[0] == x.subject.lengths[side] else y[0]
            if side == 0:
                x.report.positions = y
            if trained:
                x.departs("positions.learned", side=name)
            else:
                _compare(x, name, y)
    return None


def _compare(x: Examination, side: str, table: Tensor) -> None:
    found = layout(table)
    if found is None:
        x.unseen("positions.unknown", side=side)
        return
    form, wrong, rows = found
    apart = float((printed(*table.shape) - table.double()).abs().max())
    witness = f"largest difference from the paper's table {apart:.2g}, in {len(rows)} rows"
    if rows != list(range(rows[0], rows[0] + len(rows))):
        x.bug("positions.rows", witness, side=side, rows=rows)
    elif wrong:
        x.bug("positions.wrong", witness, side=side, form=form)
    elif form or rows[0]:
        begin = f"they begin with position {rows[0]}" if rows[0] else ""
        x.departs(
            "positions.other", witness, side=side, form="; ".join(filter(None, (form, begin)))
        )
    else:
        x.same("positions.same", witness, side=side)


def embedding_scale(x: Examination) -> None:
    """Are embeddings multiplied by √d_model?"""
    seen = [(tag, y) for ones in x.tape.positions.values() for *_, tag, y in ones] if x.tape else []
    seen = [(tag, y) for tag, y in seen if tag.kind == "tok" and tag.root is not None]
    # the numbers themselves must say it too
    ratios = [
        (tag.scale, float(y.norm() / tag.root.detach().norm()))
        for tag, y in seen
        if tag.root is not None
    ]
    if not seen or any(abs(ratio - abs(by)) > 1e-2 * abs(by) for by, ratio in ratios):
        x.unseen("√d_model.unseen")
        return
    root = math.sqrt(seen[0][1].shape[-1])
    factors = sorted({round(by, 4) for by, _ in ratios})
    if all(abs(by / root - 1) < 1e-2 for by in factors):
        x.same("√d_model.same", "measured on the embeddings", root=f"{root:.4g}")
    else:
        said = ", ".join(f"{by:g}" for by in factors)
        x.departs("√d_model.other", "measured on the embeddings", factors=said, root=f"{root:.4g}")
