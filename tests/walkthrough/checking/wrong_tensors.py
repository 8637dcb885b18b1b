"""Exercises whose results are tensors, and wrong answers of readers that no check here foresees."""

import math

import torch
import torch.nn.functional as F

from walkthrough.checking import Case, Check, arguments, drawn, fixed

NINF = -math.inf


def attention(query, key, scale=None, dim=-1):
    scores = query @ key.mT
    return (scores * (query.shape[-1] ** -0.5 if scale is None else scale)).softmax(dim)


weights = Check(
    name="weights",
    reference=attention,
    cases=[
        drawn("8 heads, 3 queries, 5 keys, d_k = 64", (2, 8, 3, 64), (2, 8, 5, 64)),
        drawn("4 heads, 6 queries, 4 keys, d_k = 16", (1, 4, 6, 16), (1, 4, 4, 16)),
    ],
)
WEIGHTS = {
    "no scale": lambda q, k: attention(q, k, 1.0),
    "√64 always": lambda q, k: attention(q, k, 1 / 8),
    "√512 always": lambda q, k: attention(q, k, 512**-0.5),
    "root of dimension 1": lambda q, k: attention(q, k, q.shape[1] ** -0.5),
    "root of the keys": lambda q, k: attention(q, k, k.shape[-2] ** -0.5),
    "divided by d_k": lambda q, k: attention(q, k, 1 / q.shape[-1]),
    "multiplied by √d_k": lambda q, k: attention(q, k, q.shape[-1] ** 0.5),
    "over queries": lambda q, k: attention(q, k, dim=-2),
    "over heads": lambda q, k: attention(q, k, dim=1),
    "over the batch": lambda q, k: attention(q, k, dim=0),
    "no softmax": lambda q, k: q @ k.mT / q.shape[-1] ** 0.5,
    "exp only": lambda q, k: (q @ k.mT / q.shape[-1] ** 0.5).exp(),
    "keys ask": lambda q, k: attention(k, q),
    "transposed after": lambda q, k: attention(q, k).mT,
    "log softmax": lambda q, k: attention(q, k).log(),
    "negated scores": lambda q, k: attention(-q, k),
    "key with itself": lambda q, k: attention(k, k),
    "scale after": lambda q, k: (q @ k.mT).softmax(-1) / q.shape[-1] ** 0.5,
    "mean over heads": lambda q, k: attention(q, k).mean(1),
    "first head": lambda q, k: attention(q, k)[:, 0],
    "sigmoid": lambda q, k: (q @ k.mT / q.shape[-1] ** 0.5).sigmoid(),
    "no transpose": lambda q, k: (q @ k / q.shape[-1] ** 0.5).softmax(-1),
    "hard": lambda q, k: F.one_hot((q @ k.mT).argmax(-1), k.shape[-2]).float(),
    "both normed": lambda q, k: attention(F.normalize(q, dim=-1), F.normalize(k, dim=-1)),
}


def masked(query, key, value, mask, fill=NINF, empty=0.0):
    scores = (query @ key.mT / query.shape[-1] ** 0.5).masked_fill(~mask, fill)
    return scores.softmax(-1).nan_to_num(empty) @ value


def mask_case(label, rows):
    mask = torch.tensor(rows, dtype=torch.bool)

    def make(generator):
        q, k, v = (
            torch.randn(2, n, d, generator=generator)
            for n, d in ((len(rows), 4), (mask.shape[1], 4), (mask.shape[1], 3))
        )
        return arguments(q, k, v, mask)

    return Case(label, make)


