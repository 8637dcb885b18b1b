"""On which inputs each part is tried, and beside what: the chapters' checks, else the solution."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import Any

import torch
from torch import Tensor, nn

from walkthrough.capstone import book, solution
from walkthrough.capstone.slips import SLIPS, module_of
from walkthrough.capstone.weights import State, placings
from walkthrough.ch02_scaled_dot_product_attention.checks import masked_attention
from walkthrough.ch03_masks.checks import decoding_mask
from walkthrough.ch04_multi_head_attention.checks import merge_heads, split_heads
from walkthrough.ch07_positional_encoding.checks import encoding
from walkthrough.ch08_residuals_and_layer_norm.checks import layer_norm
from walkthrough.checking import Arguments, Case, Check, Mistake, arguments, fixed

D_MODEL, N_HEADS, D_FF, VOCAB = 24, 3, 40, 30
Call = Callable[..., Any]


@dataclass(frozen=True)
class Kind:
    """A class: its sizes in the check, the inputs, and how its module is called with them."""

    part: str
    sizes: tuple[Any, ...]
    cases: tuple[Case, ...]
    call: Callable[[nn.Module], Call] = lambda module: lambda *given: module(*given)

    @cached_property
    def ours(self) -> nn.Module:
        """The solution's module: with the book's weights where it is whole, else with random ones.

        Everything in it is random, so that a gain and a bias that are forgotten are missed.
        """
        sizes = book.sizes() if self.part == "Transformer" else {}
        with torch.random.fork_rng(devices=[]), torch.no_grad():
            torch.manual_seed(0)
            module = getattr(solution, self.part)(*self.sizes, **sizes).eval()
            for parameter in module.parameters():
                parameter.add_(0.2 * torch.randn(parameter.shape))
            if self.part == "Transformer":
                module.load_state_dict(book.state())
        return module

    @cached_property
    def state(self) -> State:
        """The weights that both get."""
        return {name: tensor.clone() for name, tensor in self.ours.state_dict().items()}

    @cached_property
    def check(self) -> Check:
        """The check of the class: the solution's module beside it, the slips as its mistakes."""
        of_one_part = self.part != "Transformer"  # of the whole, the walk tells the cause
        return Check(
            name=self.part,
            reference=torch.no_grad()(self.call(self.ours)),
            cases=self.cases,
            mistakes=_mistakes(self.part, self._slipped) if of_one_part else [],
            tolerance=1e-4,
            right=f"`{self.part}` is right: the book's numbers, with the same weights",
        )

    def _slipped(self, made: Any) -> Call:
        @cache
        def module() -> nn.Module:
            with torch.random.fork_rng(devices=[]):
                one: nn.Module = made(*self.sizes).eval()
            placings(one, self.state, N_HEADS)[0].put(one, self.state)
            return one

        return lambda *given: self.call(module())(*given)


def _mistakes(part: str, function: Callable[[Any], Call]) -> list[Mistake]:
    return [
        Mistake(s.name, function(getattr(module_of(s), part)), f"`{part}` forgets {s.forgets}.")
        for s in SLIPS
        if s.part == part
    ]


def _case(label: str, *lengths: int, batch: int = 2, mask: str = "") -> Case:
    """Draw vectors of these lengths, and masks: "p" of padded keys, "c" the target's, "o" open."""

    def make(generator: torch.Generator) -> Arguments:
        drawn: list[Any] = [torch.randn(batch, n, D_MODEL, generator=generator) for n in lengths]
        for kind in mask:
            length = lengths[0] if kind == "c" else lengths[-1]
            tokens = torch.ones(batch, length, dtype=torch.long)
            if kind != "o":
                tokens[-1, length - 1 - length // 3 :] = 0
            may = solution.padding_mask(tokens)
            drawn.append(may & solution.causal_mask(length, length) if kind == "c" else may)
        return arguments(*drawn)

    return Case(label, make)


def _sublayer(label: str, size: float) -> Case:
    def make(generator: torch.Generator) -> Arguments:
        x = torch.randn(2, 5, D_MODEL, generator=generator)
        matrix = size * torch.randn(D_MODEL, D_MODEL, generator=generator)
        return arguments(x, lambda x: x @ matrix + size)

    return Case(label, make)


def _ids(generator: torch.Generator) -> Arguments:
    tokens = torch.randint(0, VOCAB, (2, 6), generator=generator)
    return arguments(tokens, torch.randn(2, 6, D_MODEL, generator=generator))


def _both(module: Any) -> Call:
    return lambda ids, x: {"forward": module(ids), "project": module.project(x)}


def _at_words(model: nn.Module) -> Call:
    def call(source: Tensor, target: Tensor) -> Any:
        logits = model(source, target)
        fits = isinstance(logits, Tensor) and logits.shape[:2] == target.shape and logits.ndim == 3
        return logits[target != 0] if fits else logits

    return call


KINDS = {kind.part: kind for kind in (
    Kind("MultiHeadAttention", (D_MODEL, N_HEADS), (
        _case("4 queries, 6 keys, some of them padding", 4, 6, 6, mask="p"),
        _case("5 words that look at themselves, under a causal mask", 5, 5, 5, mask="c"),
        _case("all keys open", 3, 5, 5, mask="o"),
    )),
    Kind("FeedForward", (D_MODEL, D_FF), (
        _case("2 sentences of 5 words", 5), _case("one word", 1, batch=1),
    )),
    Kind("TokenEmbedding", (VOCAB, D_MODEL), (
        Case("2 sentences of 6 tokens, and 6 vectors to project", _ids),
    ), _both),
    Kind("ResidualNorm", (D_MODEL, 0.1), (
        _sublayer("a sub-layer", 0.5), _sublayer("a sub-layer that returns zeros", 0.0),
        _sublayer("a sub-layer that returns large numbers", 30.0),
    )),
    Kind("EncoderLayer", (D_MODEL, N_HEADS, D_FF, 0.1), (
        _case("2 sentences of 6 words, with padding", 6, mask="p"),
        _case("a sentence of one word, and padding", 3, batch=1, mask="p"),
    )),
    Kind("DecoderLayer", (D_MODEL, N_HEADS, D_FF, 0.1), (
        _case("5 target and 7 source words, with padding", 5, 7, mask="cp"),
        _case("7 target and 4 source words", 7, 4, mask="cp"),
    )),
    Kind("Transformer", (), (
        Case("one sentence", lambda _: arguments(*(ids[:1] for ids in book.batch()))),
        Case("two sentences, with padding", lambda _: arguments(*book.batch())),
    ), _at_words),
)}  # fmt: skip
FUNCTIONS: dict[str, Check] = {
    "scaled_dot_product_attention": masked_attention,
    "padding_mask": Check(
        name="padding_mask",
        reference=solution.padding_mask,
        cases=[
            fixed("sentences of different length", torch.tensor([[5, 9, 8, 2], [6, 2, 0, 0]])),
            fixed("one sentence without padding", torch.tensor([[4, 7, 9, 5, 2]])),
            fixed("three sentences", torch.tensor([[4, 2, 0], [5, 6, 2], [2, 0, 0]])),
        ],
        mistakes=_mistakes("padding_mask", lambda made: made),
        right="`padding_mask` is right",
    ),
    "causal_mask": replace(decoding_mask, name="causal_mask", right="`causal_mask` is right"),
    "split_heads": split_heads,
    "merge_heads": merge_heads,
    "positional_encoding": encoding,
    "layer_norm": layer_norm,
}
