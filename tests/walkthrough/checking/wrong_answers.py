"""Wrong answers to exercises, written without a look at the mistakes that their checks list."""

import math

import torch

from walkthrough.ch01_why_attention.checks import gradient_to_start, waiting_steps
from walkthrough.ch02_scaled_dot_product_attention.checks import masked_attention
from walkthrough.ch03_masks.checks import decoding_mask, packed_mask, shift_right
from walkthrough.ch04_multi_head_attention.checks import split_heads
from walkthrough.ch05_feed_forward.checks import feed_forward_share
from walkthrough.ch07_positional_encoding.checks import encoding
from walkthrough.ch08_residuals_and_layer_norm.checks import layer_norm
from walkthrough.ch11_subwords_and_batches.checks import group, spell
from walkthrough.ch12_optimiser_and_schedule.checks import training_days
from walkthrough.ch15_decoding.checks import kind_of_error

NINF = -math.inf
prod = math.prod
share, days = feed_forward_share, training_days


def scores(query, key):
    return query @ key.mT / query.shape[-1] ** 0.5


def masked(query, key, value, mask, fill=NINF, empty=0.0):
    closed = scores(query, key).masked_fill(~mask, fill)
    return closed.softmax(-1).nan_to_num(empty) @ value


MASKED = {
    "mask ignored": lambda q, k, v, m: masked(q, k, v, torch.ones_like(m)),
    "mask inverted": lambda q, k, v, m: masked(q, k, v, ~m),
    "NaN": lambda q, k, v, m: masked(q, k, v, m, empty=math.nan),
    "−1e9": lambda q, k, v, m: masked(q, k, v, m, -1e9),
    "zeros in scores": lambda q, k, v, m: masked(q, k, v, m, 0.0),
    "after softmax": lambda q, k, v, m: scores(q, k).softmax(-1) * m @ v,
    "no scale": lambda q, k, v, m: masked(2 * q, k, v, m),
    "no value": lambda q, k, v, m: scores(q, k).masked_fill(~m, NINF).softmax(-1).nan_to_num(0),
    "values summed": lambda q, k, v, m: masked(q, k, v, m).sum(1),
    "empty rows get ones": lambda q, k, v, m: masked(q, k, v, m, empty=1.0),
    "softmax over queries": lambda q, k, v, m: (
        scores(q, k).masked_fill(~m, NINF).softmax(-2).nan_to_num(0) @ v
    ),
    "inverted, no scale": lambda q, k, v, m: masked(2 * q, k, v, ~m),
}


def normed(x, gain, bias, eps, dim=-1, **more):
    mean, var = x.mean(dim, keepdim=True), x.var(dim, correction=0, keepdim=True)
    return gain * (x - mean) / (var + eps).sqrt() + bias


def variance(x, correction=0):
    return x.var(-1, correction=correction, keepdim=True)


NORM = {
    "no bias": lambda x, g, b, e: normed(x, g, 0 * b, e),
    "no gain": lambda x, g, b, e: normed(x, 0 * g + 1, b, e),
    "neither": lambda x, g, b, e: normed(x, 0 * g + 1, 0 * b, e),
    "dim 0": lambda x, g, b, e: normed(x, g, b, e, 0),
    "dim 1": lambda x, g, b, e: normed(x, g, b, e, 1),
    "exchanged": lambda x, g, b, e: normed(x, b, g, e),
    "no root": lambda x, g, b, e: g * (x - x.mean(-1, True)) / (variance(x) + e) + b,
    "mean kept": lambda x, g, b, e: g * x / (variance(x) + e).sqrt() + b,
    "no ε": lambda x, g, b, e: normed(x, g, b, 0.0),
    "bias taken away": lambda x, g, b, e: normed(x, g, -b, e),
    "gain added": lambda x, g, b, e: normed(x, 0 * g + 1, b + g, e),
    "n − 1": lambda x, g, b, e: g * (x - x.mean(-1, True)) / (variance(x, 1) + e).sqrt() + b,
    "unchanged": lambda x, g, b, e: x.clone(),
    "bias before gain": lambda x, g, b, e: g * (normed(x, 0 * g + 1, b, e)),
    "flat": lambda x, g, b, e: normed(x, g, b, e).flatten(1),
}  # fmt: skip


def split(x, n):
    return x.unflatten(-1, (n, -1)).transpose(1, 2)


