"""The training figures: what the legend, the table and the live display say is what happened."""

import pytest
import torch
from chart_specs import all_rows

from walkthrough.ch14_the_training_run import figures


class Display:
    """Stands in for IPython's display: remembers what a page would show."""

    def __init__(self):
        self.shown = []

    def __call__(self, chart, display_id):
        assert display_id is True
        self.shown.append(chart)
        return self

    def update(self, chart):
        self.shown[-1] = chart
        self.n_updates = getattr(self, "n_updates", 0) + 1


@pytest.fixture
def page(monkeypatch):
    page = Display()
    monkeypatch.setattr(figures, "display", page)
    return page


def test_live_loss_leaves_one_figure_with_every_point(page, capsys):
    with figures.LiveLoss(every=0, title="A live loss that falls") as live:
        for update in range(1, 6):
            live.add(update, train=1 / update)
        live.add(5, valid=0.5)
    assert len(page.shown) == 1
    assert page.n_updates == 6
    assert len([row for row in all_rows(page.shown[0]) if row["series"].startswith("train")]) == 5
    assert live.history["valid"] == [(5.0, 0.5)]
    assert capsys.readouterr() == ("", "")


def test_live_loss_shows_what_there_is_when_training_stops(page):
    def train_until_interrupted():
        with figures.LiveLoss(title="", every=3600) as live:
            live.add(1, train=2.0)
            live.add(2, train=1.0)
            assert not hasattr(page, "n_updates")  # it waits between two drawings
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train_until_interrupted()
    assert {row["x"] for row in all_rows(page.shown[0])} == {1.0, 2.0}


def test_live_loss_without_points_shows_nothing(page):
    with figures.LiveLoss(title=""):
        pass
    assert page.shown == []


def test_a_sentence_is_shown_as_it_is_learned():
    looks = [
        {"update": 0, "alone": "no " * 40, "sure": [0.0, 0.1, 0.2]},
        {"update": 9, "alone": "Jane sells.", "sure": [0.9, 0.4, 0.8]},
    ]
    losses = [(n, 5 - n / 2) for n in range(1, 10)]
    shown = figures.learning(looks, losses, "Jane vend.", ["Jane", "buys"], first=1)
    assert "“no no no no no no no no no …” and gives the right next word 10 %" in repr(shown)
    assert "<u>Jane</u> sells." in shown.markup
    assert "--a0:20%;--a1:80%" in shown.markup
    assert shown.markup.count("<b>") == 3  # two words and the end


def test_table_says_which_translations_are_exact():
    page = figures.translations_table(
        ["Jane rit", "Jane dort", "oui"],
        ["Jane laughs", "Jane sleeps", "yes"],
        ["Jane laughs", "<unk> sleeps", "yes"],
    )._repr_html_()
    rows = page.split("<tr>")[2:]
    assert [">✓ " in row for row in rows] == [True, False, True]
    assert [">✗ " in row for row in rows] == [False, True, False]
    assert "<b>&lt;unk&gt;</b> sleeps" in page
    assert "row_heading" not in page
    for name in figures.TRANSLATION_COLUMNS:
        assert f">{name}</th>" in page


def test_table_sets_the_reference_under_an_output_that_is_not_exact():
    page = figures.translations_table(
        ["Jane ne vend rien", "oui", "non"],
        ["Jane does not sell it", "yes", "no"],
        ["Jane does not sells it", "yes", ""],
    )._repr_html_()
    wrong, right, empty = page.split("<tr>")[2:]
    assert "Jane does not <b>sells</b> it<br>reference: Jane does not <b>sell</b> it" in wrong
    assert "reference" not in right
    assert "(empty output)<br>reference: <b>no</b>" in empty


def test_every_seed_has_a_mark_for_each_head():
    seeds = {f"seed {n}": torch.full((2, 4), n / 10) for n in range(3)}
    shown = figures.head_errors(seeds, 0.4, alt="three seeds")._repr_html_()
    assert all(seed in shown for seed in seeds)
    assert "layer 2" in shown
