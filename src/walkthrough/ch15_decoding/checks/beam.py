"""The check of chapter 15 on one step of the beam (§6.1)."""

from collections.abc import Callable

import torch
from torch import Tensor

from walkthrough.checking import (
    Arguments,
    Case,
    Check,
    Mistake,
    arguments,
)

Chosen = tuple[Tensor, Tensor, Tensor]


def _sums(totals: Tensor, log_probs: Tensor) -> Tensor:
    return totals[:, None] + log_probs


def _best_of(every: Tensor, beam: int, row_len: int | None = None) -> Chosen:
    best, places = every.flatten().topk(beam)
    row_len = row_len or every.shape[-1]
    return places // row_len, places % row_len, best


def _beam_step(totals: Tensor, log_probs: Tensor, beam: int) -> Chosen:
    return _best_of(_sums(totals, log_probs), beam)


def _then(change: Callable[[Tensor, Tensor, Tensor, Tensor], Chosen]) -> Callable[..., Chosen]:
    """A right step whose rows, words and log P are then changed, with the words' log P at hand."""
    return lambda totals, log_probs, beam: change(*_beam_step(totals, log_probs, beam), log_probs)


def _best_of_each(totals: Tensor, log_probs: Tensor, beam: int) -> Chosen:
    found, tokens = _sums(totals, log_probs).max(dim=-1)
    ranked = found.argsort(descending=True)[:beam]
    return ranked, tokens[ranked], found[ranked]


def _worst(totals: Tensor, log_probs: Tensor, beam: int) -> Chosen:
    rows, words, found = _beam_step(-totals, -log_probs, beam)
    return rows, words, -found


def _step_case(label: str, rows: int, vocab: int, beam: int) -> Case:
    def make(generator: torch.Generator) -> Arguments:
        totals = -torch.rand(rows, generator=generator).cumsum(0) * 0.7 - 1
        logits = 1.5 * torch.randn(rows, vocab, generator=generator)
        # a strong last row, whose two best words both belong into the beam
        logits[-1, :2] += 5.0
        return arguments(totals, logits.log_softmax(-1), beam)

    return Case(label, make)


beam_step = Check(
    name="one step of beam search",
    reference=_beam_step,
    cases=[
        _step_case("a beam wider than the vocabulary", rows=2, vocab=3, beam=4),
        _step_case("three rows, eight words", rows=3, vocab=8, beam=3),
        _step_case("four rows, a vocabulary of 30", rows=4, vocab=30, beam=4),
        _step_case("one row, as in the first step, and a beam of three", rows=1, vocab=6, beam=3),
    ],
    mistakes=[
        Mistake(
            "the best of each row",
            _best_of_each,
            "you take the best word of each row, so every hypothesis survives. They compete: two "
            "continuations of one row may both be better than any of another row's.",
        ),
        Mistake(
            "the worst",
            _worst,
            "you keep the continuations with the lowest log P. Log P is below 0, and nearer to 0 "
            "is better: take the largest.",
        ),
        Mistake(
            "the past forgotten",
            lambda totals, log_probs, beam: _best_of(log_probs, beam),
            "you rank by the new word's log probability alone. Add what the row has so far.",
        ),
        Mistake(
            "divided by the number of rows",
            lambda totals, log_probs, beam: _best_of(_sums(totals, log_probs), beam, len(totals)),
            "you find row and word with the number of rows. In the flat list a row is as long as "
            "the vocabulary: row = place // vocabulary, word = place % vocabulary.",
        ),
        Mistake(
            "log P of the word",
            _then(lambda rows, tokens, _best, log_probs: (rows, tokens, log_probs[rows, tokens])),
            "rows and words are right. The third tensor holds the word's log probability alone; "
            "it should hold the sum with what the row had before.",
        ),
        Mistake(
            "the place for the word",
            _then(lambda rows, words, best, every: (rows, rows * every.shape[-1] + words, best)),
            "rows and log P are right. Your words are places in the flat list: the id of a word is "
            "place % vocabulary.",
        ),
    ],
)
