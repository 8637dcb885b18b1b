"""The checks of chapter 04 on splitting and merging heads (§3.2.2)."""

from torch import Tensor

from walkthrough.checking import Check, Mistake, drawn

# Exercise: split the heads


def _split(x: Tensor, n_heads: int) -> Tensor:
    return x.unflatten(-1, (n_heads, -1)).transpose(1, 2)


split_heads = Check(
    name="split_heads",
    reference=_split,
    cases=[
        drawn("2 sentences of 5 words, 3 heads of size 6", (2, 5, 3 * 6), 3),
        drawn("4 sentences of 4 words, 4 heads of size 4", (4, 4, 4 * 4), 4),
        drawn("3 sentences of 7 words, 2 heads of size 5", (3, 7, 2 * 5), 2),
        drawn("1 sentence of 1 word, 2 heads of size 3", (1, 1, 2 * 3), 2),
        drawn("a single head", (2, 3, 6), 1),
    ],
    mistakes=[
        Mistake(
            "no transpose",
            lambda x, n_heads: x.reshape(x.shape[0], n_heads, x.shape[1], -1),
            "the shape is right and the numbers are not: the rows were cut up in the order in "
            "which they lie in memory, so a head got whole words in place of a slice of every "
            "word. Cut the last dimension first, then exchange dimensions.",
            where="Merged without the exchange",
        ),
        Mistake(
            "heads left behind",
            lambda x, n_heads: x.unflatten(-1, (n_heads, -1)),
            "the cut is right, but the result is (batch, length, heads, d). Attention works on "
            "the last two dimensions: the heads have to change places with the words.",
        ),
        Mistake(
            "words and batch exchanged",
            lambda x, n_heads: x.unflatten(-1, (n_heads, -1)).transpose(0, 1),
            "dimensions 0 and 1 are exchanged, as in the cell on one sentence. Here dimension 0 "
            "holds the sentences, 1 the words and 2 the heads: exchange 1 and 2.",
        ),
        Mistake(
            "every h-th component",
            lambda x, n_heads: x.unflatten(-1, (-1, n_heads)).permute(0, 3, 1, 2),
            "head i got every h-th component. The matrices of the heads stand side by side, so a "
            "head owns d neighbouring components: unflatten into (n_heads, d), in this order.",
        ),
        Mistake(
            "pieces of n_heads components",
            lambda x, n_heads: x.unflatten(-1, (-1, n_heads)).transpose(1, 2),
            "the pieces have n_heads components each. There are n_heads pieces: `split` takes the "
            "size of a piece, `chunk` their number, `unflatten` both, (n_heads, d).",
        ),
    ],
    right="`split_heads` is right: each head has its own slice of every word",
)

# Exercise: merge the heads


def _merge(heads: Tensor) -> Tensor:
    return heads.transpose(1, 2).flatten(-2)


merge_heads = Check(
    name="merge_heads",
    reference=_merge,
    cases=[
        drawn("2 sentences of 5 words, 3 heads of size 4", (2, 3, 5, 4)),
        drawn("1 sentence of 4 words, 4 heads of size 4", (1, 4, 4, 4)),
        drawn("3 sentences of 7 words, 2 heads of size 5", (3, 2, 7, 5)),
        drawn("1 sentence of 1 word, 2 heads of size 3", (1, 2, 1, 3)),
        drawn("a single head", (2, 1, 3, 6)),
    ],
    mistakes=[
        Mistake(
            "no transpose",
            lambda heads: heads.reshape(heads.shape[0], heads.shape[2], -1),
            "the shape is right and the numbers are not: a row holds what one head found for "
            "several words. Exchange heads and words first, then flatten.",
            where="Merged without the exchange",
        ),
        Mistake(
            "view after transpose",
            lambda heads: heads.transpose(1, 2).view(heads.shape[0], heads.shape[2], -1),
            "your idea is right, but `view` stops here: it needs numbers that lie in memory in "
            "the order of the dimensions, and after a transpose they do not. Use `reshape` or "
            "`flatten`, which copy where they must.",
        ),
        Mistake(
            "words and heads flattened",
            lambda heads: heads.transpose(1, 2).flatten(1, 2),
            "words and heads were joined to one dimension. Join heads and components: the last "
            "two dimensions after the exchange.",
        ),
        Mistake(
            "interleaved",
            lambda heads: heads.permute(0, 2, 3, 1).flatten(-2),
            "the heads are interleaved: component 1 of all heads, then component 2 of all heads. "
            "Concat puts head 1 whole, then head 2 whole.",
        ),
    ],
    right="`merge_heads` is right: row by row, head 1, head 2, …",
)
