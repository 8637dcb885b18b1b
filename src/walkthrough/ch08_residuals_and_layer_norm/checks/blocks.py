"""The check of chapter 08 in which a reader finds out, from outside, what a block does (§3.1)."""

from collections.abc import Callable

import torch
from torch import Tensor

from walkthrough.checking import Arguments, Case, Check, Mistake, arguments

Sublayer = Callable[[Tensor], Tensor]
Block = Callable[[Tensor, Sublayer], Tensor]


def _normalised(x: Tensor, dims: tuple[int, ...] = (-1,)) -> Tensor:
    variance = x.var(dims, correction=0, keepdim=True)
    return (x - x.mean(dims, keepdim=True)) / (variance + 1e-5).sqrt()


BLOCKS: dict[str, Block] = {
    "post": lambda x, sublayer: _normalised(x + sublayer(x)),
    "pre": lambda x, sublayer: x + sublayer(_normalised(x)),
    "no residual": lambda x, sublayer: _normalised(sublayer(x)),
    "forgets": lambda x, sublayer: _normalised(x) + sublayer(_normalised(x)),
    "branch": lambda x, sublayer: x + _normalised(sublayer(x)),
    "sentence": lambda x, sublayer: _normalised(x + sublayer(x), (-2, -1)),
}
"""What a block can do, by the name that the exercise gives it."""

SPECIAL = {
    "post": "The paper's block gives every word mean 0 and variance 1, however large the "
    "sub-layer's output is. That holds up to rounding: compare with a tolerance.",
    "pre": "With a sub-layer that returns zeros, pre-norm gives x back as it came; post-norm gives "
    "it normalised.",
    "no residual": "Let the sub-layer return zeros: without a residual nothing is left. "
    "(Its name is written with a space.)",
    "forgets": "This one forgets the word: a silent sub-layer leaves the normalised word, as in "
    "post-norm. Its sum is not normalised: let the sub-layer return something large.",
    "branch": "The norm on the branch gives x back if the sub-layer is silent, as pre-norm does. "
    "Let the sub-layer return a vector of a known size: pre-norm adds it as it is.",
    "sentence": "Over a whole sentence, mean 0 and variance 1 hold for all words together. Give "
    "words of different size, and look at one word, or change one and look at the others.",
}
"""What tells a block from those that it is taken for."""


WARNED = {
    "forgets": "Pre-norm that forgets the word",
    "sentence": "One mean for the whole sentence",
}


def _hidden(name: str) -> Callable[[torch.Generator], Arguments]:
    """A case: a block that looks like any other from outside."""

    def make(generator: torch.Generator) -> Arguments:
        function = BLOCKS[name]

        def block(x: Tensor, sublayer: Sublayer) -> Tensor:
            return function(x, sublayer)

        return arguments(block)

    return make


def _name_of(block: Block) -> str:
    x = 3 + 2 * torch.randn(2, 4, 8, generator=torch.Generator().manual_seed(0))

    def sublayer(y: Tensor) -> Tensor:
        return 2 * y.roll(1, dims=-1) + y.square()

    answer = block(x, sublayer)
    return next(
        name for name, other in BLOCKS.items() if torch.allclose(other(x, sublayer), answer)
    )


def _confusing(**taken_for: str) -> Callable[[Block], str]:
    """A right diagnosis but for these names."""
    return lambda block: taken_for.get(name := _name_of(block), name)


SILENT = (
    "a sub-layer that returns zeros cannot tell them apart: post-norm and the block that forgets "
    "the word both give the normalised word, pre-norm and the norm on the branch both give the "
    "word itself. Ask once more, with a sub-layer that returns something, of a size that you know."
)

which_block = Check(
    name="which_block",
    reference=_name_of,
    cases=[
        Case(f'the block that is "{name}"', _hidden(name), SPECIAL[name], WARNED.get(name, ""))
        for name in BLOCKS
    ],
    mistakes=[
        Mistake(
            "silent probe", _confusing(forgets="post", branch="pre"), SILENT, WARNED["forgets"]
        ),
        Mistake(
            "silent probe, sentence too",
            _confusing(forgets="post", branch="pre", sentence="post"),
            f"three are taken for others. Begin with two of them: {SILENT}",
        ),
        Mistake(
            "post and pre exchanged",
            _confusing(post="pre", pre="post"),
            "you have exchanged them: the one whose output is normalised is post-norm.",
        ),
    ],
    right="`which_block` is right: all six blocks told apart from outside",
)
