"""Greedy decoding: cached and batched equals uncached and one by one, token by token."""

import pytest
import torch
from decoding_peers import (
    EveryStepAtPositionZero,
    SelfAttentionOnly,
    counted_steps,
    make_model,
    make_source,
    plain_greedy,
    strip,
    trained_model,
)

from transformer.config import BOS_ID, EOS_ID, PAD_ID
from transformer.inference import greedy
from transformer.inference.greedy import greedy_decode, most_probable


def plain(model, source, limit=None) -> list[list[int]]:
    rows = [strip(row) for row in source]
    return [plain_greedy(model, row, limit or row.shape[1] + 50) for row in rows]


@pytest.mark.parametrize("norm", ["post", "pre"])
@pytest.mark.parametrize("positions", ["sinusoidal", "learned", "none"])
def test_equals_decoding_without_cache_one_by_one(norm, positions) -> None:
    model, source = make_model(1, norm=norm, positions=positions), make_source(1)
    decoded = greedy_decode(model, source, max_len=12)
    assert decoded == plain(model, source, 12)


def test_equals_decoding_a_trained_model_without_cache_one_by_one() -> None:
    source = make_source(0, rows=24)
    expected = plain(trained_model(), source, 12)
    assert greedy_decode(trained_model(), source, max_len=12) == expected
    lengths = {len(ids) for ids in expected}
    assert len(lengths) >= 4, "outputs must end at different steps, or leaving is not tested"


@pytest.mark.parametrize("wrong", [EveryStepAtPositionZero, SelfAttentionOnly])
def test_wrong_caches_are_rejected(monkeypatch, wrong) -> None:
    monkeypatch.setattr(greedy, "DecoderCache", wrong)
    source = make_source(0, rows=24)
    expected = plain(trained_model(), source, 12)
    assert greedy_decode(trained_model(), source, max_len=12) != expected


def test_a_translation_does_not_depend_on_the_rest_of_the_batch() -> None:
    source = make_source(0, rows=12)
    alone = [greedy_decode(trained_model(), strip(row))[0] for row in source]
    assert greedy_decode(trained_model(), source) == alone


def test_limit_counts_from_each_sentences_own_length(monkeypatch) -> None:
    model, source = make_model(0), make_source(0)
    original = model.project

    def project(states):
        logits = original(states)
        logits[..., EOS_ID] = -1e4
        return logits

    monkeypatch.setattr(model, "project", project)
    lengths = [len(ids) for ids in greedy_decode(model, source)]
    assert lengths == [int(n) + 50 - 1 for n in (source != PAD_ID).sum(-1)]
    assert [len(ids) for ids in greedy_decode(model, source, max_len=5)] == [4] * len(source)


def test_never_padding_or_start_token(monkeypatch) -> None:
    model, source = make_model(0), make_source(0)
    original = model.project

    def project(states):
        logits = original(states)
        logits[..., [PAD_ID, BOS_ID]] = 1e4
        return logits

    monkeypatch.setattr(model, "project", project)
    for ids in greedy_decode(model, source, max_len=8):
        assert not {PAD_ID, BOS_ID, EOS_ID} & set(ids)


def test_dropout_is_off_and_repeats_agree() -> None:
    model, source = make_model(0, dropout=0.5), make_source(0)
    model.train()
    assert greedy_decode(model, source) == greedy_decode(model, source)
    assert not model.training


@pytest.mark.parametrize(
    ("source", "options", "message"),
    [
        (torch.zeros(0, 3, dtype=torch.long), {}, "at least one sentence"),
        (torch.tensor([[4, 2], [0, 0]]), {}, r"not padding, rows \[1\] have none"),
        (torch.tensor([[4, 2]]), {"max_len": 0}, "max_len must be at least 1"),
        (torch.tensor([[4, 2]]), {"extra_tokens": 0}, "extra_tokens must be at least 1, got 0"),
        (torch.tensor([[99, 2]]), {}, "token ids must lie in"),
    ],
)
def test_bad_input(source, options, message) -> None:
    with pytest.raises(ValueError, match=message):
        greedy_decode(make_model(0), source, **options)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_the_most_probable_token_is_the_lower_one_of_equals(dtype):
    torch.manual_seed(0)
    logits = torch.randn(20, 300).to(dtype)  # in bfloat16 some rows have equal highest logits
    logits[3, [7, 250]] = 9.0
    logits[4] = float("-inf")
    found = most_probable(logits)
    for row, token in zip(logits.tolist(), found.tolist(), strict=True):
        assert token == row.index(max(row))


def test_one_token_more_than_the_source_is_the_least_that_can_be_asked_for():
    source = torch.tensor([[5, 6, EOS_ID], [5, EOS_ID, PAD_ID]])
    assert greedy.output_limits(source, None, extra_tokens=1).tolist() == [4, 3]
    with pytest.raises(ValueError, match="extra_tokens must be at least 1, got 0"):
        greedy.output_limits(source, None, extra_tokens=0)


def test_the_one_token_of_the_shortest_limit_is_the_end_token():
    source = make_source(0, rows=3)
    assert greedy_decode(make_model(0), source, max_len=1) == [[], [], []]


@pytest.mark.parametrize(("make", "extra_tokens"), [(trained_model, 20), (make_model, 1)])
def test_finished_sentences_are_not_computed_any_further(make, extra_tokens):
    model, source = make(), make_source(0, rows=12)
    with counted_steps(model) as rows:
        decoded = greedy_decode(model, source, extra_tokens=extra_tokens)
    limits = greedy.output_limits(source, None, extra_tokens).tolist()
    # a step a token and one that finds the end, which at the limit nobody has to look for
    steps = [min(len(ids) + 1, limit - 1) for ids, limit in zip(decoded, limits, strict=True)]
    assert rows == [sum(number > step for number in steps) for step in range(max(steps))]


def test_sentences_are_encoded_without_the_padding_of_distant_ones(monkeypatch):
    monkeypatch.setattr(greedy, "ENCODED_AT_ONCE", 2)
    model, source = make_model(0), make_source(0, rows=5)
    shapes = []
    hook = model.encoder.register_forward_hook(lambda _, inputs, __: shapes.append(inputs[0].shape))
    memory = greedy.inference_encode(model, source)
    hook.remove()
    assert [tuple(shape[:2]) for shape in shapes] == [(2, 3), (2, 5), (1, 6)]
    expected, is_token = model.encode(source), source != PAD_ID
    assert memory.shape == expected.shape
    torch.testing.assert_close(memory[is_token], expected[is_token])
