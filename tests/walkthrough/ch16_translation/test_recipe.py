"""Chapter 16's hour: how each row decodes was chosen on validation, and what a run cost."""

import pytest
import torch
from chart_specs import all_rows, inputs

from walkthrough.ch16_translation.experiments import protocol, recipe
from walkthrough.ch16_translation.figures import caption_viewer, seed_picture
from walkthrough.lab import Job, Key, Measure, Outcome, Trained
from walkthrough.lab.runner import joined

FIRST = [e.frame().query("seed == 1") for e in (recipe.EXPERIMENT, recipe.BACK)]


@pytest.mark.parametrize("run", [run for frame in FIRST for _, run in frame.iterrows()])
def test_a_row_decodes_as_the_validation_captions_chose_or_as_the_paper_prints(run):
    found = {one: run[f"val/{one.name}/bleu"] for one in recipe.TRIED}
    best = max(found, key=found.get)
    if run["arm"] == "the paper's":
        assert run["decoding"] not in recipe.TRIED
    else:
        assert run["decoding"] == best
        assert run["val/chosen/bleu"] == found[best]
        assert best.alpha not in (0, 2.6)  # the edges of what was tried
        assert best.average != 30


def test_figures_have_one_name_in_every_arm_however_it_decodes(monkeypatch):
    def evaluated(split, decodings, *, scores):
        names = [f"{split}/{one.name}/{score}" for one in decodings for score in scores]
        found = Outcome(figures=dict.fromkeys(names, 1.0), counts={names[0]: [[1]]})
        return Measure((), lambda job, trained: found)

    monkeypatch.setattr(recipe, "evaluated", evaluated)
    e = recipe.EXPERIMENT
    for arm in e.arms:
        job = Job(e, arm, Key(arm.name, 1.0, 6000, 1), data=False)
        found = joined(one.of(job, Trained(model=None)) for one in (*e.measures, *e.tests))
        wanted = {*e.figures(1), *(figure for test in e.tests for figure in test.figures)}
        assert wanted <= set(found.figures)
        n_tried = sum(name.startswith("val/beam5-") for name in found.figures)
        assert n_tried == (0 if arm.name == "the paper's" else 35)
        assert {name.split("/")[1] for name in found.counts} == {"chosen", "greedy"}


def test_the_table_has_a_line_an_arm_and_split_with_range_and_length():
    lines = protocol.score_table(recipe.EXPERIMENT.frame(), recipe.TESTS, "chosen").splitlines()
    assert [" ".join(line.split()) for line in lines[:3]] == [
        "BLEU length chrF",
        "our recipe 2016 40.00 (39.95–40.07) 1.028 65.2",
        "2017 31.07 (30.82–31.22) 1.047 60.3",
    ]
    assert len(lines) == 10


def test_costs_are_means_over_the_runs_of_a_row_and_hardly_depend_on_the_length():
    frame = recipe.EXPERIMENT.frame()
    ours, *_ = recipe.costs(frame, base=1e18).to_dict("records")
    assert ours["FLOPs"] * ours["base"] == pytest.approx(1e18)
    long, *_ = recipe.costs(frame, base=1e18, length=20).to_dict("records")
    assert long["FLOPs"] == pytest.approx(ours["FLOPs"], rel=0.05)
    one, *_ = recipe.costs(frame.assign(passes=1), base=1e18).to_dict("records")
    assert ours["FLOPs"] == 2 * one["FLOPs"]


def test_the_picture_of_seeds_says_every_score():
    picture = seed_picture({"our recipe": [40.0, 41.0]}, {"published": 41.02})
    assert "our recipe: 40.00, 41.00" in picture.alt
    assert "published 41.02" in picture.alt
    with pytest.raises(ValueError, match="at least one row"):
        seed_picture({}, {})


def test_a_caption_is_chosen_by_a_menu_and_small_weights_stay_open():
    sentence = {
        "english": "two dogs sleep under the table .",
        "read": ["two", "dogs", "⟨end⟩"],
        "written": ["zwei", "⟨end⟩"],
        "attention": torch.tensor([[[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]] * 4).tolist(),
    }
    chart = caption_viewer([sentence, {**sentence, "english": "a man"}])
    menu = inputs(chart)["kind"]
    assert (menu["options"], menu["name"]) == (["1 two dogs sleep under …", "2 a man"], "caption ")
    maps = [row["weight"] for row in all_rows(chart) if "weight" in row]
    assert maps
    assert all(weight is not None for rows in maps for row in rows for weight in row)
    with pytest.raises(ValueError, match="at least one, got none"):
        caption_viewer([])
