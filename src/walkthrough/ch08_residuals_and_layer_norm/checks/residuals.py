"""The checks of chapter 08 on residuals: what they keep of a word, how they start (§3.1)."""

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from walkthrough.checking.base import Arguments, Case, Check, Mistake, Symptom, arguments, fixed

# Exercise: how much of a word is left


def _left_post(branch: float, n: int) -> float:
    return float((1 + branch) ** -n)


def _left_pre(branch: float, n: int) -> float:
    return 1 / (1 + n * branch)


def _taken_post(branch: float, n: int) -> float:
    return float((1 - branch) ** n)


def _taken_pre(branch: float, n: int) -> float:
    return 1 - n * branch


def _mixed(
    post: Callable[[float, int], float], pre: Callable[[float, int], float]
) -> Callable[[float, int, str], float]:
    def left(branch: float, n_sublayers: int, norm: str) -> float:
        return (post if norm == "post" else pre)(branch, n_sublayers)

    return left


_left = _mixed(_left_post, _left_pre)


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
        _ask(0.4, 7, "pre"),
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
            "one word among n",
            _mixed(_left_post, lambda branch, n: 1 / ((1 + branch) * n)),
            "post-norm is right. With pre-norm you count the word once for every branch: it is "
            "there once, 1 + n · branch.",
        ),
        Mistake(
            "all branches at each norm",
            _mixed(lambda branch, n: float((1 + n * branch) ** -n), _left_pre),
            "pre-norm is right. With post-norm each sum has one branch, not n: after the norm "
            "the stream is back at variance 1, so a sub-layer keeps 1 / (1 + branch).",
        ),
        Mistake(
            "whole numbers",
            _mixed(_left_post, lambda branch, n: 1 // (1 + n * branch)),
            "`//` drops everything behind the point. A share is a fraction: use `/`.",
        ),
        Mistake(
            "the word forgotten in pre-norm",
            _mixed(_left_post, lambda branch, n: 1 / (n * branch) if branch else 1e9),
            "post-norm is right. With pre-norm the stream holds the branches *and* the word: 1 "
            "+ n · branch.",
        ),
        Mistake(
            "the word forgotten",
            _mixed(lambda branch, n: branch**-n, lambda branch, n: 1 / (n * branch)),
            "the stream holds the word as well: after one sub-layer its variance is 1 + branch, "
            "not branch.",
        ),
        Mistake(
            "n times in place of to the power n",
            _mixed(lambda branch, n: n / (1 + branch), _left_pre),
            "pre-norm is right. With post-norm you multiply one sub-layer's share by n. Each "
            "sub-layer keeps that share of what is there: take it to the power n.",
        ),
        Mistake(
            "divided by n in place of to the power n",
            _mixed(lambda branch, n: 1 / (1 + branch) / n, _left_pre),
            "pre-norm is right. With post-norm you divide one sub-layer's share by n. Each "
            "sub-layer keeps that share of what is there: take it to the power n.",
        ),
        Mistake(
            "the stream",
            _mixed(lambda branch, n: 1.0, lambda branch, n: 1 + n * branch),
            "this is the variance of the whole stream. Asked is the share of the word in it.",
        ),
        Mistake(
            "the word not scaled back",
            _mixed(lambda branch, n: 1.0, _left_pre),
            "pre-norm is right. With post-norm the norm scales the *word* back as well, "
            "together with all that was added.",
        ),
        Mistake(
            "halved as well",
            _mixed(lambda branch, n: float((0.5 / (1 + branch)) ** n), _left_pre),
            "pre-norm is right. With post-norm you halve the word at each sub-layer besides: "
            "the norm divides the word's variance by 1 + branch, and by nothing else.",
        ),
        Mistake(
            "a half each time",
            lambda branch, n_sublayers, norm: 0.5**n_sublayers,
            "you let each sub-layer keep a half, whatever `branch` is. It keeps 1 / (1 + branch).",
        ),
        Mistake(
            "exchanged",
            lambda branch, n_sublayers, norm: _left(
                branch, n_sublayers, "pre" if norm == "post" else "post"
            ),
            "the two norms are exchanged.",
        ),
        *(
            Mistake(
                f"each branch takes its share away, {where}",
                _mixed(
                    _taken_post if where != "pre" else _left_post,
                    _taken_pre if where != "post" else _left_pre,
                ),
                f"{which} a branch takes nothing away from the word; it adds to the sum. The word "
                "keeps its variance 1, the whole has 1 + branch: the share is 1 / (1 + branch), "
                "not 1 − branch.",
            )
            for where, which in (
                ("post", "pre-norm is right. With post-norm too,"),
                ("pre", "post-norm is right. With pre-norm too,"),
                ("both", "in both kinds,"),
            )
        ),
        Mistake(
            "one branch, post-norm",
            _mixed(lambda b, n: 1 / (1 + b), _left_pre),
            "pre-norm is right; with post-norm only one branch was counted. Each of the "
            "`n_sublayers` takes its part again.",
        ),
        Mistake(
            "one branch, both",
            _mixed(lambda b, n: 1 / (1 + b), lambda b, n: 1 / (1 + b)),
            "only one branch was counted: this is the share after the first sub-layer.",
        ),
        Mistake(
            "the loop runs once too often",
            _mixed(lambda b, n: _left_post(b, n + 1), lambda b, n: _left_pre(b, n + 1)),
            "one branch too many was added: check where your loop starts and ends.",
        ),
        Mistake(
            "the loop ends too early",
            _mixed(lambda b, n: _left_post(b, n - 1), lambda b, n: _left_pre(b, n - 1)),
            "one branch is missing: check where your loop starts and ends.",
        ),
        Mistake(
            "doubled with each branch",
            _mixed(_left_post, lambda b, n: 1 / (1 + b * n * n)),
            "post-norm is right. With pre-norm you let the branches point the same way, as in the "
            "table of the page, so that their variance grows as n². Branches that have nothing to "
            "do with each other add up as n.",
        ),
        Mistake(
            "nothing shrinks in pre-norm",
            _mixed(_left_post, lambda b, n: 1.0),
            "post-norm is right. In pre-norm the word itself does not shrink, but what is asked is "
            "its share of the stream, and the stream grows with each branch.",
        ),
        Mistake(
            "inverse",
            _mixed(lambda b, n: (1 + b) ** n, lambda b, n: 1 + n * b),
            "this is how much larger the stream would be than the word. The share is 1 divided by "
            "yours.",
        ),
        Mistake(
            "per cent",
            _mixed(lambda b, n: 100 * _left_post(b, n), lambda b, n: 100 * _left_pre(b, n)),
            "this is in per cent. A share is a number from 0 to 1.",
        ),
        Mistake(
            "squared branch",
            _mixed(lambda b, n: _left_post(b * b, n), lambda b, n: _left_pre(b * b, n)),
            "`branch` was squared. It is a variance already.",
        ),
        Mistake(
            "root of the branch",
            _mixed(lambda b, n: _left_post(b**0.5, n), lambda b, n: _left_pre(b**0.5, n)),
            "you took the root of `branch`. Variances add as they are; standard deviations do not.",
        ),
        Mistake(
            "twice as many",
            _mixed(lambda b, n: _left_post(b, 2 * n), lambda b, n: _left_pre(b, 2 * n)),
            "every branch was counted twice. `n_sublayers` is the number of sub-layers already, "
            "not of layers.",
        ),
        Mistake(
            "exponential",
            _mixed(lambda b, n: 2.718281828459045 ** (-b * n), _left_pre),
            "pre-norm is right. e^(−nb) is what post-norm comes to when branches are very small; "
            "here they are not: each sum keeps 1 / (1 + branch).",
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

# Exercise: the weight of the word


def _word_weight(branch: float, n_sublayers: int, left: float) -> float:
    kept = left ** (1 / n_sublayers)
    return float((branch * kept / (1 - kept)) ** 0.5)


def _from_kept(
    kept: Callable[[float, int], float],
) -> Callable[[float, int, float], float]:
    """The weight when one sub-layer must keep `kept(left, n_sublayers)`."""

    def weight(branch: float, n_sublayers: int, left: float) -> float:
        share = kept(left, n_sublayers)
        return float((branch * share / (1 - share)) ** 0.5)

    return weight


word_weight = Check(
    name="word_weight",
    reference=_word_weight,
    cases=[
        fixed("one sub-layer", 0.5, 1, 0.8),
        fixed("branch=0.5, n_sublayers=12, left=0.5", 0.5, 12, 0.5),
        fixed("branch=1.0, n_sublayers=2, left=0.25", 1.0, 2, 0.25),
        fixed("branch=0.2, n_sublayers=3, left=0.3", 0.2, 3, 0.3),
    ],
    mistakes=[
        Mistake(
            "divided by the number",
            lambda branch, n_sublayers, left: (
                (branch * (left / n_sublayers) / (1 - left / n_sublayers)) ** 0.5
            ),
            "you divide `left` by the number of sub-layers. Shares multiply, so each keeps the "
            "n-th root: `left ** (1 / n)`. (Without brackets, `left ** 1 / n` is `left / n`.)",
        ),
        Mistake(
            "for many sub-layers",
            lambda branch, n_sublayers, left: (branch * n_sublayers / -math.log(left)) ** 0.5,
            "this is what the answer comes to for very many sub-layers, where (1 − x)ⁿ is "
            "e^(−nx). Asked is the exact one, for few as well.",
        ),
        Mistake(
            "root of the share only",
            lambda branch, n_sublayers, left: (
                branch * left ** (0.5 / n_sublayers) / (1 - left ** (1 / n_sublayers))
            ),
            "the root covers a part only. From α² = b · r / (1 − r) follows α as the root of "
            "the whole right side.",
        ),
        Mistake(
            "the share",
            lambda branch, n_sublayers, left: (1 + branch) ** -n_sublayers,
            "this is the share that remains with α = 1. Asked is the α for which `left` remains.",
        ),
        Mistake(
            "branch divides",
            lambda branch, n_sublayers, left: _word_weight(branch, n_sublayers, left) / branch,
            "you divide by `branch`. A larger branch needs a heavier word: α² = b · r / (1 − r).",
        ),
        Mistake(
            "variance",
            lambda branch, n_sublayers, left: _word_weight(branch, n_sublayers, left) ** 2,
            "this is α². A word times α has variance α², and α itself is asked for.",
        ),
        Mistake(
            "one sub-layer",
            _from_kept(lambda left, n: left),
            "this α leaves the share after *one* sub-layer. After n of them it is left to the "
            "power n: each must keep the n-th root.",
        ),
        Mistake(
            "rest of the share forgotten",
            lambda branch, n_sublayers, left: (branch * left ** (1 / n_sublayers)) ** 0.5,
            "solve again: from α² / (α² + b) = r follows α² = b · r / (1 − r). Yours lacks the "
            "1 − r.",
        ),
        Mistake(
            "one taken away",
            lambda branch, n_sublayers, left: (
                max(_word_weight(branch, n_sublayers, left) ** 2 - 1, 0.0) ** 0.5
            ),
            "you take 1 from α². The word has variance 1, so α times the word has α², and no 1 "
            "besides.",
        ),
        Mistake(
            "square root for any n",
            _from_kept(lambda left, n: left**0.5),
            "you let each sub-layer keep the square root of `left`, whatever `n_sublayers` is. "
            "It is the n-th root.",
        ),
        Mistake(
            "a whole exponent",
            _from_kept(lambda left, n: left ** (1 // n) if n == 1 else 1 - 1e-9),
            "`1 // n` is 0 for more than one sub-layer. The exponent is the fraction `1 / n`.",
        ),
        Mistake(
            "root of the number",
            _from_kept(lambda left, n: left ** (n**-0.5)),
            "the exponent is 1 / √n. What one sub-layer keeps, to the power n, gives `left`, so "
            "the exponent is 1 / n.",
        ),
        Mistake(
            "divided by n",
            _from_kept(lambda left, n: 1 - (1 - left) / n),
            "you let every sub-layer take the same amount, (1 − left)/n. Each takes the same "
            "*share* of what is there: what one keeps is the n-th root of `left`.",
        ),
        Mistake(
            "power in place of root",
            _from_kept(lambda left, n: left**n),
            "you took `left` to the power n. What one sub-layer keeps, to the power n, gives "
            "`left`: take the n-th root.",
        ),
        Mistake(
            "what goes, not what stays",
            lambda branch, n_sublayers, left: _word_weight(branch, n_sublayers, 1 - left),
            "you took `left` for the share that is lost. It is the share of the word that remains.",
        ),
        Mistake(
            "two for each",
            lambda branch, n_sublayers, left: _word_weight(branch, 2 * n_sublayers, left),
            "every branch was counted twice: `n_sublayers` is the number of sub-layers already.",
        ),
        Mistake(
            "what one sub-layer keeps",
            lambda branch, n_sublayers, left: left ** (1 / n_sublayers),
            "this is the share that one sub-layer must keep. Now find the α for which "
            "α² / (α² + branch) is that.",
        ),
        Mistake(
            "DeepNet's formula",
            lambda branch, n_sublayers, left: float(n_sublayers**0.25),
            "this is DeepNet's α, for branches that shrink as well. Here the branches stay; derive "
            "α from what is to be left.",
        ),
        Mistake(
            "pre-norm",
            lambda branch, n_sublayers, left: (n_sublayers * branch * left / (1 - left)) ** 0.5,
            "branches were added up as in pre-norm. After each sum the norm scales everything "
            "back, so the shares multiply.",
        ),
        Mistake(
            "factor of the branch",
            lambda branch, n_sublayers, left: 1 / _word_weight(branch, n_sublayers, left),
            "this is the factor by which the *branch* would have to be multiplied: 1/α. It leaves "
            "as much of the word, but asked for is the factor of the word.",
        ),
        Mistake(
            "branch forgotten",
            lambda branch, n_sublayers, left: _word_weight(1.0, n_sublayers, left),
            "the size of the branch does not enter your result, or only as 1.",
        ),
        Mistake(
            "branch as a standard deviation",
            lambda branch, n_sublayers, left: branch**0.5 * _word_weight(branch, n_sublayers, left),
            "`branch` is a variance already: do not square it.",
        ),
        Mistake(
            "share inverted",
            lambda branch, n_sublayers, left: (
                (branch * (1 - left ** (1 / n_sublayers)) / left ** (1 / n_sublayers)) ** 0.5
            ),
            "share and rest are exchanged: from α² / (α² + b) = r follows α² = b · r / (1 − r).",
        ),
        Mistake(
            "rest forgotten",
            lambda branch, n_sublayers, left: (branch / (1 - left ** (1 / n_sublayers))) ** 0.5,
            "solve again: from α² / (α² + b) = r follows α² = b · r / (1 − r). Yours lacks the r.",
        ),
    ],
    right="`word_weight` is right: each sub-layer keeps the n-th root of what is left at the end",
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


def _drawn_anew(result: Any, expected: Any, given: Arguments) -> bool:
    """Return whether a last matrix has nothing to do with the one that was given."""
    pairs = [(result[name].flatten(), expected[name].flatten()) for name in LAST]
    return any(torch.cosine_similarity(mine, wanted, dim=0).abs() < 0.8 for mine, wanted in pairs)


def _by_its_width(result: Any, expected: Any, given: Arguments) -> bool:
    """Return whether the last matrices were divided by the root of their own width."""
    weights = given.positional[0]
    return all(
        torch.allclose(result[name], weights[name] * weights[name].shape[1] ** -0.5)
        for name in LAST
    )


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
            "a half",
            _scaled(LAST, lambda n: 0.5),
            "the factor is ½, whatever `n_layers` says: that is (2N)^−0.5 for two layers only.",
        ),
        Mistake(
            "six layers",
            _scaled(LAST, lambda n: 12**-0.5),
            "the factor is that of six layers, whatever `n_layers` says.",
        ),
        Mistake(
            "root of a root",
            _scaled(LAST, lambda n: (2 * n) ** -0.25),
            "the root was taken twice. A variance goes with the square of the weights, so one root "
            "is right: (2N)^−0.5.",
        ),
        Mistake(
            "W^V as well",
            _scaled((*LAST, "value_proj.weight")),
            "W^V was scaled as well, so attention branches shrink twice. Only the last matrix of "
            "each branch starts small.",
        ),
        Mistake(
            "one layer more",
            _scaled(LAST, lambda n: (2 * n + 2) ** -0.5),
            "the factor is that for one layer more: (2N)^−0.5, with N = `n_layers`.",
        ),
        Mistake(
            "expand for contract",
            _scaled((LAST[0], "expand.weight")),
            "attention is right. Of the feed-forward network you scaled the first matrix, "
            "`expand.weight`; the last one before the sum is `contract.weight`.",
        ),
        Mistake(
            "value for output",
            _scaled(("value_proj.weight", LAST[1])),
            "the feed-forward network is right. Of attention you scaled W^V, "
            "`value_proj.weight`; the last matrix before the sum is W^O, `output_proj.weight`.",
        ),
        Mistake(
            "all projections",
            _scaled(("query_proj.weight", "value_proj.weight", *LAST)),
            "all projections of attention were scaled. Only W^O, `output_proj.weight`, is the "
            "last before the sum.",
        ),
        Mistake(
            "half the layers",
            _scaled(LAST, lambda n: (n / 2) ** -0.5),
            "you halve the number of layers; there are *two* branches a layer: (2N)^−0.5.",
        ),
        Mistake(
            "root above the line",
            _scaled(LAST, lambda n: 2**0.5 / n),
            "the root covers the 2 only: it is 1 / √(2N).",
        ),
        Mistake(
            "a fixed size",
            _scaled(LAST, lambda n: 0.02),
            "the factor is 0.02, whatever `n_layers` says. It is (2N)^−0.5.",
        ),
        Mistake(
            "the power 2",
            _scaled(LAST, lambda n: (2 * n) ** -2.0),
            "the exponent is −2. A variance goes with the square of the weights, so the weights "
            "get the *root*: (2N)^−0.5.",
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
            "made larger",
            _scaled(LAST, lambda n: (2 * n) ** 0.5),
            "the matrices became larger: multiply by (2N)^−0.5, do not divide by it.",
        ),
        Mistake(
            "neither root nor two branches",
            _scaled(LAST, lambda n: 1 / n),
            "the factor is 1/N. There are 2N branches, and a variance goes with the square of the "
            "weights: (2N)^−0.5.",
        ),
        Mistake(
            "three branches a layer",
            _scaled(LAST, lambda n: (3 * n) ** -0.5),
            "the factor is for three branches a layer, as a decoder has. Here each layer has two.",
        ),
        Mistake(
            "all matrices",
            _scaled(tuple(name for name in NAMES if name.endswith("weight"))),
            "all matrices were scaled. Only the last one of each branch, through which it reaches "
            "the stream, starts small.",
        ),
        Mistake(
            "first and last matrices",
            _scaled((*LAST, "value_proj.weight", "expand.weight")),
            "the matrices in the middle of the branches were scaled too, so a branch shrinks "
            "twice. Only the last one of each starts small.",
        ),
        Mistake(
            "zero",
            _scaled(LAST, lambda n: 0.0),
            "the last matrices are zero. Fixup starts like this; here they shrink by (2N)^−0.5.",
        ),
        Mistake(
            "biases in place of matrices",
            _scaled(("output_proj.bias", "contract.bias")),
            "you scaled the biases. The matrices, `output_proj.weight` and `contract.weight`, are "
            "what makes a branch large.",
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
        ),
        Symptom(
            "by its width",
            _by_its_width,
            "each matrix was divided by the root of its own width. The full size has that already; "
            "the small start depends on the number of branches: (2N)^−0.5.",
        ),
        Symptom(
            "drawn anew",
            lambda result, expected, given: (
                not any((result[name] == 0).all() for name in LAST)
                and _drawn_anew(result, expected, given)
            ),
            "your last matrices are not the given ones times a number. Scale those of `weights`; "
            "nothing is drawn anew.",
        ),
    ],
    right="`small_start` is right: the last matrix of each branch times (2N)^−0.5",
)
