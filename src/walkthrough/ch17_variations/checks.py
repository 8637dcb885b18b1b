"""The checks of chapter 17: an experiment, numbers of seeds, a control (§6.2)."""

import math
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

from transformer.analysis.cost import parameter_count
from walkthrough.ch17_variations.intervals import t_factor
from walkthrough.ch17_variations.rows import ROWS
from walkthrough.checking import (
    Check,
    Mistake,
    OwnCheck,
    ValueCheck,
    Verdict,
    WrongValue,
    fixed,
)
from walkthrough.checking.kinds import kind
from walkthrough.lab import Comparison, Experiment
from walkthrough.lab.comparison import FEWEST_PAIRS

# Exercise: an experiment of your own -------------------------------------------------------------


def _own_experiment(answer: Any) -> Verdict:
    mine, found = answer if isinstance(answer, tuple) and len(answer) == 2 else (answer, None)
    if mine is None:
        return Verdict(
            "nothing yet", "declare `mine`, run it, set `found`, then run this cell again"
        )
    if not isinstance(mine, Experiment):
        return Verdict("wrong", f"`mine` should be an `Experiment`, got {kind(mine)}")
    compared = found if isinstance(found, Comparison) else None
    base = compared.base if compared else mine.base
    seeds = {arm.name: {*(arm.seeds or mine.seeds)} for arm in mine.arms}
    others = [compared.ours] if compared else [name for name in seeds if name != base]
    if len(seeds) < 2:
        return Verdict("wrong", "there is one arm, and nothing beside it: two can be compared")
    if base is None:
        say = "no arm is the `base`. A verdict says how one arm stands beside another: name it"
        return Verdict("wrong", say, "no base arm")
    if compared and (compared.experiment != mine.name or not {*others, base} <= set(seeds)):
        return Verdict("wrong", "`found` compares arms of another experiment than `mine`")
    pairs = max(len(seeds[name] & seeds[base]) for name in others)
    if pairs < FEWEST_PAIRS <= min(len(seeds[name]) for name in (*others, base)):
        say = (
            f"the arms have seeds of their own and share {pairs}. A pair is two runs of one seed: "
            "give `seeds` to the experiment, not to an arm"
        )
        return Verdict("wrong", say, "other seeds")
    pairs = compared.n if compared else pairs
    if pairs < FEWEST_PAIRS:
        told = f"{pairs} pair{'s' * (pairs != 1)} of runs"
        say = f"{told} can be luck, and the laboratory says *too few seeds*: ask for five or more"
        return Verdict("wrong", say, "too few seeds")
    if compared is None:
        now = "run it and set `found` to what `compare` returns"
        if found is None:
            return Verdict("nothing yet", f"the declaration is in order: {now}")
        return Verdict("wrong", f"`found` is {kind(found)}: {now}, which holds the verdict and why")
    arms = [arm for arm in mine.arms if arm.name in (compared.ours, base)]
    if not any(compared.differences) and len({repr(replace(arm, name="")) for arm in arms}) < 2:
        say = "both end alike to the last digit: are they two arms, and what does yours change?"
        return Verdict("wrong", say)
    return Verdict("right", f"{pairs} pairs, and a verdict that counts: *{compared.verdict}*")


own_experiment = OwnCheck(name="own_experiment", judge=_own_experiment)

# Exercise: how many seeds ------------------------------------------------------------------------

Factor = Callable[[int], float]


def _first_n(
    *,
    t_of: Callable[[Factor, int], float] = lambda t, n: t(n),
    root: Callable[[int], float] = math.sqrt,
    ends: Callable[[float, float], bool] = lambda half, effect: half < effect,
) -> Callable[[float, float, Factor], int]:
    def seeds(sd: float, effect: float, t: Factor) -> int:
        n = 2
        while not ends(t_of(t, n) * sd / root(n), effect):
            n += 1
        return n

    return seeds


_t = cache(t_factor)  # it takes milliseconds

