"""The checks of chapter 09: every shape, and the parameters of the whole model (§3, Table 3)."""

from collections.abc import Callable

from transformer.analysis.cost import parameter_count
from transformer.config import TransformerConfig
from walkthrough.checking.base import Check, Mistake, fixed
from walkthrough.checking.counts import CountTerms

# Exercise: every shape

SIZES = ("batch", "source", "target", "vocab", "d_model", "heads", "d_ff")
Shapes = dict[str, tuple[int, ...]]


def _shapes(
    batch: int, source: int, target: int, vocab: int, d_model: int, heads: int, d_ff: int
) -> Shapes:
    return {
        "memory": (batch, source, d_model),
        "encoder_weights": (batch, heads, source, source),
        "decoder_weights": (batch, heads, target, target),
        "cross_weights": (batch, heads, target, source),
        "decoder_hidden": (batch, target, d_ff),
        "logits": (batch, target, vocab),
    }


def _with(**wrong: Callable[..., tuple[int, ...]]) -> Callable[..., Shapes]:
    """Right shapes but for those named."""

    def shapes(*given: int) -> Shapes:
        sizes = dict(zip(SIZES, given, strict=True))
        return _shapes(**sizes) | {name: shape(**sizes) for name, shape in wrong.items()}

    return shapes


shapes = Check(
    name="shapes",
    reference=_shapes,
    cases=[
        fixed("the base model", 2, 7, 6, 37000, 512, 8, 2048),
        fixed("a small model", 3, 4, 9, 50, 16, 2, 24),
    ],
    mistakes=[
        Mistake(
            "cross weights turned round",
            _with(
                cross_weights=lambda batch, heads, source, target, **_: (
                    batch,
                    heads,
                    source,
                    target,
                )
            ),
            "`cross_weights` is turned round. Rows are queries and come from the decoder: T rows, "
            "S columns.",
        ),
        Mistake(
            "cross weights square",
            _with(cross_weights=lambda batch, heads, target, **_: (batch, heads, target, target)),
            "`cross_weights` has one column for each target position. The keys come from the "
            "memory: one column for each source position.",
        ),
        Mistake(
            "weights without heads",
            _with(
                encoder_weights=lambda batch, source, **_: (batch, source, source),
                decoder_weights=lambda batch, target, **_: (batch, target, target),
                cross_weights=lambda batch, source, target, **_: (batch, target, source),
            ),
            "the weights lack the heads. Every head has a map of its own: (B, h, rows, columns).",
        ),
        Mistake(
            "memory as long as the target",
            _with(memory=lambda batch, target, d_model, **_: (batch, target, d_model)),
            "`memory` is the encoder's output: one vector for each source position.",
        ),
        Mistake(
            "memory between two linear maps",
            _with(memory=lambda batch, source, d_ff, **_: (batch, source, d_ff)),
            "`memory` has d_ff components. That is the width inside the feed-forward network; "
            "every layer ends with d_model.",
        ),
        Mistake(
            "hidden is d_model wide",
            _with(decoder_hidden=lambda batch, target, d_model, **_: (batch, target, d_model)),
            "`decoder_hidden` lies between the two linear maps: W1 has made it d_ff wide.",
        ),
        Mistake(
            "logits for the source",
            _with(logits=lambda batch, source, vocab, **_: (batch, source, vocab)),
            "`logits` has one row for each source position. The decoder predicts: one row for "
            "each target position.",
        ),
        Mistake(
            "logits for the last position",
            _with(logits=lambda batch, vocab, **_: (batch, vocab)),
            "`logits` belongs to one position. The model answers for all target positions at "
            "once: (B, T, V).",
        ),
        Mistake(
            "states instead of logits",
            _with(logits=lambda batch, target, d_model, **_: (batch, target, d_model)),
            "these are the decoder's states. The projection makes V logits of each.",
        ),
    ],
    right="`shapes` is right, for two models",
)

# Exercise: parameters of the whole model


def _config(vocab_size: int, d_model: int, d_ff: int, n_layers: int) -> TransformerConfig:
    return TransformerConfig(
        vocab_size=vocab_size, d_model=d_model, d_ff=d_ff, n_layers=n_layers, n_heads=2
    )


def _counted(
    *,
    matrices: int = 1,
    attentions: int = 3,
    norms: int = 5,
    per_norm: int = 2,
    bias: int = 1,
    output_bias: int = 0,
    feed_forwards: int = 2,
    attention_biases: int = 1,
    first_biases: int = 1,
    second_biases: int = 1,
    only_one: bool = False,
) -> Callable[[int, int, int, int], int]:
    """A count with other numbers of parts; the defaults are right."""

    def count(vocab_size: int, d_model: int, d_ff: int, n_layers: int) -> int:
        attention = 4 * d_model * (d_model + bias * attention_biases)
        biases = first_biases * d_ff + second_biases * d_model
        feed_forward = 2 * d_model * d_ff + bias * biases
        layer = attentions * attention + feed_forwards * feed_forward + norms * per_norm * d_model
        words = (matrices * d_model + output_bias) * vocab_size
        return words + layer * (1 if only_one else n_layers)

    return count