masked_attention = Check(
    name="masked_attention",
    reference=masked,
    cases=[
        mask_case("some keys closed", [[1, 1, 1, 1], [1, 1, 1, 0], [1, 0, 1, 0]]),
        mask_case("a query that sees nothing", [[1, 1, 0, 0], [0, 0, 0, 0], [1, 0, 1, 1]]),
    ],
)
MASKED = {
    "mask ignored": lambda q, k, v, m: masked(q, k, v, torch.ones_like(m)),
    "mask inverted": lambda q, k, v, m: masked(q, k, v, ~m),
    "NaN": lambda q, k, v, m: masked(q, k, v, m, empty=math.nan),
    "−1e9": lambda q, k, v, m: masked(q, k, v, m, -1e9),
    "zeros in scores": lambda q, k, v, m: masked(q, k, v, m, 0.0),
    "after softmax": lambda q, k, v, m: (q @ k.mT / 2).softmax(-1) * m @ v,
    "no scale": lambda q, k, v, m: masked(2 * q, k, v, m),
    "no value": lambda q, k, v, m: (q @ k.mT / 2).masked_fill(~m, NINF).softmax(-1).nan_to_num(0),
    "values summed": lambda q, k, v, m: masked(q, k, v, m).sum(1),
    "empty rows get ones": lambda q, k, v, m: masked(q, k, v, m, empty=1.0),
    "softmax over queries": lambda q, k, v, m: (
        (q @ k.mT / 2).masked_fill(~m, NINF).softmax(-2).nan_to_num(0) @ v
    ),
    "inverted, no scale": lambda q, k, v, m: masked(2 * q, k, v, ~m),
}


def layer_norm(x, gain, bias, eps, dim=-1, **more):
    mean, var = x.mean(dim, keepdim=True), x.var(dim, correction=0, keepdim=True)
    return gain * (x - mean) / (var + eps).sqrt() + bias


def variance(x, correction=0):
    return x.var(-1, correction=correction, keepdim=True)


def words(size):
    def make(generator):
        x = 1 + size * torch.randn(2, 5, 6, generator=generator)
        gain = 1 + 0.3 * torch.randn(6, generator=generator)
        return arguments(x, gain, 0.3 * torch.randn(6, generator=generator), 1e-3)

    return make


norm = Check(
    name="layer_norm",
    reference=layer_norm,
    cases=[Case("2 sentences of 5 words", words(1.0)), Case("words that hardly vary", words(0.03))],
    tolerance=5e-4,
)
NORM = {
    "no bias": lambda x, g, b, e: layer_norm(x, g, 0 * b, e),
    "no gain": lambda x, g, b, e: layer_norm(x, 0 * g + 1, b, e),
    "neither": lambda x, g, b, e: layer_norm(x, 0 * g + 1, 0 * b, e),
    "dim 0": lambda x, g, b, e: layer_norm(x, g, b, e, 0),
    "dim 1": lambda x, g, b, e: layer_norm(x, g, b, e, 1),
    "exchanged": lambda x, g, b, e: layer_norm(x, b, g, e),
    "no root": lambda x, g, b, e: g * (x - x.mean(-1, True)) / (variance(x) + e) + b,
    "mean kept": lambda x, g, b, e: g * x / (variance(x) + e).sqrt() + b,
    "no ε": lambda x, g, b, e: layer_norm(x, g, b, 0.0),
    "bias taken away": lambda x, g, b, e: layer_norm(x, g, -b, e),
    "gain added": lambda x, g, b, e: layer_norm(x, 0 * g + 1, b + g, e),
    "n − 1": lambda x, g, b, e: g * (x - x.mean(-1, True)) / (variance(x, 1) + e).sqrt() + b,
    "unchanged": lambda x, g, b, e: x.clone(),
    "bias before gain": lambda x, g, b, e: g * (layer_norm(x, 0 * g + 1, b, e)),
    "flat": lambda x, g, b, e: layer_norm(x, g, b, e).flatten(1),
}  # fmt: skip


def network(x, w1, b1, w2, b2, act=torch.relu):
    return act(x @ w1 + b1) @ w2 + b2


