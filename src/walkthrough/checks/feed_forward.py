"""The checks of chapter 05: the network, its two convolutions, what position-wise means (§3.3)."""

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from walkthrough.checks.base import Arguments, Case, Check, Mistake, arguments

# Exercise: the network from its matrices --------------------------------------------------------


def _feed_forward(x: Tensor, w1: Tensor, b1: Tensor, w2: Tensor, b2: Tensor) -> Tensor:
    return torch.relu(x @ w1 + b1) @ w2 + b2


def _given_matrices(*shape: int, d_ff: int) -> Callable[[torch.Generator], Arguments]:
    d_model = shape[-1]

    def make(generator: torch.Generator) -> Arguments:
        sizes = [shape, (d_model, d_ff), (d_ff,), (d_ff, d_model), (d_model,)]
        return arguments(*(torch.randn(size, generator=generator) for size in sizes))

    return make


feed_forward = Check(
    name="feed_forward",
    reference=_feed_forward,
    cases=[
        Case("5 words, d_model = 4, d_ff = 6", _given_matrices(5, 4, d_ff=6)),
        Case("2 sentences of 3 words, d_model = 4, d_ff = 7", _given_matrices(2, 3, 4, d_ff=7)),
    ],
    mistakes=[
        Mistake(
            "no ReLU",
            lambda x, w1, b1, w2, b2: (x @ w1 + b1) @ w2 + b2,
            "there is no ReLU between the two products. Without it the two matrices are one.",
        ),
        Mistake(
            "ReLU at the end",
            lambda x, w1, b1, w2, b2: torch.relu((x @ w1 + b1) @ w2 + b2),
            "the ReLU stands at the end, after the second product. It belongs between the two; "
            "at the end, the output could never be negative.",
        ),
        Mistake(
            "ReLU twice",
            lambda x, w1, b1, w2, b2: torch.relu(_feed_forward(x, w1, b1, w2, b2)),
            "there is a second ReLU at the end. The output may be negative.",
        ),
        Mistake(
            "ReLU on the input",
            lambda x, w1, b1, w2, b2: (torch.relu(x) @ w1 + b1) @ w2 + b2,
            "the ReLU acts on the input. It acts on the hidden units: after the first product and "
            "its bias.",
        ),
        Mistake(
            "b1 after the ReLU",
            lambda x, w1, b1, w2, b2: (torch.relu(x @ w1) + b1) @ w2 + b2,
            "`b1` is added after the ReLU. Added before, it sets the level at which a hidden unit "
            "wakes up.",
        ),
        Mistake(
            "no b1",
            lambda x, w1, b1, w2, b2: torch.relu(x @ w1) @ w2 + b2,
            "`b1` is missing: max(0, x W1 + b1).",
        ),
        Mistake(
            "no b2",
            lambda x, w1, b1, w2, b2: torch.relu(x @ w1 + b1) @ w2,
            "`b2` is missing: it is added after the second product.",
        ),
        Mistake(
            "adds the input",
            lambda x, w1, b1, w2, b2: x + _feed_forward(x, w1, b1, w2, b2),
            "the input is added to the result. That is the residual connection around the "
            "sub-layer, and not part of it.",
        ),
        Mistake(
            "GELU",
            lambda x, w1, b1, w2, b2: F.gelu(x @ w1 + b1) @ w2 + b2,
            "this is GELU, as in BERT and GPT. The paper has max(0, ·), the ReLU.",
        ),
    ],
    right="`feed_forward` is right, for one sentence and for a batch",
)

# Exercise: the same as two convolutions ---------------------------------------------------------


def _by_convolutions(x: Tensor, conv1: nn.Conv1d, conv2: nn.Conv1d) -> Tensor:
    result: Tensor = conv2(torch.relu(conv1(x.transpose(1, 2)))).transpose(1, 2)
    return result


def _given_convolutions(
    batch: int, length: int, d_model: int, d_ff: int
) -> Callable[[torch.Generator], Arguments]:
    def make(generator: torch.Generator) -> Arguments:
        convs = [nn.Conv1d(d_model, d_ff, 1), nn.Conv1d(d_ff, d_model, 1)]
        with torch.no_grad():
            for conv in convs:
                for parameter in conv.parameters():
                    parameter.copy_(torch.randn(parameter.shape, generator=generator))
        x = torch.randn(batch, length, d_model, generator=generator)
        return arguments(x, *(conv.requires_grad_(False) for conv in convs))

    return make


