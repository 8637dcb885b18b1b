"""The checks of chapter 15 accept right answers and name every mistake they list."""

from math import exp

import numpy as np
import pytest
import torch
from soundness import assert_check_is_sound

from walkthrough.ch15_decoding import checks


@pytest.mark.parametrize(
    "check",
    [checks.beam_step, checks.greedy_batch, checks.kind_of_error],
    ids=lambda check: check.name,
)
def test_check_rejects_and_names_each_mistake(check):
    assert_check_is_sound(check)


def test_a_learners_own_ways_are_right():
    def step(totals, log_probs, beam):
        found = [
            (float(totals[row] + log_probs[row, token]), row, token)
            for row in range(log_probs.shape[0])
            for token in range(log_probs.shape[1])
        ]
        best = sorted(found, reverse=True)[:beam]
        scores, rows, tokens = zip(*best, strict=True)
        return torch.tensor(rows), torch.tensor(tokens), torch.tensor(scores)

    assert checks.beam_step(step).status == "right"


def kind(counts, worse=lambda score, other: score < other):
    """A learner's function with another idea of "right", or of which score is worse."""
    return lambda o, r, s, q: "none" if counts(o, r) else ("search" if worse(s, q) else "model")


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (kind(lambda o, r: o.split() == r.split()), "`split` lose it"),
        (kind(lambda o, r: o == r, lambda s, q: q > s + 0.1), "A gap of 0.05"),
        (kind(lambda o, r: o == r, lambda s, q: exp(q) > exp(s)), "are 0 as floats"),
        (kind(lambda o, r: r in o), "wrong for “the reference and a word more”"),
        (kind(lambda o, r: o is r), "not `is`"),
        (kind(lambda o, r: o == r, lambda s, q: int(s) < int(q)), "A gap of 0.05"),
    ],
)
def test_kinds_of_errors_that_look_right(answer, said):
    verdict = checks.kind_of_error(answer)
    assert verdict.status == "wrong"
    assert said in verdict.message


def test_texts_of_numpy_are_texts():
    names = np.array(["model", "search"])
    answer = checks.kind_of_error(lambda o, r, s, q: "none" if o == r else names[int(s < q)])
    assert answer.status == "right"


# A decoding loop ---------------------------------------------------------------------------------


def loop_over_lists(step, n, limit):
    rows = [[1] for _ in range(n)]
    while len(rows[0]) <= limit and not all(2 in row for row in rows):
        newest = step(torch.tensor(rows))
        for row, logs in zip(rows, newest.tolist(), strict=True):
            row.append(0 if 2 in row else logs.index(max(logs)))
    return [row[1 : row.index(2)] if 2 in row else row[1:] for row in rows]


def loop(step, n, limit, *, fed=lambda words: words, ended=None, forever=False, axis=-1):
    words = torch.ones(n, 1, dtype=torch.long)
    done = torch.zeros(n, dtype=torch.bool)
    for _ in range(limit):
        newest = step(fed(words)).argmax(axis)
        words = torch.cat([words, newest[:, None]], dim=1)
        done = ended(words) if ended else done | (newest == 2)
        if done.all() and not forever:
            break
    rows = [row[1:] for row in words.tolist()]
    return [row[: row.index(2)] if 2 in row else row for row in rows]


@pytest.mark.parametrize("answer", [loop, loop_over_lists])
def test_other_loops_are_right(answer):
    assert checks.greedy_batch(answer).status == "right"


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"forever": True}, "every sentence has ended, and `step` is called once more"),
        ({"ended": lambda words: words[:, -1] == 2}, "`step` is called once more"),
        ({"fed": lambda words: words[:, -1:]}, "begin with the start token"),
        ({"fed": lambda words: words[:, 1:]}, "begin with the start token"),
        ({"fed": lambda words: words[0]}, "should have the shape"),
        ({"fed": lambda words: words.float()}, "whole numbers"),
        ({"ended": lambda words: (words == 2).any()[None]}, "as soon as one sentence has ended"),
    ],
)
def test_loops_that_go_astray(changes, said):
    verdict = checks.greedy_batch(lambda step, n, limit: loop(step, n, limit, **changes))
    assert verdict.status == "wrong"
    assert said in verdict.message


def test_a_word_whose_id_is_that_of_padding_may_be_the_best():
    def without_zero(step, n, limit):
        return loop(lambda w: step(w).index_fill(1, torch.tensor([0]), -torch.inf), n, limit)

    assert "has the id 0 there" in checks.greedy_batch(without_zero).message


def test_a_loop_for_each_sentence_makes_too_many_calls():
    def one_by_one(step, n, limit):
        return [loop(step, n, limit)[row] for row in range(n)]

    assert "one call answers all sentences" in checks.greedy_batch(one_by_one).message


def test_the_lowest_scores_are_named():
    def step(totals, log_probs, beam):
        every = totals[:, None] + log_probs
        found, places = every.flatten().topk(beam, largest=False)
        return places // every.shape[1], places % every.shape[1], found

    assert checks.beam_step(step).mistake == "the worst"