feed_forward = Check(
    name="feed_forward",
    reference=network,
    cases=[
        drawn("5 words", (5, 4), (4, 6), (6,), (6, 4), (4,)),
        drawn("2 sentences", (2, 3, 4), (4, 7), (7,), (7, 4), (4,)),
    ],
)
FEED_FORWARD = {
    "no ReLU": lambda x, w, b, u, c: network(x, w, b, u, c, lambda y: y),
    "no b1": lambda x, w, b, u, c: network(x, w, 0 * b, u, c),
    "no b2": lambda x, w, b, u, c: network(x, w, b, u, 0 * c),
    "no biases": lambda x, w, b, u, c: network(x, w, 0 * b, u, 0 * c),
    "residual": lambda x, w, b, u, c: x + network(x, w, b, u, c),
    "ReLU at the end": lambda x, w, b, u, c: network(x, w, b, u, c).relu(),
    "GELU": lambda x, w, b, u, c: network(x, w, b, u, c, F.gelu),
    "softmax": lambda x, w, b, u, c: network(x, w, b, u, c, lambda y: y.softmax(-1)),
    "abs": lambda x, w, b, u, c: network(x, w, b, u, c, torch.abs),
    "tanh": lambda x, w, b, u, c: network(x, w, b, u, c, torch.tanh),
    "ReLU of x": lambda x, w, b, u, c: network(x.relu(), w, b, u, c),
    "b2 twice": lambda x, w, b, u, c: network(x, w, b, u, 2 * c),
    "negated": lambda x, w, b, u, c: -network(x, w, b, u, c),
    "first word only": lambda x, w, b, u, c: network(x[..., :1, :], w, b, u, c),
    "transposed": lambda x, w, b, u, c: network(x, w, b, u, c).mT,
}


def run_rnn(x, w, u, keep=True):
    state, found = torch.zeros(len(w)), []
    for word in x:
        state = torch.tanh(w @ state + u @ word)
        found.append(state)
    return torch.stack(found)


def one_tensor(x, w, u):
    state, found = torch.zeros(len(w)), []
    for word in x:
        state.copy_(torch.tanh(w @ state + u @ word))
        found.append(state)
    return torch.stack(found)


states = Check(
    name="states",
    reference=run_rnn,
    cases=[
        drawn("5 words", (5, 3), (4, 4), (4, 3)),
        drawn("7 words", (7, 3), (3, 3), (3, 3)),
        drawn("one word", (1, 2), (5, 5), (5, 2)),
    ],
)
STATES = {
    "one tensor for all": one_tensor,
    "loop one short": lambda x, w, u: run_rnn(x[:-1], w, u),
    "first word left out": lambda x, w, u: torch.cat([torch.zeros(1, len(w)), run_rnn(x, w, u)])[
        :-1
    ],
    "start kept": lambda x, w, u: torch.cat([torch.zeros(1, len(w)), run_rnn(x, w, u)]),
    "no state": lambda x, w, u: torch.tanh(x @ u.T),
    "W transposed": lambda x, w, u: run_rnn(x, w.T, u),
    "backwards": lambda x, w, u: run_rnn(x.flip(0), w, u).flip(0),
    "turned round": lambda x, w, u: run_rnn(x, w, u).flip(0),
    "last only": lambda x, w, u: run_rnn(x, w, u)[-1],
    "sigmoid": lambda x, w, u: torch.sigmoid(2 * torch.atanh(0.999 * run_rnn(x, w, u))),
    "columns": lambda x, w, u: run_rnn(x, w, u).T,
    "no tanh at the end": lambda x, w, u: torch.atanh(run_rnn(x, w, u).double()),
}  # fmt: skip


def split(x, n):
    return x.unflatten(-1, (n, -1)).transpose(1, 2)


heads = Check(
    name="split_heads",
    reference=split,
    cases=[drawn("3 heads of size 6", (2, 5, 18), 3), drawn("4 heads of size 4", (4, 4, 16), 4)],
)
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


