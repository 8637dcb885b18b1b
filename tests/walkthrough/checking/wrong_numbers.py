"""Exercises whose results are single numbers, and wrong answers that no check here foresees."""

import math
from math import prod

from walkthrough.checking import Check, fixed

gradient = Check(
    name="gradient",
    reference=lambda w, states: prod(w * (1 - h * h) for h in states),
    cases=[
        fixed("five states", 0.5, [0.96, 0.45, 0.22, 0.11, -0.3]),
        fixed("four states", 2.0, [0.1, -0.3, 0.5, 0.8]),
        fixed("three states", -1.5, [0.2, 0.4, -0.6]),
        fixed("one state", 0.7, [0.5]),
    ],
)
GRADIENT = {
    "w to n − 1": lambda w, s: prod(1 - h * h for h in s) * w ** (len(s) - 1),
    "states before": lambda w, s: prod(w * (1 - h * h) for h in [0, *s[:-1]]),
    "no w": lambda w, s: prod(1 - h * h for h in s),
    "no slope": lambda w, s: w ** len(s),
    "w once": lambda w, s: w * prod(1 - h * h for h in s),
    "1 − h": lambda w, s: prod(w * (1 - h) for h in s),
    "1 + h²": lambda w, s: prod(w * (1 + h * h) for h in s),
    "sign lost": lambda w, s: abs(prod(w * (1 - h * h) for h in s)),
    "sum": lambda w, s: sum(w * (1 - h * h) for h in s),
    "last left out": lambda w, s: prod(w * (1 - h * h) for h in s[:-1]),
    "logarithm": lambda w, s: math.log(abs(prod(w * (1 - h * h) for h in s))),
    "squared": lambda w, s: prod(w * (1 - h * h) for h in s) ** 2,
    "1/w": lambda w, s: prod((1 - h * h) / w for h in s),
}

waiting = Check(
    name="waiting",
    reference=lambda n_words, n_layers: n_words + n_layers - 1,
    cases=[
        fixed("5 words, 2 layers", 5, 2),
        fixed("50 words, 6 layers", 50, 6),
        fixed("1 word, 4 layers", 1, 4),
        fixed("9 words, 1 layer", 9, 1),
    ],
)
WAITING = {
    "product": lambda n, m: n * m,
    "sum": lambda n, m: n + m,
    "two less": lambda n, m: n + m - 2,
    "words": lambda n, m: n,
    "layers": lambda n, m: m,
    "maximum": lambda n, m: max(n, m),
    "two words a round": lambda n, m: 2 * n + m - 1,
    "n − 1 layers": lambda n, m: n + (m - 1) * n - 1,
    "difference": lambda n, m: abs(n - m) + 1,
    "fixed": lambda n, m: 6,
}

scale = Check(
    name="score_scale",
    reference=lambda d_k, query_std, key_std: 1 / (math.sqrt(d_k) * query_std * key_std),
    cases=[
        fixed("both 1", 64, 1.0, 1.0),
        fixed("2 and 3", 64, 2.0, 3.0),
        fixed("0.5 and 0.1", 16, 0.5, 0.1),
    ],
)
SCALE = {
    "precedence": lambda d, q, k: 1 / math.sqrt(d) * q * k,
    "keys left out": lambda d, q, k: 1 / (math.sqrt(d) * q),
    "queries left out": lambda d, q, k: 1 / (math.sqrt(d) * k),
    "no std": lambda d, q, k: 1 / math.sqrt(d),
    "sum": lambda d, q, k: 1 / (math.sqrt(d) * (q + k)),
    "no root": lambda d, q, k: 1 / (d * q * k),
    "inverse": lambda d, q, k: math.sqrt(d) * q * k,
    "variance": lambda d, q, k: 1 / (d * q * q * k * k),
    "root of all": lambda d, q, k: 1 / math.sqrt(d * q * k),
    "negative": lambda d, q, k: -1 / (math.sqrt(d) * q * k),
    "root of squares": lambda d, q, k: 1 / (math.sqrt(d) * math.sqrt(q * q + k * k)),
    "8": lambda d, q, k: 1 / (8 * q * k),
}


def count(v, d, f, n, *, matrices=1, attentions=3, norms=5, bias=1, ff=2):
    layer = attentions * 4 * d * (d + bias) + ff * (2 * d * f + bias * (f + d)) + norms * 2 * d
    return matrices * v * d + n * layer


