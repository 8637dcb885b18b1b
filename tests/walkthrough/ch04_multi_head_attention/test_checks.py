"""The checks of chapter 04 accept what is right and name what is wrong."""

import math

import pytest
import torch
from soundness import assert_check_is_sound

from walkthrough.ch04_multi_head_attention import checks

ALL = [getattr(checks, name) for name in checks.__all__]


@pytest.mark.parametrize("check", ALL, ids=lambda check: check.name)
def test_check_names_every_mistake_it_lists(check):
    assert_check_is_sound(check)


def test_heads_split_and_merged_in_other_ways_are_right():
    def split_by_chunks(x, n_heads):
        return torch.stack(x.chunk(n_heads, dim=-1), dim=1)

    def merge_by_cat(heads):
        return torch.cat(list(heads.unbind(1)), dim=-1)

    def merge_by_reshape(heads):
        batch, n_heads, length, d = heads.shape
        return heads.permute(0, 2, 1, 3).contiguous().view(batch, length, n_heads * d)

    assert checks.split_heads(split_by_chunks)
    assert checks.merge_heads(merge_by_cat)
    assert checks.merge_heads(merge_by_reshape)


def test_a_size_of_heads_that_is_written_down_is_caught():
    verdict = checks.split_heads(lambda x, n_heads: x.unflatten(-1, (-1, 4)).transpose(1, 2))
    assert verdict.status == "wrong"


def as_a_loop(query, key, value, w_q, w_k, w_v, w_o, *, keys=None, values=None):
    heads = []
    for q, k, v in zip(w_q, w_k, w_v, strict=True):
        source = key if keys is None else keys
        scores = (query @ q) @ (source @ k).T / math.sqrt(q.shape[-1])
        heads.append(scores.softmax(-1) @ ((value if values is None else values) @ v))
    return torch.cat(heads, dim=-1) @ w_o


def test_a_loop_over_heads_and_a_sum_over_heads_are_right():
    def as_a_sum(query, key, value, w_q, w_k, w_v, w_o):
        total = 0
        for q, k, v, rows in zip(w_q, w_k, w_v, w_o.chunk(len(w_q)), strict=True):
            weights = ((query @ q) @ (key @ k).T / q.shape[-1] ** 0.5).softmax(-1)
            total = total + weights @ (value @ v) @ rows
        return total

    assert checks.multi_head(as_a_loop)
    assert checks.multi_head(as_a_sum)


@pytest.mark.parametrize(
    ("side", "words"),
    [("values", "values are made from `query`"), ("keys", "keys are made from `query`")],
)
def test_a_side_taken_from_the_queries_is_named(side, words):
    """With fewer queries than keys such code stops; the square case must still say what it is."""

    def wrong(query, key, value, *w):
        return as_a_loop(query, key, value, *w, **{side: query})

    verdict = checks.multi_head(wrong)
    assert verdict.status == "wrong"
    assert words in verdict.message


def test_a_batch_of_one_sentence_is_not_taken_for_heads():
    verdict = checks.multi_head(lambda *given: as_a_loop(*given)[None])
    assert "(4, 12), yours is (1, 4, 12)" in verdict.message


def test_a_shape_mistake_is_reported_with_the_line():
    def wrong(query, key, value, w_q, w_k, w_v, w_o):
        return torch.stack([query @ w for w in w_q]) @ w_o

    verdict = checks.multi_head(wrong)
    assert verdict.status == "wrong"
    assert "RuntimeError" in verdict.message


def test_groups_shared_in_other_ways_are_right():
    def by_loop(q, k, v):
        times = q.shape[1] // k.shape[1]
        found = []
        for head in range(q.shape[1]):
            key, value = k[:, head // times], v[:, head // times]
            weights = (q[:, head] @ key.mT / key.shape[-1] ** 0.5).softmax(-1)
            found.append(weights @ value)
        return torch.stack(found, dim=1)

    def by_torch(q, k, v):
        return torch.nn.functional.scaled_dot_product_attention(q, k, v, enable_gqa=True)

    assert checks.grouped_attention(by_loop)
    assert checks.grouped_attention(by_torch)
    assert checks.grouped_attention(lambda q, k, v: by_loop(q, k.flip(1), v)).status == "wrong"
    merged = checks.grouped_attention(lambda *given: by_loop(*given).transpose(1, 2).flatten(2))
    assert merged.message == "the shape should be (2, 4, 5, 3), yours is (2, 5, 12)"


def test_bugs_found_by_other_experiments_are_found():
    def find_bug(module):
        x = torch.randn(3, 7, 12)
        out, weights = module(x)
        if weights.shape[-1] == 3 and weights.shape[0] == 7:
            return "batch"
        if weights.shape[1] == 7:
            return "heads"
        if not torch.allclose(weights.sum(-1), torch.ones(()), atol=1e-4):
            return "softmax"
        closed = torch.zeros(7, 7, dtype=torch.bool)
        closed[:, 0] = True
        if module(x, closed)[1][..., 1:].max() > 0:
            return "mask"
        order = torch.tensor([1, 0, 2, 3, 4, 5, 6])
        alike = torch.allclose(module(x[:, order])[0], out[:, order], atol=1e-4)
        return "fine" if alike else "merge"

    assert checks.find_bug(find_bug)


def test_a_bug_that_is_not_found_is_named():
    right = checks.find_bug.reference

    def blind(module):
        return "fine" if right(module) in ("merge", "mask") else right(module)

    assert "merge" in checks.find_bug(blind).message
    shut = checks.find_bug(lambda module: "fine" if right(module) == "merge" else right(module))
    assert "Flattening without the exchange is not found" in shut.message
    assert "Ten of the twelve" in checks.find_bug(lambda module: "fine").message
    assert checks.find_bug(lambda module: "Merge").status == "wrong"
