"""The checks of chapter 17: intervals, signs, numbers of seeds, and a control (§6.2)."""

import math
from collections.abc import Callable, Sequence
from functools import cache
from itertools import product
from statistics import fmean, pstdev, stdev

from transformer.analysis.cost import parameter_count
from walkthrough.ch17_variations.rows import ROWS
from walkthrough.checking import Case, Check, Mistake, ValueCheck, WrongValue, fixed
from walkthrough.lab.intervals import t_factor

Values = Sequence[float]
Triple = tuple[float, float, float]

# Exercise: the interval of a difference ----------------------------------------------------------


def _interval(
    *,
    turned: bool = False,
    unpaired: bool = False,
    spread: Callable[[Values], float] = stdev,
    root: Callable[[int], float] = math.sqrt,
    factor: float | None = None,
) -> Callable[[Values, Values, float], Triple]:
    def interval(ours: Values, base: Values, t: float) -> Triple:
        differences = [a - b for a, b in zip(ours, base, strict=True)]
        if turned:
            differences = [-one for one in differences]
        s = math.hypot(spread(ours), spread(base)) if unpaired else spread(differences)
        half = (t if factor is None else factor) * s / root(len(differences))
        mean = fmean(differences)
        return mean, mean - half, mean + half

    return interval


def _as_widths(ours: Values, base: Values, t: float) -> Triple:
    mean, low, high = _interval()(ours, base, t)
    return mean, mean - low, high - mean


interval = Check(
    name="interval",
    reference=_interval(),
    cases=[
        fixed(
            "five seeds that rise and fall together",
            [11.0, 14.5, 9.0, 12.25, 16.0],
            [10.5, 13.25, 8.75, 11.0, 15.5],
            2.776,
        ),
        fixed(
            "a difference below 0", [4.0, 5.5, 3.0, 6.25, 5.0], [6.0, 5.75, 5.25, 7.0, 6.0], 2.776
        ),
        fixed("three seeds", [25.5, 27.0, 26.25], [25.0, 26.0, 26.5], 4.303),
        fixed("differences that are all equal", [11.5, 9.0, 14.5], [10.0, 7.5, 13.0], 4.303),
    ],
    mistakes=[
        Mistake(
            "turned",
            _interval(turned=True),
            "the sign is turned: a difference is ours minus base, so that a row that has more "
            "than base is above 0.",
        ),
        Mistake(
            "unpaired",
            _interval(unpaired=True),
            "you use the spread of the two rows, each on its own. Seeds lift and lower both "
            "rows of a pair: take the differences first, then *their* standard deviation.",
        ),
        Mistake(
            "divided by n",
            _interval(spread=pstdev),
            "your standard deviation divides by n. The mean was taken from the same values, "
            "so n − 1 are free: `statistics.stdev` divides by that.",
        ),
        Mistake(
            "no root of n",
            _interval(root=lambda n: 1.0),
            "this is the spread of single differences. Their mean is surer: divide by √n.",
        ),
        Mistake(
            "1.96",
            _interval(factor=1.96),
            "1.96 is for a spread that is known. Yours comes from a few seeds: `t` says how "
            "much wider that makes the interval.",
        ),
        Mistake(
            "widths for ends",
            _as_widths,
            "you return how far the interval reaches. Its ends are the mean less that, and the "
            "mean plus that.",
        ),
    ],
    right="`interval` is right: paired, with n − 1, √n and t",
)

# Exercise: signs by chance -----------------------------------------------------------------------


def _share_of_signs(
    *,
    size: Callable[[float], float] = abs,
    reaches: Callable[[float, float], bool] = lambda one, seen: one >= seen - 1e-9,
    left_out: int = 0,
) -> Callable[[Values], float]:
    def share(differences: Values) -> float:
        n = len(differences)
        signs = product((1, -1), repeat=n)
        sums = [sum(s * d for s, d in zip(one, differences, strict=True)) for one in signs]
        count = sum(reaches(size(one), size(sum(differences))) for one in sums)
        return (count - left_out) / (len(sums) - left_out)

    return share


def _one_side(value: float) -> float:
    return value


def _by_signs_alone(differences: Values) -> float:
    n, above = len(differences), sum(one > 0 for one in differences)
    most = max(above, sum(one < 0 for one in differences))
    return min(1.0, 2 * sum(math.comb(n, k) for k in range(most, n + 1)) / 2**n)


sign_flips = Check(
    name="sign_flips",
    reference=_share_of_signs(),
    cases=[
        fixed("five differences above 0", [0.5, 1.25, 2.0, 0.75, 3.5]),
        fixed("one of five below 0", [0.5, -1.25, 2.0, 0.75, 3.5]),
        fixed("three differences below 0", [-1.0, -2.5, -0.25]),
        fixed("differences that cancel", [1.0, -1.0, 0.5, -0.25]),
        fixed("two of five below 0", [-4.0, 1.5, 2.25, -0.125, 1.0]),
        fixed("one difference that is 0", [0.0, 1.0, 2.0, 4.0]),
        fixed("sums that are equal but for rounding", [0.1, 0.2, -0.3, 0.4]),
        Case(
            "differences of mean 0",
            fixed("", [1.0, -1.0, 0.5, -0.5]).make,
            "Every mean is at least as far from 0 as 0 itself: the share is 1.",
        ),
    ],
    mistakes=[
        Mistake(
            "one side",
            _share_of_signs(size=_one_side),
            "you count the sums on one side. A mean as far *below* 0 would have surprised you "
            "as much: compare sizes, with `abs`.",
        ),
        Mistake(
            "no tolerance",
            _share_of_signs(reaches=lambda one, seen: one >= seen),
            "rounding tells sums apart that are equal, such as 0.1 + 0.2 + 0.4 − 0.3 with its "
            "signs in two ways. Keep a tolerance.",
        ),
        Mistake(
            "only larger ones",
            _share_of_signs(reaches=lambda one, seen: one > seen + 1e-9),
            "you count the sums that are larger. Those as large belong to it: the signs as "
            "they are found are one of the ways.",
        ),
        Mistake(
            "the signs as they are left out",
            _share_of_signs(left_out=1),
            "the signs as they are found are not counted. They are one of the 2ⁿ ways.",
        ),
        Mistake(
            "signs without sizes",
            _by_signs_alone,
            "you count signs and leave out the sizes. A mean depends on both.",
        ),
    ],
    right="`sign_flips` is right: each difference with its own sign, both sides counted",
)

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
        Case(
            "an effect of a third of it",
            fixed("", 1.5, 0.5, _t).make,
            "38 seeds are needed here: nothing in the exercise ends the search before.",
        ),
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
            "you count the feed-forward networks of one stack. There "
            "are twelve: six in the encoder, six in the decoder.",
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
            "you count twelve attentions. There are eighteen: a decoder layer has two.",
        ),
        WrongValue(
            math.floor(_wider(each=12 * 1025)),
            "you round down. The nearest whole number lies above.",
        ),
        WrongValue(
            _wider(each=12 * 1024),
            "a hidden unit has a bias as well. And a whole number is asked.",
        ),
        WrongValue(
            _MISSING, "that is how many parameters are missing. How many hidden units have as many?"
        ),
    ],
    right="right: with some 2 625 hidden units, the row has base's parameters, and small keys",
    means=_means,
)
