"""A task that needs word order, for chapter 07: which word stands before this one? (§3.5).

Every sentence holds different words. A model that cannot see positions can only guess among the
words of the sentence and "no word before me", so its best accuracy is 1/length: see `guessing`.
"""

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn

from transformer.config import BOS_ID, UNK_ID, Positions, TransformerConfig
from transformer.masks import padding_mask
from transformer.model import Transformer

LONGEST_TRAINED = 10
"""Sentences in training have 4 to 10 words."""
LONGEST_TESTED = 32
SHORTEST = 4
FIRST_WORD = UNK_ID + 1
VOCAB_SIZE = FIRST_WORD + LONGEST_TESTED
D_MODEL = 64


class FixedTable(nn.Module):
    """Encodings that somebody else computed; nothing here is learned."""

    table: Tensor

    def __init__(self, table: Float[Tensor, "table_len d_model"]) -> None:
        super().__init__()
        self.register_buffer("table", table, persistent=False)

    def forward(self, length: int, start: int = 0) -> Float[Tensor, "length d_model"]:
        """Return the rows start … start + length − 1."""
        return self.table[start : start + length]


class OrderModel(nn.Module):
    """The paper's encoder, one layer of it, with the tied output projection on top (§3.4).

    It takes these parts from a whole Transformer, whose decoder stays unused. `positions` names
    one of the package's encodings, or is a table of your own with one row a position.

    Raises:
        ValueError: the table is too short, or its rows do not have d_model values.
    """

    def __init__(
        self,
        positions: Positions | Float[Tensor, "table_len d_table"],
        *,
        d_model: int = D_MODEL,
        n_heads: int = 4,
    ) -> None:
        super().__init__()
        table = positions if isinstance(positions, Tensor) else None
        config = TransformerConfig(
            vocab_size=VOCAB_SIZE,
            d_model=d_model,
            n_heads=n_heads,
            n_layers=1,
            d_ff=2 * d_model,
            dropout=0.0,
            max_len=LONGEST_TESTED,
            positions="none" if isinstance(positions, Tensor) else positions,
        )
        self.transformer = Transformer(config)
        if table is not None:
            self.use_table(table)

    def use_table(self, table: Float[Tensor, "table_len d_table"]) -> None:
        """Take the encodings from a table from now on.

        Raises:
            ValueError: as at construction.
        """
        d_model = self.transformer.config.d_model
        if len(table) < LONGEST_TESTED or table.shape[1] != d_model:
            raise ValueError(
                f"the table needs at least {LONGEST_TESTED} rows of {d_model} values, "
                f"got shape {tuple(table.shape)}"
            )
        self.transformer.positions = FixedTable(table)

    def forward(
        self, tokens: Int[Tensor, "batch length"], start: int = 0
    ) -> Float[Tensor, "batch length vocab_size"]:
        """Return, for every position, the logits of the word before it."""
        x = self.transformer.source_embedding(tokens)
        if self.transformer.positions is not None:
            x = x + self.transformer.positions(tokens.shape[1], start)
        x, _ = self.transformer.encoder(x, padding_mask(tokens))
        return self.transformer.project(x)


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
    positions: Positions | Float[Tensor, "table_len d_model"],
    *,
    seed: int,
    steps: int = 500,
    random_starts: bool = False,
) -> OrderModel:
    """Train a model on sentences of 4 to 10 words; about two seconds for 500 steps.

    With `random_starts` a sentence may begin at any position that leaves room for it in
    0 … 31, so that every position is seen, though never more than ten at once.

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
        model.parameters(), lr=6e-3, betas=(0.9, 0.98), eps=1e-9, fused=True
    )
    warmup = 50
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: min((step + 1) / warmup, 1 - step / steps)
    )
    for _ in range(steps):
        length = _draw(SHORTEST, LONGEST_TRAINED, generator)
        start = _start(length, generator) if random_starts else 0
        tokens, answers = sentences(length, 40, generator)
        loss = F.cross_entropy(model(tokens, start).flatten(0, 1), answers.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
    return model.eval()


@torch.no_grad()
def accuracy_by_position(
    model: nn.Module, length: int, *, size: int = 500, seed: int = 1
) -> Float[Tensor, "length"]:
    """Return the share of right answers at each position of new sentences."""
    tokens, answers = sentences(length, size, torch.Generator().manual_seed(seed))
    return (model(tokens).argmax(dim=-1) == answers).double().mean(dim=0).float()


def guessing(length: int) -> float:
    """Return the best accuracy without positions: each of `length` answers is as likely."""
    return 1 / length


def _start(length: int, generator: torch.Generator) -> int:
    # past both ends by 5, then moved inside: else the first and last positions would be rare
    last = LONGEST_TESTED - length
    return min(max(_draw(-5, last + 5, generator), 0), last)


def _draw(low: int, high: int, generator: torch.Generator) -> int:
    return int(torch.randint(low, high + 1, (), generator=generator))
