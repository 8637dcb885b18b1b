"""The check of chapter 15 on a decoding loop for a batch of sentences (§6.1).

The model of the check is a script: for every sentence the words that it wants to say, the end
token among them. It answers a beginning that it does not know with other words, so that a loop
which hands over anything but the words so far goes astray.
"""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from transformer.config import BOS_ID, EOS_ID, PAD_ID
from walkthrough.checking import Arguments, Case, Check, Mistake, arguments

VOCAB = 12
_MOODS = torch.rand(61, VOCAB, generator=torch.Generator().manual_seed(7))
_MOODS[:, [PAD_ID, BOS_ID]] -= 9.0  # it says these in no mood
Step = Callable[[Tensor], Tensor]
Outputs = list[list[int]]


class Script:
    """A model that wants to say certain words, and watches how it is called."""

    __slots__ = ("asked", "sentences")  # what it notes of the calls is no argument that changed

    def __init__(self, sentences: Sequence[Sequence[int]]) -> None:
        self.sentences = [list(sentence) for sentence in sentences]
        self.asked = 0

    def __call__(self, words: Tensor) -> Tensor:
        """Return log P of every next word, for each sentence of the batch."""
        rows = self._read(words)
        ended = [EOS_ID in row for row in rows]
        if all(ended):
            raise RuntimeError("every sentence has ended, and `step` is called once more")
        return torch.stack([self._next(n, row) for n, row in enumerate(rows)])

    def _read(self, words: Tensor) -> list[list[int]]:
        n = len(self.sentences)
        if not isinstance(words, Tensor) or words.dim() != 2 or len(words) != n:
            shape = tuple(words.shape) if isinstance(words, Tensor) else type(words).__name__
            raise ValueError(f"`words` should have the shape ({n}, words so far), got {shape}")
        if words.is_floating_point():
            raise ValueError("`words` should hold ids, which are whole numbers")
        if not words.shape[1] or not bool((words[:, 0] == BOS_ID).all()):
            raise ValueError("every row of `words` should begin with the start token, 1")
        if words.shape[1] <= self.asked:
            raise RuntimeError(
                "`step` is asked about a place twice: one call answers all sentences"
            )
        self.asked = words.shape[1]
        return [row[1:] for row in words.tolist()]

    def _next(self, sentence: int, said: list[int]) -> Tensor:
        wanted = self.sentences[sentence]
        mood = 31 * sentence + sum((place + 2) * word for place, word in enumerate(said))
        logits = _MOODS[mood % len(_MOODS)].clone()
        after = len(said) - said.index(EOS_ID) if EOS_ID in said else 0
        if said == wanted[: len(said)] and not after:
            logits[wanted[len(said)]] = 4.0
        else:  # after its end, and after words of others, it goes on, and ends again
            logits[EOS_ID] += 9.0 if after and after % 3 == 2 else -9.0
        return logits.log_softmax(-1)


def _loop(
    step: Step,
    n: int,
    limit: int,
    *,
    over: Callable[[Tensor], bool] = lambda ended: bool(ended.all()),
    steps: int = 0,
    keep: Callable[[list[int]], list[int]] = lambda row: _until_end(row),
) -> Outputs:
    words = torch.full((n, 1), BOS_ID)
    for _ in range(limit + steps):
        words = torch.cat([words, step(words).argmax(-1)[:, None]], dim=1)
        if over((words[:, 1:] == EOS_ID).any(1)):
            break
    return [keep(row[1:]) for row in words.tolist()]


def _until_end(row: list[int]) -> list[int]:
    return row[: row.index(EOS_ID)] if EOS_ID in row else row


def _by(**changes: object) -> Callable[[Step, int, int], Outputs]:
    return lambda step, n, limit: _loop(step, n, limit, **changes)  # type: ignore[arg-type]


def _case(label: str, *sentences: Sequence[int], limit: int = 8, special: str = "") -> Case:
    """A batch of sentences; each is the words that the model wants to say before the end token."""

    def make(_generator: torch.Generator) -> Arguments:
        return arguments(Script([[*words, EOS_ID] for words in sentences]), len(sentences), limit)

    return Case(label, make, special)


greedy_batch = Check(
    name="a greedy loop for a batch",
    reference=_loop,
    cases=[
        _case("one sentence", [5, 9, 4]),
        _case("three sentences, the last one longest", [5], [8, 6], [3, 9, 4, 10]),
        _case("three sentences, the first one longest", [3, 9, 4, 10, 4], [5], [8, 6]),
        _case("a sentence that ends at once", [6, 6, 7], []),
        _case("two sentences that end at once", [], []),
        _case(
            "a sentence with the word 0",
            [5, PAD_ID, 4],
            [6],
            special="The most probable word has the id 0 there, and the model's word counts.",
        ),
        _case("two sentences longer than the limit", [5, 9, 4, 3, 7], [7, 3, 7, 3, 8], limit=3),
        _case("one sentence longer than the limit", [4, 3], [5, 9, 4, 3, 7, 11], limit=4),
        _case("a sentence as long as the limit", [5, 9, 4], [6], limit=3),
    ],
    mistakes=[
        Mistake(
            "over when one has ended",
            _by(over=lambda ended: bool(ended.any())),
            "your loop stops as soon as one sentence has ended. The others are not finished: go "
            "on until all have ended.",
        ),
        Mistake(
            "words behind the end",
            _by(keep=lambda row: row),
            "an output goes on after its end token, because the model says something at every "
            "step. Cut each one at its first end token.",
        ),
        Mistake(
            "the end token kept",
            _by(keep=lambda row: [*_until_end(row), *([EOS_ID] if EOS_ID in row else [])]),
            "the end token is part of your outputs. Cut before it.",
        ),
        Mistake(
            "one word too few at the limit",
            _by(keep=lambda row: row[: row.index(EOS_ID)] if EOS_ID in row else row[:-1]),
            "an output that reaches the limit has a word too few: `limit` words are allowed, the "
            "start token not counted, and no end token stands behind them that could be cut off.",
        ),
        Mistake(
            "one word too many",
            _by(steps=1),
            "outputs may have one word more than `limit` in your loop.",
        ),
    ],
    right="the loop is right: every sentence to its own end, and no step too many",
)
