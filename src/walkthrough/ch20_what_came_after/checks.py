"""The checks of chapter 20: patches of colour images, turning at given places, pooled heads."""

from collections.abc import Callable

import torch
from torch import Tensor

from walkthrough.checking import Arguments, Case, Check, Mistake, Symptom, arguments

# Exercise: the input of a vision transformer -----------------------------------------------------


def _cut(images: Tensor, size: int) -> Tensor:
    """Return (batch, rows, columns, channels, size, size)."""
    cut = images.unfold(-2, size, size).unfold(-2, size, size)
    return cut.permute(0, 2, 3, 1, 4, 5)


def _input(
    order: Callable[[Tensor], Tensor] = lambda cut: cut,
    *,
    bias: bool = True,
    first: bool = True,
    places: str = "all",
) -> Callable[..., Tensor]:
    def build(
        images: Tensor, size: int, weight: Tensor, bias_: Tensor, token: Tensor, table: Tensor
    ) -> Tensor:
        cut = order(_cut(images, size))
        x = cut.flatten(3).flatten(1, 2) @ weight.mT + (bias_ if bias else 0)
        tokens = token.expand(len(x), 1, -1)
        if places == "patches":
            x = x + table[1:]
        x = torch.cat([tokens, x] if first else [x, tokens], dim=1)
        return x + table if places == "all" else x

    return build


