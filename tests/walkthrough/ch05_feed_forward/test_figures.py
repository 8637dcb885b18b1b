"""The figures of chapter 05 hold the numbers they show, and refuse what they cannot draw."""

import re

import pytest
import torch
from chart_specs import all_rows, inputs, spec, views

from transformer.analysis.cost import forward_flops
from transformer.config import TransformerConfig
from walkthrough.ch05_feed_forward import figures

X = torch.linspace(0, 1, 5)


def through(x, w1, b1, w2):
    given = (torch.tensor(numbers) for numbers in (x, w1, b1, w2))
    x, w1, b1, w2 = given
    return figures.through_units(
        ["Jane", "<i>"], ["person", "place", "goal"], x, ["both"], w1, b1, w2, first=0
    )


def test_one_word_wakes_a_unit_that_writes_and_the_other_does_not():
    scene = through(
        [[1.0, 1.0, 0.0], [1.0, 0.0, 0.0]],
        [[1.0], [-1.0], [0.0]],
        [1.0],
        [[0.0, 0.0, 1.0]],
    )
    said = "Jane holds person, place. Awake: “both”. It writes goal. &lt;i&gt; holds person."
    assert scene.description.startswith(said)
    markup = scene._repr_html_()
    sums = re.findall(r'<span class="num at at-(\d)[^"]*">([^<]+)</span>', markup)
    assert dict(sums[:2]) == {"0": "1 − 1 + 1 = 1 → 1", "1": "1 + 1 = 2 → 2"}
    edges = re.findall(r'<path class="edge([^"]*)"[^>]*dasharray="([^"]+)"', markup)
    assert edges == [(" on-0 on-1", "none"), (" on-0", "5,4"), (" on-0 on-1", "none")]


def test_a_word_that_no_unit_asks_about_is_told_so():
    scene = through([[1.0, 0, 0], [0, 1.0, 0]], [[1.0], [0], [0]], [-1.0], [[0, 0, 1.0]])
    assert scene.description.count("No unit wakes, and nothing is written.") == 2
    assert "1 − 1 = 0 → 0" in scene._repr_html_()


def test_bends_are_drawn_with_their_errors():
    fits = {1: X * 0, 2: X * 2}
    chart = figures.bends_explorer(X, X * 2, fits, start=2)
    drawn = {row["units"]: row for row in all_rows(chart) if "units" in row}
    assert drawn[1]["error"] == 2.0
    assert drawn[2]["y"] == [0.0, 0.5, 1.0, 1.5, 2.0]
    assert inputs(chart)["n_units"]["max"] == 2
    assert "1: 2.00, 2: 0.00" in spec(chart)["description"]


def test_the_axis_stays_when_the_slider_moves_and_the_lines_have_names():
    chart = figures.bends_explorer(X, 2 * X, {1: 4 * X, 2: -X})
    lines = [view for view in views(spec(chart)) if view["mark"]["type"] == "line"]
    for line in lines:
        y, colour = line["encoding"]["y"], line["encoding"]["color"]
        assert y["scale"]["domain"] == [-float(X.max()), 4 * float(X.max())]
        assert colour["scale"]["domain"] == ["the network", "the curve"]


@pytest.mark.parametrize(
    ("fits", "words"),
    [({}, "widths 1, 2, 3"), ({2: X}, "widths 1, 2, 3"), ({1: X[:3]}, "3 values for 5 points")],
)
def test_fits_that_do_not_belong_to_the_slider_are_refused(as_users_run_it, fits, words):
    with pytest.raises(ValueError, match=words):
        figures.bends_explorer(X, X, fits)


@pytest.mark.parametrize("config", [TransformerConfig.base(), TransformerConfig.tiny(100)])
@pytest.mark.parametrize("length", [1, 30, 2000])
def test_the_parts_of_the_whole_model_add_up_to_the_packages_count(config, length):
    parts = figures.flops_by_part(config, length)
    whole = forward_flops(config, source_len=length, target_len=length)
    assert sum(parts.values()) == whole.total
    assert parts["feed-forward"] == whole.encoder_feed_forward + whole.decoder_feed_forward
    assert parts["vocabulary"] == whole.projection


def test_the_explorer_offers_models_and_scopes():
    models = {"base": TransformerConfig.base(), "tiny": TransformerConfig.tiny(514)}
    chart = figures.flops_explorer(models, lengths=(4, 8))
    assert inputs(chart)["model"]["options"] == ["base", "tiny"]
    assert inputs(chart)["scope"]["options"] == [figures.LAYER, figures.WHOLE]
    assert len(all_rows(chart)) == 2 * 2 * 2 * 4
    assert "base: 67% at 4 words" in spec(chart)["description"]


def test_an_unknown_scope_and_an_empty_choice_are_refused():
    with pytest.raises(ValueError, match="scope must be 'whole model' or"):
        figures.flops_by_part(TransformerConfig.base(), 5, scope="decoder")
    with pytest.raises(ValueError, match="models and lengths"):
        figures.flops_explorer({})


def test_what_is_missed_is_drawn_by_width_and_the_longest_run_comes_first():
    runs = [
        {"bend": bend, "width": width, "length": length, "seed": 1, "missed": 1 / width / length}
        for bend in ("none", "ReLU")
        for width in (7, 28)
        for length in (1, 2)
    ]
    chart = figures.missed_chart(runs)
    assert inputs(chart)["updates"]["options"] == [2, 1]
    assert all_rows(chart) == [*runs, *runs] or all_rows(chart) == runs
    assert "Means after 2 updates: none 7: 7.14%" in spec(chart)["description"]
