"""Speculative decoding: a cheap model guesses several words, one pass of the model judges them."""

from collections.abc import Callable, Sequence

import torch
from jaxtyping import Float
from torch import Tensor

from transformer.config import BOS_ID, EOS_ID
from transformer.data.batching import Pair
from transformer.model import Transformer

Law = Float[Tensor, " words"]
"""A probability for each word of the vocabulary."""
Guesser = Callable[[Sequence[int]], Law]
"""From the words so far to the law of the next one."""
Judge = Callable[[Sequence[int], int], Sequence[Law]]
"""The law behind each of the last places, with one pass: of these words, and so many places."""


def drawn(law: Law, generator: torch.Generator) -> int:
    """Return a word drawn by a law."""
    return int(torch.multinomial(law, 1, generator=generator))


def one_round(
    words: Sequence[int],
    guess: Guesser,
    judge: Judge,
    n: int,
    generator: torch.Generator,
    *,
    instead: Callable[[Law, Law], Law] | None = None,
) -> list[int]:
    """Return the words that one pass yields: the guesses it accepts, and one of its own.

    `instead` is the law of the word in place of a rejected guess, `left_over` unless given.
    """
    written, guessed = list(words), []
    for _ in range(n):
        guessed.append(guess(written))
        written.append(drawn(guessed[-1], generator))
    wanted = judge(written, n + 1)
    for place, (p, q) in enumerate(zip(guessed, wanted, strict=False), start=len(words)):
        word = written[place]
        if torch.rand((), generator=generator) * p[word] >= q[word]:  # kept with chance q / p
            return [*written[len(words) : place], drawn((instead or left_over)(p, q), generator)]
    return [*written[len(words) :], drawn(wanted[-1], generator)]


def left_over(guessed: Law, wanted: Law) -> Law:
    """Return the law of the word in place of a rejected guess: where the guesser was short."""
    short = (wanted - guessed).clamp(min=0)
    return short / short.sum()


def beginnings(
    small: Float[Tensor, "words words"],
    large: Float[Tensor, "words words"],
    n: int,
    instead: Callable[[Law, Law], Law] | None = None,
) -> Float[Tensor, "words words words"]:
    """Return how often each beginning of three words was written, of n that follow word 0.

    Both models know the last word alone: a table has a row a word. Two words are guessed a round.
    """
    generator = torch.Generator().manual_seed(1)
    counts = torch.zeros(len(large), len(large), len(large), dtype=torch.float64)

    def judge(words: Sequence[int], places: int) -> list[Law]:
        return [large[word] for word in words[-places:]]

    for _ in range(n):
        words = [0]
        while len(words) < 4:
            words += one_round(
                words, lambda so_far: small[so_far[-1]], judge, 2, generator, instead=instead
            )
        counts[tuple(words[1:4])] += 1
    return counts


def bigrams(pairs: Sequence[Pair], vocab_size: int) -> Float[Tensor, "words words"]:
    """Return the law of the next target word by the last one alone, as counted."""
    counts = torch.full((vocab_size, vocab_size), 1e-3)
    for _, target in pairs:
        words = torch.tensor([BOS_ID, *target, EOS_ID])
        counts.index_put_((words[:-1], words[1:]), torch.tensor(1.0), accumulate=True)
    return counts / counts.sum(dim=1, keepdim=True)


def judge_of(model: Transformer, source: Sequence[int], counted: list[int]) -> Judge:
    """Return a translator as a judge; it notes in `counted` each pass that it makes."""
    batch = torch.tensor([[*source, EOS_ID]])
    memory = model.eval().encode(batch)

    def judge(words: Sequence[int], n: int) -> Sequence[Law]:
        counted.append(n)
        states = model.decode(torch.tensor([list(words)]), memory, batch)
        return list(model.project(states[0, -n:]).softmax(dim=-1))

    return judge


@torch.no_grad()
def translated(
    model: Transformer,
    source: Sequence[int],
    guess: Guesser,
    n: int,
    generator: torch.Generator,
    *,
    longest: int = 40,
) -> tuple[list[int], int]:
    """Return a sampled translation and the passes of the model that it took; n = 0 guesses none."""
    words, passes = [BOS_ID], list[int]()
    judge = judge_of(model, source, passes)
    while EOS_ID not in words and len(words) < longest:
        words += one_round(words, guess, judge, n, generator)
    end = words.index(EOS_ID) if EOS_ID in words else len(words)
    return words[1 : end + 1], len(passes)


@torch.no_grad()
def words_a_pass(
    model: Transformer, guesser: Transformer | Tensor, sources: Sequence[Sequence[int]], n: int
) -> float:
    """Return the words of sampled translations a pass of the model.

    The guesser is a smaller translator, or a table with the law of the next word by the last.
    """
    generator = torch.Generator().manual_seed(1)
    written = passes = 0
    for source in sources:
        if isinstance(guesser, Tensor):
            guess = _by_table(guesser)
        else:
            guess = _by_model(judge_of(guesser, source, []))
        words, taken = translated(model, source, guess, n, generator)
        written, passes = written + len(words), passes + taken
    return written / passes


def _by_table(table: Tensor) -> Guesser:
    return lambda words: table[words[-1]]


def _by_model(judge: Judge) -> Guesser:
    return lambda words: judge(words, 1)[0]
