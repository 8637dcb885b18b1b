"""The checks of chapter 08 on residuals: what they keep of a word, how they start (§3.1)."""

from collections.abc import Callable, Mapping

import torch
from torch import Tensor

from walkthrough.checking import Arguments, Case, Check, Mistake, arguments, fixed

# Exercise: how much of a word is left

Left = Callable[[float, int, str], float]


def _mixed(
    post: Callable[[float, int], float] = lambda branch, n: float((1 + branch) ** -n),
    pre: Callable[[float, int], float] = lambda branch, n: 1 / (1 + n * branch),
) -> Left:
    """The share of the word, with another rule for one kind of norm."""
    return lambda branch, n_sublayers, norm: (post if norm == "post" else pre)(branch, n_sublayers)


def _ask(branch: float, n_sublayers: int, norm: str, special: str = "") -> Case:
    label = f'branch={branch}, n_sublayers={n_sublayers}, norm="{norm}"'
    return fixed(label, branch, n_sublayers, norm, special=special)


share_left = Check(
    name="share_left",
    reference=_mixed(),
    cases=[
        _ask(0.5, 1, "post"),
        _ask(0.5, 12, "post"),
        _ask(2.0, 3, "post"),
        _ask(0.25, 3, "pre"),
        _ask(0.4, 7, "pre"),
        _ask(0.0, 5, "pre", "Branches that write nothing leave all of the word: 1."),
    ],
    mistakes=[
        Mistake(
            "post-norm adds up",
            _mixed(post=lambda branch, n: 1 / (1 + n * branch)),
            "post-norm is treated like pre-norm. After each sum, post-norm scales the stream back "
            "to variance 1, so the next branch meets a stream of the same size: factors multiply.",
        ),
        Mistake(
            "pre-norm multiplies",
            _mixed(pre=lambda branch, n: float((1 + branch) ** -n)),
            "pre-norm is treated like post-norm. Nothing scales the stream back: its variance "
            "grows by the same amount each time, 1 + branch, 1 + 2 · branch, …",
        ),
        Mistake(
            "branches take away",
            _mixed(lambda branch, n: float((1 - branch) ** n), lambda branch, n: 1 - n * branch),
            "a branch takes nothing away from the word; it adds to the sum. The word keeps its "
            "variance 1, the whole has 1 + branch: the share is 1 / (1 + branch), not 1 − branch.",
        ),
        Mistake(
            "the branch's share",
            _mixed(post=lambda branch, n: float((branch / (1 + branch)) ** n)),
            "pre-norm is right. With post-norm this is what a *branch* has of the sum, "
            "branch / (1 + branch). The word has the rest of it.",
        ),
        Mistake(
            "nothing shrinks in pre-norm",
            _mixed(pre=lambda branch, n: 1.0),
            "post-norm is right. In pre-norm the word itself does not shrink, but what is asked is "
            "its share of the stream, and the stream grows with each branch.",
        ),
        Mistake(
            "standard deviations",
            lambda branch, n_sublayers, norm: _mixed()(branch, n_sublayers, norm) ** 0.5,
            "this is the share of standard deviations. Asked for is that of variances, which add.",
        ),
        Mistake(
            "one branch",
            lambda branch, n_sublayers, norm: 1 / (1 + branch),
            "only one branch was counted: this is the share after the first sub-layer.",
        ),
    ],
    right="`share_left` is right: post-norm multiplies, pre-norm adds up",
)

# Exercise: start the branches small

NAMES = {
    "query_proj.weight": (6, 6),
    "value_proj.weight": (6, 6),
    "output_proj.weight": (6, 6),
    "output_proj.bias": (6,),
    "expand.weight": (12, 6),
    "contract.weight": (6, 12),
    "contract.bias": (6,),
}
LAST = ("output_proj.weight", "contract.weight")
Weights = Mapping[str, Tensor]


def _scaled(
    *names: str, factor: Callable[[int], float] = lambda n: (2 * n) ** -0.5
) -> Callable[[Weights, int], Weights]:
    def start(weights: Weights, n_layers: int) -> Weights:
        return {name: w * factor(n_layers) if name in names else w for name, w in weights.items()}

    return start


def _case(n_layers: int) -> Case:
    def make(generator: torch.Generator) -> Arguments:
        drawn = {name: torch.randn(*size, generator=generator) for name, size in NAMES.items()}
        return arguments(drawn, n_layers)

    return Case(f"{n_layers} layers", make)


small_start = Check(
    name="small_start",
    reference=_scaled(*LAST),
    cases=[_case(6), _case(2), _case(1), _case(18)],
    mistakes=[
        Mistake(
            "nothing scaled",
            _scaled(),
            "the weights come back as they were: this is the full-size start.",
        ),
        Mistake(
            "no root",
            _scaled(*LAST, factor=lambda n: 1 / (2 * n)),
            "the factor lacks the root: with 1/(2N) for the weights the *variance* of a branch "
            "shrinks by (2N)². Variances add up, so the weights get (2N)^−0.5.",
        ),
        Mistake(
            "one branch a layer",
            _scaled(*LAST, factor=lambda n: n**-0.5),
            "N layers of an encoder have 2N branches, two each: the factor is (2N)^−0.5.",
        ),
        Mistake(
            "six layers",
            _scaled(*LAST, factor=lambda n: 12**-0.5),
            "the factor is that of six layers, whatever `n_layers` says.",
        ),
        Mistake(
            "all matrices",
            _scaled(*(name for name in NAMES if name.endswith("weight"))),
            "all matrices were scaled. Only the last one of each branch, through which it reaches "
            "the stream, starts small.",
        ),
        Mistake(
            "biases too",
            _scaled(*LAST, "output_proj.bias", "contract.bias"),
            "the biases were scaled as well. In the model they start at zero; leave them alone.",
        ),
        Mistake(
            "expand for contract",
            _scaled(LAST[0], "expand.weight"),
            "attention is right. Of the feed-forward network you scaled the first matrix, "
            "`expand.weight`; the last one before the sum is `contract.weight`.",
        ),
        Mistake(
            "only the scaled ones",
            lambda weights, n_layers: {n: _scaled(*LAST)(weights, n_layers)[n] for n in LAST},
            "only the scaled matrices came back. Return all of them, the others unchanged.",
        ),
    ],
    right="`small_start` is right: the last matrix of each branch times (2N)^−0.5",
)
