"""Exact search finds what trying every output finds, and says when it could not prove it."""

import pytest
import torch
from decoding_peers import (
    counted_steps,
    exhaustive,
    log_prob,
    make_model,
    make_source,
    strip,
    trained_model,
)

from transformer.config import BOS_ID, EOS_ID, PAD_ID
from transformer.inference import exact
from transformer.inference.beam import Hypothesis, beam_search, length_penalty
from transformer.inference.exact import exact_search


@pytest.mark.parametrize("alpha", [0.0, 0.6, 1.5])
@pytest.mark.parametrize("at_once", [1, 7])
def test_finds_what_exhaustive_search_finds(alpha: float, at_once: int) -> None:
    for seed in range(2):
        model, source = make_model(seed, vocab_size=6), make_source(seed, rows=2, vocab_size=6)
        for row in source:
            result = exact_search(model, strip(row), alpha=alpha, max_len=4, at_once=at_once)
            score, tokens = exhaustive(model, strip(row), 4, alpha)[0]
            assert result.is_proved
            assert result.best.tokens == tokens
            assert result.best.score == pytest.approx(score, rel=1e-4)


@pytest.mark.parametrize("alpha", [0.0, 1.5])
def test_finds_the_best_without_any_help_of_a_beam(alpha: float, monkeypatch) -> None:
    nothing = Hypothesis(tokens=[], log_prob=float("-inf"), score=float("-inf"))
    monkeypatch.setattr(exact, "beam_search", lambda *_, **__: [[nothing]])
    for seed in range(2):
        model, source = make_model(seed, vocab_size=6), make_source(seed, rows=2, vocab_size=6)
        for row in source:
            with counted_steps(model) as rows:
                result = exact_search(model, strip(row), alpha=alpha, max_len=4, at_once=5)
            score, tokens = exhaustive(model, strip(row), 4, alpha)[0]
            assert result.is_proved
            assert result.best.tokens == tokens
            assert result.best.score == pytest.approx(score, rel=1e-4)
            assert result.best.log_prob == pytest.approx(
                log_prob(model, strip(row), tokens), rel=1e-4
            )
            assert result.n_prefixes == sum(rows) <= 1 + 3 + 9 + 27


def test_the_one_token_of_the_shortest_limit_is_the_end_token() -> None:
    model, source = trained_model(), strip(make_source(2, rows=6)[4])
    result = exact_search(model, source, max_len=1)
    assert (result.best.tokens, result.is_proved) == ([], True)
    assert result.best.log_prob == pytest.approx(log_prob(model, source, []), abs=1e-4)
    assert exact_search(model, source, max_len=9).best.score > result.best.score


def test_the_score_is_the_log_probability_unless_a_penalty_is_asked_for() -> None:
    result = exact_search(trained_model(), strip(make_source(2, rows=6)[4]), max_len=9)
    assert len(result.best.tokens) > 1
    assert result.best.score == result.best.log_prob


def test_gives_up_after_as_many_prefixes_as_allowed() -> None:
    source = strip(make_source(2, rows=6)[5])
    for most in (1, 7):
        result = exact_search(trained_model(), source, alpha=3.0, max_prefixes=most, at_once=1)
        assert (result.n_prefixes, result.is_proved) == (most, False)


def test_finds_what_a_narrow_beam_misses() -> None:
    model, source = trained_model(), make_source(2, rows=6)
    gains = []
    for row in source:
        ((beam,),) = beam_search(model, strip(row), beam=2, alpha=0.0, max_len=9)
        result = exact_search(model, strip(row), max_len=9)
        assert result.is_proved
        assert result.best.log_prob == pytest.approx(
            log_prob(model, strip(row), result.best.tokens), abs=1e-4
        )
        assert not {PAD_ID, BOS_ID, EOS_ID} & set(result.best.tokens)
        gains.append(result.best.score - beam.score)
    assert min(gains) > -1e-4
    assert max(gains) > 0.05


def test_gives_up_and_says_so() -> None:
    model, source = trained_model(), make_source(2, rows=6)
    # a large α and a far limit: bounds stay loose, and nothing can be ruled out
    result = exact_search(model, strip(source[5]), alpha=3.0, max_prefixes=20, at_once=4)
    assert not result.is_proved
    assert 20 <= result.n_prefixes < 24
    length = len(result.best.tokens) + 1
    assert result.best.score == result.best.log_prob / length_penalty(length, 3.0)


@pytest.mark.parametrize(
    ("changes", "rule"),
    [({"max_prefixes": 0}, "max_prefixes must be at least 1, got 0"), ({"at_once": 0}, "at_once")],
)
def test_limits_below_one_are_refused(changes, rule) -> None:
    with pytest.raises(ValueError, match=rule):
        exact_search(make_model(), make_source(rows=1), **changes)


def test_more_than_one_sentence_is_refused() -> None:
    with pytest.raises(ValueError, match="one sentence at a time, got 3"):
        exact_search(make_model(), torch.full((3, 2), EOS_ID))
