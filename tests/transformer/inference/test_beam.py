"""Beam search: what it finds, what it scores, and that its beams keep their own memory."""

import pytest
import torch
from decoding_peers import (
    EveryStepAtPositionZero,
    NeverReordered,
    counted_steps,
    exhaustive,
    log_prob,
    make_model,
    make_source,
    plain_beam,
    strip,
    trained_model,
)

from transformer.config import BOS_ID, EOS_ID, PAD_ID
from transformer.inference import beam as beam_module
from transformer.inference.beam import Hypothesis, _Search, beam_search, largest, length_penalty
from transformer.inference.greedy import greedy_decode
from transformer.inference.step import Step, step_decoder


@pytest.mark.parametrize("alpha", [0.0, 0.6, 2.0, None])
def test_one_beam_is_greedy(alpha: float | None) -> None:
    model, source = trained_model(), make_source(3, rows=24)
    found = greedily(model, source, alpha=alpha, max_len=12)
    assert [best.tokens for best in found] == greedy_decode(model, source, max_len=12)
    (searched,) = zip(*beam_search(model, source, beam=1, alpha=alpha, max_len=12), strict=True)
    assert all(own.score > one.score - 1e-5 for own, one in zip(searched, found, strict=True))


def greedily(model, source, **options) -> list[Hypothesis]:
    """What greedy search finds, with its scores: a beam of 1 that ends at its first end."""
    found = beam_search(model, source, beam=1, early_stopping=True, **options)
    return [best for (best,) in found]


@pytest.mark.parametrize("alpha", [0.0, 0.6, 1.5, None])
@pytest.mark.parametrize("seed", range(2))
def test_a_wide_beam_finds_what_exhaustive_search_finds(seed: int, alpha: float | None) -> None:
    model, source = make_model(seed, vocab_size=6), make_source(seed, rows=2, vocab_size=6)
    limit = 4  # 1 + 3 + 9 + 27 outputs
    for early_stopping in (True, False):
        found = beam_search(
            model,
            source,
            beam=40,
            n_best=5,
            alpha=alpha,
            max_len=limit,
            early_stopping=early_stopping,
        )
        for row, best in zip(source, found, strict=True):
            expected = exhaustive(model, strip(row), limit, alpha)[:5]
            assert best[0].tokens == expected[0][1]
            assert [h.score for h in best] == pytest.approx([s for s, _ in expected], rel=1e-4)


def assert_plain(model, source, limit: int, *, early_stopping: bool = False, **options) -> None:
    """Both beams find the same, with the same scores, after the same number of steps."""
    wanted = {"beam": 4, "alpha": 0.6, "n_best": 1, **options}
    if early_stopping:
        options["early_stopping"] = True
    if limit < 50:
        options["max_len"] = limit
    for row in map(strip, source):
        with counted_steps(model) as steps:
            (found,) = beam_search(model, row, **options)
        most = limit if limit < 50 else row.shape[1] + 50
        expected, n_steps = plain_beam(
            model, row, limit=most, early_stopping=early_stopping, **wanted
        )
        assert [h.tokens for h in found] == [tokens for _, tokens in expected]
        assert [h.score for h in found] == pytest.approx([s for s, _ in expected], abs=1e-4)
        assert len(steps) == n_steps


@pytest.mark.parametrize("early_stopping", [True, False])
@pytest.mark.parametrize(("beam", "n_best", "alpha"), [(2, 2, 0.6), (3, 1, 0.0), (3, 2, 1.5)])
def test_finds_what_a_plainly_written_beam_finds_in_as_many_steps(
    beam: int, n_best: int, alpha: float, early_stopping: bool
) -> None:
    options = {"beam": beam, "n_best": n_best, "alpha": alpha, "early_stopping": early_stopping}
    assert_plain(trained_model(), make_source(4, rows=6)[2:], 9, **options)
    assert_plain(make_model(0), make_source(4, rows=2), 5, **options)


def test_search_is_the_papers_unless_asked_otherwise() -> None:
    """§6.1: four beams, α = 0.6, outputs up to 50 tokens longer than the input; one is returned."""
    assert_plain(trained_model(), make_source(4, rows=6)[2:], 50)