HEADS = {
    "reshape": lambda x, n: x.reshape(x.shape[0], n, x.shape[1], -1),
    "no transpose": lambda x, n: x.unflatten(-1, (n, -1)),
    "heads before the batch": lambda x, n: split(x, n).transpose(0, 1),
    "words last": lambda x, n: split(x, n).mT,
    "every h-th": lambda x, n: x.unflatten(-1, (-1, n)).permute(0, 3, 1, 2),
    "joined": lambda x, n: split(x, n).flatten(0, 1),
    "half the heads": lambda x, n: split(x, n)[:, :-1],
    "first head everywhere": lambda x, n: split(x, n)[:, :1].expand(-1, n, -1, -1),
    "heads turned round": lambda x, n: split(x, n).flip(1),
    "unchanged": lambda x, n: x,
    "a list": lambda x, n: list(x.chunk(n, -1)),
    "a reshape of the words": lambda x, n: x.mT.reshape(x.shape[0], n, x.shape[1], -1),
}


def sinusoids(length, d_model, start=0, base=10000.0):
    angle = torch.arange(start, start + length)[:, None] / base ** (
        torch.arange(0, d_model, 2) / d_model
    )
    return torch.stack([angle.sin(), angle.cos()], -1).flatten(-2)


ENCODING = {
    "from 1": lambda n, d: sinusoids(n, d, 1),
    "base 1000": lambda n, d: sinusoids(n, d, base=1000.0),
    "halves": lambda n, d: torch.cat([sinusoids(n, d)[:, 0::2], sinusoids(n, d)[:, 1::2]], -1),
    "cos first": lambda n, d: sinusoids(n, d).unflatten(-1, (-1, 2)).flip(-1).flatten(-2),
    "transposed": lambda n, d: sinusoids(n, d).T,
    "one position too few": lambda n, d: sinusoids(n - 1, d),
    "one too many": lambda n, d: sinusoids(n + 1, d),
    "batch dimension": lambda n, d: sinusoids(n, d)[None],
    "sines only": lambda n, d: sinusoids(n, d)[:, 0::2],
    "sines twice": lambda n, d: sinusoids(n, d)[:, 0::2].repeat_interleave(2, -1),
    "half the exponent": lambda n, d: sinusoids(n, d, base=100.0),
    "scaled": lambda n, d: sinusoids(n, d) * d**0.5,
    "zero": lambda n, d: torch.zeros(n, d),
}


def causal(n, m):
    return torch.ones(n, m, dtype=torch.bool).tril(m - n)


def same_number(segments):
    return segments[:, None, :, None] == segments[:, None, None, :]


PACKED = {
    "all open": lambda s: torch.ones_like(same_number(s)),
    "future open": lambda s: same_number(s) & (s != 0)[:, None, None, :],
    "only causal": lambda s: causal(s.shape[1], s.shape[1]) & (s != 0)[:, None, None, :],
    "padding sees itself": lambda s: same_number(s) & causal(s.shape[1], s.shape[1]),
    "two dimensions": lambda s: same_number(s)[0, 0] & causal(s.shape[1], s.shape[1]),
}

DECODING = {
    "from the start": lambda n, m: torch.ones(n, m, dtype=torch.bool).tril(),
    "one too far": lambda n, m: torch.ones(n, m, dtype=torch.bool).tril(m - n + 1),
    "without itself": lambda n, m: torch.ones(n, m, dtype=torch.bool).tril(m - n - 1),
    "inverted": lambda n, m: ~causal(n, m),
    "future": lambda n, m: torch.ones(n, m, dtype=torch.bool).triu(m - n),
    "all open": lambda n, m: torch.ones(n, m, dtype=torch.bool),
    "stored closed": lambda n, m: causal(n, m) & (torch.arange(m) >= m - n),
    "square": lambda n, m: causal(m, m),
    "transposed": lambda n, m: causal(n, m).T,
    "integers": lambda n, m: causal(n, m).int(),
    "columns turned": lambda n, m: causal(n, m).flip(-1),
    "diagonal only": lambda n, m: causal(n, m) & ~causal(n, m).roll(1, -1),
}


def shifted(target):
    start = torch.ones_like(target[:, :1])
    moved = torch.cat([start, target[:, :-1]], 1)
    return moved.masked_fill(moved == 2, 0)


