"""The check of chapter 09 that puts a pre-norm decoder layer together (§3.1)."""

from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from walkthrough.checking.base import Arguments, Case, Check, Mistake, arguments

D_MODEL = 8
Attend = Callable[[Tensor, Tensor], Tensor]
Norm = Callable[[Tensor], Tensor]
Add = Callable[[Tensor, Tensor, Tensor], Tensor]


def _to_the_rest(z: Tensor, _normed: Tensor, result: Tensor) -> Tensor:
    return z + result


def _layer(
    *,
    norms_of: tuple[int, int, int] = (0, 1, 2),
    order: tuple[str, str, str] = ("back", "across", "feed"),
    post: bool = False,
    queries: str = "normed",
    keys: str = "normed",
    memory_norm: int | None = None,
    across: str = "memory",
    add: Add = _to_the_rest,
    end: int | None = None,
) -> Callable[..., Any]:
    """A decoder layer with parts changed; the defaults are right."""

    def layer(
        z: Tensor,
        memory: Tensor,
        look_back: Attend,
        look_across: Attend,
        feed: Norm,
        norms: list[Norm],
    ) -> Tensor:
        if memory_norm is not None:
            memory = norms[memory_norm](memory)
        for part, number in zip(order, norms_of, strict=True):
            norm = norms[number]
            x = z if post else norm(z)
            asking = z if queries == "raw" else x
            answering = z if keys == "raw" else x
            if part == "back":
                result = look_back(asking, answering)
            elif part == "across":
                pair = {
                    "memory": (asking, memory),
                    "target": (asking, answering),
                    "exchanged": (memory, asking),
                }
                result = look_across(*pair[across])
            else:
                result = feed(x)
            z = norm(z + result) if post else add(z, x, result)
        return z if end is None else norms[end](z)

    return layer


def _all_from_z(
    z: Tensor, memory: Tensor, look_back: Attend, look_across: Attend, feed: Norm, norms: list[Norm]
) -> Tensor:
    first, second, third = (norm(z) for norm in norms)
    return z + look_back(first, first) + look_across(second, memory) + feed(third)


def _normalised_once(
    z: Tensor, memory: Tensor, look_back: Attend, look_across: Attend, feed: Norm, norms: list[Norm]
) -> Tensor:
    x = norms[0](z)
    return z + look_back(x, x) + look_across(x, memory) + feed(x)


def _results_normalised(
    z: Tensor, memory: Tensor, look_back: Attend, look_across: Attend, feed: Norm, norms: list[Norm]
) -> Tensor:
    z = z + norms[0](look_back(z, z))
    z = z + norms[1](look_across(z, memory))
    return z + norms[2](feed(z))


def _both(
    z: Tensor, memory: Tensor, look_back: Attend, look_across: Attend, feed: Norm, norms: list[Norm]
) -> Tensor:
    x = norms[0](z)
    z = norms[0](z + look_back(x, x))
    z = norms[1](z + look_across(norms[1](z), memory))
    return norms[2](z + feed(norms[2](z)))


def _added_to_the_first(
    z: Tensor, memory: Tensor, look_back: Attend, look_across: Attend, feed: Norm, norms: list[Norm]
) -> Tensor:
    x = norms[0](z)
    first = z + look_back(x, x)
    second = z + look_across(norms[1](first), memory)
    return z + feed(norms[2](second))


def _sum_lost(after: str) -> Callable[..., Any]:
    """One residual goes back too far, to what stood before the sub-layer `after`."""

    def layer(
        z: Tensor, memory: Tensor, back: Attend, across: Attend, feed: Norm, norms: list[Norm]
    ) -> Tensor:
        x = norms[0](z)
        first = z + back(x, x)
        second = (z if after == "back" else first) + across(norms[1](first), memory)
        return (first if after == "across" else second) + feed(norms[2](second))

    return layer