seeds_needed = Check(
    name="seeds_needed",
    reference=_first_n(),
    cases=[
        fixed("an effect of one standard deviation", 1.0, 1.0, _t),
        fixed("an effect of half of it", 1.0, 0.5, _t),
        fixed("an effect of twice of it", 0.5, 1.0, _t),
        fixed("BLEU of three runs", 0.4, 0.9, _t),
        fixed("an effect of ten of them", 0.1, 1.0, _t),
        fixed("an effect that four seeds reach exactly", 2.0, _t(4), _t),
        fixed("another `t`, and 410 seeds", 1.0, 0.1, lambda n: 2 + 10 / n),
    ],
    mistakes=[
        Mistake(
            "t of two",
            _first_n(t_of=lambda t, n: t(2)),
            "your t stays that of two seeds. It falls with n, from 12.7 to 1.96: ask for it "
            "at each n.",
        ),
        Mistake(
            "1.96",
            _first_n(t_of=lambda t, n: 1.96),
            "1.96 is for a spread that is known. With a few seeds t(n) is larger.",
        ),
        Mistake(
            "n for its root",
            _first_n(root=float),
            "you divide by n. The mean of n values is surer by √n.",
        ),
        Mistake(
            "as wide is enough",
            _first_n(ends=lambda half, effect: half <= effect + 1e-12),
            "an interval that reaches exactly to 0 does not exclude it: one side of it must "
            "be *smaller* than the effect.",
        ),
        Mistake(
            "sd and effect exchanged",
            lambda sd, effect, t: _first_n()(effect, sd, t),
            "the two are exchanged: the interval comes from `sd`, and `effect` is what it is "
            "compared with.",
        ),
        Mistake(
            "the whole width",
            _first_n(ends=lambda half, effect: 2 * half < effect),
            "you compare the whole width with the effect. From the mean to 0 is one side: "
            "half of it.",
        ),
    ],
    right="`seeds_needed` is right: t and √n both change with n",
)

# Exercise: a control for row B -------------------------------------------------------------------

_B, _D_FF = "B d_k=16", ROWS["base"].config.d_ff
_MISSING = parameter_count(ROWS["base"].config) - parameter_count(ROWS[_B].config)


def _wrong(value: float, say: str) -> list[WrongValue]:
    """Return a wrong width, as it is and rounded: readers give either."""
    return [WrongValue(value, say), WrongValue(round(value), say)]


def _wider(*, each: int, missing: float | int = _MISSING) -> float:
    return _D_FF + missing / each


def _means(answer: float) -> str:
    config = ROWS[_B].config.replace(d_ff=max(1, round(answer)))
    gap = (parameter_count(config) - parameter_count(ROWS["base"].config)) / 1e6
    side = "more" if gap > 0 else "fewer"
    return f"with that d_ff the row has {abs(gap):.2f} million {side} than base"


matched_d_ff = ValueCheck(
    name="matched_d_ff",
    expected=_wider(each=12 * 1025),
    tolerance=2e-4,
    mistakes=[
        *_wrong(_MISSING / (12 * 1025), "that is by how much d_ff grows. Base's 2048 come on top."),
        *_wrong(
            _wider(each=6 * 1025),
            "two slips give this number: the feed-forward networks of one stack (there are twelve: "
            "six in the encoder, six in the decoder), or V and W^O taken for smaller too (only Q "
            "and K are).",
        ),
        *_wrong(_wider(each=1025), "you count one feed-forward network. There are twelve."),
        *_wrong(
            _wider(each=12 * 512),
            "a hidden unit has a row of W1 *and* a column of W2: 512 numbers twice.",
        ),
        *_wrong(
            _wider(each=12 * 1025, missing=_MISSING / 2),
            "half of what is missing. Queries *and* keys became smaller.",
        ),
        *_wrong(
            _wider(each=12 * 1025, missing=_MISSING * 2 / 3),
            "two slips give this number: twelve attentions (there are eighteen: a decoder layer "
            "has two), or eighteen feed-forward networks (there are twelve).",
        ),
        WrongValue(
            math.floor(_wider(each=12 * 1025)),
            "one too few: the exact width is nearer to the next number. Biases count as well.",
        ),
        *_wrong(
            _wider(each=12 * 1025, missing=_MISSING - 36 * 384),
            "the matrices that make queries and keys have biases, and these became shorter too.",
        ),
        WrongValue(
            _MISSING, "that is how many parameters are missing. How many hidden units have as many?"
        ),
    ],
    right="right: with some 2 625 hidden units, the row has base's parameters, and small keys",
    means=_means,
)
