"""The check of chapter 05 on tests for "position-wise": it tries them on twelve layers (§3.3).

Each layer but the first is made so that one kind of test takes it for position-wise. All take any
number of words, so that a test may hand them one word alone.
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from walkthrough.checking import Arguments, Case, Check, Mistake, arguments

N_WORDS, N_COMPONENTS = 6, 4
MOST_WORDS = 1000  # that a test may ask a layer about


@dataclass(frozen=True)
class Layer:
    """A layer that an answer is tried on."""

    kind: str
    compute: Callable[[Tensor], Tensor]

    def __call__(self, x: Tensor) -> Tensor:
        """Return what the layer makes of the words."""
        return self.compute(x)


def _separate(layer: Layer, x: Tensor) -> bool:
    """Return whether a change of one word stays at that word, for every word."""
    return all(_one_word_changed(place)(layer, x) for place in range(len(x)))


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


def _from_the_edge(n_words: int) -> Tensor:
    """Return 0 for a word at either end and the two in front of it, 1 for the two in the middle."""
    places = torch.arange(n_words)
    return torch.minimum(places, places.flip(0)) // 2


def _layer(kind: str, holder: int = 0) -> Callable[[torch.Generator], Arguments]:
    def make(generator: torch.Generator) -> Arguments:
        x = torch.randn(N_WORDS, N_COMPONENTS, generator=generator)
        w1, w2 = (torch.randn(size, generator=generator) for size in [(4, 8), (8, 4)])
        kernel = torch.randn(4, 4, 3, generator=generator)
        places = torch.randn(MOST_WORDS, 1, generator=generator)
        if kind in ("largest", "smallest"):  # only a change of the holder is heard
            x[holder] = (40.0 + x[holder].abs()) * (1 if kind == "largest" else -1)

        def network(y: Tensor) -> Tensor:
            return torch.relu(y @ w1) @ w2

        def hears(y: Tensor) -> Tensor:
            return y[:1] if len(y) > 1 else torch.zeros(1, N_COMPONENTS)

        layers: dict[str, Callable[[Tensor], Tensor]] = {
            "network": network,
            "rounding": lambda y: network(y) * (1 + 5e-8 * torch.arange(len(y))[:, None]),
            "attention": lambda y: torch.softmax(y @ y.mT, dim=-1) @ y,
            "convolution": lambda y: F.conv1d(y.T, kernel, padding=1).T,
            "last hears": lambda y: torch.cat([network(y[:-1]), network(y[-1:]) + hears(y)]),
            "faint": lambda y: network(y) + 0.01 * y.mean(0),
            "from before": lambda y: y.cumsum(0),
            "from behind": lambda y: y.flip(0).cumsum(0).flip(0),
            "own weights": lambda y: network(y) * places[: len(y)],
            "mirrored weights": lambda y: network(y) * places[_from_the_edge(len(y))],
            "largest": lambda y: network(y) + y.amax(0),
            "smallest": lambda y: network(y) + y.amin(0),
        }
        return arguments(Layer(kind, layers[kind]), x)

    return make


OWN_CHANGE = (
    "It works word by word. Did you leave out the changed word when you looked for others that "
    "moved, and bring the permuted results into the same order before you compared?"
)
ONE_SIDE = "Changes are heard on one side only: change every word, one at a time."
PLACES = "Permute the words: what each becomes must not depend on its place."
EXTREME = (
    "It commutes with every permutation, and only a change of the word that holds the largest (or "
    "the smallest) value is heard. Change every word, one at a time."
)

is_position_wise = Check(
    name="is_position_wise",
    reference=_position_wise,
    cases=[
        Case("a feed-forward network", _layer("network"), OWN_CHANGE),
        Case(
            "a feed-forward network with rounding errors",
            _layer("rounding"),
            "Its last digits differ, as they do when sums are rounded: allow differences of 1e-5.",
        ),
        Case(
            "self-attention",
            _layer("attention"),
            "It commutes with every permutation, and still mixes words. Change one word as well, "
            "and see that no other moves.",
        ),
        Case(
            "a convolution of width 3",
            _layer("convolution"),
            "Each word hears its neighbours.",
            "A wider kernel",
        ),
        Case(
            "a layer whose last word hears the first",
            _layer("last hears"),
            "Try every word: does your loop reach the last one?",
        ),
        Case(
            "a layer in which all words hear a little of all",
            _layer("faint"),
            "It adds a hundredth of the mean of all words to each. Allow differences of 1e-5, not "
            "more, and take their absolute values.",
        ),
        Case("a layer that sums the words so far", _layer("from before"), ONE_SIDE),
        Case("a layer that sums the words still to come", _layer("from behind"), ONE_SIDE),
        Case("a layer with other weights at every position", _layer("own weights"), PLACES),
        Case(
            "a layer with other weights by distance from the middle",
            _layer("mirrored weights"),
            "If the sentence is turned round, that distance stays; if two neighbours change "
            "places, it may hardly change. Permute in another way.",
        ),
        *(
            Case(f"a layer that adds the {kind} value of all words", _layer(kind, at), EXTREME)
            for kind in ("largest", "smallest")
            for at in (0, 4)
        ),
    ],
    mistakes=[
        Mistake(
            "permutes only",
            _identical,
            "your test permutes, and self-attention passes: it commutes with every permutation, "
            "and still mixes words. Change one word as well, and see that no other moves.",
        ),
        Mistake(
            "changes words only",
            _separate,
            "your test keeps words apart but does not ask whether all are treated alike: a layer "
            "may have other weights at every position. Permute them as well.",
        ),
        Mistake(
            "changes the last word only",
            _one_word_changed(-1),
            "if only the last word is changed, nothing after it can notice: sums of the words so "
            "far pass. Change every word, one at a time. And permute.",
        ),
        Mistake(
            "changes the first word only",
            _one_word_changed(0),
            "if only the first word is changed, nothing before it can notice: sums of the words "
            "still to come pass. Change every word, one at a time. And permute.",
        ),
        Mistake(
            "always no",
            lambda layer, x: False,
            "your test says no to every layer, to the feed-forward network too. Did you change a "
            "copy (`x.clone()`), leave out the changed word when you looked for others that moved, "
            "and allow differences of 1e-5?",
        ),
    ],
    right="`is_position_wise` is right: it told the network from ten other layers",
)
