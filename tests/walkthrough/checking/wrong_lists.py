"""Exercises that return lists, texts or several results, with answers that no check foresees."""

import torch

from walkthrough.checking import Case, Check, arguments, drawn, fixed

EOS, BOS = 2, 1


def cut_row(ids, max_len):
    return [*ids[: max_len - 1], EOS]


cut = Check(
    name="cut_row",
    reference=cut_row,
    cases=[
        fixed("too long", [10, 13, 16, 19, 22, 25, 28, 31, 34], 6),
        fixed("fits without its end", [10, 13, 16, 19, 22, 25], 6),
        fixed("fits exactly", [10, 13, 16, 19, 22], 6),
        fixed("short", [10, 13], 6),
    ],
)
CUT = {
    "end cut off": lambda ids, n: [*ids, EOS][:n],
    "one too long": lambda ids, n: [*ids[:n], EOS],
    "one too short": lambda ids, n: [*ids[: n - 2], EOS],
    "front cut": lambda ids, n: [*ids, EOS][-n:],
    "no end": lambda ids, n: ids[: n - 1],
    "starts with bos": lambda ids, n: [BOS, *ids[: n - 2], EOS],
    "end in front": lambda ids, n: [EOS, *ids[: n - 1]],
    "turned round": lambda ids, n: cut_row(ids, n)[::-1],
    "bos for eos": lambda ids, n: [*ids[: n - 1], BOS],
    "a text": lambda ids, n: " ".join(map(str, cut_row(ids, n))),
    "two ends": lambda ids, n: [*cut_row(ids, n), EOS],
    "padded": lambda ids, n: cut_row(ids, n) + [0] * (n - len(cut_row(ids, n))),
}


def by_tokens(lengths, most, key=None, strict=False):
    batches = [[]]
    for i in sorted(range(len(lengths)), key=key or lengths.__getitem__):
        size = (len(batches[-1]) + 1) * max(lengths[j] for j in [*batches[-1], i])
        if batches[-1] and (size >= most if strict else size > most):
            batches.append([])
        batches[-1].append(i)
    return batches


group = Check(
    name="group_by_tokens",
    reference=lambda lengths, max_tokens: by_tokens(lengths, max_tokens),
    cases=[
        fixed("nine sentences, 24 tokens", [7, 3, 12, 4, 3, 8, 11, 5, 6], 24),
        fixed("batches that fill up", [4, 4, 4, 6, 6, 2], 12),
        fixed("one as long as a batch", [10, 2, 3], 10),
    ],
)
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


MERGES = [("l", "o"), ("lo", "w"), ("e", "s"), ("es", "t"), (" ", "low"), ("n", "e"), ("a", "a")]
spell = Check(
    name="spell",
    reference=spelled,
    cases=[
        fixed("the word ' lowest'", " lowest", MERGES),
        fixed("the word ' newest'", " newest", MERGES),
        fixed("the word 'aaaa'", "aaaa", MERGES),
        fixed("one letter", "w", MERGES),
    ],
)
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

shift = Check(
    name="shift",
    reference=lambda ids: ([BOS, *ids], [*ids, EOS]),
    cases=[
        fixed("five words", [11, 7, 23, 5, 40]),
        fixed("one word", [9]),
        fixed("a word that repeats", [6, 6, 8]),
    ],
)
SHIFT = {
    "exchanged": lambda ids: ([*ids, EOS], [BOS, *ids]),
    "EOS for BOS": lambda ids: ([EOS, *ids], [*ids, EOS]),
    "unshifted": lambda ids: ([*ids, EOS], [*ids, EOS]),
    "gold unshifted": lambda ids: ([BOS, *ids], [BOS, *ids]),
    "no end": lambda ids: ([BOS, *ids], list(ids)),
    "no start": lambda ids: (list(ids), [*ids, EOS]),
    "both ends": lambda ids: ([BOS, *ids, EOS], [BOS, *ids, EOS]),
    "input only": lambda ids: [BOS, *ids],
    "padding for BOS": lambda ids: ([0, *ids], [*ids, EOS]),
    "turned round": lambda ids: ([BOS, *ids][::-1], [*ids, EOS]),
    "three results": lambda ids: ([BOS, *ids], [*ids, EOS], len(ids)),
}


