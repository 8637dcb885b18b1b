"""The checks of chapter 06 accept what is right and name what is wrong."""

import pytest
import torch
import torch.nn.functional as F

from transformer.embedding import TokenEmbedding
from walkthrough.ch06_embeddings_and_softmax import checks
from walkthrough.checking.soundness import assert_check_is_sound

ALL = [checks.embed, checks.next_word, checks.is_tied, checks.logit_std]


@pytest.mark.parametrize("check", ALL, ids=lambda check: check.name)
def test_check_names_every_mistake_it_lists(check):
    assert_check_is_sound(check)
    assert len(check.mistakes) >= 3


def test_the_packages_embedding_and_pytorchs_are_right():
    def package(tokens, weight):
        module = TokenEmbedding(vocab_size=len(weight), d_model=weight.shape[1])
        with torch.no_grad():
            module.weight.copy_(weight)
            return module(tokens)

    assert checks.embed(package)
    assert checks.embed(lambda tokens, weight: F.embedding(tokens, weight) * weight.shape[1] ** 0.5)


def test_a_product_with_one_hot_rows_is_right():
    def one_hot(tokens, weight):
        rows = F.one_hot(tokens, len(weight)).float() @ weight
        return rows * weight.shape[1] ** 0.5

    assert checks.embed(one_hot)


def test_tokens_without_a_batch_are_looked_up_too():
    def for_batches_only(tokens, weight):
        rows = [[weight[token] for token in sentence] for sentence in tokens]
        return torch.stack([torch.stack(row) for row in rows]) * weight.shape[1] ** 0.5

    assert "one sentence without a batch" in checks.embed(for_batches_only).message


def test_probabilities_by_hand_are_right():
    def by_hand(states, weight):
        powers = torch.einsum("bld,vd->blv", states, weight).exp()
        return powers / powers.sum(-1, keepdim=True)

    assert checks.next_word(by_hand)


def test_addresses_may_be_compared_as_offsets_into_a_storage():
    def by_storage_and_place(one, other):
        storages = [tensor.untyped_storage().data_ptr() for tensor in (one, other)]
        return storages[0] == storages[1] and one.storage_offset() == other.storage_offset()

    assert checks.is_tied(by_storage_and_place)


def test_a_test_that_writes_into_its_argument_is_told_so():
    def by_writing(one, other):
        one[0, 0] += 1.0
        return bool(torch.equal(one, other))

    verdict = checks.is_tied(by_writing)
    assert verdict.status == "wrong"
    assert "changes its argument `one`" in verdict.message
