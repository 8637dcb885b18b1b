"""Small models that leak, or do not: what chapter 03's leak detectors are tried on."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from walkthrough.checking import Arguments, Case, arguments

VOCAB_SIZE = 12
LENGTH = 6
WIDTH = 4
STRENGTH = 0.5
"""How much of a later token's embedding a leak hands over."""
FAINT = 2.5e-5
FAINTEST, RUNG = 1.5e-5, 0.03
"""How far the faintest leak moves one number, and how far apart the ids are that leak."""
ROUNDING = 2e-7
LEAKY_START = 9
"""A sentence that begins with this id leaks in the model that leaks in some sentences only."""

Table = Callable[[int, torch.Generator], Tensor]

WHY = {
    "sound": "A model with a right causal mask is reported. Compare only outputs *before* the "
    "changed position, between two runs that differ in this one token.",
    "one pair": "A leak between two positions is overlooked. Change *every* position but the "
    "first, and compare *all* outputs before it, number by number: one that moves is enough.",
    "no mask": "A model without any mask passes for sound. Change a later token, and look at the "
    "outputs before it.",
    "one too far": "Compare the position right before the changed one too.",
    "dropout, sound": "A false alarm with dropout: two runs draw different random numbers. Call "
    "`torch.manual_seed` with the same number before *each* run, and keep the length: for another "
    "shape the same seed draws other numbers.",
    "dropout, leaks": "A leak is overlooked in a model with dropout.",
    "some sentences": "A leak is overlooked that one sentence of the batch has and the other has "
    "not. Change and compare all sentences, and make the new id from each sentence's own token.",
    "one component": "A leak is overlooked that shows in one component of the outputs only. "
    "Compare all components, the last one too.",
    "faint": "A faint leak is overlooked: the outputs move by 5e-5. Rounding moves them by less "
    "than 1e-6; allow for that and no more.",
    "rounding": "A sound model is reported whose outputs differ by 2e-7, as rounding may. Count a "
    "number only if it moves by more than 1e-6. (`allclose` as it comes allows 1e-8 near zero: say "
    "`atol=1e-6`.)",
    "shrinks": "A leak is overlooked that only makes outputs smaller. Take the absolute value of "
    "the difference before you look for the largest.",
    "grows": "A leak is overlooked that only makes outputs larger. Take the absolute value of "
    "the difference before you look for the largest.",
    "one number": "A faint leak in a single number is overlooked: it moves one component of one "
    "output by 1.5e-5. A mean over all outputs hides it. Take the *largest* absolute difference.",
    "cancels": "A leak is overlooked whose differences cancel: they add up to 0. Take absolute "
    "values before any mean or sum, over sentences too.",
    "another id": "A leak is overlooked where the id that you write is the one that stands there "
    "already: so it may be if you always write one id, draw it at random, or mirror it. Make it "
    "from the old one: `(old + 1) % vocab_size`.",
}


@dataclass(frozen=True)
class Suspect:
    """A model: each output is the mean of the embeddings so far, plus what leaks.

    `leak` says which position gets how much of which later token's embedding.
    """

    table: Tensor
    sound: Tensor
    leak: Tensor
    dropout: float = 0.0
    rounding: float = 0.0
    first_component: int = 0
    leaky_start: int | None = None

    def __getattr__(self, name: str) -> Any:
        """Say what a suspect is to a reader who takes it for a module of PyTorch."""
        raise AttributeError(
            f"no `{name}`: the model is a function from ids to outputs here, and nothing more"
        )

    def __call__(self, tokens: Tensor) -> Tensor:
        """Return (batch, length, width) outputs for (batch, length) ids."""
        length = tokens.shape[1]
        embedded = F.dropout(self.table[tokens], self.dropout)
        leaked = self.leak[:length, :length] @ embedded
        if self.leaky_start is not None:
            leaked = leaked * (tokens[:, :1, None] == self.leaky_start)
        outputs = self.sound[:length, :length] @ embedded
        outputs[..., self.first_component :] += leaked[..., self.first_component :]
        if self.rounding:
            outputs = outputs + self.rounding * _differs_with(tokens, WIDTH)
        return outputs


