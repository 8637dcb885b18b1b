"""The check of chapter 09 that puts a pre-norm decoder layer together (§3.1)."""

from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from walkthrough.checking import Arguments, Case, Check, Mistake, arguments

D_MODEL = 8
Attend = Callable[[Tensor, Tensor], Tensor]
Part = Callable[[Tensor], Tensor]
Step = Callable[[Tensor, Part, Part], Tensor]


def _pre(z: Tensor, norm: Part, part: Part) -> Tensor:
    return z + part(norm(z))


def _raw(z: Tensor, norm: Part, part: Part) -> Tensor:
    return z + part(z)


def _layer(
    *steps: Step, across: Callable[..., Tensor] = lambda look, x, memory, norms: look(x, memory)
) -> Callable[..., Any]:
    """A decoder layer of three steps, or with another attention to the memory."""

    def layer(
        z: Tensor, memory: Tensor, look_back: Attend, look_across: Attend, feed: Part, norms: Any
    ) -> Tensor:
        parts: list[Part] = [
            lambda x: look_back(x, x),
            lambda x: across(look_across, x, memory, norms),
            feed,
        ]
        for step, norm, part in zip(steps or [_pre] * 3, norms, parts, strict=True):
            z = step(z, norm, part)
        return z

    return layer


def _of_the_first(kept: str) -> Callable[..., Any]:
    """Sub-layers that all read the incoming `z`; the last result is kept, or the sum of all."""

    def layer(
        z: Tensor, memory: Tensor, back: Attend, across: Attend, feed: Part, norms: Any
    ) -> Any:
        first, second, third = (norm(z) for norm in norms)
        others = back(first, first) + across(second, memory)
        return z + feed(third) + (others if kept == "sum" else 0)

    return layer


def _attention(generator: torch.Generator, *, causal: bool) -> Attend:
    """A small stand-in for an attention with its mask inside."""
    ask, mix = torch.randn(2, D_MODEL, D_MODEL, generator=generator) / 2

    def attend(asking: Tensor, answering: Tensor) -> Tensor:
        scores = asking @ ask @ answering.mT
        if causal:
            later = torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1)
            scores = scores.masked_fill(later, -torch.inf)
        mixed: Tensor = scores.softmax(-1) @ answering @ mix
        return mixed

    return attend


def _network(generator: torch.Generator) -> Part:
    expand, contract = torch.randn(2, D_MODEL, D_MODEL, generator=generator) / 2
    return lambda x: (x @ expand).relu() @ contract


def _norm(generator: torch.Generator) -> Part:
    gain, bias = 0.3 * torch.randn(2, D_MODEL, generator=generator)
    return lambda x: F.layer_norm(x, (D_MODEL,), 1 + gain, bias)


def _silent(asking: Tensor, *answering: Tensor) -> Tensor:
    return torch.zeros_like(asking)


def _lengths(target: int, source: int, silent: str = "") -> Callable[[torch.Generator], Arguments]:
    def make(generator: torch.Generator) -> Arguments:
        z = 2 * torch.randn(2, target, D_MODEL, generator=generator)
        memory = 2 * torch.randn(2, source, D_MODEL, generator=generator)
        back = _silent if silent == "back" else _attention(generator, causal=True)
        across = _silent if silent == "across" else _attention(generator, causal=False)
        feed = _silent if silent == "feed" else _network(generator)
        norms = [torch.clone] * 3 if silent == "norms" else [_norm(generator) for _ in range(3)]
        return arguments(z, memory, back, across, feed, norms)

    return make


decoder_layer = Check(
    name="decoder_layer",
    reference=_layer(),
    cases=[
        Case("4 target and 6 source positions", _lengths(4, 6)),
        Case("norms that change nothing", _lengths(5, 5, "norms")),
        Case("an attention to the target that returns zeros", _lengths(3, 4, "back")),
        Case("a feed-forward network that returns zeros", _lengths(3, 4, "feed")),
        Case("an attention to the memory that returns zeros", _lengths(3, 4, "across")),
    ],
    mistakes=[
        Mistake(
            "post-norm",
            _layer(*[lambda z, norm, part: norm(z + part(z))] * 3),
            "that is the paper's post-norm layer: it normalises each sum. Pre-norm normalises what "
            "goes *into* a sub-layer, and adds the result to what was not normalised.",
        ),
        Mistake(
            "added to the normed",
            _layer(*[lambda z, norm, part: norm(z) + part(norm(z))] * 3),
            "the result of a sub-layer is added to the *normalised* vectors. Keep `z` as it was, "
            "and add to that: then a way without any norm leads through the whole stack.",
        ),
        Mistake(
            "query without its norm",
            _layer(_pre, _raw, _pre),
            "the query of `look_across` is not normalised: `z` goes into it as it is. It asks with "
            "`norms[1](z)`, as the other sub-layers do with their norms.",
        ),
        Mistake(
            "feed-forward without its norm",
            _layer(_pre, _pre, _raw),
            "the feed-forward network gets `z` as it is. What goes into it is normalised as well, "
            "by `norms[2]`.",
        ),
        Mistake(
            "last residual forgotten",
            _layer(_pre, _pre, lambda z, norm, part: part(norm(z))),
            "what the feed-forward network returns takes the place of `z`. Its result is added, "
            "like those of both attentions: the last residual connection is forgotten.",
        ),
        Mistake(
            "the memory does not answer",
            _layer(across=lambda look, x, memory, norms: look(x, x)),
            "in `look_across` the memory asks, or is not there at all. The decoder asks: its "
            "normalised vectors come first, and `memory`, which answers, second.",
            also=(_layer(across=lambda look, x, memory, norms: look(memory, x)),),
        ),
        Mistake(
            "a result that nobody reads",
            _of_the_first("z"),
            "a sub-layer does not read what the one before it has made, but the `z` that came in. "
            "Call each result `z` again.",
            "Layer by layer",
            (_of_the_first("sum"),),
        ),
        Mistake(
            "memory normalised",
            _layer(across=lambda look, x, memory, norms: look(x, norms[1](memory))),
            "you normalise the memory with `norms[1]`. That norm is for the queries; the encoder's "
            "stack has ended with a norm of its own.",
        ),
    ],
    right="`decoder_layer` is right: each sub-layer reads what is normalised and adds to what is "
    "not",
)
