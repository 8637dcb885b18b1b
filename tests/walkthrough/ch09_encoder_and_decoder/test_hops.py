"""The task that needs depth: what following means, and that training can fail and succeed."""

import pytest
import torch

from walkthrough.ch09_encoder_and_decoder.experiments import hops


def test_following_reads_where_the_pointer_leads():
    pointers = torch.tensor([[3, 0, 7, 6, 4, 2, 1, 5]])
    assert hops.follow(pointers, 0).tolist() == pointers.tolist()
    for times in (1, 2, 3):
        expected = []
        for place in range(8):
            for _ in range(times + 1):
                place = pointers[0, place].item()
            expected.append(place)
        assert hops.follow(pointers, times)[0].tolist() == expected


def test_following_is_not_going_back():
    with pytest.raises(ValueError, match="got -1"):
        hops.follow(torch.zeros(1, 8, dtype=torch.long), -1)


def test_a_reader_learns_to_follow_once_and_an_untrained_one_cannot():
    trained = hops.right_answers(hops.train(1, updates=80))[1]
    untrained = hops.right_answers(hops.train(1, updates=1))[1]
    assert trained > 0.6
    assert untrained < 0.35


def test_the_same_seed_gives_the_same_reader():
    one, same, other = (hops.train(1, seed=seed, updates=3) for seed in (0, 0, 1))
    pointers = hops.sequences(4, torch.Generator().manual_seed(0))
    with torch.no_grad():
        assert torch.equal(one(pointers), same(pointers))
        assert not torch.allclose(one(pointers), other(pointers))


def test_training_works_where_a_page_has_switched_gradients_off():
    with torch.no_grad():
        hops.train(1, updates=2)


def test_the_best_reader_with_one_look_is_that_of_the_enumeration():
    back = 1 / 8 + 7 / 8 * 2 / 8  # the walk has come back to a place that was seen
    assert hops.best_with_one_look(1) == pytest.approx(1.0)
    assert hops.best_with_one_look(2) == pytest.approx(back + (1 - back) / 8, abs=0.01)
    third = 2 / 8 + 5 / 64  # the place after a new one: most often the one just seen
    assert hops.best_with_one_look(3) == pytest.approx(back + (1 - back) * third, abs=0.01)


def test_sequences_without_circles_point_to_each_place_once():
    class Asked(hops.PointerReader):
        def forward(self, pointers):
            assert pointers.sort(-1).values.eq(torch.arange(8)).all()
            return torch.nn.functional.one_hot(hops.answers(pointers), 8).float()

    assert hops.right_answers(Asked(1), n=50, circles=False) == {1: 1.0, 2: 1.0, 3: 1.0}


def test_where_a_reader_looks_is_a_share_of_all_places():
    pointers = hops.sequences(1, torch.Generator().manual_seed(0))
    weights = hops.looks(hops.PointerReader(2).eval(), pointers)
    assert weights.shape == (2, 8, 8)
    assert torch.allclose(weights.sum(-1), torch.ones(2, 8))