def _images(batch: int, channels: int, height: int, width: int, size: int) -> Case:
    def make(generator: torch.Generator) -> Arguments:
        def draw(*shape: int) -> Tensor:
            return torch.randn(*shape, generator=generator)

        n, d_model = (height // size) * (width // size), 5
        return arguments(
            draw(batch, channels, height, width),
            size,
            draw(d_model, channels * size * size),
            *(draw(d_model), draw(d_model), draw(1 + n, d_model)),
        )

    kind = "grey" if channels == 1 else "colour"
    images = f"{batch} {kind} images" if batch > 1 else f"one {kind} image"
    return Case(f"{images} of {height} × {width}, patches of {size} × {size}", make)


def _flat_without_cutting(
    images: Tensor, size: int, weight: Tensor, bias: Tensor, token: Tensor, table: Tensor
) -> Tensor:
    pixels = images.flatten(1).unflatten(1, (len(table) - 1, -1))
    x = torch.cat([token.expand(len(images), 1, -1), pixels @ weight.mT + bias], dim=1)
    return x + table


def _no_order(
    images: Tensor, size: int, weight: Tensor, bias: Tensor, token: Tensor, table: Tensor
) -> Tensor:
    """Flatten what `unfold` gives as it is, with the channels before the patches."""
    cut = images.unfold(-2, size, size).unfold(-2, size, size)
    x = cut.reshape(len(images), len(table) - 1, -1) @ weight.mT + bias
    return torch.cat([token.expand(len(x), 1, -1), x], dim=1) + table


def _beside(change: Callable[[Tensor, Tensor, Tensor], Tensor]) -> Callable[..., Tensor]:
    """Change class token and patches, given the bias, before or beside the positions."""

    def build(
        images: Tensor, size: int, weight: Tensor, bias: Tensor, token: Tensor, table: Tensor
    ) -> Tensor:
        x: Tensor = _input(places="none")(images, size, weight, bias, token, table)
        return change(x, bias, table)

    return build


def _one_row_early(x: Tensor, bias: Tensor, table: Tensor) -> Tensor:
    return torch.cat([x[:, :1], x[:, 1:] + table[:-1]], dim=1)


def _biased_token(x: Tensor, bias: Tensor, table: Tensor) -> Tensor:
    return torch.cat([x[:, :1] + bias, x[:, 1:]], dim=1) + table


def _scaled_up(x: Tensor, bias: Tensor, table: Tensor) -> Tensor:
    return x * x.shape[-1] ** 0.5 + table


image_tokens = Check(
    name="image_tokens",
    reference=_input(),
    cases=[
        _images(2, 1, 6, 6, 3),
        _images(2, 3, 4, 8, 2),
        _images(1, 3, 8, 4, 4),
    ],
    mistakes=[
        Mistake(
            "columns first",
            _input(lambda cut: cut.transpose(1, 2)),
            "the patches go down the columns. They go row by row, as one reads.",
        ),
        Mistake(
            "patches turned over",
            _input(lambda cut: cut.transpose(-1, -2)),
            "rows and columns are exchanged inside of each patch.",
        ),
        Mistake(
            "channels last",
            _input(lambda cut: cut.movedim(3, -1)),
            "inside of a patch the channels come last: red, green, blue of the first pixel, then "
            "of the second. Asked for is all of red first, as in the image.",
        ),
        Mistake(
            "one grey for all colours",
            _input(lambda cut: cut.mean(3, keepdim=True).expand_as(cut)),
            "the mean of red, green and blue stands in place of all three. Keep the channels: the "
            "matrix has columns for each of them.",
        ),
        Mistake(
            "not cut",
            _flat_without_cutting,
            "the pixels are split into equal runs, row after row of the whole image. A patch is a "
            "square: part of several rows.",
        ),
        Mistake(
            "no order",
            _no_order,
            "`unfold` leaves the channels before the patches. Bring the dimensions into the order "
            "batch, rows, columns, channel, row, column before you flatten.",
        ),
        Mistake(
            "positions one row early",
            _beside(_one_row_early),
            "the patches take their positions from row 0 on. That row is the class token's.",
        ),
        Mistake(
            "bias for the class token",
            _beside(_biased_token),
            "the class token gets the bias as well. It belongs to the map of the patches.",
        ),
        Mistake(
            "times the root of d_model",
            _beside(_scaled_up),
            "you multiply by √d_model, as the paper does with words. A vision transformer does "
            "not.",
        ),
        Mistake("no bias", _input(bias=False), "the bias is missing."),
        Mistake(
            "class token last",
            _input(first=False),
            "the class token stands behind the patches. It comes first.",
        ),
        Mistake(
            "class token without a place",
            _input(places="patches"),
            "the class token gets no position. It has one like any other: the first row of "
            "`positions`.",
        ),
        Mistake(
            "no positions",
            _input(places="none"),
            "the positions are missing: to attention, this is a heap of patches.",
        ),
    ],
    symptoms=[
        Symptom(
            "no class token",
            lambda result, expected, given: (
                isinstance(result, Tensor)
                and result.ndim == 3
                and result.shape[1] == expected.shape[1] - 1
            ),
            "there is one vector too few an image: the class token is missing.",
        ),
    ],
    right="right: {name}, from pixels to what the encoder reads",
)


# Exercise: RoPE at given places ------------------------------------------------------------------


def _turned(
    x: Tensor,
    positions: Tensor,
    *,
    base: float = 10000.0,
    sign: float = 1.0,
    step: float = 1.0,
    halves: bool = True,
) -> Tensor:
    d = x.shape[-1]
    frequency = base ** (-step * torch.arange(0, d, 2, dtype=torch.float64) / d)
    angle = sign * positions.double()[:, None, :, None] * frequency
    if halves:
        a, b = x.double().chunk(2, dim=-1)
    else:
        a, b = x[..., 0::2].double(), x[..., 1::2].double()
    pair = (a * angle.cos() - b * angle.sin(), a * angle.sin() + b * angle.cos())
    joined = torch.cat(pair, -1) if halves else torch.stack(pair, -1).flatten(-2)
    return joined.to(x.dtype)


def _at_rows(x: Tensor, positions: Tensor) -> Tensor:
    return _turned(x, torch.arange(x.shape[2]).expand(len(x), -1))


def _first_sentence(x: Tensor, positions: Tensor) -> Tensor:
    return _turned(x, positions[:1].expand(len(x), -1))


def _half_turned(x: Tensor, positions: Tensor) -> Tensor:
    kept = x.shape[-1] // 2
    return torch.cat([_turned(x, positions)[..., :kept], x[..., kept:]], dim=-1)


def _overwritten(x: Tensor, positions: Tensor) -> Tensor:
    d = x.shape[-1]
    angle = positions.double()[:, None, :, None] * 10000.0 ** (
        -torch.arange(0, d, 2, dtype=torch.float64) / d
    )
    a, b = x.double().chunk(2, dim=-1)
    first = a * angle.cos() - b * angle.sin()
    return torch.cat([first, first * angle.sin() + b * angle.cos()], dim=-1).to(x.dtype)


Halves = Callable[[Tensor, Tensor, Tensor, Tensor], tuple[Tensor, Tensor]]


def _turned_as(
    formula: Halves, frequency: Callable[[Tensor, int], Tensor] | None = None
) -> Callable[[Tensor, Tensor], Tensor]:
    """Turn by another formula of (a, b, cos, sin), or at other frequencies of (i, d)."""

    def turn(x: Tensor, positions: Tensor) -> Tensor:
        d = x.shape[-1]
        i = torch.arange(d // 2, dtype=torch.float64)
        speed = 10000.0 ** (-2 * i / d) if frequency is None else frequency(i, d)
        angle = positions.double()[:, None, :, None] * speed
        a, b = x.double().chunk(2, dim=-1)
        return torch.cat(formula(a, b, angle.cos(), angle.sin()), dim=-1).to(x.dtype)

    return turn


def _right_halves(a: Tensor, b: Tensor, cos: Tensor, sin: Tensor) -> tuple[Tensor, Tensor]:
    return a * cos - b * sin, a * sin + b * cos


def _interleaved(x: Tensor, positions: Tensor) -> Tensor:
    return torch.stack(_turned(x, positions).chunk(2, dim=-1), dim=-1).flatten(-2)


def _pairs_keep_their_length(result: Tensor, expected: Tensor, _given: Arguments) -> bool:
    found, wanted = (
        torch.hypot(*torch.as_tensor(one).double().chunk(2, dim=-1)) for one in (result, expected)
    )
    return found.shape == wanted.shape and torch.allclose(found, wanted, atol=1e-4)


def _adds_the_same(result: Tensor, _expected: Tensor, given: Arguments) -> bool:
    added = result - given.positional[0]
    return added.shape[1] > 1 and torch.allclose(added, added[:, :1].expand_as(added), atol=1e-5)


def _heads(batch: int, heads: int, d: int, rows: list[list[int]], label: str) -> Case:
    def make(generator: torch.Generator) -> Arguments:
        positions = torch.tensor(rows)
        return arguments(
            torch.randn(batch, heads, positions.shape[1], d, generator=generator), positions
        )

    return Case(label, make)


turn_at = Check(
    name="turn_at",
    reference=_turned,
    cases=[
        _heads(1, 2, 4, [[0, 1, 2, 3]], "one sentence from position 0"),
        _heads(1, 3, 8, [[17]], "one new word at position 17, as beside a cache"),
        _heads(2, 2, 8, [[0, 1, 2, 3, 4], [0, 0, 0, 1, 2]], "a sentence padded on the left"),
        _heads(2, 1, 6, [[0, 1, 2, 0, 1], [0, 1, 0, 1, 2]], "two sentences packed in a row"),
    ],
    mistakes=[
        Mistake(
            "neighbours",
            lambda x, positions: _turned(x, positions, halves=False),
            "a component is paired with its neighbour, as in chapter 07. Here the first half is "
            "paired with the second: i with i + d/2.",
        ),
        Mistake(
            "rows for positions",
            _at_rows,
            "every sentence is turned by 0, 1, 2, …: `positions` is not used.",
        ),
        Mistake(
            "positions of the first sentence",
            _first_sentence,
            "all sentences are turned by the positions of the first one.",
        ),
        Mistake(
            "the other way",
            lambda x, positions: _turned(x, positions, sign=-1.0),
            "this turns by −θ: (a, b) becomes (a cos θ − b sin θ, a sin θ + b cos θ).",
        ),
        Mistake(
            "half turned",
            _half_turned,
            "the second half comes back as it was. Both halves of a pair change.",
        ),
        Mistake(
            "overwritten",
            _overwritten,
            "the second half was computed from the *turned* first one. Keep the first as it was "
            "until both are done.",
        ),
        Mistake(
            "one angle",
            lambda x, positions: _turned(x, positions, base=1.0),
            "every pair turns by the position itself. Pair i turns by pos / 10000^(2i/d).",
        ),
        Mistake(
            "exponent of i/d",
            lambda x, positions: _turned(x, positions, step=0.5),
            "the later pairs turn too far: pair i has the exponent 2i/d, not i/d.",
        ),
        Mistake(
            "exponent of 4i/d",
            lambda x, positions: _turned(x, positions, step=2.0),
            "the later pairs turn too little: i is doubled twice. Pair i has the exponent 2i/d.",
        ),
        Mistake(
            "i from 1",
            _turned_as(_right_halves, lambda i, d: 10000.0 ** (-2 * (i + 1) / d)),
            "your first pair has i = 1. Count i from 0: the first pair turns by the position "
            "itself.",
        ),
        Mistake(
            "a growing angle",
            _turned_as(_right_halves, lambda i, d: 10000.0 ** (2 * i / d)),
            "the later pairs turn faster: you multiply by 10000^(2i/d). Divide by it.",
        ),
        Mistake(
            "sine and cosine exchanged",
            _turned_as(lambda a, b, cos, sin: _right_halves(a, b, sin, cos)),
            "sine and cosine are exchanged. At position 0 nothing turns: cos 0 = 1 stands with a.",
        ),
        Mistake(
            "minus in the second",
            _turned_as(lambda a, b, cos, sin: (a * cos - b * sin, a * sin - b * cos)),
            "the second half has a minus: it is a sin θ *+* b cos θ.",
        ),
        Mistake(
            "plus in the first",
            _turned_as(lambda a, b, cos, sin: (a * cos + b * sin, a * sin + b * cos)),
            "the first half has a plus: it is a cos θ *−* b sin θ.",
        ),
        Mistake(
            "pairs side by side",
            _interleaved,
            "the halves are turned rightly, and then put together pair by pair. They go back as "
            "they came: all a, then all b.",
        ),
        Mistake(
            "from the first position",
            lambda x, positions: _turned(x, positions - positions[:, :1]),
            "you count positions from that of the sentence's first word. A word beside a cache "
            "stands at its own.",
        ),
        Mistake(
            "nothing turned", lambda x, positions: x.clone(), "nothing is turned: this is `x`."
        ),
    ],
    symptoms=[
        Symptom(
            "the same is added to every head",
            _adds_the_same,
            "you add the same to all heads, as sinusoidal positions do. RoPE turns each pair.",
        ),
        Symptom(
            "other angles",
            _pairs_keep_their_length,
            "the pairs are turned, by other angles: pair i at position t turns by "
            "t / 10000^(2i/d), in radians, with the position of its own word.",
        ),
    ],
    right="right: {name}, from any position, for sentences that are padded, packed or cached",
)


# Exercise: from heads to groups ------------------------------------------------------------------


def _by_head(weight: Tensor, n_heads: int) -> Tensor:
    return weight.unflatten(0, (n_heads, -1))


def _pooled(weight: Tensor, n_heads: int, n_groups: int) -> Tensor:
    return _by_head(weight, n_heads).unflatten(0, (n_groups, -1)).mean(1).flatten(0, 1)


pool_heads = Check(
    name="pool_heads",
    reference=_pooled,
    cases=[
        Case(
            label,
            lambda generator, shape=shape, n=n: arguments(  # type: ignore[misc]
                torch.randn(*shape, generator=generator), *n
            ),
        )
        for label, shape, n in (
            ("4 heads of size 3 to 2 groups", (12, 7), (4, 2)),
            ("6 heads of size 2 to 2 groups", (12, 5), (6, 2)),
            ("4 heads of size 2 to one group", (8, 6), (4, 1)),
            ("4 heads to 4 groups", (8, 6), (4, 4)),
        )
    ],
    mistakes=[
        Mistake(
            "groups by turns",
            lambda w, h, g: _by_head(w, h).unflatten(0, (-1, g)).mean(0).flatten(0, 1),
            "heads 1, 3, … become one group and 2, 4, … the other. Neighbouring heads share.",
        ),
        Mistake(
            "added up",
            lambda w, h, g: _by_head(w, h).unflatten(0, (g, -1)).sum(1).flatten(0, 1),
            "the heads of a group are added up. The mean keeps keys at their size.",
        ),
        Mistake(
            "first head",
            lambda w, h, g: _by_head(w, h).unflatten(0, (g, -1))[:, 0].flatten(0, 1),
            "each group keeps its first head and forgets the others.",
        ),
        Mistake(
            "last head",
            lambda w, h, g: _by_head(w, h).unflatten(0, (g, -1))[:, -1].flatten(0, 1),
            "each group keeps its last head and forgets the others.",
        ),
        Mistake(
            "repeated",
            lambda w, h, g: (
                _pooled(w, h, g).unflatten(0, (g, -1)).repeat_interleave(h // g, 0).flatten(0, 1)
            ),
            "the mean stands there once for each head. One for each group is asked: that is what "
            "saves memory.",
        ),
        Mistake(
            "one mean for all",
            lambda w, h, g: _by_head(w, h).mean(0).repeat(g, 1),
            "you take the mean of all heads. Each group has its own.",
        ),
        Mistake(
            "over the groups",
            lambda w, h, g: _by_head(w, h).unflatten(0, (g, -1)).mean(0).flatten(0, 1),
            "you average over the groups: head with head of another group. Average inside each "
            "group.",
        ),
        Mistake(
            "the numbers exchanged",
            lambda w, h, g: _pooled(w, h, h // g),
            "you make n_heads / n_groups groups. `n_groups` is how many groups there are, not how "
            "many heads share.",
        ),
        Mistake(
            "divided by its root",
            lambda w, h, g: _pooled(w, h, g) * (h // g) ** 0.5,
            "the sum is divided by the root of how many heads it has. A mean divides by how many.",
        ),
        Mistake(
            "divided by all heads",
            lambda w, h, g: _pooled(w, h, g) / g,
            "the sum is divided by n_heads. A group has n_heads / n_groups heads.",
        ),
        Mistake(
            "divided by the groups",
            lambda w, h, g: _pooled(w, h, g) * (h // g) / g,
            "the sum is divided by n_groups. A group has n_heads / n_groups heads.",
        ),
        Mistake(
            "first heads",
            lambda w, h, g: _by_head(w, h)[:g].flatten(0, 1),
            "the first heads are kept, one for each group, and the others are forgotten.",
        ),
        Mistake(
            "inside a head",
            lambda w, h, g: w.unflatten(0, (g * (w.shape[0] // h), -1)).mean(1),
            "neighbouring *rows* are averaged: components of one head. Average head with head, "
            "the first component with the first.",
        ),
    ],
    right="right: {name}. Trained a little further, such a model loses next to nothing "
    "(Ainslie and others, 2023)",
)