def _in_and_out(
    z: Tensor, memory: Tensor, look_back: Attend, look_across: Attend, feed: Norm, norms: list[Norm]
) -> Tensor:
    x = norms[0](z)
    z = z + norms[0](look_back(x, x))
    z = z + norms[1](look_across(norms[1](z), memory))
    return z + norms[2](feed(norms[2](z)))


def _first_result_normalised(
    z: Tensor, memory: Tensor, look_back: Attend, look_across: Attend, feed: Norm, norms: list[Norm]
) -> Tensor:
    x = norms[0](z)
    z = z + norms[0](look_back(x, x))
    z = z + look_across(norms[1](z), memory)
    return z + feed(norms[2](z))


def _without(part: str, feed_norm: int = 2) -> Callable[..., Any]:
    def layer(
        z: Tensor, memory: Tensor, back: Attend, across: Attend, feed: Norm, norms: list[Norm]
    ) -> Tensor:
        if part != "back":
            normed = norms[0](z)
            z = z + back(normed, normed)
        if part != "across":
            z = z + across(norms[1](z), memory)
        return z if part == "feed" else z + feed(norms[feed_norm](z))

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


def _network(generator: torch.Generator) -> Norm:
    expand, contract = torch.randn(2, D_MODEL, D_MODEL, generator=generator) / 2
    return lambda x: (x @ expand).relu() @ contract


def _norm(generator: torch.Generator) -> Norm:
    gain, bias = 0.3 * torch.randn(2, D_MODEL, generator=generator)
    return lambda x: F.layer_norm(x, (D_MODEL,), 1 + gain, bias)


def _lengths(target: int, source: int) -> Callable[[torch.Generator], Arguments]:
    def make(generator: torch.Generator) -> Arguments:
        z = 2 * torch.randn(2, target, D_MODEL, generator=generator)
        memory = 2 * torch.randn(2, source, D_MODEL, generator=generator)
        back = _attention(generator, causal=True)
        across = _attention(generator, causal=False)
        norms = [_norm(generator) for _ in range(3)]
        return arguments(z, memory, back, across, _network(generator), norms)

    return make


