"""The check of chapter 05 on tests for "position-wise": it tries them on seven layers (§3.3).

Each layer but the first is made so that one kind of test takes it for position-wise.
"""

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor

from walkthrough.checking.base import Arguments, Case, Check, Mistake, arguments

Layer = Callable[[Tensor], Tensor]


def _separate(layer: Layer, x: Tensor) -> bool:
    """Return whether a change of one word stays at that word, for every word."""
    before = layer(x)
    for i in range(len(x)):
        changed = x.clone()
        changed[i] += 1.0
        moved = (layer(changed) - before).abs().amax(-1) > 1e-5
        moved[i] = False
        if moved.any():
            return False
    return True


def _identical(layer: Layer, x: Tensor) -> bool:
    """Return whether the order of the words makes no difference to what each becomes."""
    order = torch.arange(len(x)).roll(1)
    return torch.allclose(layer(x[order]), layer(x)[order], atol=1e-5)


def _position_wise(layer: Layer, x: Tensor) -> bool:
    return _separate(layer, x) and _identical(layer, x)


def _one_word_changed(place: int) -> Callable[[Layer, Tensor], bool]:
    def test(layer: Layer, x: Tensor) -> bool:
        changed = x.clone()
        changed[place] += 1.0
        moved = (layer(changed) - layer(x)).abs().amax(-1) > 1e-5
        moved[place] = False
        return not bool(moved.any())

    return test


def _attention(x: Tensor) -> Tensor:
    return torch.softmax(x @ x.mT, dim=-1) @ x


def _layer(kind: str) -> Callable[[torch.Generator], Arguments]:
    def make(generator: torch.Generator) -> Arguments:
        x = torch.randn(6, 4, generator=generator)
        w1, w2 = (torch.randn(size, generator=generator) for size in [(4, 8), (8, 4)])
        kernel = torch.randn(4, 4, 3, generator=generator)
        places = torch.randn(6, 1, generator=generator)
        near_the_middle = places[[0, 0, 1, 1, 0, 0]]
        layers: dict[str, Layer] = {
            "network": lambda y: torch.relu(y @ w1) @ w2,
            "attention": _attention,
            "convolution": lambda y: F.conv1d(y.T, kernel, padding=1).T,
            "from before": lambda y: y.cumsum(0),
            "from behind": lambda y: y.flip(0).cumsum(0).flip(0),
            "own weights": lambda y: torch.relu(y @ w1) @ w2 * places,
            "mirrored weights": lambda y: torch.relu(y @ w1) @ w2 * near_the_middle,
        }
        return arguments(layers[kind], x)

    return make


is_position_wise = Check(
    name="is_position_wise",
    reference=_position_wise,
    cases=[
        Case("a feed-forward network", _layer("network")),
        Case("self-attention", _layer("attention")),
        Case("a convolution of width 3", _layer("convolution")),
        Case("a layer that sums the words so far", _layer("from before")),
        Case("a layer that sums the words still to come", _layer("from behind")),
        Case("a layer with other weights at every position", _layer("own weights")),
        Case("a layer with other weights by distance from the middle", _layer("mirrored weights")),
    ],
    mistakes=[
        Mistake(
            "permutes only",
            _identical,
            "your test says yes to self-attention. It commutes with every permutation, and still "
            "mixes words. Change one word as well, and see that no other moves.",
        ),
        Mistake(
            "turns the sentence round, and nothing else",
            lambda layer, x: torch.allclose(layer(x.flip(0)), layer(x).flip(0), atol=1e-5),
            "your test says yes to self-attention. It commutes with every permutation, and still "
            "mixes words. Change one word as well, and see that no other moves. And turning the "
            "sentence round is not enough of a permutation: each word keeps its distance from the "
            "middle.",
        ),
        Mistake(
            "changes words only",
            _separate,
            "your test says yes to a layer that has other weights at every position. It keeps "
            "words apart but does not treat them alike. Permute them as well.",
        ),
        Mistake(
            "changes the last word only",
            _one_word_changed(-1),
            "your test says yes to a layer that sums the words so far. If only the last word is "
            "changed, nothing after it can notice. Change every word, one at a time. And permute.",
        ),
        Mistake(
            "changes the first word only",
            _one_word_changed(0),
            "your test says yes to a layer that sums the words still to come. If only the first "
            "word is changed, nothing before it can notice. Change every word, one at a time. And "
            "permute.",
        ),
        Mistake(
            "one of the two",
            lambda layer, x: _separate(layer, x) or _identical(layer, x),
            "your test says yes as soon as one of the two holds: self-attention passes by the "
            "permutation. Both must hold.",
        ),
        Mistake(
            "turns the sentence round only",
            lambda layer, x: (
                _separate(layer, x)
                and torch.allclose(layer(x.flip(0)), layer(x).flip(0), atol=1e-5)
            ),
            "your test says yes to a layer whose weights depend on the distance from the middle. "
            "If the sentence is turned round, that distance stays; if two neighbours change "
            "places, it may hardly change. Permute in another way.",
        ),
        Mistake(
            "always no",
            lambda layer, x: False,
            "your test says no to every layer, to the feed-forward network too. Did you change a "
            "copy (`x.clone()`), leave out the changed word when you looked for others that moved, "
            "and allow differences of 1e-5?",
        ),
        Mistake(
            "always yes",
            lambda layer, x: layer(x).shape == x.shape,
            "your test says yes to every layer that keeps the shape.",
        ),
    ],
    right="`is_position_wise` is right: it told the network from six other layers",
)