parameters = Check(
    name="n_parameters",
    reference=lambda vocab_size, d_model, d_ff, n_layers: count(
        vocab_size, d_model, d_ff, n_layers
    ),
    cases=[
        fixed("the base model", 37000, 512, 2048, 6),
        fixed("the big model", 37000, 1024, 4096, 6),
        fixed("a small model", 90, 16, 24, 2),
    ],
    tolerance=0.0,
)
PARAMETERS = {
    "norm missing": lambda v, d, f, n: count(v, d, f, n, norms=4),
    "no second bias of the network": lambda v, d, f, n: count(v, d, f, n) - n * 2 * d,
    "attention missing": lambda v, d, f, n: count(v, d, f, n, attentions=2),
    "three matrices": lambda v, d, f, n: count(v, d, f, n, matrices=3),
    "no vocabulary": lambda v, d, f, n: count(v, d, f, n, matrices=0),
    "no biases": lambda v, d, f, n: count(v, d, f, n, bias=0),
    "output bias": lambda v, d, f, n: count(v, d, f, n) + v,
    "one layer": lambda v, d, f, n: count(v, d, f, 1),
    "twice the layers": lambda v, d, f, n: count(v, d, f, 2 * n),
    "last norms": lambda v, d, f, n: count(v, d, f, n) + 4 * d,
    "d_ff = 4d": lambda v, d, f, n: count(v, d, 4 * d, n),
    "no first bias": lambda v, d, f, n: count(v, d, f, n) - n * 2 * f,
    "in millions": lambda v, d, f, n: count(v, d, f, n) / 1e6,
    "no W^O": lambda v, d, f, n: count(v, d, f, n) - 3 * n * d * d,
}

crossing = Check(
    name="crossing",
    reference=lambda pairs, d: max(0, (pairs - 2) * d),
    cases=[
        fixed("pairs = 1", 1, 512),
        fixed("pairs = 2", 2, 512),
        fixed("a GRU", 3, 512),
        fixed("an LSTM", 4, 64),
        fixed("pairs = 7", 7, 10),
    ],
)
CROSSING = {
    "abs": lambda p, d: abs((p - 2) * d),
    "inf": lambda p, d: (p - 2) * d if p > 2 else math.inf,
    "pairs": lambda p, d: p * d,
    "off by one": lambda p, d: max(0, (p - 1) * d),
    "plus one": lambda p, d: max(0, (p - 2) * d) + 1,
    "d": lambda p, d: d,
    "half": lambda p, d: max(0, (p - 2) * d / 2),
    "negative": lambda p, d: (p - 2) * d,
    "no d": lambda p, d: max(0, p - 2),
    "None below": lambda p, d: (p - 2) * d if p > 2 else None,
}


def noam(step, d_model, warmup):
    return d_model**-0.5 * min(step**-0.5, step * warmup**-1.5)


rate = Check(
    name="rate",
    reference=noam,
    cases=[
        fixed("the first update", 1, 64, 10),
        fixed("in warm-up", 6, 64, 10),
        fixed("the last of warm-up", 10, 64, 10),
        fixed("long after", 250, 64, 10),
        fixed("another size", 30, 128, 40),
    ],
    tolerance=1e-7,
)
RATE = {
    "max": lambda s, d, w: d**-0.5 * max(s**-0.5, s * w**-1.5),
    "step + 1": lambda s, d, w: noam(s + 1, d, w),
    "step − 1": lambda s, d, w: noam(s - 1, d, w) if s > 1 else 0.0,
    "no size": lambda s, d, w: noam(s, 1, w),
    "root of the size": lambda s, d, w: noam(s, d, w) * d,
    "rises": lambda s, d, w: d**-0.5 * s * w**-1.5,
    "falls": lambda s, d, w: d**-0.5 * s**-0.5,
    "restart": lambda s, d, w: noam(s if s <= w else s - w, d, w),
    "512": lambda s, d, w: noam(s, 512, w),
    "4000": lambda s, d, w: noam(s, d, 4000),
    "highest 1": lambda s, d, w: min(s / w, (w / s) ** 0.5),
    "sum": lambda s, d, w: d**-0.5 * (s**-0.5 + s * w**-1.5),
}


def penalty(n, a):
    return ((5 + n) / 6) ** a


