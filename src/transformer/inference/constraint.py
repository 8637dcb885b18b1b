"""Rules for the output that hold whatever the model prefers: a mask over the vocabulary (§6.3).

Masks say where attention may look (§3.2.3); the same idea says what may be written next. Boolean,
True = may. `transformer.parsing.symbols.BracketConstraint` is one: brackets that close, and as many
leaves as words.
"""

from collections.abc import Sequence
from typing import Any, Protocol, runtime_checkable

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor


@runtime_checkable
class Constraint(Protocol):
    """What may come next, hypothesis by hypothesis.

    A state is whatever the constraint needs to know of what a hypothesis holds so far. It is never
    changed: beams that part go on from the same one.
    """

    def start(self, sentence: int) -> Any:
        """Return the state before the first token; `sentence` counts the batch's from 0."""

    def step(self, state: Any, token: int) -> Any:
        """Return the state after one more token."""

    def allowed(self, state: Any) -> Bool[Tensor, " vocab_size"]:
        """Return which tokens may come next, the end token among them."""


def allow(
    logits: Float[Tensor, "rows vocab_size"], constraint: Constraint, states: Sequence[Any]
) -> Float[Tensor, "rows vocab_size"]:
    """Give every token that may not come next a logit of −∞.

    Raises:
        ValueError: nothing may come next, or a mask is not one of the vocabulary.
    """
    masks = torch.stack([constraint.allowed(state) for state in states])
    if masks.shape != logits.shape:
        raise ValueError(
            f"a constraint's mask must hold the {logits.shape[-1]} tokens of the target's "
            f"vocabulary, got {masks.shape[-1]}"
        )
    stuck = (~masks.any(dim=-1)).nonzero().flatten().tolist()
    if stuck:
        raise ValueError(f"the constraint leaves nothing to choose: {states[stuck[0]]}")
    return logits.masked_fill(~masks.to(logits.device), float("-inf"))


def advance(
    constraint: Constraint,
    states: Sequence[Any],
    tokens: Int[Tensor, " rows"],
    is_alive: Bool[Tensor, " rows"] | None = None,
) -> list[Any]:
    """Return the states after one more token each; a dead row keeps its own."""
    alive = [True] * len(states) if is_alive is None else is_alive.tolist()
    return [
        constraint.step(state, token) if lives else state
        for state, token, lives in zip(states, tokens.tolist(), alive, strict=True)
    ]
