"""The checks of chapter 08 on residuals: their order, what they keep, how they start (§3.1)."""

from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from walkthrough.checking.base import Arguments, Case, Check, Mistake, Symptom, arguments, fixed

# Exercise: the connection around a sub-layer

Sublayer = Callable[[Tensor], Tensor]


def _centred(x: Tensor) -> Tensor:
    return F.layer_norm(x, x.shape[-1:])


def _post(x: Tensor, sublayer: Sublayer, norm: Sublayer) -> Tensor:
    return norm(x + sublayer(x))


def _pre(x: Tensor, sublayer: Sublayer, norm: Sublayer) -> Tensor:
    return x + sublayer(norm(x))


def _by_kind(post: Callable[..., Tensor], pre: Callable[..., Tensor]) -> Callable[..., Tensor]:
    def connect(x: Tensor, sublayer: Sublayer, norm: Sublayer, kind: str) -> Tensor:
        return (post if kind == "post" else pre)(x, sublayer, norm)

    return connect


def _network(generator: torch.Generator) -> Sublayer:
    expand = torch.randn(6, 12, generator=generator)
    contract = torch.randn(12, 6, generator=generator)
    return lambda x: (x @ expand).relu() @ contract


def _connection(kind: str) -> Callable[[torch.Generator], Arguments]:
    def make(generator: torch.Generator) -> Arguments:
        x = 0.5 + 2 * torch.randn(2, 5, 6, generator=generator)
        return arguments(x, _network(generator), _centred, kind)

    return make


connect = Check(
    name="connect",
    reference=_by_kind(_post, _pre),
    cases=[Case('kind="post"', _connection("post")), Case('kind="pre"', _connection("pre"))],
    mistakes=[
        Mistake(
            "exchanged",
            _by_kind(_pre, _post),
            "the two are exchanged. Post: the norm comes last, after the sum. Pre: the norm comes "
            "first, before the sub-layer.",
        ),
        Mistake(
            "post always",
            _by_kind(_post, _post),
            'post-norm is right, and you return it for kind="pre" as well.',
        ),
        Mistake(
            "pre always",
            _by_kind(_pre, _pre),
            'pre-norm is right, and you return it for kind="post" as well. The paper\'s formula '
            "has the norm on the outside.",
        ),
        Mistake(
            "pre-norm adds the normalised word",
            _by_kind(_post, lambda x, sublayer, norm: norm(x) + sublayer(norm(x))),
            "with pre-norm, what is added is the word as it came in, not its normalised form: "
            "keep x before you normalise.",
        ),
        Mistake(
            "post-norm without the residual",
            _by_kind(lambda x, sublayer, norm: norm(sublayer(x)), _pre),
            "with post-norm the residual is missing: add x before you normalise.",
        ),
        Mistake(
            "no residual",
            _by_kind(
                lambda x, sublayer, norm: norm(sublayer(x)),
                lambda x, sublayer, norm: sublayer(norm(x)),
            ),
            "the residual is missing in both: nothing is added to x.",
        ),
        Mistake(
            "branch normalised in post-norm",
            _by_kind(lambda x, sublayer, norm: x + norm(sublayer(x)), _pre),
            "with post-norm you normalise the branch and then add. The paper normalises the sum.",
        ),
        Mistake(
            "two norms in pre-norm",
            _by_kind(_post, lambda x, sublayer, norm: norm(x + sublayer(norm(x)))),
            "with pre-norm there is one norm, before the sub-layer; the sum stays as it is.",
        ),
    ],
    right="`connect` is right: post-norm normalises the sum, pre-norm the sub-layer's input",
)

# Exercise: how much of a word is left


def _left(branch: float, n_sublayers: int, norm: str) -> float:
    return (1 + branch) ** -n_sublayers if norm == "post" else 1 / (1 + n_sublayers * branch)


def _ask(branch: float, n_sublayers: int, norm: str) -> Case:
    label = f'branch={branch}, n_sublayers={n_sublayers}, norm="{norm}"'
    return fixed(label, branch, n_sublayers, norm)


