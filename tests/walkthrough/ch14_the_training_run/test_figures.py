"""The training figures: what the legend, the table and the live display say is what happened."""

import pytest
import torch
from chart_specs import all_rows, spec, views

from walkthrough.ch14_the_training_run import figures
from walkthrough.drawing.style import CATEGORIES

RUNS = {
    "training": [(10, 5.0), (20, 2.5), (30, 1.234)],
    "validation": [(10, 5.5), (30, 1.5)],
}


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
    assert spec(page.shown[0])["title"] == ["A live loss that falls"]
    assert live.history["valid"] == [(5.0, 0.5)]
    assert capsys.readouterr() == ("", "")


def test_live_loss_does_not_redraw_at_every_update(page):
    with figures.LiveLoss(every=3600) as live:
        for update in range(1, 100):
            live.add(update, train=1.0)
        assert getattr(page, "n_updates", 0) == 0
    assert page.n_updates == 1


def test_live_loss_shows_what_there_is_when_training_stops(page):
    def train_until_interrupted():
        with figures.LiveLoss(every=3600) as live:
            live.add(1, train=2.0)
            live.add(2, train=1.0)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train_until_interrupted()
    assert {row["x"] for row in all_rows(page.shown[0])} == {1.0, 2.0}


def test_live_loss_without_points_shows_nothing(page):
    with figures.LiveLoss():
        pass
    assert page.shown == []


def test_table_says_which_translations_are_exact():
    page = figures.translations_table(
        ["Jane rit", "Jane dort", "oui"],
        ["Jane laughs", "Jane sleeps", "yes"],
        ["Jane laughs", "<unk> sleeps", "yes"],
    )._repr_html_()
    assert "2 of 3 are exact" in page
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
    assert "nothing<br>reference: <b>no</b>" in empty


def test_table_needs_lists_of_equal_length():
    with pytest.raises(ValueError, match="got 2, 2 and 1"):
        figures.translations_table(["a", "b"], ["a", "b"], ["a"])


def test_head_scores_name_the_best_head_and_the_baseline():
    errors = torch.tensor([[0.9, 0.8], [0.7, 0.125]])
    chart = figures.head_scores(errors, baselines={"diagonal": 0.45})
    points = {
        (row["layer"], row["head"]): row["error"] for row in all_rows(chart) if "layer" in row
    }
    assert points == {(1, 1): 0.9, (1, 2): 0.8, (2, 1): 0.7, (2, 2): 0.125}
    assert {"name": "diagonal", "error": 0.45} in all_rows(chart)
    assert "layer 2 head 2, has an error of 0.12" in spec(chart)["description"]
    assert "diagonal: 0.45" in spec(chart)["description"]


def test_head_scores_of_several_seeds_keep_their_names():
    seeds = {f"seed {n}": torch.full((1, 2), n / 10) for n in range(3)}
    chart = figures.head_scores(seeds)
    assert {row["run"] for row in all_rows(chart)} == set(seeds)
    view = next(iter(views(spec(chart))))
    assert view["encoding"]["color"]["scale"]["range"] == CATEGORIES[:3]
    assert view["encoding"]["shape"]["field"] == "run"
    with pytest.raises(ValueError, match="at least one table of errors; got none"):
        figures.head_scores({})
