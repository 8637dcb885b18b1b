"""The checks of chapter 20: patches of colour images, turning at given places, pooled heads."""

from collections.abc import Callable

import torch
from torch import Tensor

from walkthrough.checking import Arguments, Case, Check, Mistake, arguments

# Exercise: the input of a vision transformer -----------------------------------------------------


def _cut(images: Tensor, size: int) -> Tensor:
    """Return (batch, rows, columns, channels, size, size)."""
    cut = images.unfold(-2, size, size).unfold(-2, size, size)
    return cut.permute(0, 2, 3, 1, 4, 5)


def _input(
    order: Callable[[Tensor], Tensor] = lambda cut: cut,
    places: str = "all",
) -> Callable[..., Tensor]:
    def build(
        images: Tensor, size: int, weight: Tensor, bias: Tensor, token: Tensor, table: Tensor
    ) -> Tensor:
        cut = order(_cut(images, size))
        x = cut.flatten(3).flatten(1, 2) @ weight.mT + bias
        tokens = token.expand(len(x), 1, -1)
        if places == "patches":
            x = x + table[1:]
        x = torch.cat([tokens, x], dim=1)
        return x + table if places == "all" else x

    return build


def _images(
    batch: int, channels: int, height: int, width: int, size: int, bias: float = 1.0
) -> Case:
    def make(generator: torch.Generator) -> Arguments:
        def draw(*shape: int) -> Tensor:
            return torch.randn(*shape, generator=generator)

        n, d_model = (height // size) * (width // size), 5
        return arguments(
            draw(batch, channels, height, width),
            size,
            draw(d_model, channels * size * size),
            *(bias * draw(d_model), draw(d_model), draw(1 + n, d_model)),
        )

    kind = "grey" if channels == 1 else "colour"
    images = f"{batch} {kind} images" if batch > 1 else f"one {kind} image"
    without = "" if bias else ", a bias of 0"
    return Case(f"{images} of {height} × {width}, patches of {size} × {size}{without}", make)


def _flat_without_cutting(
    images: Tensor, size: int, weight: Tensor, bias: Tensor, token: Tensor, table: Tensor
) -> Tensor:
    pixels = images.flatten(1).unflatten(1, (len(table) - 1, -1))
    x = torch.cat([token.expand(len(images), 1, -1), pixels @ weight.mT + bias], dim=1)
    return x + table


def _beside(change: Callable[[Tensor, Tensor], Tensor]) -> Callable[..., Tensor]:
    """Change class token and patches, before or beside the positions."""

    def build(
        images: Tensor, size: int, weight: Tensor, bias: Tensor, token: Tensor, table: Tensor
    ) -> Tensor:
        x: Tensor = _input(places="none")(images, size, weight, bias, token, table)
        return change(x, table)

    return build


def _one_row_early(x: Tensor, table: Tensor) -> Tensor:
    return torch.cat([x[:, :1], x[:, 1:] + table[:-1]], dim=1)


image_tokens = Check(
    name="image_tokens",
    reference=_input(),
    cases=[
        _images(2, 1, 6, 6, 3),
        _images(2, 3, 4, 8, 2),
        _images(1, 3, 8, 4, 4),
        _images(2, 2, 4, 6, 2, bias=0.0),
    ],
    mistakes=[
        Mistake(
            "columns first",
            _input(lambda cut: cut.transpose(1, 2)),
            "the patches go down the columns. They go row by row, as one reads.",
        ),
        Mistake(
            "channels last",
            _input(lambda cut: cut.movedim(3, -1)),
            "inside of a patch the channels come last: red, green, blue of the first pixel, then "
            "of the second. Asked for is all of red first, as in the image.",
        ),
        Mistake(
            "not cut",
            _flat_without_cutting,
            "the pixels are split into equal runs, row after row of the whole image. A patch is a "
            "square: part of several rows.",
        ),
        Mistake(
            "flattened as it was unfolded",
            _input(lambda cut: cut.permute(0, 3, 1, 2, 4, 5).reshape(cut.shape)),
            "you flatten the patches in the order that `unfold` leaves: channels stand before rows "
            "and columns of patches. Bring them behind these first.",
        ),
        Mistake(
            "class token last",
            _beside(lambda x, table: torch.cat([x[:, 1:], x[:, :1]], dim=1) + table),
            "the class token stands at the end. It comes first: row 0 of `positions` is its place.",
        ),
        Mistake(
            "positions one row early",
            _beside(_one_row_early),
            "the patches take their positions from row 0 on. That row is the class token's.",
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
    right="right: {name}, from pixels to what the encoder reads",
)


# Exercise: RoPE at given places ------------------------------------------------------------------


def _turned(
    x: Tensor,
    positions: Tensor,
    *,
    sign: float = 1.0,
    halves: bool = True,
    base: float = 10000.0,
) -> Tensor:
    d = x.shape[-1]
    frequency = base ** (-torch.arange(0, d, 2, dtype=torch.float64) / d)
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


def _overwritten(x: Tensor, positions: Tensor) -> Tensor:
    first, b = _turned(x, positions).chunk(2, -1)[0], x.chunk(2, -1)[1]
    second = _turned(torch.cat([first, b], -1), positions).chunk(2, -1)[1]
    return torch.cat([first, second], -1)


def _interleaved(x: Tensor, positions: Tensor) -> Tensor:
    return torch.stack(_turned(x, positions).chunk(2, dim=-1), dim=-1).flatten(-2)


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
        _heads(1, 1, 4, [[5000, 5001]], "two words at 5000, as far on in a long text"),
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
            "the other way",
            lambda x, positions: _turned(x, positions, sign=-1.0),
            "this turns by −θ: (a, b) becomes (a cos θ − b sin θ, a sin θ + b cos θ).",
        ),
        Mistake(
            "i for 2i",
            lambda x, positions: _turned(x, positions, base=100.0),
            "the exponent of pair i is 2i/d. Yours is i/d: all pairs but the first turn too fast.",
        ),
        Mistake(
            "overwritten",
            _overwritten,
            "the second half was computed from the *turned* first one. Keep the first as it was "
            "until both are done.",
        ),
        Mistake(
            "pairs side by side",
            _interleaved,
            "the halves are turned rightly, and then put together pair by pair. They go back as "
            "they came: all a, then all b.",
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
            "repeated",
            lambda w, h, g: (
                _pooled(w, h, g).unflatten(0, (g, -1)).repeat_interleave(h // g, 0).flatten(0, 1)
            ),
            "the mean stands there once for each head. One for each group is asked: that is what "
            "saves memory.",
        ),
    ],
    right="right: {name}. Trained a little further, such a model loses next to nothing "
    "(Ainslie and others, 2023)",
)