def shapes_of(batch, source, target, d_model, heads):
    return {
        "memory": (batch, source, d_model),
        "cross": (batch, heads, target, source),
        "states": (batch, target, d_model),
    }


shapes = Check(
    name="shapes",
    reference=shapes_of,
    cases=[fixed("the base model", 2, 7, 6, 512, 8), fixed("a small model", 3, 4, 9, 16, 5)],
)
SHAPES = {
    "cross turned": lambda b, s, t, d, h: {**shapes_of(b, s, t, d, h), "cross": (b, h, s, t)},
    "cross square": lambda b, s, t, d, h: {**shapes_of(b, s, t, d, h), "cross": (b, h, t, t)},
    "no heads": lambda b, s, t, d, h: {**shapes_of(b, s, t, d, h), "cross": (b, t, s)},
    "memory of the target": lambda b, s, t, d, h: {**shapes_of(b, s, t, d, h), "memory": (b, t, d)},
    "two wrong": lambda b, s, t, d, h: {
        **shapes_of(b, s, t, d, h),
        "cross": (b, h, s, t),
        "states": (b, s, d),
    },
    "a name missing": lambda b, s, t, d, h: {"memory": (b, s, d), "states": (b, t, d)},
    "another name": lambda b, s, t, d, h: {
        "memory": (b, s, d), "cross_weights": (b, h, t, s), "states": (b, t, d)
    },
    "lists of products": lambda b, s, t, d, h: {k: 1 for k in shapes_of(b, s, t, d, h)},
    "batch last": lambda *a: {k: (*v[1:], v[0]) for k, v in shapes_of(*a).items()},
    "a tuple": lambda b, s, t, d, h: tuple(shapes_of(b, s, t, d, h).values()),
    "512": lambda b, s, t, d, h: shapes_of(b, s, t, 512, h),
}  # fmt: skip


def adam_step(weight, gradient, m, v, update, b1=0.9, b2=0.98, eps=1e-9, t=0, sign=-1):
    m, v = b1 * m + (1 - b1) * gradient, b2 * v + (1 - b2) * gradient**2
    m_hat, v_hat = m / (1 - b1 ** (update + t)), v / (1 - b2 ** (update + t))
    return weight + sign * 0.5 * m_hat / (v_hat.sqrt() + eps), m, v


def state(update):
    def make(generator):
        weight, gradient, m = torch.randn(3, 5, dtype=torch.float64, generator=generator)
        v = torch.rand(5, dtype=torch.float64, generator=generator)
        return arguments(weight, gradient, m, v, update)

    return make


adam = Check(
    name="adam_step",
    reference=lambda weight, gradient, m, v, update: adam_step(weight, gradient, m, v, update),
    cases=[Case("the first update", state(1)), Case("update 7", state(7))],
    tolerance=1e-7,
)
ADAM = {
    "uphill": lambda *a: adam_step(*a, sign=1),
    "t + 1": lambda *a: adam_step(*a, t=1),
    "t − 1": lambda *a: adam_step(*a, t=-1),
    "β exchanged": lambda *a: adam_step(*a, b1=0.98, b2=0.9),
    "PyTorch's β2": lambda *a: adam_step(*a, b2=0.999),
    "old memories": lambda w, g, m, v, t: (adam_step(w, g, m, v, t)[0], m, v),
    "weight first left": lambda w, g, m, v, t: (w, *adam_step(w, g, m, v, t)[1:]),
    "order": lambda *a: (adam_step(*a)[1], adam_step(*a)[2], adam_step(*a)[0]),
    "weight alone": lambda *a: adam_step(*a)[0],
    "m negated": lambda *a: (adam_step(*a)[0], -adam_step(*a)[1], adam_step(*a)[2]),
    "root of v kept": lambda *a: (*adam_step(*a)[:2], adam_step(*a)[2].sqrt()),
    "gradient negated": lambda w, g, m, v, t: adam_step(w, -g, m, v, t),
}


