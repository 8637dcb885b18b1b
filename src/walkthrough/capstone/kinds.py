"""What each part is compared with and on which inputs: the chapters' checks, else the package."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, cast

import torch
from torch import Tensor, nn

from transformer.attention import MultiHeadAttention
from transformer.config import TransformerConfig
from transformer.embedding import TokenEmbedding
from transformer.feed_forward import PositionwiseFeedForward
from transformer.layers import DecoderLayer, EncoderLayer, ResidualNorm
from transformer.masks import causal_mask, padding_mask
from walkthrough.capstone import book
from walkthrough.capstone.weights import (
    State,
    skeleton_names,
)
from walkthrough.ch02_scaled_dot_product_attention.checks import masked_attention
from walkthrough.ch03_masks.checks import decoding_mask
from walkthrough.ch04_multi_head_attention.checks import merge_heads, split_heads
from walkthrough.ch07_positional_encoding.checks import encoding
from walkthrough.ch08_residuals_and_layer_norm.checks import layer_norm
from walkthrough.checking import Arguments, Case, Check, Mistake, arguments, fixed

D_MODEL, N_HEADS, D_FF, VOCAB = 24, 3, 40, 30
SMALL = TransformerConfig(
    vocab_size=VOCAB, d_model=D_MODEL, n_heads=N_HEADS, d_ff=D_FF, n_layers=2, dropout=0.1
)
Call = Callable[..., Any]


@dataclass(frozen=True)
class Kind:
    """How a class is built, what of the package it is compared with, and on which inputs."""

    sizes: tuple[Any, ...]
    ours: Callable[[], nn.Module]
    call_ours: Callable[[nn.Module], Call]
    cases: tuple[Case, ...]
    call: Callable[[nn.Module], Call] = lambda module: lambda *given: module(*given)

    @property
    def state(self) -> State:
        """The weights that both get."""
        return skeleton_names(self.ours().state_dict())


def _shaken(build: Callable[[], nn.Module]) -> Callable[[], nn.Module]:
    """Build a module of the package, with random numbers in all of its weights."""

    @cache
    def built() -> nn.Module:
        with torch.random.fork_rng(devices=[]), torch.no_grad():
            torch.manual_seed(0)
            module = build().eval()
            for parameter in module.parameters():
                parameter.add_(0.2 * torch.randn(parameter.shape))
        return module

    return built


def _vectors(*lengths: int, batch: int = 2, mask: str = "") -> Callable[..., Arguments]:
    """Draw vectors of these lengths, and masks: "p" of padded keys, "c" the target's, "o" open."""

    def make(generator: torch.Generator) -> Arguments:
        drawn: list[Any] = [
            torch.randn(batch, length, D_MODEL, generator=generator) for length in lengths
        ]
        for kind in mask:
            length = lengths[0] if kind == "c" else lengths[-1]
            tokens = torch.ones(batch, length, dtype=torch.long)
            if kind != "o":
                tokens[-1, length - 1 - length // 3 :] = 0
            may = padding_mask(tokens)
            drawn.append(may & causal_mask(length) if kind == "c" else may)
        return arguments(*drawn)

    return make


def _with_sublayer(size: float) -> Callable[..., Arguments]:
    def make(generator: torch.Generator) -> Arguments:
        x = torch.randn(2, 5, D_MODEL, generator=generator)
        matrix = size * torch.randn(D_MODEL, D_MODEL, generator=generator)
        return arguments(x, lambda x: x @ matrix + size)

    return make


def _ids(generator: torch.Generator) -> Arguments:
    tokens = torch.randint(0, VOCAB, (2, 6), generator=generator)
    return arguments(tokens, torch.randn(2, 6, D_MODEL, generator=generator))


KINDS: dict[str, Kind] = {
    "MultiHeadAttention": Kind(
        (D_MODEL, N_HEADS),
        _shaken(lambda: MultiHeadAttention(d_model=D_MODEL, n_heads=N_HEADS)),
        lambda ours: lambda *given: ours(*given)[0],
        (
            Case("4 queries, 6 keys, some of them padding", _vectors(4, 6, 6, mask="p")),
            Case("5 words that look at themselves, under a causal mask",
                 _vectors(5, 5, 5, mask="c")),
            Case("all keys open", _vectors(3, 5, 5, mask="o")),
        ),
    ),
    "FeedForward": Kind(
        (D_MODEL, D_FF),
        _shaken(lambda: PositionwiseFeedForward(d_model=D_MODEL, d_ff=D_FF)),
        lambda ours: ours,
        (Case("2 sentences of 5 words", _vectors(5)), Case("one word", _vectors(1, batch=1))),
    ),
    "TokenEmbedding": Kind(
        (VOCAB, D_MODEL),
        _shaken(lambda: TokenEmbedding(vocab_size=VOCAB, d_model=D_MODEL)),
        lambda ours: lambda ids, x: {"forward": ours(ids), "project": x @ ours.weight.T},
        (Case("2 sentences of 6 tokens, and 6 vectors to project", _ids),),
        lambda own: lambda ids, x: {"forward": own(ids), "project": cast("Any", own).project(x)},
    ),
    "ResidualNorm": Kind(
        (D_MODEL, 0.1),
        _shaken(lambda: ResidualNorm(SMALL)),
        lambda ours: lambda x, sublayer: ours(x, sublayer(x)),
        (
            Case("a sub-layer", _with_sublayer(0.5)),
            Case("a sub-layer that returns zeros", _with_sublayer(0.0)),
            Case("a sub-layer that returns large numbers", _with_sublayer(30.0)),
        ),
    ),
    "EncoderLayer": Kind(
        (D_MODEL, N_HEADS, D_FF, 0.1),
        _shaken(lambda: EncoderLayer(SMALL)),
        lambda ours: lambda *given: ours(*given)[0],
        (Case("2 sentences of 6 words, with padding", _vectors(6, mask="p")),
         Case("3 sentences of 1 word", _vectors(3, batch=1, mask="p"))),
    ),
    "DecoderLayer": Kind(
        (D_MODEL, N_HEADS, D_FF, 0.1),
        _shaken(lambda: DecoderLayer(SMALL)),
        lambda ours: lambda *given: ours(*given)[0],
        (Case("5 target and 7 source words, with padding", _vectors(5, 7, mask="cp")),
         Case("7 target and 4 source words", _vectors(7, 4, mask="cp"))),
    ),
    "Transformer": Kind(
        (),
        lambda: book.translator()[0],
        lambda ours: lambda source, target: _at_words(ours(source, target), target),
        (Case("one sentence", lambda _: arguments(*(ids[:1] for ids in book.batch()))),
         Case("two sentences, with padding", lambda _: arguments(*book.batch()))),
        lambda own: lambda source, target: _at_words(own(source, target), target),
    ),
}  # fmt: skip


def _at_words(logits: Any, target: Tensor) -> Any:
    fits = isinstance(logits, Tensor) and logits.shape[:2] == target.shape and logits.ndim == 3
    return logits[target != 0] if fits else logits


FUNCTIONS: dict[str, Check] = {
    "scaled_dot_product_attention": masked_attention,
    "padding_mask": Check(
        name="padding_mask",
        reference=padding_mask,
        cases=[
            fixed("sentences of different length", torch.tensor([[5, 9, 8, 2], [6, 2, 0, 0]])),
            fixed("one sentence without padding", torch.tensor([[4, 7, 9, 5, 2]])),
            fixed("three sentences", torch.tensor([[4, 2, 0], [5, 6, 2], [2, 0, 0]])),
        ],
        mistakes=[
            Mistake("True means hidden", lambda tokens: ~padding_mask(tokens),
                    "the mask is turned round: True means *may* attend, so words get True and "
                    "padding False."),
            Mistake("rows", lambda tokens: padding_mask(tokens).transpose(2, 3),
                    "the padding stands in the rows, which are queries. Keys are columns, the "
                    "last dimension: (batch, 1, 1, length)."),
        ],
        right="`padding_mask` is right",
    ),
    "causal_mask": replace(decoding_mask, name="causal_mask", right="`causal_mask` is right"),
    "split_heads": split_heads,
    "merge_heads": merge_heads,
    "positional_encoding": encoding,
    "layer_norm": layer_norm,
}  # fmt: skip