n_parameters = Check(
    name="n_parameters",
    reference=lambda vocab_size, d_model, d_ff, n_layers: parameter_count(
        _config(vocab_size, d_model, d_ff, n_layers)
    ),
    cases=[
        fixed("the base model", 37000, 512, 2048, 6),
        fixed("the big model", 37000, 1024, 4096, 6),
        fixed("a small model", 90, 16, 24, 2),
    ],
    tolerance=0.0,
    terms=CountTerms(
        ("vocab_size", "d_model", "d_ff", "n_layers"),
        {
            "vocab_size·d_model": "the shared matrix",
            "d_model·d_model·n_layers": "four matrices for every attention",
            "d_model·d_ff·n_layers": "two matrices for every feed-forward network",
            "d_model·n_layers": "biases of attentions, second biases of feed-forward "
            "networks, gains and biases of norms",
            "d_ff·n_layers": "first biases of feed-forward networks",
        },
        further=[
            "vocab_size",
            "d_model",
            "d_ff",
            "n_layers",
            "d_model·d_model",
            "d_model·d_ff",
            "d_ff·d_ff·n_layers",
            "d_ff·vocab_size",
            "d_model·vocab_size·n_layers",
        ],
        steps=(5, 8, 2, 1),
    ),
    mistakes=[
        Mistake(
            "three matrices",
            _counted(matrices=3),
            "you count three matrices of V × d_model. Both embeddings and the projection share "
            "one (Section 3.4).",
        ),
        Mistake(
            "two matrices",
            _counted(matrices=2),
            "you count two matrices of V × d_model. Both embeddings and the projection share one "
            "(Section 3.4).",
        ),
        Mistake(
            "no vocabulary",
            _counted(matrices=0),
            "the layers are right, and the matrix of V × d_model is missing.",
        ),
        Mistake(
            "one attention in the decoder",
            _counted(attentions=2),
            "an attention is missing in each pair of layers: an encoder layer has one, a decoder "
            "layer has two, its own and the one to the memory.",
        ),
        Mistake(
            "two norms in the decoder",
            _counted(norms=4),
            "2·d_model numbers are missing in each pair of layers. That is one layer norm (an "
            "encoder layer has two, a decoder layer three), or the second bias of both "
            "feed-forward networks.",
        ),
        Mistake(
            "decoder layer like encoder layer",
            _counted(attentions=2, norms=4),
            "you count a decoder layer like an encoder layer. It has a third sub-layer, the "
            "attention to the memory, with a norm of its own.",
        ),
        Mistake(
            "no norms",
            _counted(per_norm=0),
            "everything but the layer norms: each has a gain and a bias for each of the d_model "
            "components.",
        ),
        Mistake(
            "norms without bias",
            _counted(per_norm=1),
            "a layer norm has two vectors of d_model numbers: a gain and a bias.",
        ),
        Mistake(
            "no biases",
            _counted(bias=0),
            "the matrices and norms are right. Each linear map in a layer also has a bias, as "
            "many numbers as its output has components.",
        ),
        Mistake(
            "no biases in the attentions",
            _counted(attention_biases=0),
            "the attentions lack their biases: each of their four linear maps has d_model of them.",
        ),
        Mistake(
            "no biases in the feed-forward networks",
            _counted(first_biases=0, second_biases=0),
            "the feed-forward networks lack their biases: d_ff after the first linear map, "
            "d_model after the second.",
        ),
        Mistake(
            "no first biases",
            _counted(first_biases=0),
            "the first bias of the feed-forward networks is missing: d_ff numbers each.",
        ),
        Mistake(
            "encoder layers alone",
            _counted(attentions=1, norms=2, feed_forwards=1),
            "that is the encoder and the vocabulary. The decoder's layers are missing.",
        ),
        Mistake(
            "decoder layers alone",
            _counted(attentions=2, norms=3, feed_forwards=1),
            "that is the decoder and the vocabulary. The encoder's layers are missing.",
        ),
        Mistake(
            "six norms",
            _counted(norms=6),
            "2·d_model numbers too many in each pair of layers. A layer has one norm for each "
            "sub-layer: two in the encoder, three in the decoder.",
        ),
        Mistake(
            "output bias",
            _counted(output_bias=1),
            "you count a bias of V numbers for the last linear map. This model has none there.",
        ),
        Mistake(
            "one feed-forward",
            _counted(feed_forwards=1),
            "a feed-forward network is missing: encoder layer and decoder layer have one each.",
        ),
        Mistake(
            "one layer",
            _counted(only_one=True),
            "that is one encoder layer and one decoder layer. There are n_layers of each, with "
            "weights of their own.",
        ),
        Mistake(
            "with PyTorch's last norms",
            lambda vocab_size, d_model, d_ff, n_layers: (
                parameter_count(_config(vocab_size, d_model, d_ff, n_layers)) + 4 * d_model
            ),
            "4·d_model too many: the last norm of each stack belongs to `nn.Transformer`, not to "
            "the paper's post-norm model.",
        ),
    ],
    right="`n_parameters` is right, for three models",
)
