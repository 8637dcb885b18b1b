"""What the tape knows of a tensor, of an attention and of an operator's call."""

from typing import Any, NamedTuple

from torch import Tensor

PLACES = {
    "attn": "the attention weights",
    "sum": "embedding and positions",
    "tok": "the embedding alone",
    "pos": "the positions alone",
    "norm": "a norm's output",
    "ctx": "the heads' results",
    "res": "the sum around a sub-layer",
}


class Tag(NamedTuple):
    """What a tensor is, which sentences are in it, and what it was made of.

    `kind`: ids, weight, noise, tok (embedded), pos, sum (with positions), norm, lin (after a
    matrix), score, attn (after the softmax), ctx (weights times values), act, res (a sum of two).
    `root` is the tensor that the sub-layer began with; `info` what is seen at the end of it.
    """

    kind: str
    sides: frozenset[int] = frozenset()
    root: Tensor | None = None
    scale: float = 1.0
    of: str = ""
    bias: bool = False
    shape: tuple[int, ...] = (0, 0)
    info: Any = None

    @property
    def place(self) -> str:
        """In words where numbers are dropped, if they are dropped here."""
        if self.kind == "act" and self.shape[1] > self.shape[0] and self.of != "ctx":
            return "the inside of the feed-forward network"
        if self.kind == "lin":
            of_input = self.of in ("tok", "sum", "norm", "res")
            return "a projection" if of_input else "a sub-layer's output"
        return PLACES.get(self.kind, "a place that was not seen")


class Attention(NamedTuple):
    """One softmax over scores; `added_up` is the largest distance of a row's sum from 0 or 1."""

    where: str
    query: Tag
    key: Tag
    d_k: int
    scale: float
    scores: Tensor
    weights: Tensor
    added_up: float | None = None

    @property
    def kind(self) -> str:
        """Which of the three attentions it is, or an empty word where a tag was lost."""
        if not self.key.sides or not self.query.sides:
            return ""
        return "decoder" if 1 in self.key.sides else "cross" if 1 in self.query.sides else "encoder"


class Op(NamedTuple):
    """One call of an operator: its name, what it took, the tags of that, and what it gave."""

    name: str
    flat: list[Any]
    tensors: list[Tensor]
    known: list[tuple[Tensor, Tag]]
    out: Any
