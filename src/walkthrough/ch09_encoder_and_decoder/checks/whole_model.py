"""The checks of chapter 09: every shape, and the parameters of the whole model (§3, Table 3)."""

from collections.abc import Callable

from transformer.analysis.cost import parameter_count
from transformer.config import TransformerConfig
from walkthrough.checking import Check, Mistake, fixed
from walkthrough.checking.counts import CountTerms

# Exercise: every shape

Shapes = dict[str, tuple[int, ...]]


def _shapes(**wrong: str) -> Callable[..., Shapes]:
    """Right shapes but for those named, each written as its letters."""
    written = {
        "memory": "B S d_model",
        "encoder_weights": "B h S S",
        "decoder_weights": "B h T T",
        "cross_weights": "B h T S",
        "decoder_hidden": "B T d_ff",
        "logits": "B T V",
    } | wrong

    def shapes(*given: int) -> Shapes:
        sizes = dict(zip(("B", "S", "T", "V", "d_model", "h", "d_ff"), given, strict=True))
        return {
            name: tuple(sizes[letter] for letter in letters.split())
            for name, letters in written.items()
        }

    return shapes


shapes = Check(
    name="shapes",
    reference=_shapes(),
    cases=[
        fixed("the base model", 2, 7, 6, 37000, 512, 8, 2048),
        fixed("a small model", 3, 4, 9, 50, 16, 2, 24),
        fixed("one sentence of one word", 1, 1, 5, 30, 8, 2, 12),
    ],
    mistakes=[
        Mistake(
            "cross weights turned round",
            _shapes(cross_weights="B h S T"),
            "`cross_weights` is turned round. Rows are queries and come from the decoder: T rows, "
            "S columns.",
        ),
        Mistake(
            "cross weights square",
            _shapes(cross_weights="B h T T"),
            "`cross_weights` has one column for each target position. The keys come from the "
            "memory: one column for each source position.",
        ),
        Mistake(
            "weights without heads",
            _shapes(encoder_weights="B S S", decoder_weights="B T T", cross_weights="B T S"),
            "the weights lack the heads. Every head has a map of its own: (B, h, rows, columns).",
        ),
        Mistake(
            "hidden is d_model wide",
            _shapes(decoder_hidden="B T d_model"),
            "`decoder_hidden` lies between the two linear maps: W1 has made it d_ff wide.",
        ),
    ],
    right="`shapes` is right, for three models",
)

# Exercise: parameters of the whole model


def _built(vocab_size: int, d_model: int, d_ff: int, n_layers: int) -> int:
    return parameter_count(
        TransformerConfig(
            vocab_size=vocab_size, d_model=d_model, d_ff=d_ff, n_layers=n_layers, n_heads=2
        )
    )


def _counted(
    *, matrices: int = 1, attentions: int = 3, norms: int = 5, bias: int = 1
) -> Callable[[int, int, int, int], int]:
    """A count with other numbers of parts; the defaults are right."""

    def count(vocab_size: int, d_model: int, d_ff: int, n_layers: int) -> int:
        attention = 4 * d_model * (d_model + bias)
        network = 2 * d_model * d_ff + bias * (d_ff + d_model)
        layer = attentions * attention + 2 * network + norms * 2 * d_model
        return matrices * d_model * vocab_size + layer * n_layers

    return count


FURTHER = [
    "vocab_size", "d_model", "d_ff", "n_layers", "d_model·d_model", "d_model·d_ff",
    "d_ff·d_ff·n_layers", "d_ff·vocab_size", "d_model·vocab_size·n_layers",
]  # fmt: skip
"""Products that do not belong there."""

n_parameters = Check(
    name="n_parameters",
    reference=_built,
    cases=[
        fixed("the base model", 37000, 512, 2048, 6),
        fixed("the big model", 37000, 1024, 4096, 6),
        fixed("a small model", 90, 16, 24, 2),
        fixed("one layer, narrow inside", 11, 8, 6, 1),
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
        further=FURTHER,
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
            "decoder layer like encoder layer",
            _counted(attentions=2, norms=4),
            "you count a decoder layer like an encoder layer. It has a third sub-layer, the "
            "attention to the memory, with a norm of its own.",
        ),
        Mistake(
            "no norms",
            _counted(norms=0),
            "everything but the layer norms: each has a gain and a bias for each of the d_model "
            "components.",
        ),
        Mistake(
            "no biases",
            _counted(bias=0),
            "the matrices and norms are right. Each linear map in a layer also has a bias, as "
            "many numbers as its output has components.",
        ),
        Mistake(
            "output bias",
            lambda vocab_size, *others: _built(vocab_size, *others) + vocab_size,
            "you count a bias of V numbers for the last linear map. This model has none there.",
        ),
        Mistake(
            "with PyTorch's last norms",
            lambda vocab_size, d_model, *others: _built(vocab_size, d_model, *others) + 4 * d_model,
            "4·d_model too many: the last norm of each stack belongs to `nn.Transformer`, not to "
            "the paper's post-norm model.",
        ),
    ],
    right="`n_parameters` is right, for four models",
)
