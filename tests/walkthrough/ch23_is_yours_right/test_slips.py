"""The slips of chapter 23 are in the file, and its figures show what the doctor said of them."""

import pytest
import torch

from walkthrough.ch23_is_yours_right import experiments, figures, slips


@pytest.mark.parametrize("slip", [one for one in slips.SLIPS if one != slips.NO_SLIP])
def test_each_slip_changes_the_file(slip):
    right = slips.text_of()
    for good, bad in slips.SLIPS[slip]:
        assert right.count(good) == 1
        assert bad in slips.text_of(slip)


def test_the_right_file_moves_only_what_it_may():
    model = slips.build(slips.text_of())
    assert experiments.moves(model).triu(1).max() < 1e-4
    assert experiments.padding_moves(model).max() < 1e-4
    assert experiments.report(slips.NO_SLIP).bugs == []


def test_a_report_is_shown_beside_what_moved():
    wide = "a triangle one place too wide"
    model = slips.build(slips.text_of(wide))
    moved = {wide: (experiments.moves(model), experiments.padding_moves(model))}
    scene = figures.reports({wide: experiments.report(wide)}, moved)
    assert "The future is seen" in scene.markup
    assert moved[wide][0].triu(3).max() < 1e-4 < moved[wide][0].triu(2).max()  # one a layer


def test_a_square_of_an_implementation_says_what_was_seen():
    row = {
        "repository": "a/<b>",
        "commit": "1234",
        "bugs": ["future"],
        "departures": ["ties"],
        "same": ["heads"],
    }
    scene = figures.implementations([row], ["future", "ties", "heads", "positions"])
    kinds = [f'class="{kind}"' for kind in ("bug", "departure", "same", "not-seen")]
    assert [scene.markup.count(kind) for kind in kinds] == [1, 1, 1, 1]
    assert "a/&lt;b&gt;" not in scene.description
    assert scene.description == "a/<b>: future"


def test_copying_is_measured_word_by_word():
    class Copier(torch.nn.Module):
        def forward(self, source, target):
            return torch.nn.functional.one_hot(source[:, : target.shape[1]], 60).float()

    assert experiments.copied(Copier()) == 100
