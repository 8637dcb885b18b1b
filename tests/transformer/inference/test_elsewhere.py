"""Decoding where the model lies: nothing is made on the CPU by mistake."""

import copy

import pytest
import torch
from decoding_peers import make_source, strip, trained_model
from elsewhere import ELSEWHERE, Away, elsewhere, move
from test_translate import LINES, SHORT, Letters

from transformer.inference import greedy
from transformer.inference.beam import beam_search
from transformer.inference.exact import exact_search
from transformer.inference.greedy import greedy_decode
from transformer.inference.translate import translate


@pytest.fixture
def model_away():
    return move(copy.deepcopy(trained_model()))


def test_greedy_decoding_on_another_device(model_away) -> None:
    source = make_source(0, rows=12)
    expected = greedy_decode(trained_model(), source, max_len=12)
    assert len({len(ids) for ids in expected}) > 3
    with elsewhere():
        assert greedy_decode(model_away, Away(source), max_len=12) == expected
        assert greedy_decode(model_away, Away(source)) == greedy_decode(trained_model(), source)


def test_beam_search_on_another_device(model_away) -> None:
    source = make_source(1, rows=6)
    options = {"beam": 3, "n_best": 2, "max_len": 6}
    expected = beam_search(trained_model(), source, **options)
    with elsewhere():
        found = beam_search(model_away, Away(source), **options)
    assert [[h.tokens for h in best] for best in found] == [
        [h.tokens for h in best] for best in expected
    ]
    for best, wanted in zip(found, expected, strict=True):
        assert [h.score for h in best] == pytest.approx([h.score for h in wanted], abs=1e-5)


def test_exact_search_on_another_device(model_away) -> None:
    source = strip(make_source(1, rows=4)[3])
    expected = exact_search(trained_model(), source, max_len=6)
    with elsewhere():
        found = exact_search(model_away, Away(source), max_len=6)
    assert (found.best.tokens, found.n_prefixes) == (expected.best.tokens, expected.n_prefixes)
    assert found.best.score == pytest.approx(expected.best.score, abs=1e-5)


def test_lines_go_to_the_models_device(model_away) -> None:
    expected = translate(trained_model(), Letters(), LINES, SHORT)
    with elsewhere():
        assert model_away.output_weight.device == ELSEWHERE
        found = translate(model_away, Letters(), LINES, SHORT)
    assert [best[0].text for best in found] == [best[0].text for best in expected]


def test_a_tensor_made_on_the_cpu_is_noticed(model_away, monkeypatch) -> None:
    """The mistake: `torch.full` without a device."""
    monkeypatch.setattr(
        greedy.torch, "full_like", lambda like, value: torch.full(like.shape, value)
    )
    source = make_source(0)
    with elsewhere(), pytest.raises(RuntimeError, match="tensors of two devices"):
        greedy_decode(model_away, Away(source), max_len=4)
