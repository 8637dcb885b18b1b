"""The checks of chapter 05: the network, its two convolutions, what position-wise means (§3.3)."""

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from walkthrough.checking.base import Arguments, Case, Check, Mistake, arguments, drawn, fixed

# Exercise: the network from its matrices --------------------------------------------------------


def _feed_forward(x: Tensor, w1: Tensor, b1: Tensor, w2: Tensor, b2: Tensor) -> Tensor:
    return torch.relu(x @ w1 + b1) @ w2 + b2


def _given_matrices(label: str, *shape: int, d_ff: int) -> Case:
    d_model = shape[-1]
    return drawn(label, shape, (d_model, d_ff), (d_ff,), (d_ff, d_model), (d_model,))


feed_forward = Check(
    name="feed_forward",
    reference=_feed_forward,
    cases=[
        _given_matrices("5 words, d_model = 4, d_ff = 6", 5, 4, d_ff=6),
        _given_matrices("2 sentences of 3 words, d_model = 4, d_ff = 7", 2, 3, 4, d_ff=7),
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
        fixed("the base model and 30 words", 512, 2048, 30),
        fixed("the base model and 4096 words", 512, 2048, 4096),
        fixed("d_model 64, d_ff 100, 50 words", 64, 100, 50),
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