score = Check(
    name="score",
    reference=lambda log_prob, length, alpha: log_prob / penalty(length, alpha),
    cases=[
        fixed("the paper's α", -3.0, 7, 0.6),
        fixed("α = 0", -3.0, 8, 0.0),
        fixed("the end token alone", -2.0, 1, 0.6),
        fixed("a long output", -9.0, 31, 1.5),
        fixed("9 words", -2.5, 9, 1.0),
    ],
)
SCORE = {
    "multiplied": lambda p, n, a: p * penalty(n, a),
    "sign": lambda p, n, a: -p / penalty(n, a),
    "exp": lambda p, n, a: math.exp(p / penalty(n, a)),
    "0.6": lambda p, n, a: p / penalty(n, 0.6),
    "floor": lambda p, n, a: p / ((5 + n) // 6) ** a,
    "length": lambda p, n, a: p / n**a,
    "no 6": lambda p, n, a: p / (5 + n) ** a,
    "no α": lambda p, n, a: p / penalty(n, 1),
    "length + 1": lambda p, n, a: p / penalty(n + 1, a),
    "penalty": lambda p, n, a: penalty(n, a),
    "minus": lambda p, n, a: p - penalty(n, a),
    "log P": lambda p, n, a: p,
    "α as factor": lambda p, n, a: p / max(a * (5 + n) / 6, 1e-9),
}

share = Check(
    name="share",
    reference=lambda d_model, d_ff, length: (
        2 * d_model * d_ff / (2 * d_model * d_ff + 4 * d_model**2 + 2 * length * d_model)
    ),
    cases=[
        fixed("30 words", 512, 2048, 30),
        fixed("4096 words", 512, 2048, 4096),
        fixed("a small model", 64, 100, 50),
    ],
)
SHARE = {
    "one matrix": lambda d, f, n: d * f / (d * f + 4 * d * d + 2 * n * d),
    "no W^O": lambda d, f, n: 2 * d * f / (2 * d * f + 3 * d * d + 2 * n * d),
    "no scores": lambda d, f, n: 2 * d * f / (2 * d * f + 4 * d * d),
    "ratio": lambda d, f, n: 2 * d * f / (4 * d * d + 2 * n * d),
    "per cent": lambda d, f, n: 100 * share.reference(d, f, n),
    "of attention": lambda d, f, n: 1 - share.reference(d, f, n),
    "4d": lambda d, f, n: share.reference(d, 4 * d, n),
    "inverse": lambda d, f, n: 1 / share.reference(d, f, n),
    "n² d": lambda d, f, n: 2 * d * f / (2 * d * f + 4 * d * d + 2 * n * n * d),
    "rounded": lambda d, f, n: round(share.reference(d, f, n), 2),
    "the cost": lambda d, f, n: 2 * d * f,
}

days = Check(
    name="days",
    reference=lambda forward, tokens, updates, rate: 3 * forward * tokens * updates / rate / 86400,
    cases=[
        fixed("25 000 tokens", 1e8, 25_000, 100_000, 1e13),
        fixed("a small run", 2e6, 1000, 700, 3e10),
    ],
    tolerance=1e-7,
)
DAYS = {
    "forward only": lambda f, t, u, r: days.reference(f, t, u, r) / 3,
    "one backward": lambda f, t, u, r: days.reference(f, t, u, r) * 2 / 3,
    "seconds": lambda f, t, u, r: days.reference(f, t, u, r) * 86400,
    "hours": lambda f, t, u, r: days.reference(f, t, u, r) * 24,
    "minutes a day": lambda f, t, u, r: days.reference(f, t, u, r) * 60,
    "one update": lambda f, t, u, r: days.reference(f, t, 1, r),
    "one token": lambda f, t, u, r: days.reference(f, 1, u, r),
    "multiplied": lambda f, t, u, r: 3 * f * t * u * r / 86400,
    "inverse": lambda f, t, u, r: 1 / days.reference(f, t, u, r),
    "floor": lambda f, t, u, r: days.reference(f, t, u, r) // 1,
    "times 8": lambda f, t, u, r: days.reference(f, t, u, r) / 8,
    "squared updates": lambda f, t, u, r: days.reference(f, t, u * u, r),
}

NUMBERS = [
    (gradient, GRADIENT),
    (waiting, WAITING),
    (scale, SCALE),
    (parameters, PARAMETERS),
    (crossing, CROSSING),
    (rate, RATE),
    (score, SCORE),
    (share, SHARE),
    (days, DAYS),
]
