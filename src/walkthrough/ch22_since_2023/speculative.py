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
    words: Sequence[int], guess: Guesser, judge: Judge, n: int, generator: torch.Generator
) -> list[int]:
    """Return the words that one pass of the model yields: guesses it accepts, and one of its own."""
    written, guessed = list(words), []
    for _ in range(n):
        guessed.append(guess(written))
        written.append(drawn(guessed[-1], generator))
    wanted = judge(written, n + 1)
    for place, (p, q) in enumerate(zip(guessed, wanted, strict=False), start=len(words)):
        word = written[place]
        if torch.rand((), generator=generator) * p[word] >= q[word]:  # kept with chance q / p
            return [*written[len(words) : place], drawn(left_over(p, q), generator)]
    return [*written[len(words) :], drawn(wanted[-1], generator)]


def left_over(guessed: Law, wanted: Law) -> Law:
    """Return the law of the word that stands in for a rejected guess: where the guesser was short."""
    short = (wanted - guessed).clamp(min=0)
    return short / short.sum()


def law_of_the_word(guessed: Law, wanted: Law) -> Law:
    """Return the law of the word that comes out, whoever wrote it: exact, by adding up both ways."""
    kept = torch.minimum(guessed, wanted)
    return kept + (1 - kept.sum()) * left_over(guessed, wanted)


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
