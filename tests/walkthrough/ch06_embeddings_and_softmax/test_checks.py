"""The checks of chapter 06 accept what is right and name what is wrong."""

import copy

import pytest
import torch
import torch.nn.functional as F

from transformer.embedding import TokenEmbedding
from walkthrough.ch06_embeddings_and_softmax import checks
from walkthrough.checking.soundness import assert_check_is_sound

ALL = [checks.without_layers, checks.is_tied, checks.gradient, checks.logit_std]


@pytest.mark.parametrize("check", ALL, ids=lambda check: check.name)
def test_check_names_every_mistake_it_lists(check):
    assert_check_is_sound(check)
    assert len(check.mistakes) >= 3


def test_the_packages_embedding_and_pytorchs_linear_map_are_right():
    def package(tokens, weight):
        module = TokenEmbedding(vocab_size=len(weight), d_model=weight.shape[1])
        with torch.no_grad():
            module.weight.copy_(weight)
            return F.linear(module(tokens), weight).softmax(-1)

    assert checks.without_layers(package)


def test_one_hot_rows_and_powers_by_hand_are_right():
    def by_hand(tokens, weight):
        rows = F.one_hot(tokens, len(weight)).float() @ weight
        powers = torch.einsum("...d,vd->...v", rows * weight.shape[1] ** 0.5, weight).exp()
        return powers / powers.sum(-1, keepdim=True)

    assert checks.without_layers(by_hand)


def test_tokens_without_a_batch_are_looked_up_too():
    def for_batches_only(tokens, weight):
        rows = torch.stack([torch.stack([weight[t] for t in sentence]) for sentence in tokens])
        return (rows * weight.shape[1] ** 0.5 @ weight.T).softmax(-1)

    assert "one sentence without a batch" in checks.without_layers(for_batches_only).message


@pytest.mark.parametrize(
    "test",
    [
        lambda model: len(list(model.parameters())) == 1,
        lambda model: id(model.head.weight) == id(model.embedding.weight),
        lambda model: sum(p.numel() for p in model.parameters()) == model.head.weight.numel(),
    ],
    ids=["counts parameters", "compares ids", "counts numbers"],
)
def test_a_tie_can_be_found_in_several_ways(test):
    assert checks.is_tied(test)


def by_training(model):
    loss = model.head(model.embedding(torch.arange(5))).square().sum() + model.head.weight.sum()
    loss.backward()
    with torch.no_grad():
        for parameter in model.parameters():  # as an optimiser does
            parameter -= 0.1 * parameter.grad
    return torch.equal(model.embedding.weight, model.head.weight)


def test_a_step_of_training_does_not_tell_one_memory_from_a_tie():
    said = checks.is_tied(lambda model: by_training(copy.deepcopy(model))).message
    assert "two parameters over one memory" in said


def test_a_storage_is_not_a_parameter():
    def storages(model):
        ends = (model.embedding.weight, model.head.weight)
        return len({end.untyped_storage().data_ptr() for end in ends}) == 1

    assert "one memory" in checks.is_tied(storages).message


def test_a_test_that_writes_into_its_argument_is_told_so():
    def by_writing(model):
        with torch.no_grad():
            model.embedding.weight[0, 0] += 1.0
        return model.embedding.weight is model.head.weight

    verdict = checks.is_tied(by_writing)
    assert verdict.status == "wrong"
    assert "changes its argument `model`" in verdict.message


def test_autograd_gives_the_gradient():
    def by_autograd(tokens, targets, weight):
        leaf = weight.clone().requires_grad_()
        logits = leaf.shape[1] ** 0.5 * leaf[tokens] @ leaf.T
        F.cross_entropy(logits, targets).backward()
        return leaf.grad

    assert checks.gradient(by_autograd)


def test_the_gradient_by_two_one_hot_products_is_right():
    def by_products(tokens, targets, weight):
        one_hot, root = F.one_hot(tokens, len(weight)).float(), weight.shape[1] ** 0.5
        states = root * one_hot @ weight
        wrong = (states @ weight.T).softmax(-1) - F.one_hot(targets, len(weight))
        return (root * one_hot.T @ wrong @ weight + wrong.T @ states) / len(tokens)

    assert checks.gradient(by_products)


def test_an_embedding_made_inside_is_told_from_the_given_matrix():
    def own(tokens, weight):
        rows = torch.nn.Embedding(*weight.shape)(tokens)
        return (rows * weight.shape[1] ** 0.5 @ weight.T).softmax(-1)

    assert checks.without_layers(own).mistake == "a matrix of its own"


def test_a_measured_standard_deviation_is_told_from_a_derived_one():
    def measured(d_model, weight_std):
        states, matrix = torch.randn(500, d_model), weight_std * torch.randn(d_model, 100)
        return (states @ matrix).std()

    assert checks.logit_std(measured).mistake == "a sample"


def test_a_mean_over_the_words_is_named():
    def mean_word(tokens, weight):
        rows = weight[tokens] * weight.shape[1] ** 0.5
        return (rows.mean(-2) @ weight.T).softmax(-1)

    assert checks.without_layers(mean_word).mistake == "one result for several words"