by_convolutions = Check(
    name="by_convolutions",
    reference=_by_convolutions,
    cases=[
        Case("4 words, d_model = 4", _given_convolutions(2, 4, 4, 6)),
        Case("5 words, d_model = 4", _given_convolutions(2, 5, 4, 6)),
    ],
    mistakes=[
        Mistake(
            "no transpose",
            lambda x, conv1, conv2: conv2(torch.relu(conv1(x))),
            "`x` goes into the convolution as it is, and words are taken for channels. With as "
            "many words as components that passes without an error. Exchange the last two "
            "dimensions first, and again at the end.",
        ),
        Mistake(
            "not transposed back",
            lambda x, conv1, conv2: conv2(torch.relu(conv1(x.transpose(1, 2)))),
            "the result still has channels before words. Exchange the two dimensions again.",
        ),
        Mistake(
            "reshape for transpose",
            lambda x, conv1, conv2: conv2(
                torch.relu(conv1(x.reshape(x.shape[0], x.shape[2], x.shape[1])))
            ).reshape(x.shape),
            "`reshape` gives the right shape and the wrong order: it does not exchange "
            "dimensions. Use `transpose(1, 2)`.",
        ),
        Mistake(
            "no ReLU",
            lambda x, conv1, conv2: conv2(conv1(x.transpose(1, 2))).transpose(1, 2),
            "there is no ReLU between the two convolutions.",
        ),
    ],
    right="`by_convolutions` is right, and the words stay where they are",
)

# Exercise: a test for "position-wise" -----------------------------------------------------------

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
        mirrored = torch.cat([places[:3], places[:3].flip(0)])
        layers: dict[str, Layer] = {
            "network": lambda y: torch.relu(y @ w1) @ w2,
            "attention": _attention,
            "convolution": lambda y: F.conv1d(y.T, kernel, padding=1).T,
            "from before": lambda y: y.cumsum(0),
            "from behind": lambda y: y.flip(0).cumsum(0).flip(0),
            "own weights": lambda y: torch.relu(y @ w1) @ w2 * places,
            "mirrored weights": lambda y: torch.relu(y @ w1) @ w2 * mirrored,
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
            "If the sentence is turned round, that distance stays. Permute in another way.",
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

# Exercise: the share of the cost ----------------------------------------------------------------


def _share(d_model: int, d_ff: int, length: int) -> float:
    network = 2 * d_model * d_ff
    return network / (network + 4 * d_model**2 + 2 * length * d_model)


def _with(
    network: Callable[[int, int], int] = lambda d, d_ff: 2 * d * d_ff,
    projections: Callable[[int], int] = lambda d: 4 * d * d,
    scores: Callable[[int, int], int] = lambda d, n: 2 * n * d,
) -> Callable[..., float]:
    def share(d_model: int, d_ff: int, length: int) -> float:
        own = network(d_model, d_ff)
        return own / (own + projections(d_model) + scores(d_model, length))

    return share


feed_forward_share = Check(
    name="feed_forward_share",
    reference=_share,
    cases=[
        Case("the base model and 30 words", lambda _: arguments(512, 2048, 30)),
        Case("the base model and 4096 words", lambda _: arguments(512, 2048, 4096)),
        Case("d_model 64, d_ff 100, 50 words", lambda _: arguments(64, 100, 50)),
    ],
    mistakes=[
        Mistake(
            "one matrix of the network",
            _with(network=lambda d, d_ff: d * d_ff),
            "the network is counted with one of its two matrices.",
        ),
        Mistake(
            "no W^O",
            _with(projections=lambda d: 3 * d * d),
            "attention has four projections; W^O is missing.",
        ),
        Mistake(
            "no scores and values",
            _with(scores=lambda d, n: 0),
            "attention is more than its projections: the scores QKᵀ and the weights times V take "
            "n·d multiplications a word each. Long sentences show it.",
        ),
        Mistake(
            "scores without values",
            _with(scores=lambda d, n: n * d),
            "the scores are counted, the product of the weights with V is not (or the other way).",
        ),
        Mistake(
            "scores of all words for one",
            _with(scores=lambda d, n: 2 * n * n * d),
            "scores and values are counted for all n words, the other parts for one. Count "
            "everything for one word, or everything for n.",
        ),
        Mistake(
            "network over attention",
            lambda d_model, d_ff, length: (
                2 * d_model * d_ff / (4 * d_model**2 + 2 * length * d_model)
            ),
            "this is network divided by attention. A share is a part divided by the whole.",
        ),
        Mistake(
            "in per cent",
            lambda d_model, d_ff, length: 100 * _share(d_model, d_ff, length),
            "these are per cent. Asked is a share between 0 and 1.",
        ),
        Mistake(
            "d_ff taken for 4 d_model",
            lambda d_model, d_ff, length: _share(d_model, 4 * d_model, length),
            "`d_ff` is taken to be 4 · d_model. It is so in the paper; here it is an argument.",
        ),
        Mistake(
            "share of the attention",
            lambda d_model, d_ff, length: 1 - _share(d_model, d_ff, length),
            "this is the share of the attention. Asked is that of the feed-forward network.",
        ),
    ],
    right="`feed_forward_share` is right, for short and for long sentences",
)