share_left = Check(
    name="share_left",
    reference=_left,
    cases=[
        _ask(0.5, 1, "post"),
        _ask(0.5, 12, "post"),
        _ask(0.25, 3, "pre"),
        _ask(0.0, 5, "pre"),
    ],
    mistakes=[
        Mistake(
            "post-norm adds up",
            lambda branch, n_sublayers, norm: 1 / (1 + n_sublayers * branch),
            "post-norm is treated like pre-norm. After each sum, post-norm scales the stream back "
            "to variance 1, so the next branch meets a stream of the same size: factors multiply.",
        ),
        Mistake(
            "pre-norm multiplies",
            lambda branch, n_sublayers, norm: (1 + branch) ** -n_sublayers,
            "pre-norm is treated like post-norm. Nothing scales the stream back: its variance "
            "grows by the same amount each time, 1 + branch, 1 + 2 · branch, …",
        ),
        Mistake(
            "exchanged",
            lambda branch, n_sublayers, norm: _left(
                branch, n_sublayers, "pre" if norm == "post" else "post"
            ),
            "the two norms are exchanged.",
        ),
        Mistake(
            "each branch takes its share away",
            lambda branch, n_sublayers, norm: (
                (1 - branch) ** n_sublayers if norm == "post" else 1 - n_sublayers * branch
            ),
            "a branch takes nothing away from the word; it adds to the sum. The word keeps its "
            "variance 1, the whole has 1 + branch: the share is 1 / (1 + branch).",
        ),
        Mistake(
            "standard deviations",
            lambda branch, n_sublayers, norm: _left(branch, n_sublayers, norm) ** 0.5,
            "this is the share of standard deviations. Asked for is that of variances, which add.",
        ),
        Mistake(
            "the share of the branches",
            lambda branch, n_sublayers, norm: 1 - _left(branch, n_sublayers, norm),
            "this is the share of all branches together. Asked for is that of the word: 1 minus "
            "yours.",
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


def _scaled(
    names: tuple[str, ...], factor: Callable[[int], float] = lambda n: (2 * n) ** -0.5
) -> Callable[..., Any]:
    def start(weights: dict[str, Tensor], n_layers: int) -> dict[str, Tensor]:
        return {name: w * factor(n_layers) if name in names else w for name, w in weights.items()}

    return start


def _weights(n_layers: int) -> Callable[[torch.Generator], Arguments]:
    def make(generator: torch.Generator) -> Arguments:
        drawn = {name: torch.randn(*size, generator=generator) for name, size in NAMES.items()}
        return arguments(drawn, n_layers)

    return make


def _holds_only_the_last(result: Any, expected: Any, given: Arguments) -> bool:
    return isinstance(result, dict) and set(result) == set(LAST)


small_start = Check(
    name="small_start",
    reference=_scaled(LAST),
    cases=[Case("6 layers", _weights(6)), Case("2 layers", _weights(2))],
    mistakes=[
        Mistake(
            "nothing scaled",
            _scaled(()),
            "the weights come back as they were: this is the full-size start.",
        ),
        Mistake(
            "everything scaled",
            _scaled(tuple(NAMES)),
            "everything was scaled. The first matrices of a branch keep their size; only the last "
            "one, through which the branch reaches the stream, starts small.",
        ),
        Mistake(
            "attention only",
            _scaled(LAST[:1]),
            "attention branches start small, feed-forward branches do not: `contract.weight` is "
            "the last matrix of those.",
        ),
        Mistake(
            "feed-forward only",
            _scaled(LAST[1:]),
            "feed-forward branches start small, attention branches do not: `output_proj.weight` "
            "(W^O) is the last matrix of those.",
        ),
        Mistake(
            "no root",
            _scaled(LAST, lambda n: 1 / (2 * n)),
            "the factor lacks the root: with 1/(2N) for the weights the *variance* of a branch "
            "shrinks by (2N)². Variances add up, so the weights get (2N)^−0.5.",
        ),
        Mistake(
            "one branch a layer",
            _scaled(LAST, lambda n: n**-0.5),
            "N layers of an encoder have 2N branches, two each: the factor is (2N)^−0.5.",
        ),
        Mistake(
            "biases too",
            _scaled((*LAST, "output_proj.bias", "contract.bias")),
            "the biases were scaled as well. In the model they start at zero; leave them alone.",
        ),
        Mistake(
            "first matrices",
            _scaled(("value_proj.weight", "expand.weight")),
            "you scaled matrices in the middle of the branches. The last ones are "
            "`output_proj.weight` and `contract.weight`.",
        ),
    ],
    symptoms=[
        Symptom(
            "others left out",
            _holds_only_the_last,
            "only the scaled matrices came back. Return all of them, the others unchanged.",
        )
    ],
    right="`small_start` is right: the last matrix of each branch times (2N)^−0.5",
)
