"""The check of chapter 10 that counts the multiplications of a decoder layer (§4)."""

from collections.abc import Callable

from walkthrough.checking import Check, Mistake, fixed
from walkthrough.checking.counts import CountTerms


def _products(
    *,
    of_target: int = 6,
    of_memory: int = 2,
    target_pairs: int = 2,
    cross_pairs: int = 2,
    times: int = 1,
) -> Callable[[int, int, int, int], int]:
    """A count with other numbers of products; the defaults are right."""

    def count(source_len: int, target_len: int, d: int, d_ff: int) -> int:
        projections = (of_target * target_len + of_memory * source_len) * d * d
        pairs = target_pairs * target_len**2 + cross_pairs * target_len * source_len
        return times * (projections + pairs * d + 2 * target_len * d * d_ff)

    return count


FURTHER = [
    "S·S·d", "S·d·d_ff", "T·d_ff·d_ff", "T·T·d_ff", "S·T·d·d", "T·T·d·d", "T·d", "S·d", "T·T",
    "S·T", "T·d_ff", "d·d", "d·d_ff",
]  # fmt: skip
"""Products that do not belong there."""

decoder_products = Check(
    name="decoder_products",
    reference=_products(),
    cases=[
        fixed("S = 5, T = 3, d = 4, d_ff = 16", 5, 3, 4, 16),
        fixed("S = 30, T = 25, d = 512, d_ff = 2048", 30, 25, 512, 2048),
        fixed("S = 1000, T = 40, d = 64, d_ff = 100", 1000, 40, 64, 100),
        fixed("one word on both sides, d_ff below d", 1, 1, 6, 5),
    ],
    tolerance=0.0,
    terms=CountTerms(
        ("S", "T", "d", "d_ff"),
        {
            "T·d·d": "four projections of the self-attention; queries and result of the "
            "attention to the memory",
            "S·d·d": "keys and values made of the memory",
            "T·T·d": "target positions meet target positions, in two products",
            "S·T·d": "target positions meet source positions, in two products",
            "T·d·d_ff": "the two maps of the feed-forward network",
        },
        further=FURTHER,
        steps=(1, 1, 2, 3),
    ),
    mistakes=[
        Mistake(
            "keys and values of the target",
            _products(of_target=8, of_memory=0),
            "the keys and values of the attention to the memory are made of S rows, not of T: they "
            "come from the memory.",
        ),
        Mistake(
            "cross-attention like self-attention",
            _products(of_target=8, of_memory=0, target_pairs=4, cross_pairs=0),
            "both attentions are counted with T positions on both sides. In the second, T queries "
            "meet S keys.",
        ),
        Mistake(
            "a mask saves half",
            _products(target_pairs=1),
            "one product over pairs of target positions is counted, T² · d. There are two: QKᵀ, "
            "and weights times V. (A mask halves what counts, not what is computed.)",
            "A mask that should save work",
        ),
        Mistake(
            "floating-point operations",
            _products(times=2),
            "everything is there, twice. A multiplication and its addition are two floating-point "
            "operations; the question is about multiplications.",
        ),
    ],
    right="`decoder_products` is right, for four sizes",
)
