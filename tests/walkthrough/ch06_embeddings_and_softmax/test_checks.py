"""The checks of chapter 06 accept what is right and name what is wrong."""

import pytest
import torch
import torch.nn.functional as F
from soundness import assert_check_is_sound

from transformer.embedding import TokenEmbedding
from walkthrough.ch06_embeddings_and_softmax import checks

ALL = [checks.without_layers, checks.is_tied, checks.gradient]


@pytest.mark.parametrize("check", ALL, ids=lambda check: check.name)
def test_check_names_every_mistake_it_lists(check):
    assert_check_is_sound(check)


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


def loss(model):
    return model.head(model.embedding(torch.arange(5))).square().sum() + model.head.weight.sum()


def test_a_tie_can_be_found_by_asking_an_optimiser():
    """Who trains a model changes it: each call has one of its own."""

    def by_a_step(model):
        before = model.head.weight.detach().clone()
        loss(model).backward()
        torch.optim.SGD(model.parameters(), lr=0.1).step()
        moved = before - 0.1 * model.head.weight.grad
        alike = torch.equal(model.embedding.weight, model.head.weight)
        return alike and torch.allclose(model.head.weight, moved)

    assert checks.is_tied(by_a_step)


def test_equal_numbers_after_a_step_do_not_tell_one_memory_from_a_tie():
    def by_a_step(model):
        loss(model).backward()
        torch.optim.SGD(model.parameters(), lr=0.1).step()
        return torch.equal(model.embedding.weight, model.head.weight)

    said = checks.is_tied(by_a_step).message
    assert "yes to two parameters over one memory" in said
    assert "so the matrix is moved twice" in said


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


def test_only_one_of_two_gradients_is_told_by_the_word_that_stands_twice():
    def overwritten(tokens, targets, weight):
        root = weight.shape[1] ** 0.5
        wrong = (root * weight[tokens] @ weight.T).softmax(-1) - F.one_hot(targets, len(weight))
        result = wrong.T @ (root * weight[tokens]) / len(tokens)
        result[tokens] += root * wrong @ weight / len(tokens)
        return result

    said = checks.gradient(overwritten).message
    assert (
        "wrong for “a sentence with one word twice”. `result[tokens] += …` keeps only one" in said
    )


@pytest.mark.parametrize(
    "wrong",
    [
        lambda tokens, weight: (5 * weight[tokens].sum(-2) @ weight.T).softmax(-1),
        lambda tokens, weight: F.one_hot((weight[tokens] @ weight.T).argmax(-1), len(weight)),
        lambda tokens, weight: torch.nn.Embedding(*weight.shape)(tokens).softmax(-1),
    ],
    ids=["a sum over the words", "one-hot of the best word", "a matrix of its own"],
)
def test_what_is_said_of_an_unforeseen_model_names_no_cause(wrong):
    verdict = checks.without_layers(wrong)
    assert verdict.status == "wrong"
    assert verdict.mistake is None
    assert "times the expected" not in verdict.message
    assert "do you use" not in verdict.message
