"""The ten stubs of the skeleton, in the order of the book: sections, pages, and their parts."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Stub:
    """One of the ten: its number, name, section of the paper, page of the book, and its parts."""

    number: int
    name: str
    section: str
    page: str
    parts: tuple[str, ...]


STUBS = (
    Stub(1, "scaled dot-product attention", "3.2.1",
         "02-scaled-dot-product-attention.html#the-formula-and-its-code",
         ("scaled_dot_product_attention",)),
    Stub(2, "masks", "3.1, 3.2.3", "03-masks.html#three-attentions-three-masks",
         ("padding_mask", "causal_mask")),
    Stub(3, "multi-head attention", "3.2.2", "04-multi-head-attention.html#split-and-merge",
         ("split_heads", "merge_heads", "MultiHeadAttention")),
    Stub(4, "feed-forward network", "3.3",
         "05-feed-forward.html#one-network-for-every-word-says-the-paper", ("FeedForward",)),
    Stub(5, "embedding and output", "3.4",
         "06-embeddings-and-softmax.html#one-matrix-says-the-paper", ("TokenEmbedding",)),
    Stub(6, "positions", "3.5", "07-positional-encoding.html#the-formula-on-five-words",
         ("positional_encoding",)),
    Stub(7, "residual connection and layer norm", "3.1",
         "08-residuals-and-layer-norm.html#one-word-normalised", ("layer_norm", "ResidualNorm")),
    Stub(8, "encoder layer", "3.1", "09-encoder-and-decoder.html#two-stacks", ("EncoderLayer",)),
    Stub(9, "decoder layer", "3.1",
         "09-encoder-and-decoder.html#the-decoder-reads-it-in-every-layer", ("DecoderLayer",)),
    Stub(10, "the model", "3, Figure 1", "09-encoder-and-decoder.html#two-stacks",
         ("Transformer",)),
)  # fmt: skip
"""The stubs in the order of the book."""
PARTS = tuple(part for stub in STUBS for part in stub.parts)
HELPERS = {"split_heads", "merge_heads", "layer_norm"}
"""Parts that a file may do without."""
