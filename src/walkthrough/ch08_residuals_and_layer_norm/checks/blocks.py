"""The check of chapter 08 in which a reader finds out, from outside, what a block does (§3.1)."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from walkthrough.checking.base import Arguments, Case, Check, Mistake, Symptom, arguments

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


def _hidden(name: str) -> Callable[[torch.Generator], Arguments]:
    """A case: a block that looks like any other from outside."""

    def make(generator: torch.Generator) -> Arguments:
        function = BLOCKS[name]

        def block(x: Tensor, sublayer: Sublayer) -> Tensor:
            return function(x, sublayer)

        return arguments(block)

    return make


def _name_of(block: Block, names: tuple[str, ...] = tuple(BLOCKS)) -> str:
    """Return the first of these names whose block answers alike."""
    x = 3 + 2 * torch.randn(2, 4, 8, generator=torch.Generator().manual_seed(0))

    def sublayer(y: Tensor) -> Tensor:
        return 2 * y.roll(1, dims=-1) + y.square()

    answer = block(x, sublayer)
    return next(
        name for name in names if torch.allclose(BLOCKS[name](x, sublayer), answer, atol=1e-3)
    )


def _confusing(**taken_for: str) -> Callable[[Block], str]:
    """A right diagnosis but for these names."""

    def which_block(block: Block) -> str:
        name = _name_of(block)
        return taken_for.get(name.replace(" ", "_"), name)

    return which_block


def _always(name: str) -> Callable[[Block], str]:
    return lambda block: name


SILENT = (
    "a sub-layer that returns zeros cannot tell them apart: post-norm and the block that forgets "
    "the word both give the normalised word, pre-norm and the norm on the branch both give the "
    "word itself. Ask once more, with a sub-layer that returns something, of a size that you know."
)
ONE_WORD = (
    "you take the norm over the whole sentence for the paper's. Both leave numbers of mean 0 and "
    "variance 1 if the words are alike or if you look at all of them together: give words of "
    "different size, and look at one word, or change one and look at the others."
)

TAKEN_FOR = {
    ("no residual", "post"): "the block without a residual is taken for post-norm. Both normalise "
    "at the end, and they agree if the sub-layer returns a multiple of its input. Let it return "
    "zeros: without a residual nothing is left.",
    ("no residual", "pre"): "the block without a residual is taken for pre-norm. Let the sub-layer "
    "return zeros: pre-norm gives x back, without a residual nothing is left.",
    ("forgets", "post"): "the block that forgets the word is taken for post-norm. Its output is "
    "not normalised: let the sub-layer return something large.",
    ("forgets", "pre"): "the block that forgets the word is taken for pre-norm. With a sub-layer "
    "that returns zeros, pre-norm gives x back as it came; this one gives it normalised.",
    ("branch", "pre"): "the norm on the branch is taken for pre-norm. Let the sub-layer return a "
    "vector of a known size: pre-norm adds it as it is.",
    ("branch", "post"): "the norm on the branch is taken for post-norm. With a sub-layer that "
    "returns zeros it gives x back as it came; post-norm gives it normalised.",
    ("pre", "post"): "pre-norm is taken for post-norm. With a sub-layer that returns zeros it "
    "gives x back as it came; post-norm gives it normalised.",
    ("post", "pre"): "post-norm is taken for pre-norm. With a sub-layer that returns zeros, "
    "pre-norm gives x back as it came; post-norm gives it normalised.",
    ("sentence", "post"): ONE_WORD,
}
"""What tells a block from the one that a diagnosis takes it for: (block, taken for)."""


def _takes(block: str, other: str) -> Callable[[Any, Any, Arguments], bool]:
    return lambda answer, expected, given: (expected, answer) == (block, other)


which_block = Check(
    name="which_block",
    reference=_name_of,
    cases=[Case(f'the block that is "{name}"', _hidden(name)) for name in BLOCKS],
    mistakes=[
        *(
            Mistake(
                f"always {name}",
                _always(name),
                f'your function says "{name}" to every block. Compare what comes out for inputs '
                "and sub-layers of your choice.",
            )
            for name in BLOCKS
        ),
        Mistake("silent probe", _confusing(forgets="post", branch="pre"), SILENT),
        Mistake("silent probe, exchanged", _confusing(post="forgets", pre="branch"), SILENT),
        Mistake(
            "silent probe, sentence too",
            _confusing(forgets="post", branch="pre", sentence="post"),
            f"three are taken for others. First, {SILENT} Second, {ONE_WORD}",
        ),
        Mistake(
            "forgets taken for post",
            _confusing(forgets="post"),
            "the block that forgets the word is taken for post-norm. Its output is not normalised: "
            "let the sub-layer return something large, and look at the size of what comes out.",
        ),
        Mistake(
            "forgets taken for pre",
            _confusing(forgets="pre"),
            "the block that forgets the word is taken for pre-norm. With a sub-layer that returns "
            "zeros, pre-norm gives x back as it came; this one gives it normalised.",
        ),
        Mistake(
            "branch taken for pre",
            _confusing(branch="pre"),
            "the norm on the branch is taken for pre-norm. Let the sub-layer return a vector of a "
            "known size: pre-norm adds it as it is.",
        ),
        Mistake("sentence taken for post", _confusing(sentence="post"), ONE_WORD),
        Mistake(
            "no residual taken for post",
            _confusing(no_residual="post"),
            "the block without a residual is taken for post-norm. Let the sub-layer return zeros: "
            "without a residual nothing is left.",
        ),
        Mistake(
            "branch and pre exchanged",
            _confusing(branch="pre", pre="branch"),
            "pre-norm and the norm on the branch are exchanged. A norm on the branch makes every "
            "branch the same size, however large the sub-layer's output.",
        ),
        Mistake(
            "post and forgets exchanged",
            _confusing(forgets="post", post="forgets"),
            "post-norm and the block that forgets the word are exchanged. After post-norm the sum "
            "is normalised, however large the sub-layer's output.",
        ),
        Mistake(
            "sentence and post exchanged",
            _confusing(sentence="post", post="sentence"),
            "the paper's norm and the one over the sentence are exchanged. The paper's gives "
            "*every word* mean 0.",
        ),
        Mistake(
            "post taken for sentence",
            _confusing(post="sentence"),
            "the paper's post-norm is taken for the norm over the sentence. The paper's gives "
            "*every word* mean 0, up to rounding: compare with a tolerance.",
        ),
        Mistake(
            "no residual taken for pre",
            _confusing(no_residual="pre"),
            "the block without a residual is taken for pre-norm. Let the sub-layer return zeros: "
            "pre-norm gives x back, without a residual nothing is left.",
        ),
        Mistake(
            "names with -norm",
            _confusing(post="post-norm", pre="pre-norm"),
            'the diagnosis is right, the names are not: return "post" and "pre".',
        ),
        Mistake(
            "post and pre exchanged",
            _confusing(post="pre", pre="post"),
            "post and pre are exchanged: with a sub-layer that returns zeros, pre-norm gives x "
            "back as it came.",
        ),
    ],
    symptoms=[
        Symptom(
            "a name of its own",
            lambda answer, expected, given: isinstance(answer, str) and answer not in BLOCKS,
            "a name that you return is not in the table. Take the names as they stand there: "
            + ", ".join(f'"{name}"' for name in BLOCKS)
            + ".",
        ),
        *(
            Symptom(f"{block} for {other}", _takes(block, other), say)
            for (block, other), say in TAKEN_FOR.items()
        ),
    ],
    right="`which_block` is right: all six blocks told apart from outside",
)


def blocks() -> dict[str, Any]:
    """Return the blocks by name, to try probes on."""
    return dict(BLOCKS)
