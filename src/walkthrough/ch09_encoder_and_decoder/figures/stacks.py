"""Two stacks of layers, and the memory that every layer of the second one reads (§3, Figure 1)."""

from itertools import pairwise

from walkthrough.drawing.style import KEY, PALETTE, QUERY
from walkthrough.drawing.svg import Drawing, arrow, box_at, drawing, words_at

_STEP, _HEIGHT, _WIDTH, _LEFT, _RIGHT, _BUS = 27, 20, 122, 4, 217, 172


def stacks(n_layers: int = 6, *, title: str = "Every decoder layer reads the memory") -> Drawing:
    """Return both stacks, layer upon layer, with an arrow from the memory to each decoder layer."""
    tops = [40 + _STEP * (n_layers - 1 - n) for n in range(n_layers)]  # of layers 1, 2, …
    floor = tops[0] + _HEIGHT
    body = arrow(
        f"M{_LEFT + _WIDTH} 18H{_BUS}V{tops[0] + _HEIGHT / 2:g}H{_RIGHT - 1}", "stacks", 2.0
    )
    for left, ink, kind, end, words in (
        (_LEFT, PALETTE["blue"], "encoder", "memory", "source words"),
        (_RIGHT, QUERY, "decoder", "next words", "target words so far"),
    ):
        middle = left + _WIDTH / 2
        body += box_at(left, 8, _WIDTH, _HEIGHT, KEY if kind == "encoder" else PALETTE["grey"])
        body += words_at(middle, 22, end) + words_at(middle, floor + 28, words)
        for n, top in enumerate(tops, start=1):
            body += box_at(left, top, _WIDTH, _HEIGHT, ink)
            body += words_at(middle, top + 14, f"{kind} layer {n}")
            if kind == "decoder" and n > 1:
                body += arrow(f"M{_BUS} {top + _HEIGHT / 2:g}H{_RIGHT - 1}", "stacks", 2.0)
        for below, above in pairwise([floor + 14, *tops]):
            ends = above + _HEIGHT if above != tops[0] else floor
            body += arrow(f"M{middle:g} {below}V{ends + 1}", "stacks")
        body += arrow(f"M{middle:g} {tops[-1]}V29", "stacks")
    return drawing(
        body,
        kind="stacks",
        label="stacks",
        size=(343, floor + 34),
        width=470,
        title=title,
        description=(
            f"Left, {n_layers} encoder layers, each above the one that it reads; on top of them "
            f"stands the memory. From it an arrow leads to each of {n_layers} decoder layers on "
            "the right, which are stacked in the same way and end in the next words."
        ),
    )