@pytest.mark.parametrize("beam", [1, 3])
def test_the_one_token_of_the_shortest_limit_is_the_end_token(beam: int) -> None:
    model, source = make_model(0), make_source(0, rows=2)
    for row, (best,) in zip(source, beam_search(model, source, beam=beam, max_len=1), strict=True):
        assert best.tokens == []
        assert best.log_prob == pytest.approx(log_prob(model, strip(row), []), abs=1e-4)


@pytest.mark.parametrize("alpha", [0.0, 0.6])
def test_reported_score_is_the_models(alpha: float) -> None:
    model, source = trained_model(), make_source(1)
    found = beam_search(model, source, beam=4, n_best=4, alpha=alpha, max_len=9)
    checked = 0
    for row, best in zip(source, found, strict=True):
        assert [h.score for h in best] == sorted((h.score for h in best), reverse=True)
        for hypothesis in best:
            expected = log_prob(model, strip(row), hypothesis.tokens)
            assert hypothesis.log_prob == pytest.approx(expected, abs=1e-4)
            penalty = length_penalty(len(hypothesis.tokens) + 1, alpha)
            assert hypothesis.score == pytest.approx(expected / penalty, abs=1e-4)
            assert not {PAD_ID, BOS_ID, EOS_ID} & set(hypothesis.tokens)
            checked += 1
    assert checked >= 12


@pytest.mark.parametrize("wrong", [NeverReordered, EveryStepAtPositionZero])
def test_wrong_caches_report_scores_the_model_does_not_give(monkeypatch, wrong) -> None:
    monkeypatch.setattr(beam_module, "DecoderCache", wrong)
    model, source = trained_model(), make_source(1)
    found = beam_search(model, source, beam=4, n_best=4, alpha=0.0, max_len=9)
    worst = max(
        abs(h.log_prob - log_prob(model, strip(row), h.tokens))
        for row, best in zip(source, found, strict=True)
        for h in best
    )
    assert worst > 0.1


def test_a_batch_gives_what_each_sentence_alone_gives() -> None:
    model, source = trained_model(), make_source(3)
    together = beam_search(model, source, beam=3, n_best=3, max_len=9)
    for row, best in zip(source, together, strict=True):
        (alone,) = beam_search(model, strip(row), beam=3, n_best=3, max_len=9)
        assert [h.tokens for h in best] == [h.tokens for h in alone]
        assert [h.score for h in best] == pytest.approx([h.score for h in alone], abs=1e-5)


ALPHAS = [0.0, 0.3, 0.6, 1.0, 2.0, None]
RANDOM = [(0, 3.0), (1, 1.5), (1, 4.0), (2, 1.5), (2, 4.0)]


@pytest.mark.parametrize("n_best", [1, 3])
@pytest.mark.parametrize("alpha", ALPHAS)
def test_at_the_end_nothing_open_could_pass_what_is_returned(alpha, n_best, monkeypatch) -> None:
    """The best open one keeps its log P at most, and divides it by the largest penalty at most.

    A search that goes on to the limit finds the same. The rule of `beam` many does neither.
    """
    ended: dict[int, tuple[float, int, int]] = {}
    is_done = _Search._is_done

    def watched(self, sentence: int, best_open: float, length: int) -> bool:
        ended[sentence] = best_open, length, self.limits[sentence]
        return is_done(self, sentence, best_open, length)

    def never(self, sentence: int, best_open: float, length: int) -> bool:
        return length >= self.limits[sentence] or best_open == float("-inf")

    def passed(found) -> int:
        """How many sentences still had something open that could have been returned."""
        return sum(
            any(best_open / length_penalty(n, alpha) > found[sentence][-1].score for n in later)
            for sentence, (best_open, length, limit) in ended.items()
            if (later := range(length + 1, limit + 1))
        )

    models = [trained_model(), *(make_model(seed, sharp=sharp) for seed, sharp in RANDOM)]
    early, missed = 0, 0
    for number, model in enumerate(models):
        source, options = make_source(number), {"beam": 3, "n_best": n_best, "alpha": alpha}
        options |= {"max_len": 9}
        monkeypatch.setattr(_Search, "_is_done", watched)
        found = beam_search(model, source, **options)
        assert passed(found) == 0
        soon = beam_search(model, source, **options, early_stopping=True)
        early += passed(soon)
        monkeypatch.setattr(_Search, "_is_done", never)
        for one, late, other in zip(
            found, beam_search(model, source, **options), soon, strict=True
        ):
            assert [h.score for h in one] == pytest.approx([h.score for h in late], abs=1e-5)
            missed += late[-1].score > other[-1].score + 1e-4
    assert early >= missed
    assert missed > 0 or n_best == 1


