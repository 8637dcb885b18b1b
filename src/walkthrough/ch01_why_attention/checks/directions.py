"""The check of chapter 01 on reading in both directions (§1)."""

import math
from collections.abc import Callable

import torch
from torch import Tensor

from walkthrough.ch01_why_attention.experiments.recurrence import recurrent_states
from walkthrough.checking.base import (
    Arguments,
    Case,
    Check,
    Mistake,
    Symptom,
    arguments,
)

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


def _way(way: Callable[[Tensor, Tensor], Tensor]) -> Callable[..., Tensor]:
    """Return another way to put the right states of both directions together."""

    def both(x: Tensor, forward: Matrices, backward: Matrices) -> Tensor:
        return way(_reads(x, forward), _reads(x.flip(0), backward).flip(0))

    return both


def _half_right(result: Tensor, expected: Tensor, half: int) -> bool:
    return result.shape == expected.shape and torch.allclose(
        result.chunk(2, dim=-1)[half], expected.chunk(2, dim=-1)[half], atol=1e-5
    )


def _two_networks(length: int, d_in: int, d_state: int) -> Callable[[torch.Generator], Arguments]:
    def make(generator: torch.Generator) -> Arguments:
        def matrices() -> Matrices:
            w_state = torch.randn(d_state, d_state, generator=generator) / math.sqrt(d_state)
            return w_state, torch.randn(d_state, d_in, generator=generator) / math.sqrt(d_in)

        return arguments(torch.randn(length, d_in, generator=generator), matrices(), matrices())

    return make


both_ways = Check(
    name="both_ways",
    reference=_both,
    cases=[
        Case("5 words, states of 4 numbers", _two_networks(5, 3, 4)),
        Case("4 words, states of 2 numbers", _two_networks(4, 2, 2)),
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
            "one network twice",
            lambda x, f, b: _both(x, f, f),
            "the forward matrices read in both directions. The backward reader has its own.",
        ),
        Mistake(
            "matrices exchanged",
            lambda x, f, b: _both(x, b, f),
            "`forward` reads backward and `backward` reads forward.",
        ),
        Mistake(
            "backward first",
            _way(lambda there, back: torch.cat([back, there], dim=-1)),
            "both halves are right, in the wrong order: the forward state comes first.",
        ),
        Mistake(
            "one below the other",
            lambda x, f, b: _both(x, f, b, dim=0),
            "the states of one direction stand *below* those of the other: 2 · length rows. Each "
            "word keeps one row that is twice as long: `torch.cat(…, dim=-1)`.",
        ),
        Mistake(
            "stacked",
            _way(lambda there, back: torch.stack([there, back], dim=-1)),
            "`stack` makes a new axis. `torch.cat(…, dim=-1)` puts the two states of a word side "
            "by side.",
        ),
        Mistake(
            "stacked in front",
            _way(lambda there, back: torch.stack([there, back])),
            "the states of one direction come first, then those of the other, as after `stack` or "
            "in a tuple. `torch.cat(…, dim=-1)` puts the two states of a word side by side.",
        ),
        Mistake(
            "added",
            _way(lambda there, back: there + back),
            "the two states of a word are added, so nobody can tell any more what came from which "
            "side. Put them side by side.",
        ),
        Mistake(
            "components turned",
            lambda x, f, b: torch.cat([_reads(x, f), _reads(x.flip(-1), b).flip(-1)], dim=-1),
            "`flip(-1)` turns the components of each word. The words are the rows: `flip(0)`.",
        ),
        Mistake(
            "last states only",
            lambda x, f, b: torch.cat([_reads(x, f)[-1], _reads(x.flip(0), b)[-1]]),
            "only the last state of each direction is returned. The result has one row a word.",
        ),
        Mistake(
            "forward only",
            lambda x, f, b: _reads(x, f),
            "these are the forward states alone.",
        ),
        Mistake(
            "backward only",
            lambda x, f, b: _reads(x.flip(0), b).flip(0),
            "these are the backward states alone. The forward states come before them.",
        ),
        Mistake(
            "averaged",
            _way(lambda there, back: (there + back) / 2),
            "the two states of a word are averaged, so nobody can tell any more what came from "
            "which side. Put them side by side.",
        ),
        Mistake(
            "components by turns",
            _way(lambda there, back: torch.stack([there, back], dim=-1).flatten(1)),
            "the components take turns: one forward, one backward. The whole forward state comes "
            "first: `torch.cat(…, dim=-1)`.",
        ),
        Mistake(
            "everything turned back",
            lambda x, f, b: _both(x, f, b, turned_back=False).flip(0),
            "the forward states are turned round and the backward states are not. Turn round the "
            "states of the second network before you put the two side by side.",
        ),
        Mistake(
            "one backward state for all",
            lambda x, f, b: torch.cat(
                [_reads(x, f), _reads(x.flip(0), b)[-1:].expand(len(x), -1)], dim=-1
            ),
            "beside every word stands the backward network's last state. Each word has a state of "
            "its own, the one made when that word was read.",
        ),
        Mistake(
            "without the word itself",
            lambda x, f, b: torch.cat(
                [
                    _reads(x, f),
                    _reads(x.flip(0), b).roll(1, 0).index_fill(0, torch.tensor(0), 0).flip(0),
                ],
                dim=-1,
            ),
            "the backward states stand one word too early: beside each word stands the state from "
            "before the network read it. Both states of a word have read that word.",
        ),
    ],
    symptoms=[
        Symptom(
            "backward half wrong",
            lambda result, expected, given: _half_right(result, expected, 0),
            "the forward half is right, the backward half is not. That network gets the words "
            "from the last to the first, with its own matrices, and its states are turned back.",
        ),
        Symptom(
            "forward half wrong",
            lambda result, expected, given: _half_right(result, expected, 1),
            "the backward half is right, the forward half is not.",
        ),
        Symptom(
            "two results",
            lambda result, expected, given: isinstance(result, tuple | list),
            "two results are returned. Put the two states of a word side by side in one tensor.",
        ),
        Symptom(
            "one row too few",
            lambda result, expected, given: len(result) == len(expected) - 1,
            "one row is missing: every word gets a row, the first and the last one included.",
        ),
    ],
    right="`both_ways` is right: each word knows what stands before it and what follows",
)
