"""Models with one part broken: each differs from the whole one in that part alone."""

import pytest
import torch

from walkthrough.ch14_the_training_run import experiments


def test_patients_are_one_of_each():
    patients = experiments.patients()
    assert list(patients) == sorted(patients)
    assert len(patients) == len(experiments.PARTS) == 7
    source, target_in = experiments.two_sentences()
    for model in patients.values():
        assert model(source, target_in).shape == (2, 5, 60)


def test_the_second_sentence_is_padded():
    source, target_in = experiments.two_sentences()
    assert (source == 0).sum(dim=1).tolist() == [0, 2]
    assert target_in[:, 0].tolist() == [1, 1]


@pytest.mark.parametrize("part", experiments.PARTS)
def test_a_broken_part_shows_in_the_output(part):
    given = experiments.two_sentences()
    whole = experiments.broken_model("nothing", seed=3)(*given)
    broken = experiments.broken_model(part, seed=3)(*given)
    assert torch.allclose(whole, broken, atol=1e-4) == (part == "nothing")


def test_an_unknown_part_is_refused():
    with pytest.raises(ValueError, match=r"part must be among nothing, dropout.*; got 'norm'"):
        experiments.broken_model("norm", seed=0)
