"""How to read an experiment: seven words on one invented example, before the first real card."""

from collections.abc import Callable, Sequence
from statistics import fmean

from walkthrough.drawing.scene import Scene, scene
from walkthrough.drawing.style import CATEGORIES
from walkthrough.drawing.svg import words_at
from walkthrough.lab.intervals import Point, point
from walkthrough.lab.measures import scale_of

OLD, NEW = (62, 70, 65, 74, 68), (71, 76, 74, 78, 79)
_INK = CATEGORIES[0]
_LEFT, _RIGHT, _DOTS, _MEAN = 52, 132, 226, 288
_TOP, _GROUND = 34, 180
WORDS = ("update", "rate", "seed", "pair", "difference", "interval", "verdict")
_CSS = """
#scene-experiment svg{max-width:430px;width:100%;height:auto}
.reading g{opacity:.2;transition:opacity .35s}
.reading text{font-size:12.6px}
#scene-experiment .says{min-height:4.1em}
@supports not selector(:has(*)){.reading g{opacity:1}}
@media print{.reading g{opacity:1!important}}
"""


def how_to_read(
    old: Sequence[int] = OLD,
    new: Sequence[int] = NEW,
    *,
    first: int = 0,
    question: str = "Seven words of every experiment",
) -> Scene:
    """Return the runs of two arms, pair by pair, and their differences; a button explains a word.

    `old` and `new` are right answers in per cent, one for each seed.
    """
    gaps = [float(n - o) for o, n in zip(old, new, strict=True)]
    at = point(0, gaps, scale_of("accuracy"))
    verdict = ("better" if at.mean > 0 else "worse") if at.stands_out else "not told apart"
    description = (
        f"Two columns of dots, {len(gaps)} runs of an old and a new arm, joined in pairs; beside "
        f"them the differences of the pairs, their mean {at.mean:.1f} and its interval "
        f"{at.low:.1f} to {at.high:.1f}, above 0."
    )
    stage = (
        '<svg class="reading" viewBox="0 0 343 246" fill="none" stroke="currentColor" '
        f'role="presentation">{_drawn(old, new, at, verdict)}</svg>'
    )
    return scene(
        "experiment",
        stage,
        description=description,
        question=question,
        choices=WORDS,
        says=_told(old, new, at, verdict),
        first=first,
        css=_CSS,
    )


def _told(old: Sequence[int], new: Sequence[int], at: Point, verdict: str) -> tuple[str, ...]:
    """A sentence for each of the words."""
    last, n = -1, len(old)
    return (
        "One <b>update</b> is one step of training: the loss of a batch, its gradient, and every "
        "number of the model moves a little. Both arms, <i>old</i> and <i>new</i>, have had 400.",
        "The <b>rate</b>, or learning rate, says how far an update moves the numbers. Each arm is "
        "trained at several rates and shown at its best: ×2 is twice the rate that is usual for "
        "it.",
        "The <b>seed</b> is the number that chance starts from: the first weights, the order of "
        f"the batches. {n} seeds make {n} runs of each arm; a dot is a run.",
        "Two runs with one seed are a <b>pair</b>. They differ in nothing but what is tested, "
        "and a line joins them.",
        "<b>Difference</b> means new less old, pair by pair. The framed pair gives "
        f"{new[last]} − {old[last]} = {new[last] - old[last]} points. Above 0, <i>new</i> is "
        "better; below 0, <i>old</i>.",
        f"The diamond is the mean difference, {at.mean:.1f} points. Other seeds would have given "
        f"another one. The bar is its <b>interval</b>, {at.low:.1f} to {at.high:.1f}: made in this "
        "way, 95 bars of 100 hold what very many seeds would give.",
        f"The bar {'leaves 0 out' if at.stands_out else 'holds 0'}, at the best rates of both "
        f"arms: the <b>verdict</b> is <i>{verdict}</i>. With 0 inside it would be "
        "<i>not told apart</i>, which does not mean "
        "<i>equal</i>.",
    )


def _drawn(old: Sequence[int], new: Sequence[int], at: Point, verdict: str) -> str:
    """The runs on the left, their differences on the right; each part knows its words."""
    gaps, last = [float(n - o) for o, n in zip(old, new, strict=True)], -1
    low, high = min(*old, *new) - 2, max(*old, *new) + 2

    def level(value: float | int) -> float:
        return _GROUND - (_GROUND - _TOP) * (value - low) / (high - low)

    def gap(value: float | int) -> float:
        return _GROUND - (_GROUND - _TOP) * value / (max(*gaps, at.high) + 1)

    ends = [
        f'<line x1="{_LEFT}" y1="{level(o):.1f}" x2="{_RIGHT}" y2="{level(n):.1f}"/>'
        for o, n in zip(old, new, strict=True)
    ]
    runs = "".join(
        _dot(x, level(value)) for x, arm in ((_LEFT, old), (_RIGHT, new)) for value in arm
    )
    frames = "".join(
        f'<circle cx="{x}" cy="{y:.1f}" r="8" fill="none"/>'
        for x, y in (
            (_LEFT, level(old[last])),
            (_RIGHT, level(new[last])),
            (_DOTS, gap(gaps[last])),
        )
    )
    return (
        words_at(4, 14, "right answers, per cent", "start")
        + words_at(_LEFT, 200, "old")
        + words_at(_RIGHT, 200, "new")
        + _seen("0", words_at((_LEFT + _RIGHT) / 2, 236, "after 400 updates"))
        + _seen("1", words_at(_LEFT, 217, "at ×1") + words_at(_RIGHT, 217, "at ×2"))
        + _seen("234", runs)
        + _seen("34", f'<g stroke="{_INK}" stroke-width="1.5">{"".join(ends)}</g>', inner=True)
        + _seen("4", frames)
        + _seen("456", _differences(gaps, gap))
        + _seen("56", _interval(fmean(gaps), at.low, at.high, gap))
        + _seen("6", words_at(_MEAN, 236, verdict))
    )


def _seen(frames: str, drawn: str, *, inner: bool = False) -> str:
    """Return a part that stands out in these frames."""
    drawn = drawn.replace("<g ", '<g style="opacity:1" ') if inner else drawn
    return f'<g class="{" ".join(f"on-{n}" for n in frames)}">{drawn}</g>'


def _dot(x: float | int, y: float | int) -> str:
    return f'<circle cx="{x:g}" cy="{y:.1f}" r="4" fill="{_INK}" stroke="none"/>'


def _differences(gaps: Sequence[float], height: Callable[[float | int], float]) -> str:
    ground = height(0)
    return (
        words_at(196, 14, "difference, points", "start")
        + f'<line x1="196" y1="{ground:g}" x2="330" y2="{ground:g}"/>'
        + words_at(190, ground + 4, "0", "end")
        + words_at(338, 34, "↑ new better", "end")
        + words_at(338, ground + 20, "↓ old better", "end")
        + words_at(_DOTS, 217, f"{len(gaps)} pairs")
        + "".join(_dot(_DOTS, height(value)) for value in gaps)
    )


def _interval(mean: float, low: float, high: float, height: Callable[[float | int], float]) -> str:
    y = height(mean)
    colour = CATEGORIES[1]
    return (
        f'<line x1="{_MEAN}" y1="{height(low):.1f}" x2="{_MEAN}" y2="{height(high):.1f}" '
        f'stroke="{colour}" stroke-width="2.5"/><path d="M{_MEAN} {y - 7:.1f}l6 7l-6 7l-6 -7z" '
        f'style="fill:{colour}" stroke="none"/>' + words_at(_MEAN, 217, "mean")
    )
