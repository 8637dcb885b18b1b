"""The check of chapter 05 on tests for "position-wise": it tries them on twelve layers (§3.3).

Each layer but the first is made so that one kind of test takes it for position-wise. All take any
number of words, so that a test may hand them one word alone.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from walkthrough.checking.base import Arguments, Case, Check, Mistake, Symptom, arguments

N_WORDS, N_COMPONENTS = 6, 4
MOST_WORDS = 1000  # that a test may ask a layer about
BOTH = "Change one word as well, and see that no other moves."


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


def _turned_round(layer: Layer, x: Tensor) -> bool:
    return torch.allclose(layer(x.flip(0)), layer(x).flip(0), atol=1e-5)


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


def _says_yes_to(*kinds: str) -> Callable[[Any, Any, Arguments], bool]:
    def shows(answer: Any, expected: Any, given: Arguments) -> bool:
        return bool(answer) and not expected and given.positional[0].kind in kinds

    return shows


is_position_wise = Check(
    name="is_position_wise",
    reference=_position_wise,
    cases=[
        Case("a feed-forward network", _layer("network")),
        Case("a feed-forward network with rounding errors", _layer("rounding")),
        Case("self-attention", _layer("attention")),
        Case("a convolution of width 3", _layer("convolution")),
        Case("a layer whose last word hears the first", _layer("last hears")),
        Case("a layer in which all words hear a little of all", _layer("faint")),
        Case("a layer that sums the words so far", _layer("from before")),
        Case("a layer that sums the words still to come", _layer("from behind")),
        Case("a layer with other weights at every position", _layer("own weights")),
        Case("a layer with other weights by distance from the middle", _layer("mirrored weights")),
        *(
            Case(f"a layer that adds the {kind} value of all words to each", _layer(kind, holder))
            for kind in ("largest", "smallest")
            for holder in (0, 4)
        ),
    ],
    mistakes=[
        Mistake(
            "no tolerance",
            lambda layer, x: (
                _position_wise(layer, x)
                and torch.allclose(layer(x.roll(1, 0)), layer(x).roll(1, 0), rtol=0, atol=5e-7)
            ),
            "your test says no to a feed-forward network whose last digits differ, as they do when "
            "sums are rounded. Allow differences of 1e-5.",
        ),
        Mistake(
            "permutes only",
            _identical,
            "your test says yes to self-attention. It commutes with every permutation, and still "
            f"mixes words. {BOTH}",
        ),
        Mistake(
            "turns the sentence round, and nothing else",
            _turned_round,
            "your test says yes to self-attention. It commutes with every permutation, and still "
            f"mixes words. {BOTH} And turning the sentence round is not enough of a permutation: "
            "each word keeps its distance from the middle.",
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
            lambda layer, x: _separate(layer, x) and _turned_round(layer, x),
            "your test says yes to a layer whose weights depend on the distance from the middle. "
            "If the sentence is turned round, that distance stays; if two neighbours change "
            "places, it may hardly change. Permute in another way.",
        ),
        Mistake(
            "upside down",
            lambda layer, x: not _position_wise(layer, x),
            "your answers are all upside down: `True` stands for a layer that works word by word.",
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
    symptoms=[
        Symptom(
            "refuses the network",
            lambda answer, expected, given: bool(expected) and not answer,
            "your test says no to a feed-forward network, which works word by word. Did you leave "
            "out the changed word when you looked for others that moved, bring the permuted "
            "results into the same order before you compared, and allow differences of 1e-5?",
        ),
        Symptom(
            "accepts attention",
            _says_yes_to("attention"),
            "your test says yes to self-attention, which mixes words. If you permute: it commutes "
            f"with every permutation. {BOTH}",
        ),
        Symptom(
            "accepts a convolution",
            _says_yes_to("convolution"),
            "your test says yes to a convolution of width 3: each word hears its neighbours.",
        ),
        Symptom(
            "accepts sums",
            _says_yes_to("from before", "from behind"),
            "your test says yes to a layer that sums the words on one side: changes are heard on "
            "that side only. Change every word, one at a time.",
        ),
        Symptom(
            "accepts the last word",
            _says_yes_to("last hears"),
            "your test says yes to a layer whose last word hears the first. Try every word: does "
            "your loop reach the last one?",
        ),
        Symptom(
            "accepts faint mixing",
            _says_yes_to("faint"),
            "your test says yes to a layer that adds a hundredth of the mean of all words to each. "
            "Allow differences of 1e-5, not more, and take their absolute values.",
        ),
        Symptom(
            "accepts own weights",
            _says_yes_to("own weights"),
            "your test says yes to a layer that keeps words apart and has other weights at every "
            "position. Permute the words: what each becomes must not depend on its place.",
        ),
        Symptom(
            "accepts mirrored weights",
            _says_yes_to("mirrored weights"),
            "your test says yes to a layer whose weights depend on the distance from the middle. "
            "If the sentence is turned round, that distance stays; if two neighbours change "
            "places, it may hardly change. Permute in another way.",
        ),
        Symptom(
            "accepts the largest or the smallest value",
            _says_yes_to("largest", "smallest"),
            "your test says yes to a layer that adds the largest (or the smallest) value of all "
            "words to every word. It commutes with every permutation, and only a change of the "
            "word that holds that value is heard. Change every word, one at a time.",
        ),
    ],
    right="`is_position_wise` is right: it told the network from ten other layers",
)