SHIFT = {
    "rolled": lambda t: t.roll(1, 1),
    "left": lambda t: torch.cat([t[:, 1:], 0 * t[:, :1]], 1),
    "unchanged": lambda t: t.clone(),
    "end kept": lambda t: torch.cat([torch.ones_like(t[:, :1]), t[:, :-1]], 1),
    "one longer": lambda t: torch.cat([torch.ones_like(t[:, :1]), t], 1),
    "starts with 0": lambda t: torch.cat([0 * t[:, :1], shifted(t)[:, 1:]], 1),
    "floats": lambda t: shifted(t).float(),
    "one shorter": lambda t: shifted(t)[:, 1:],
    "over the batch": lambda t: t.roll(1, 0),
    "first row for all": lambda t: shifted(t)[:1].expand(len(t), -1),
    "ids plus one": lambda t: shifted(t) + 1,
}
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


def by_tokens(lengths, most, key=None, strict=False):
    batches = [[]]
    for i in sorted(range(len(lengths)), key=key or lengths.__getitem__):
        size = (len(batches[-1]) + 1) * max(lengths[j] for j in [*batches[-1], i])
        if batches[-1] and (size >= most if strict else size > most):
            batches.append([])
        batches[-1].append(i)
    return batches


GROUP = {
    "not sorted": lambda n, m: by_tokens(n, m, key=lambda i: i),
    "long first": lambda n, m: by_tokens(n, m, key=lambda i: -n[i]),
    "never full": lambda n, m: by_tokens(n, m, strict=True),
    "last lost": lambda n, m: by_tokens(n, m)[:-1],
    "lengths": lambda n, m: [[n[i] for i in b] for b in by_tokens(n, m)],
    "batches turned round": lambda n, m: by_tokens(n, m)[::-1],
    "within turned round": lambda n, m: [b[::-1] for b in by_tokens(n, m)],
    "flat": lambda n, m: [i for b in by_tokens(n, m) for i in b],
    "one batch": lambda n, m: [[i for b in by_tokens(n, m) for i in b]],
    "one a batch": lambda n, m: [[i] for b in by_tokens(n, m) for i in b],
    "counted from 1": lambda n, m: [[i + 1 for i in b] for b in by_tokens(n, m)],
    "empty batch first": lambda n, m: [[], *by_tokens(n, m)],
    "half the limit": lambda n, m: by_tokens(n, m // 2),
}


def spelled(word, merges):
    parts = list(word)
    for left, right in merges:
        at = 0
        while at < len(parts) - 1:
            if (parts[at], parts[at + 1]) == (left, right):
                parts[at : at + 2] = [left + right]
            at += 1
    return parts


SPELL = {
    "characters": lambda w, m: list(w),
    "one merge": lambda w, m: spelled(w, m[:1]),
    "newest first": lambda w, m: spelled(w, m[::-1]),
    "no space": lambda w, m: spelled(w.strip(), m),
    "a text": lambda w, m: " ".join(spelled(w, m)),
    "last lost": lambda w, m: spelled(w, m)[:-1],
    "turned round": lambda w, m: spelled(w, m)[::-1],
    "merge lost": lambda w, m: spelled(w, m[:-1]),
    "capitals": lambda w, m: [p.upper() for p in spelled(w, m)],
    "sorted": lambda w, m: sorted(spelled(w, m)),
    "ids": lambda w, m: [len(p) for p in spelled(w, m)],
}
ERROR = {
    "exchanged": lambda o, r, s, q: "none" if o == r else "model" if s < q else "search",
    "always model": lambda o, r, s, q: "none" if o == r else "model",
    "length": lambda o, r, s, q: "none" if len(o) == len(r) else "search" if s < q else "model",
    "sorted": lambda o, r, s, q: (
        "none" if sorted(o.split()) == sorted(r.split()) else "search" if s < q else "model"
    ),
    "capital": lambda o, r, s, q: kind_of_error.reference(o, r, s, q).capitalize(),
    "no none": lambda o, r, s, q: "search" if s < q else "model",
    "True": lambda o, r, s, q: o == r,
    "None": lambda o, r, s, q: None if o == r else "search" if s < q else "model",
    "spaces": lambda o, r, s, q: kind_of_error.reference(o, r, s, q) + " ",
    "always none": lambda o, r, s, q: "none",
}

ANSWERS = [
    (masked_attention, MASKED),
    (layer_norm, NORM),
    (split_heads, HEADS),
    (encoding, ENCODING),
    (decoding_mask, DECODING),
    (packed_mask, PACKED),
    (shift_right, SHIFT),
    (gradient_to_start, GRADIENT),
    (waiting_steps, WAITING),
    (feed_forward_share, SHARE),
    (training_days, DAYS),
    (group, GROUP),
    (spell, SPELL),
    (kind_of_error, ERROR),
]
"""Check and wrong answers, by what they do."""