def _differs_with(tokens: Tensor, width: int) -> Tensor:
    """Return numbers from −1 to 1 that change with every token: rounding that is no leak."""
    length = tokens.shape[1]
    mixed = (tokens * torch.arange(1, length + 1)).sum(1).float()[:, None, None]
    place = torch.arange(length * width).reshape(length, width)
    return torch.sin(1.3 * mixed + place)


def _drawn(vocab_size: int, generator: torch.Generator) -> Tensor:
    return torch.randn(vocab_size, WIDTH, generator=generator)


def _signs(vocab_size: int, generator: torch.Generator) -> Tensor:
    """Embeddings of −1 and 1: any two differ by 2 somewhere, so a leak has a known size."""
    bits = torch.arange(vocab_size)[:, None] >> torch.arange(WIDTH) & 1
    return 2.0 * bits - 1


def _ladder(vocab_size: int, generator: torch.Generator) -> Tensor:
    """Embeddings that grow by `RUNG` with the id, in their last component; all others are 0."""
    return F.pad(RUNG * torch.arange(vocab_size)[:, None], (WIDTH - 1, 0))


def _zero_in_front(vocab_size: int, generator: torch.Generator) -> Tensor:
    table = _drawn(vocab_size, generator)
    table[:, 0] = 0.0
    return table


def _opposite(vocab_size: int, generator: torch.Generator) -> Tensor:
    table = _drawn(vocab_size, generator)
    return torch.stack([table[:, 0], -table[:, 0], table[:, 1], -table[:, 1]], dim=-1)


def _extreme(token: int, sign: int) -> Table:
    """Embeddings that are all above (or below) the one of `token`."""

    def make(vocab_size: int, generator: torch.Generator) -> Tensor:
        table = sign * (0.5 + torch.rand(vocab_size, WIDTH, generator=generator))
        table[token] = 0.0
        return table

    return make


def _pairs(*pairs: tuple[int, int], length: int = LENGTH) -> Tensor:
    leak = torch.zeros(length, length)
    for position, later in pairs:
        leak[position, later] = STRENGTH
    return leak


def _case(
    label: str,
    kind: str,
    leak: Tensor | None = None,
    *,
    tokens: list[list[int]] | None = None,
    vocab_size: int = VOCAB_SIZE,
    table: Table = _drawn,
    sound: Tensor | None = None,
    **suspect: object,
) -> Case:
    leak = torch.zeros(LENGTH, LENGTH) if leak is None else leak
    length = leak.shape[0]
    mean = torch.ones(length, length).tril() / torch.arange(1, length + 1)[:, None]

    def make(generator: torch.Generator) -> Arguments:
        embeddings = table(vocab_size, generator)
        ids = torch.randint(vocab_size, (2, length), generator=generator)
        ids = ids if tokens is None else torch.tensor(tokens)
        weights = mean if sound is None else sound
        model = Suspect(embeddings, weights, leak, **suspect)  # type: ignore[arg-type]
        return arguments(model, ids, vocab_size)

    return Case(label, make, WHY[kind])


EVERYWHERE = STRENGTH * torch.ones(LENGTH, LENGTH).triu(1)
NEXT = STRENGTH * torch.ones(LENGTH, LENGTH).triu(1).tril(1)
FIRST_SEES_SECOND = _pairs((0, 1))


def _all(token: int, size: int, leak: Tensor) -> Case:
    label = f"a model that leaks, {size} ids, all tokens {token}"
    return _case(
        label, "another id", leak, tokens=[[token] * LENGTH], vocab_size=size, table=_signs
    )


