"""The checks of chapter 21 accept what is right and name what is wrong."""

import pytest
import torch
from soundness import assert_check_is_sound

from transformer.config import BOS_ID, EOS_ID
from walkthrough.ch21_translate_in_your_browser import checks

ALL = [checks.multiplications, checks.names_of, checks.greedy]


@pytest.mark.parametrize("check", ALL, ids=lambda check: check.name)
def test_check_names_every_mistake_it_lists(check):
    assert_check_is_sound(check)


def test_names_in_another_order_are_told():
    def names_of(matrix, tensors):
        return checks.names_of.reference(matrix, tensors)[::-1]

    assert "turned round" in checks.names_of(names_of).message


@pytest.mark.parametrize("seed", range(5))
def test_a_loop_that_draws_is_not_greedy(seed):
    def drawn(step, limit):
        generator = torch.Generator().manual_seed(seed)
        token, past, said = BOS_ID, None, []
        while len(said) < limit:
            logits, past = step(token, past)
            token = int(torch.multinomial(logits.softmax(-1), 1, generator=generator))
            if token == EOS_ID:
                break
            said.append(token)
        return said

    assert checks.greedy(drawn).status == "wrong"


def test_a_call_more_than_the_limit_is_refused():
    def greedy(step, limit):
        logits, past = step(BOS_ID, None)
        words = []
        while len(words) < limit and logits.argmax() != EOS_ID:
            words.append(int(logits.argmax()))
            logits, past = step(words[-1], past)
        return words

    assert "once more than `limit` allows" in checks.greedy(greedy).message


def test_a_matrix_with_its_signs_turned_is_another():
    def names_of(matrix, tensors):
        return checks.names_of.reference(matrix.abs(), {n: t.abs() for n, t in tensors.items()})

    assert checks.names_of(names_of).status == "wrong"
