"""The check of chapter 21 on a decoding loop around a step with a past (§6.1).

The step of the check is a script. Its past is what it has read so far, so that a loop which forgets
the past, or feeds another token, gets another answer.
"""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from transformer.config import BOS_ID, EOS_ID
from walkthrough.checking import Arguments, Case, Check, Mistake, arguments

VOCAB = 12
Past = tuple[int, ...] | None
Step = Callable[[int, Past], tuple[Tensor, Past]]


class Script:
    """A step that wants to say certain words after the start token, and then to end."""

    __slots__ = ("left", "wanted")  # what it notes of the calls is no argument that changed

    def __init__(self, words: Sequence[int], limit: int) -> None:
        self.wanted, self.left = (*words, EOS_ID), limit

    def __call__(self, token: int, past: Past) -> tuple[Tensor, Past]:
        """Return the logits of the next token, and the past with this token in it."""
        if not self.left:
            raise RuntimeError("`step` is called once more than `limit` allows")
        self.left -= 1
        read = (*(past or ()), int(token))
        said = read[1:]
        follows = read[0] == BOS_ID and self.wanted[: len(said)] == said
        ended = EOS_ID in said
        logits = torch.arange(VOCAB) / 100 - 1
        if follows and not ended:
            logits[self.wanted[len(said)]] += 0.5
        else:  # astray: a word that depends on all that was read
            logits[3 + (sum(read) + len(read)) % (VOCAB - 3)] += 0.5
        return logits, read


def _loop(
    step: Step,
    limit: int,
    *,
    remember: bool = True,
    feed_back: bool = True,
    stop: bool = True,
    more: int = 0,
    keep_end: bool = False,
) -> list[int]:
    words: list[int] = []
    token, past = BOS_ID, None
    for _ in range(limit + more):
        logits, found = step(token, past)
        past = found if remember else None
        word = int(logits.argmax())
        if stop and word == EOS_ID:
            return [*words, word] if keep_end else words
        words.append(word)
        token = word if feed_back else BOS_ID
    return words


def _by(**changes: object) -> Callable[[Step, int], list[int]]:
    return lambda step, limit: _loop(step, limit, **changes)  # type: ignore[arg-type]


def _case(label: str, words: Sequence[int], limit: int) -> Case:
    def make(generator: torch.Generator) -> Arguments:
        return arguments(Script(words, limit), limit)

    return Case(label, make)


greedy = Check(
    name="a decoding loop",
    reference=_loop,
    cases=[
        _case("a sentence with token 0", [5, 0, 4], 9),
        _case("a sentence that repeats a word", [6, 6, 8, 6], 9),
        _case("a sentence of no words", [], 9),
        _case("a sentence that is longer than the limit", [4, 5, 6, 7, 8, 9], 3),
        _case("a sentence as long as the limit", [9, 8], 2),
        _case("a limit of 0", [9], 0),
    ],
    mistakes=[
        Mistake(
            "the past forgotten",
            _by(remember=False),
            "the step always gets the same past. Hand back the one that the last step returned.",
        ),
        Mistake(
            "nothing fed back",
            _by(feed_back=False),
            "each step reads the start token. It should read the word that the step before chose.",
        ),
        Mistake(
            "no end",
            _by(stop=False),
            "you go on after the end token, up to the limit. Leave the loop as soon as it comes.",
        ),
        Mistake(
            "the end token kept",
            _by(keep_end=True),
            "the end token stands among the words: it says that the sentence is over, and is no "
            "word of it.",
        ),
        Mistake(
            "one word too few",
            _by(more=-1),
            "where the limit ends the loop, the last word is missing: you take one step fewer than "
            "`limit` allows, or cut that word off as if it were the end.",
        ),
    ],
)
