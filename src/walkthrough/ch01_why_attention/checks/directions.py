"""The check of chapter 01 on reading in both directions (§1)."""

import math
from collections.abc import Callable

import torch
from torch import Tensor

from walkthrough.ch01_why_attention.experiments.recurrence import recurrent_states
from walkthrough.checking import Arguments, Case, Check, Mistake, arguments

Matrices = tuple[Tensor, Tensor]


def _reads(x: Tensor, matrices: Matrices) -> Tensor:
    return recurrent_states(x, *matrices)


def _both(
    x: Tensor,
    forward: Matrices,
    backward: Matrices,
    *,
    turned: bool = True,
    turned_back: bool = True,
    dim: int = -1,
) -> Tensor:
    back = _reads(x.flip(0) if turned else x, backward)
    return torch.cat([_reads(x, forward), back.flip(0) if turned_back else back], dim=dim)


def _two_networks(
    length: int, d_in: int, d_state: int, *, equal: bool = False
) -> Callable[[torch.Generator], Arguments]:
    def make(generator: torch.Generator) -> Arguments:
        def matrices() -> Matrices:
            w_state = torch.randn(d_state, d_state, generator=generator) / math.sqrt(d_state)
            return w_state, torch.randn(d_state, d_in, generator=generator) / math.sqrt(d_in)

        x, forward = torch.randn(length, d_in, generator=generator), matrices()
        return arguments(x, forward, forward if equal else matrices())

    return make


both_ways = Check(
    name="both_ways",
    reference=_both,
    cases=[
        Case("5 words, states of 4 numbers", _two_networks(5, 3, 4)),
        Case("4 words, states of 2 numbers", _two_networks(4, 2, 2)),
        Case("one network in both places", _two_networks(3, 1, 6, equal=True)),
        Case("one word", _two_networks(1, 2, 5)),
    ],
    mistakes=[
        Mistake(
            "not turned back",
            lambda x, f, b: _both(x, f, b, turned_back=False),
            "the states of the backward reader stand in the order in which it read: beside word 1 "
            "stands its state after the *last* word. Turn them round again with `flip(0)`.",
        ),
        Mistake(
            "both forward",
            lambda x, f, b: _both(x, f, b, turned=False, turned_back=False),
            "both networks read forward. The second gets the words in the other order, "
            "`x.flip(0)`.",
        ),
        Mistake(
            "states turned, words not",
            lambda x, f, b: _both(x, f, b, turned=False),
            "the second network reads forward and its states are turned round afterwards. The "
            "*words* are to be turned before it reads, and the states after.",
        ),
        Mistake(
            "one below the other",
            lambda x, f, b: _both(x, f, b, dim=0),
            "the states of one direction stand *below* those of the other: 2 · length rows. Each "
            "word keeps one row that is twice as long: `torch.cat(…, dim=-1)`.",
        ),
    ],
    right="`both_ways` is right: each word knows what stands before it and what follows",
)