decoder_layer = Check(
    name="decoder_layer",
    reference=_layer(),
    cases=[Case("4 target and 6 source positions", _lengths(4, 6))],
    mistakes=[
        Mistake(
            "post-norm",
            _layer(post=True),
            "that is the paper's post-norm layer: it normalises each sum. Pre-norm normalises what "
            "goes *into* a sub-layer, and adds the result to what was not normalised.",
        ),
        Mistake(
            "added to the normed",
            _layer(add=lambda z, normed, result: normed + result),
            "the result of a sub-layer is added to the *normalised* vectors. Keep `z` as it was, "
            "and add to that: then a way without any norm leads through the whole stack.",
        ),
        Mistake(
            "nothing added",
            _layer(add=lambda z, normed, result: result),
            "no residual connection: what a sub-layer returns takes the place of `z`. Add the two.",
        ),
        Mistake(
            "memory normalised",
            _layer(memory_norm=1),
            "you normalise the memory with `norms[1]`. That norm is for the queries; the encoder's "
            "stack has ended with a norm of its own.",
        ),
        Mistake(
            "raw keys",
            _layer(keys="raw"),
            "in the self-attention the queries are normalised and the keys and values are not: "
            "both arguments of `look_back` are the same normalised vectors.",
        ),
        Mistake(
            "raw queries",
            _layer(queries="raw"),
            "the queries of the attentions are not normalised: give `look_back` and `look_across` "
            "the normalised vectors first.",
        ),
        Mistake(
            "memory normalised by the first norm",
            _layer(memory_norm=0),
            "you normalise the memory with `norms[0]`. Give it to `look_across` as it is: the "
            "encoder's stack has ended with a norm of its own.",
        ),
        Mistake(
            "normalised once",
            _normalised_once,
            "`z` is normalised once, and all three sub-layers get that. Each sub-layer normalises "
            "the sum that the one before has left, with its own norm.",
        ),
        Mistake(
            "results normalised",
            _results_normalised,
            "you normalise what a sub-layer *returns*. Pre-norm normalises what goes into it.",
        ),
        Mistake(
            "pre-norm and post-norm",
            _both,
            "you normalise twice, before each sub-layer and after each sum. Leave the sums alone.",
        ),
        Mistake(
            "added to the first z",
            _added_to_the_first,
            "each result is added to the `z` that came in, so what the sub-layers before have "
            "added is lost. Add to the sum that the one before has left.",
        ),
        Mistake(
            "the first sum lost",
            _sum_lost(after="back"),
            "the result of the attention to the memory is added to the `z` that came in, so what "
            "the self-attention has added is lost.",
        ),
        Mistake(
            "the second sum lost",
            _sum_lost(after="across"),
            "the result of the feed-forward network is added to the sum after the self-attention, "
            "so what the attention to the memory has added is lost.",
        ),
        Mistake(
            "inputs and results normalised",
            _in_and_out,
            "you normalise what goes into a sub-layer and also what comes out. Pre-norm normalises "
            "what goes in, and adds the result as it is.",
        ),
        Mistake(
            "first result normalised",
            _first_result_normalised,
            "you normalise what `look_back` returns. Add it as it is: `norms[0]` belongs to what "
            "goes in.",
        ),
        Mistake(
            "one norm for all",
            _layer(norms_of=(0, 0, 0)),
            "`norms[0]` serves all three sub-layers. Each has a norm of its own.",
        ),
        Mistake(
            "norms in another order",
            _layer(norms_of=(0, 2, 1)),
            "`norms[1]` and `norms[2]` are exchanged: they stand in the order of the sub-layers.",
        ),
        Mistake(
            "across before back",
            _layer(order=("across", "back", "feed")),
            "the attention to the memory comes first in yours. The target looks back at itself "
            "first, then across.",
        ),
        Mistake(
            "across before back, each with its norm",
            _layer(order=("across", "back", "feed"), norms_of=(1, 0, 2)),
            "each norm stands with its sub-layer, but the attention to the memory comes first in "
            "yours. The target looks back at itself first, then across.",
        ),
        Mistake(
            "feed-forward before the memory, each with its norm",
            _layer(order=("back", "feed", "across"), norms_of=(0, 2, 1)),
            "each norm stands with its sub-layer, but the feed-forward network comes before the "
            "attention to the memory in yours. It is the last of the three.",
        ),
        Mistake(
            "feed-forward before the memory",
            _layer(order=("back", "feed", "across")),
            "the feed-forward network comes before the attention to the memory in yours. It is the "
            "last of the three.",
        ),
        Mistake(
            "across to the target",
            _layer(across="target"),
            "`look_across` gets the target twice, so `memory` is not used. Its second argument, "
            "which answers, is the memory.",
        ),
        Mistake(
            "memory asks",
            _layer(across="exchanged"),
            "the memory asks and the target answers. In this attention the decoder asks: its "
            "vectors come first, `memory` second.",
        ),
        Mistake(
            "all from z",
            _all_from_z,
            "all three sub-layers get the `z` that came in. Each starts from the sum that the one "
            "before has left.",
        ),
        Mistake(
            "norm at the end",
            _layer(end=2),
            "your layer ends with a norm. With pre-norm, the one norm at the end belongs to the "
            "stack, after its last layer.",
        ),
        Mistake(
            "no feed-forward",
            _without("feed"),
            "the feed-forward network is missing, or what it returns is lost.",
        ),
        Mistake(
            "no attention to the memory",
            _without("across"),
            "the attention to the memory is missing, or what it returns is lost.",
        ),
        Mistake(
            "no attention to the memory, its norm for the network",
            _without("across", feed_norm=1),
            "the attention to the memory is missing, and the feed-forward network has its norm.",
        ),
        Mistake(
            "no self-attention",
            _without("back"),
            "the self-attention is missing, or what it returns is lost.",
        ),
    ],
    right="`decoder_layer` is right: each sub-layer reads what is normalised and adds to what is "
    "not",
)