def mean_of(states):
    return {name: torch.stack([s[name] for s in states]).mean(0) for name in states[0]}


SIZES = {"weight": (3, 2), "bias": (3,)}


def some_states(n):
    def make(generator):
        return arguments(
            [
                {name: torch.randn(size, generator=generator) for name, size in SIZES.items()}
                for _ in range(n)
            ]
        )  # fmt: skip

    return make


average = Check(
    name="average",
    reference=mean_of,
    cases=[Case("five checkpoints", some_states(5)), Case("three", some_states(3))],
)
AVERAGE = {
    "sum": lambda s: {k: len(s) * v for k, v in mean_of(s).items()},
    "first": lambda s: dict(s[0]),
    "last": lambda s: dict(s[-1]),
    "first left out": lambda s: mean_of(s[1:]),
    "last left out": lambda s: mean_of(s[:-1]),
    "divided by two": lambda s: {k: len(s) * v / 2 for k, v in mean_of(s).items()},
    "one number": lambda s: {k: v.mean() for k, v in mean_of(s).items()},
    "weight only": lambda s: {"weight": mean_of(s)["weight"]},
    "a list": lambda s: list(mean_of(s).values()),
    "n + 1": lambda s: {k: v * len(s) / (len(s) + 1) for k, v in mean_of(s).items()},
    "bias summed": lambda s: {"weight": mean_of(s)["weight"], "bias": len(s) * mean_of(s)["bias"]},
    "median": lambda s: {k: torch.stack([x[k] for x in s]).median(0).values for k in s[0]},
}


def sources(weights, n):
    return [int(i) for i in weights[:, :n].argmax(-1)]


align = Check(
    name="predicted_sources",
    reference=sources,
    cases=[drawn("six words", (5, 8), 6), drawn("four words", (7, 6), 4)],
)
ALIGN = {
    "all columns": lambda w, n: sources(w, w.shape[1]),
    "over rows": lambda w, n: [int(i) for i in w[:, :n].argmax(0)],
    "smallest": lambda w, n: sources(-w, n),
    "from 1": lambda w, n: [i + 1 for i in sources(w, n)],
    "one row lower": lambda w, n: sources(w[1:], n),
    "row before": lambda w, n: sources(w.roll(1, 0), n),
    "values": lambda w, n: w[:, :n].max(-1).values.tolist(),
    "turned round": lambda w, n: sources(w, n)[::-1],
    "first only": lambda w, n: sources(w, n)[0],
    "floats": lambda w, n: [float(i) for i in sources(w, n)],
    "sorted": lambda w, n: sorted(sources(w, n)),
}

kind_of_error = Check(
    name="kind_of_error",
    reference=lambda out, ref, score, other: (
        "none" if out == ref else "search" if score < other else "model"
    ),
    cases=[
        fixed("an equal output", "Jane sleeps", "Jane sleeps", -1.0, -1.0),
        fixed("a wrong output, lower score", "Jane sleep", "Jane sleeps", -3.0, -1.0),
        fixed("a wrong output, higher score", "Jane", "Jane sleeps", -0.5, -1.0),
        fixed("words in another order", "sleeps Jane", "Jane sleeps", -4.0, -1.0),
    ],
)
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

LISTS = [
    (cut, CUT),
    (group, GROUP),
    (spell, SPELL),
    (shift, SHIFT),
    (shapes, SHAPES),
    (adam, ADAM),
    (average, AVERAGE),
    (align, ALIGN),
    (kind_of_error, ERROR),
]
