"""The checks of chapter 15, decoding (§6.1): the score of an output, a step of the beam.

Each mistake is a whole wrong implementation: the check runs it on the same inputs as the reader's
function and names it when the results agree.
"""

import math
from collections.abc import Callable

import torch
from torch import Tensor

from transformer.inference.beam import length_penalty
from walkthrough.checking.base import (
    Arguments,
    Case,
    Check,
    Mistake,
    Symptom,
    arguments,
    fixed,
)

Chosen = tuple[Tensor, Tensor, Tensor]


# Exercise: the score of a hypothesis -------------------------------------------------------------


score = Check(
    name="the score with length penalty",
    reference=lambda log_prob, length, alpha: log_prob / length_penalty(length, alpha),
    cases=[
        fixed("the paper's α, ten tokens", -3.0, 10, 0.6),
        fixed("α = 0", -3.0, 7, 0.0),
        fixed("the paper's α, four tokens", -2.5, 4, 0.6),
        fixed("the end token alone", -2.0, 1, 0.6),
        fixed("a large α and a long output", -9.0, 31, 1.5),
        fixed("a small α, twelve tokens", -4.0, 12, 0.3),
    ],
    mistakes=[
        Mistake(
            "multiplied",
            lambda log_prob, length, alpha: log_prob * length_penalty(length, alpha),
            "you multiply by the penalty. Log probabilities are negative: multiplying makes long "
            "outputs worse still. Divide.",
        ),
        Mistake(
            "the plain length",
            lambda log_prob, length, alpha: log_prob / length**alpha,
            "you divide by length^α. That is another penalty, also in use. The one of this paper "
            "adds 5 to the length and divides by 6 first, so that it is gentler for short outputs.",
        ),
        Mistake(
            "not divided by 6",
            lambda log_prob, length, alpha: log_prob / (5 + length) ** alpha,
            "the division by 6 is missing, so a length of 1 does not give a penalty of 1. The "
            "order of outputs is the same, the scores are not.",
        ),
        Mistake(
            "6 without α",
            lambda log_prob, length, alpha: log_prob / ((5 + length) ** alpha / 6),
            "only 5 + length is raised to the power α. The 6 is as well: with α = 0 nothing may "
            "change.",
        ),
        Mistake(
            "α as a factor",
            lambda log_prob, length, alpha: log_prob / max(alpha * (5 + length) / 6, 1e-9),
            "α is a factor in your formula. It is the exponent: with α = 0 nothing may change.",
        ),
        Mistake(
            "no α",
            lambda log_prob, length, alpha: log_prob / ((5 + length) / 6),
            "your penalty does not depend on α: raise it to the power α.",
        ),
        Mistake(
            "the length alone divided",
            lambda log_prob, length, alpha: log_prob / (5 + length / 6) ** alpha,
            "only the length is divided by 6; the bracket is (5 + length) / 6.",
        ),
        Mistake(
            "the end token counted twice",
            lambda log_prob, length, alpha: log_prob / length_penalty(length + 1, alpha),
            "you add 1 to the length: `length` counts the end token already.",
        ),
        Mistake(
            "the mean",
            lambda log_prob, length, alpha: log_prob / length,
            "this is the mean log probability of a word. Divide by ((5 + length) / 6)^α instead.",
        ),
        Mistake(
            "subtracted",
            lambda log_prob, length, alpha: log_prob - length_penalty(length, alpha),
            "you subtract the penalty. Log P is divided by it.",
        ),
        Mistake(
            "divided and rounded down",
            lambda log_prob, length, alpha: log_prob / ((5 + length) // 6) ** alpha,
            "`//` rounds (5 + length) / 6 down, so that lengths of 7 and 12 get one penalty. "
            "Divide with `/`.",
        ),
        Mistake(
            "rounded",
            lambda log_prob, length, alpha: log_prob / round((5 + length) / 6) ** alpha,
            "(5 + length) / 6 is rounded to a whole number in your formula. Leave the fraction.",
        ),
        Mistake(
            "α fixed",
            lambda log_prob, length, alpha: log_prob / length_penalty(length, 0.6),
            "your α is always 0.6. Use the one that is handed over.",
        ),
        Mistake(
            "the sign turned",
            lambda log_prob, length, alpha: -log_prob / length_penalty(length, alpha),
            "the sign is turned: log P stays negative, so the best score is the one nearest to 0.",
        ),
        Mistake(
            "of the probability",
            lambda log_prob, length, alpha: math.exp(log_prob) / length_penalty(length, alpha),
            "you divide the probability, exp(log P). The paper divides log P itself.",
        ),
        Mistake(
            "the penalty alone",
            lambda log_prob, length, alpha: length_penalty(length, alpha),
            "this is the penalty alone: divide log P by it.",
        ),
        Mistake(
            "the end token not counted",
            lambda log_prob, length, alpha: log_prob / length_penalty(length - 1, alpha),
            "you take 1 from the length. It counts the end token, and so does the formula.",
        ),
        Mistake(
            "5 and 6 exchanged",
            lambda log_prob, length, alpha: log_prob / ((6 + length) / 5) ** alpha,
            "5 and 6 have changed places: the bracket is (5 + length) / 6, so that a length of 1 "
            "gives 1.",
        ),
        Mistake(
            "1 + length",
            lambda log_prob, length, alpha: log_prob / ((1 + length) / 6) ** alpha,
            "the bracket is (5 + length) / 6; yours starts from 1 + length, so that a length of 1 "
            "does not give 1.",
        ),
        Mistake(
            "5 times the length",
            lambda log_prob, length, alpha: log_prob / (5 * length / 6) ** alpha,
            "you multiply the length by 5. It is added to 5.",
        ),
        Mistake(
            "the power around log P, too",
            lambda log_prob, length, alpha: -((-log_prob / length_penalty(length, 1.0)) ** alpha),
            "log P is raised to the power α as well. The power belongs to the bracket "
            "(5 + length) / 6 alone.",
        ),
    ],
    symptoms=[
        Symptom(
            "the power of a negative number",
            lambda result, _expected, _given: isinstance(result, complex),
            "your result is a complex number: the power is taken of log P too, which is negative. "
            "It belongs to the bracket (5 + length) / 6 alone.",
        ),
        Symptom(
            "α = 0 changes something",
            lambda result, expected, given: (
                given.positional[2] == 0 and not math.isclose(result, expected)
            ),
            "with α = 0 the score is log P itself, whatever the length, because any number to the "
            "power 0 is 1. Yours is not: what does α stand on?",
        ),
    ],
)


# Exercise: one step of the beam ------------------------------------------------------------------


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


def _fractions(totals: Tensor, log_probs: Tensor, beam: int) -> Chosen:
    best, places = _sums(totals, log_probs).flatten().topk(beam)
    return places / log_probs.shape[-1], places % log_probs.shape[-1], best


def _smallest(totals: Tensor, log_probs: Tensor, beam: int) -> Chosen:
    rows, tokens, best = _best_of(-_sums(totals, log_probs), beam)
    return rows, tokens, -best


def _row_by_row(totals: Tensor, log_probs: Tensor, _beam: int) -> Chosen:
    found, tokens = _sums(totals, log_probs).max(dim=-1)
    return torch.arange(len(totals)), tokens, found


def _only_the_best_row(totals: Tensor, log_probs: Tensor, beam: int) -> Chosen:
    row = int(totals.argmax())
    best, tokens = (totals[row] + log_probs[row]).topk(beam)
    return torch.full_like(tokens, row), tokens, best


def _split_by_the_beam(totals: Tensor, log_probs: Tensor, beam: int) -> Chosen:
    best, places = _sums(totals, log_probs).flatten().topk(beam)
    return places // beam, places % log_probs.shape[-1], best


def _flat_places(totals: Tensor, log_probs: Tensor, beam: int) -> Chosen:
    best, places = _sums(totals, log_probs).flatten().topk(beam)
    return places // log_probs.shape[-1], places, best


def _each_word_once(totals: Tensor, log_probs: Tensor, beam: int) -> Chosen:
    best, rows = _sums(totals, log_probs).max(dim=0)
    ranked = best.argsort(descending=True)[:beam]
    return rows[ranked], ranked, best[ranked]


def _rows_in_turn(totals: Tensor, log_probs: Tensor, beam: int) -> Chosen:
    every, tokens = _sums(totals, log_probs).sort(dim=-1, descending=True)
    places = [
        (row, rank)
        for rank in range(every.shape[1])
        for row in every[:, rank].argsort(descending=True).tolist()
    ][:beam]
    rows, ranks = torch.tensor(places).unbind(1)
    return rows, tokens[rows, ranks], every[rows, ranks]


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
        _step_case("two rows, five words", rows=2, vocab=5, beam=2),
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
            "the past forgotten",
            lambda totals, log_probs, beam: _best_of(log_probs, beam),
            "you rank by the new word's log probability alone. Add what the row has so far.",
        ),
        Mistake(
            "multiplied",
            lambda totals, log_probs, beam: _best_of(totals[:, None] * log_probs, beam),
            "you multiply log probabilities. A product of probabilities is a sum of their "
            "logarithms.",
        ),
        Mistake(
            "divided by the number of rows",
            lambda totals, log_probs, beam: _best_of(_sums(totals, log_probs), beam, len(totals)),
            "you find row and word with the number of rows. In the flat list a row is as long as "
            "the vocabulary: row = place // vocabulary, word = place % vocabulary.",
        ),
        Mistake(
            "row and word exchanged",
            _then(lambda rows, tokens, best, _log_probs: (tokens, rows, best)),
            "rows and words are exchanged: return rows first, then words, then log probabilities.",
        ),
        Mistake(
            "one row only",
            _only_the_best_row,
            "you continue the best row only: that is greedy search with several last words.",
        ),
        Mistake(
            "log P first",
            _then(lambda rows, tokens, best, _log_probs: (best, rows, tokens)),
            "log P comes first in your result: return rows first, then words, then log P.",
        ),
        Mistake(
            "log P of the word",
            _then(lambda rows, tokens, _best, log_probs: (rows, tokens, log_probs[rows, tokens])),
            "rows and words are right. The third tensor holds the word's log probability alone; "
            "it should hold the sum with what the row had before.",
        ),
        Mistake(
            "a fraction of a row",
            _fractions,
            "`/` gives a row with a fraction: use `//`, which rounds down.",
        ),
        Mistake(
            "rows as floats",
            _then(lambda rows, tokens, best, _log_probs: (rows.float(), tokens, best)),
            "the rows are whole, and floats all the same: they cannot index a tensor. `//` keeps "
            "integers, `floor` does not.",
        ),
        Mistake(
            "as many as there are rows",
            lambda totals, log_probs, beam: _beam_step(totals, log_probs, len(totals)),
            "you return as many continuations as there are rows. `beam` says how many: in the "
            "first step there is one row, and a whole beam comes out of it.",
        ),
        Mistake(
            "the worst",
            _smallest,
            "these are the least probable continuations: log probabilities closer to 0 are better.",
        ),
        Mistake(
            "divided by the beam",
            lambda totals, log_probs, beam: _split_by_the_beam(totals, log_probs, beam),
            "you find the row with the size of the beam. In the flat list a row is as long as the "
            "vocabulary: row = place // vocabulary.",
        ),
        Mistake(
            "the place for the word",
            lambda totals, log_probs, beam: _flat_places(totals, log_probs, beam),
            "rows and log P are right. Your words are places in the flat list: the id of a word is "
            "place % vocabulary.",
        ),
        Mistake(
            "transposed before it was flattened",
            lambda totals, log_probs, beam: _best_of(
                _sums(totals, log_probs).T.reshape(log_probs.shape), beam
            ),
            "the sums are transposed before they become a flat list. There the first row stands "
            "first, with all its words, then the second.",
        ),
        Mistake(
            "each word once",
            lambda totals, log_probs, beam: _each_word_once(totals, log_probs, beam),
            "each word comes once in your result. Two rows may go on with the same word.",
        ),
        Mistake(
            "each row once, then more",
            lambda totals, log_probs, beam: _rows_in_turn(totals, log_probs, beam),
            "you take the best of every row before the second best of any. All continuations "
            "compete in one ranking.",
        ),
        Mistake(
            "a continuation for each row",
            _row_by_row,
            "you give each row its own best word, in the order of the rows. All continuations of "
            "all rows compete, and the best comes first.",
        ),
    ],
)
