"""Experiments 07-order and 07-hands: a task that needs word order, near and past the training.

Which word stands before this one (§3.5)? Every sentence holds different words. A model that cannot
see positions can only guess among the words of the sentence and "no word before me", so its best
accuracy is 1/length.
"""

from functools import cache, partial
from typing import Any

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn

from transformer.config import BOS_ID, UNK_ID, Positions, TransformerConfig
from transformer.masks import padding_mask
from transformer.model import Transformer
from transformer.positional import sinusoidal_encoding
from walkthrough.lab import Arm, Experiment, Job, Loaded, Outcome

SHORTEST, LONGEST_TRAINED, LONGEST_TESTED = 4, 10, 32
"""Numbers of words in a sentence."""
FIRST_WORD = UNK_ID + 1
VOCAB_SIZE = FIRST_WORD + LONGEST_TESTED
D_MODEL = 64
PEAK = 6e-3
Encoded = tuple[Tensor, list[Tensor | None]]


class OrderModel(nn.Module):
    """The paper's encoder, one layer of it, with the tied output projection on top (§3.4).

    It takes these parts from a whole Transformer, whose decoder stays unused.
    """

    def __init__(self, positions: Positions) -> None:
        super().__init__()
        config = TransformerConfig(
            vocab_size=VOCAB_SIZE,
            d_model=D_MODEL,
            n_heads=4,
            n_layers=1,
            d_ff=2 * D_MODEL,
            dropout=0.0,
            max_len=LONGEST_TESTED,
            positions=positions,
        )
        self.transformer = Transformer(config)

    def forward(
        self, tokens: Int[Tensor, "batch length"], start: int = 0
    ) -> Float[Tensor, "batch length vocab_size"]:
        """Return, for every position, the logits of the word before it."""
        x, _ = self._encode(tokens, start, need_weights=False)
        return self.transformer.project(x)

    @torch.no_grad()
    def weights(
        self, tokens: Int[Tensor, "batch length"]
    ) -> Float[Tensor, "batch heads length length"]:
        """Return the attention weights of the layer."""
        _, (weights,) = self._encode(tokens, 0, need_weights=True)
        assert weights is not None
        return weights

    def _encode(self, tokens: Tensor, start: int, *, need_weights: bool) -> Encoded:
        x = self.transformer.source_embedding(tokens)
        if self.transformer.positions is not None:
            x = x + self.transformer.positions(tokens.shape[1], start)
        encoded: Encoded = self.transformer.encoder(
            x, padding_mask(tokens), need_weights=need_weights
        )
        return encoded


def sentences(
    length: int, size: int, generator: torch.Generator
) -> tuple[Int[Tensor, "size length"], Int[Tensor, "size length"]]:
    """Return random sentences of different words and, for each word, the one before it.

    The first word's answer is the start token.

    Raises:
        ValueError: there are not that many different words.
    """
    if not 1 <= length <= LONGEST_TESTED:
        raise ValueError(
            f"length must lie in 1 … {LONGEST_TESTED}, as many as there are words: got {length}"
        )
    shuffled = torch.rand(size, LONGEST_TESTED, generator=generator).argsort(dim=-1)
    tokens = shuffled[:, :length] + FIRST_WORD
    return tokens, F.pad(tokens[:, :-1], (1, 0), value=BOS_ID)