CASES = [
    _case("a model with a right causal mask", "sound"),
    _case(
        "a model in which each position sees itself only",
        "sound",
        sound=torch.eye(LENGTH),
    ),
    _case("a right model, sentences of two tokens", "sound", torch.zeros(2, 2)),
    _case("a model without a mask", "no mask", EVERYWHERE),
    _case("a model that sees one token too far", "one too far", NEXT),
    _case("a model in which position 0 sees position 1", "one pair", FIRST_SEES_SECOND),
    _case("a model in which position 0 sees position 2", "one pair", _pairs((0, 2))),
    _case("a model in which position 2 sees position 3", "one pair", _pairs((2, 3))),
    _case("a model in which position 0 sees the last one", "one pair", _pairs((0, LENGTH - 1))),
    _case(
        "a model in which the last position but one sees the last one",
        "one pair",
        _pairs((LENGTH - 2, LENGTH - 1)),
    ),
    _case("a right model with dropout", "dropout, sound", dropout=0.3),
    _case("a model without a mask, with dropout", "dropout, leaks", EVERYWHERE, dropout=0.3),
    _case(
        "a model that leaks in the second sentence only",
        "some sentences",
        EVERYWHERE,
        tokens=[[5, 8, 1, 6, 0, 7], [LEAKY_START, 4, 11, 0, 2, 3]],
        leaky_start=LEAKY_START,
    ),
    _case(
        "a model that leaks in the first sentence only",
        "some sentences",
        EVERYWHERE,
        tokens=[[LEAKY_START, 8, 1, 6, 0, 7], [5, 4, 11, 0, 2, 3]],
        leaky_start=LEAKY_START,
    ),
    _case(
        "a model that leaks in the second sentence only, one id above the first",
        "some sentences",
        EVERYWHERE,
        tokens=[[5, 8, 1, 6, 0, 7], [LEAKY_START, 9, 2, 7, 1, 8]],
        leaky_start=LEAKY_START,
    ),
    _case(
        "a model whose leak moves two sentences in opposite directions",
        "cancels",
        EVERYWHERE,
        tokens=[[0, 1, 1, 0, 1, 0], [1, 0, 0, 1, 0, 1]],
        vocab_size=2,
        table=_signs,
    ),
    _case(
        "a model that leaks faintly, in one number",
        "one number",
        FAINTEST / RUNG / STRENGTH * _pairs((1, LENGTH - 1)),
        tokens=[[5, 8, 1, 6, 0, 7], [LEAKY_START, 4, 10, 0, 2, 3]],
        table=_ladder,
        leaky_start=LEAKY_START,
    ),
    _case(
        "a model that leaks in the last component only",
        "one component",
        EVERYWHERE,
        first_component=WIDTH - 1,
    ),
    _case(
        "a model whose leak makes outputs smaller",
        "shrinks",
        EVERYWHERE,
        tokens=[[6] * LENGTH] * 2,
        table=_extreme(6, -1),
    ),
    _case(
        "a model whose leak makes outputs larger",
        "grows",
        EVERYWHERE,
        tokens=[[6] * LENGTH] * 2,
        table=_extreme(6, 1),
    ),
    _case("a model whose leak adds up to 0", "cancels", EVERYWHERE, table=_opposite),
    *(_all(token, 4, EVERYWHERE) for token in range(4)),
    _all(1, 3, FIRST_SEES_SECOND),
    *(_all(token, 2, _pairs(pair)) for token in (0, 1) for pair in ((0, 1), (2, 4))),
    *(_all(token, 2, _pairs(pair)) for token in (1, 0) for pair in ((1, 2), (3, 5))),
    _case(
        "a model that leaks faintly",
        "faint",
        FAINT / STRENGTH * _pairs((1, 3)),
        tokens=[[5, 8, 1, 7, 0, 6], [3, 4, 11, 7, 2, 9]],
        table=_signs,
    ),
    _case(
        "a right model that rounds in another way with every sentence",
        "rounding",
        table=_zero_in_front,
        rounding=ROUNDING,
    ),
]
