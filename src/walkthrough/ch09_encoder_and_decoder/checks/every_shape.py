"""The check of chapter 09 for the shapes of the whole model (§3)."""

from collections.abc import Callable

from walkthrough.checking import Check, Mistake, fixed

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