encoding = Check(
    name="encoding",
    reference=lambda length, d_model: sinusoids(length, d_model),
    cases=[fixed("5 positions, d_model = 8", 5, 8), fixed("40 positions, d_model = 64", 40, 64)],
    tolerance=1e-4,
)
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


def by_pad(tokens):
    return (tokens != 0)[:, None, None, :]


pad_mask = Check(
    name="pad_mask",
    reference=by_pad,
    cases=[
        fixed("two sentences padded", torch.tensor([[5, 9, 8, 2], [7, 2, 0, 0], [3, 2, 0, 0]])),
        fixed("a decoder input", torch.tensor([[1, 6, 4, 3, 9], [1, 8, 0, 0, 0]])),
        fixed("no padding", torch.tensor([[4, 5, 2], [6, 7, 2]])),
    ],
)
PAD_MASK = {
    "inverted": lambda t: ~by_pad(t),
    "start closed": lambda t: by_pad(t) & (t != 1)[:, None, None, :],
    "end closed": lambda t: by_pad(t) & (t != 2)[:, None, None, :],
    "two dimensions": lambda t: t != 0,
    "three": lambda t: (t != 0)[:, None],
    "queries": lambda t: (t != 0)[:, None, :, None],
    "numbers": lambda t: by_pad(t).float(),
    "all open": lambda t: torch.ones_like(by_pad(t)),
    "additive": lambda t: torch.zeros(by_pad(t).shape).masked_fill(~by_pad(t), NINF),
    "last column always open": lambda t: by_pad(t) | (torch.arange(t.shape[1]) == t.shape[1] - 1),
    "first row for all": lambda t: by_pad(t)[:1].expand(len(t), -1, -1, -1),
    "dims in front": lambda t: (t != 0)[None, None],
}


def causal(n, m):
    return torch.ones(n, m, dtype=torch.bool).tril(m - n)


decoding = Check(
    name="decoding_mask",
    reference=causal,
    cases=[fixed("nothing stored", 4, 4), fixed("one new", 1, 5), fixed("three new", 3, 7)],
)
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


def shift(target):
    start = torch.ones_like(target[:, :1])
    moved = torch.cat([start, target[:, :-1]], 1)
    return moved.masked_fill(moved == 2, 0)


shift_right = Check(
    name="shift_right",
    reference=shift,
    cases=[
        fixed(
            "different lengths", torch.tensor([[5, 9, 8, 7, 2], [6, 2, 0, 0, 0], [4, 3, 5, 2, 0]])
        ),
        fixed("one word", torch.tensor([[9, 2]])),
        fixed("equal lengths", torch.tensor([[4, 5, 6, 2], [7, 7, 8, 2]])),
    ],
)  # fmt: skip
SHIFT = {
    "rolled": lambda t: t.roll(1, 1),
    "left": lambda t: torch.cat([t[:, 1:], 0 * t[:, :1]], 1),
    "unchanged": lambda t: t.clone(),
    "end kept": lambda t: torch.cat([torch.ones_like(t[:, :1]), t[:, :-1]], 1),
    "one longer": lambda t: torch.cat([torch.ones_like(t[:, :1]), t], 1),
    "starts with 0": lambda t: torch.cat([0 * t[:, :1], shift(t)[:, 1:]], 1),
    "floats": lambda t: shift(t).float(),
    "one shorter": lambda t: shift(t)[:, 1:],
    "over the batch": lambda t: t.roll(1, 0),
    "first row for all": lambda t: shift(t)[:1].expand(len(t), -1),
    "ids plus one": lambda t: shift(t) + 1,
}

TENSORS = [
    (weights, WEIGHTS),
    (masked_attention, MASKED),
    (norm, NORM),
    (feed_forward, FEED_FORWARD),
    (states, STATES),
    (heads, HEADS),
    (encoding, ENCODING),
    (pad_mask, PAD_MASK),
    (decoding, DECODING),
    (shift_right, SHIFT),
]