def test_a_finished_hypothesis_keeps_its_score() -> None:
    # stopping later may add better hypotheses, but none of those found may change
    model, source = trained_model(), make_source(2)
    early = beam_search(model, source, beam=3, n_best=3, max_len=9, early_stopping=True)
    late = beam_search(model, source, beam=3, n_best=3, max_len=9)
    for row, one, other in zip(source, early, late, strict=True):
        assert other[0].score >= one[0].score - 1e-6
        for h in [*one, *other]:
            assert h.log_prob == pytest.approx(log_prob(model, strip(row), h.tokens), abs=1e-4)


def test_length_penalty_is_the_papers() -> None:
    assert length_penalty(1, 0.6) == 1.0
    assert length_penalty(7, 1.0) == 2.0
    assert length_penalty(13, 0.6) == pytest.approx(3**0.6)
    assert length_penalty(99, 0.0) == 1.0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"beam": 0}, "beam must be at least 1, got 0"),
        ({"alpha": -0.1}, "alpha must not be negative, got -0.1"),
        ({"beam": 2, "n_best": 3}, "n_best must lie between 1 and beam = 2, got 3"),
        ({"n_best": 0}, "n_best must lie between 1 and beam = 4, got 0"),
        ({"max_len": 0}, "max_len must be at least 1"),
    ],
)
def test_bad_options(options, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        beam_search(make_model(0), torch.tensor([[4, 2]]), **options)


@pytest.mark.parametrize("n", [49, 64 * 50, 64 * 50 + 1, 64 * 60 + 63])
def test_the_largest_of_a_row_are_those_of_topk(n: int) -> None:
    torch.manual_seed(n)
    values = torch.randn(30, n)
    values[3] = values[3].round()  # many equal ones
    values[4] = float("-inf")
    values[5, : n - 2] = float("-inf")
    values[6, -5:] = torch.arange(5) + 9.0  # all behind the last whole block
    values[7, 20] = float("nan")
    best, places = largest(values, 5)
    assert torch.equal(best.nan_to_num(nan=1e9), values.topk(5).values.nan_to_num(nan=1e9))
    assert torch.equal(values.gather(-1, places).nan_to_num(nan=1e9), best.nan_to_num(nan=1e9))
    assert all(len(set(row)) == 5 for row in places.tolist())


def test_the_first_step_has_one_row_a_sentence() -> None:
    model, source = trained_model(), make_source(3, rows=5)
    step = step_decoder(model)
    rows: list[int] = []

    def counting(tokens, *args, **kwargs):
        rows.append(len(tokens))
        return step.decode(tokens, *args, **kwargs)

    beam_search(model, source, beam=3, max_len=9, step=step._replace(decode=counting))
    assert rows[:2] == [5, 15]


@pytest.mark.parametrize("beam", [1, 3, 4])
def test_a_step_that_knows_no_beams_finds_the_same(beam, monkeypatch) -> None:
    """It gets each beam's source anew when a sentence leaves, also when one becomes as many rows
    as there were sentences."""
    model, source = trained_model(), make_source(3, rows=4)
    own = Step(model.decode, model.project, shares_sources=False)
    for limits in ([9, 3, 8, 5], [1, 1, 9, 1]):
        monkeypatch.setattr(beam_module, "output_limits", lambda *_, n=limits: torch.tensor(n))
        expected, found = (beam_search(model, source, beam=beam, step=s) for s in (None, own))
        for (best,), (ours,) in zip(expected, found, strict=True):
            assert ours.tokens == best.tokens
            assert ours.score == pytest.approx(best.score, rel=1e-5)