def train(
    positions: Positions,
    *,
    seed: int,
    steps: int = 500,
    peak: float = PEAK,
    room: int | None = None,
) -> OrderModel:
    """Train a model on sentences of 4 to 10 words; about two seconds for 500 steps.

    Each begins at position 0. With `room` it begins at any place that keeps it among the first
    `room` positions, so that all of these are seen, though never more than ten at once.

    Raises:
        ValueError: there are no steps to train for.
    """
    if steps < 1:
        raise ValueError(f"steps must be at least 1, got {steps}")
    generator = torch.Generator().manual_seed(seed)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = OrderModel(positions)
    optimizer = torch.optim.Adam(
        model.parameters(), lr=peak, betas=(0.9, 0.98), eps=1e-9, fused=True
    )
    warmup = 50
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: min((step + 1) / warmup, 1 - step / steps)
    )
    for _ in range(steps):
        length = _draw(SHORTEST, LONGEST_TRAINED, generator)
        start = 0 if room is None else _start(room - length, generator)
        tokens, answers = sentences(length, 40, generator)
        loss = F.cross_entropy(model(tokens, start).flatten(0, 1), answers.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
    return model.eval()


@torch.no_grad()
def accuracy_by_position(
    model: nn.Module, length: int, *, start: int = 0, size: int = 500, seed: int = 10_000
) -> Float[Tensor, "length"]:
    """Return the share of right answers at each position of new sentences."""
    tokens, answers = sentences(length, size, torch.Generator().manual_seed(seed))
    return (model(tokens, start).argmax(dim=-1) == answers).double().mean(dim=0).float()


def weight_one_back(model: OrderModel, length: int = LONGEST_TRAINED) -> list[float]:
    """Return the mean weight that each head gives to the word before, in new sentences."""
    tokens, _ = sentences(length, 100, torch.Generator().manual_seed(10_000))
    one_back: Tensor = model.weights(tokens).diagonal(-1, -2, -1).mean(dim=(0, 2))
    return one_back.tolist()


class FixedTable(nn.Module):
    """Encodings that somebody else computed, to be handed to a trained model."""

    table: Tensor

    def __init__(self, table: Float[Tensor, "table_len d_model"]) -> None:
        super().__init__()
        self.register_buffer("table", table, persistent=False)

    def forward(self, length: int, start: int = 0) -> Float[Tensor, "length d_model"]:
        """Return the rows start … start + length − 1."""
        return self.table[start : start + length]


def other_tables() -> dict[str, Float[Tensor, "table_len d_model"]]:
    """Return three encodings that are nearly the paper's."""
    paper = sinusoidal_encoding(LONGEST_TESTED + 1, D_MODEL)
    return {
        "concatenated": torch.cat([paper[:, 0::2], paper[:, 1::2]], dim=1)[:-1],
        "from 1": paper[1:],
        "base 1000": sinusoidal_encoding(LONGEST_TESTED, D_MODEL, base=1000.0),
    }


def _start(last: int, generator: torch.Generator) -> int:
    # past both ends by 5, then moved inside: else the first and last positions would be rare
    return min(max(_draw(-5, last + 5, generator), 0), last)


def _draw(low: int, high: int, generator: torch.Generator) -> int:
    return int(torch.randint(low, high + 1, (), generator=generator))


def name_the_word_before(job: Job) -> Outcome:
    """Train one model; its figures are shares of right answers, near and past what it met."""
    labels = job.arm.labels
    model = train(
        labels["positions"],
        seed=job.seed,
        steps=job.length,
        peak=PEAK * job.key.rate,
        room=labels["room"],
    )
    of_length = {n: accuracy_by_position(model, n) for n in (10, *range(4, 33, 4))}
    from_14, from_22 = (accuracy_by_position(model, 10, start=s) for s in (14, 22))
    figures = {
        "10 words": of_length[10],
        "20 words": of_length[20],
        "20 words, 13th on": of_length[20][12:],
        "32 words": of_length[32],
        "10 words from 14": from_14,
        "10 words from 22, 25 on": from_22[3:],
    }
    extra: dict[str, Any] = {
        "by_position": {n: [round(s, 3) for s in share.tolist()] for n, share in of_length.items()},
        "one_back": [round(weight, 3) for weight in weight_one_back(model)],
    }
    if job.arm.name == "sinusoidal":
        extra["mixed"] = {}
        for name, table in other_tables().items():
            model.transformer.positions = FixedTable(table)
            extra["mixed"][name] = float(accuracy_by_position(model, 10).mean())
    return Outcome(
        figures={f"{name}/-/accuracy": float(share.mean()) for name, share in figures.items()},
        extra=extra,
    )


def arm(name: str, positions: Positions, room: int | None = None, **how: Any) -> Arm:
    """Return the arm of one kind of positions."""
    return Arm(name, labels={"positions": positions, "room": room}, **how)


EXPERIMENT = Experiment(
    name="07-order",
    question="Can a model name the word before, at positions it was trained on and past them?",
    task=Loaded(),
    base="none",
    rival="none",  # guesses, or counts by what the mask lets it see
    arms=[
        arm("none", "none", rates=(0.25, 0.5, 1, 2, 4)),
        arm("learned", "learned"),
        arm("sinusoidal", "sinusoidal", rates=(0.25, 0.5, 1, 2, 4)),
        arm("learned, any start", "learned", LONGEST_TESTED),
        arm("sinusoidal, any start", "sinusoidal", LONGEST_TESTED),
        arm("sinusoidal, starts below 24", "sinusoidal", 24),
    ],
    rates=(0.5, 1, 2),
    rate_seeds=(1,),
    lengths=(500,),
    run=name_the_word_before,
)

STARTS, LAST_START = (22, 40, 65, 90), 120
"""Where ten words begin in 07-hands: on a beat of the two fastest hands, and off it."""
N_FAST = 6
"""Hands that come round within 27 positions."""


@cache
def of_seed(seed: int, steps: int, peak: float) -> OrderModel:
    """Train a model with sinusoids once a process: all arms hand the same one their positions."""
    return train("sinusoidal", seed=seed, steps=steps, peak=peak)


def hands(start: int, *, fast: bool, slow: bool) -> Float[Tensor, "table_len d_model"]:
    """Return ten encodings: the fast and the slow hands of 0 to 9 or of `start` and on.

    True takes a hand from the places that training met.
    """
    table = sinusoidal_encoding(start + LONGEST_TRAINED, D_MODEL)
    from_trained = torch.where(torch.arange(D_MODEL) < 2 * N_FAST, fast, slow)
    return torch.where(from_trained, table[:LONGEST_TRAINED], table[start:])


def read_hands(job: Job, *, fast: bool, slow: bool) -> Outcome:
    """Hand one trained model other positions; its figures are shares of right answers."""
    model = of_seed(job.seed, job.length, PEAK * job.key.rate)

    def right(start: int) -> float:
        model.transformer.positions = FixedTable(hands(start, fast=fast, slow=slow))
        return float(accuracy_by_position(model, LONGEST_TRAINED).mean())

    figures = {f"10 words from {start}/-/accuracy": right(start) for start in STARTS}
    if fast or slow:
        return Outcome(figures=figures)
    return Outcome(
        figures=figures,
        extra={"by_start": [round(right(start), 3) for start in range(LAST_START + 1)]},
    )


HANDS = Experiment(
    name="07-hands",
    question="Which hands does a model read, and where does it fail?",
    task=Loaded(),
    base="all new",
    rival="slow hands of 0 to 9",  # more columns are those of trained places: 52 beside 12
    no_rate="every arm hands other positions to the same trained models",
    arms=[
        Arm("all new", run=partial(read_hands, fast=False, slow=False)),
        Arm("fast hands of 0 to 9", run=partial(read_hands, fast=True, slow=False)),
        Arm("slow hands of 0 to 9", run=partial(read_hands, fast=False, slow=True)),
    ],
    lengths=(500,),
)
EXPERIMENTS = [HANDS]
