"""Chapter 16 reads its experiment off the record: rows, seeds, what is compared, what it cost."""

import pytest
import torch
from chart_specs import all_rows, inputs

from walkthrough.ch16_translation.experiments import recipe, recorded_runs
from walkthrough.ch16_translation.experiments.intervals import sentence_counts
from walkthrough.ch16_translation.figures import caption_viewer, seed_picture

CHOSEN = {
    "recipe": {"beam": 5, "alpha": 1.4, "average": 10},
    "paper": {"beam": 4, "alpha": 0.6, "average": 5},
}
SPLITS = ("val", *recipe.TESTS)
BLEU = {"recipe-2": 41.0, "recipe-1": 40.0, "paper-1": 36.5}
REFERENCES = ["a dog runs over the green grass .", "two men in red shirts look at it ."] * 20
LINES = {
    "recipe-1": REFERENCES,
    "recipe-2": REFERENCES,
    "paper-1": [line.replace("grass", "snow") for line in REFERENCES],
}


def one_run(run, name, bleu):
    row, _, seed = name.rpartition("-")
    asked = CHOSEN[row]
    tried = [
        {**asked, "split": "val", "alpha": 0.0, "bleu": 1.0},
        *({**asked, "split": split, "bleu": bleu + place} for place, split in enumerate(SPLITS)),
        {**asked, "split": "val", "beam": 1, "bleu": bleu - 1},
    ]
    counts = {recipe.FLICKR_2016: sentence_counts(LINES[name], REFERENCES).tolist()}
    lengths = {"hypothesis_len": 102, "reference_len": 100}
    tried = [{**one, **lengths} for one in tried]
    return {**run(name=name, seed=int(seed)), "evaluation": tried, "counts": counts}


@pytest.fixture
def record(run):
    return {
        "decoding": CHOSEN,
        "runs": [one_run(run, name, bleu) for name, bleu in BLEU.items()],
    }


def test_rows_come_in_their_order_with_the_seeds_in_theirs(record):
    assert list(recipe.rows_in(record)) == ["recipe", "paper"]
    assert [run["name"] for run in recipe.runs_of(record, "recipe")] == ["recipe-1", "recipe-2"]
    with pytest.raises(ValueError, match="no run of 'back'"):
        recipe.runs_of(record, "back")


def test_seeds_of_another_record_join_their_rows(record, run):
    record |= {"looks": 9, "differences": [1]}
    more = {"looks": 3, "runs": [{**one_run(run, "paper-1", 37.5), "name": "paper-2", "seed": 2}]}
    both = recipe.joined(record, more)
    assert both["looks"] == 12
    assert recipe.scores(both, "paper", "val").bleu == (36.5, 37.5)
    assert recipe.scores(both, "recipe", "val") == recipe.scores(record, "recipe", "val")
    assert "differences" not in both  # they know nothing of the new runs
    assert recipe.scores(record, "paper", "val").bleu == (36.5,)
    more["runs"][0]["evaluation"][1]["alpha"] = 1.0
    with pytest.raises(ValueError, match="paper-2 was not scored with"):
        recipe.scores(recipe.joined(record, more), "paper", "val")
    with pytest.raises(ValueError, match="stand in both records: paper-2"):
        recipe.joined(both, more)


def test_a_score_is_that_of_the_decoding_that_was_chosen(record):
    found = recipe.scores(record, "recipe", "val")
    assert (found.bleu, found.mean, str(found)) == ((40.0, 41.0), 40.5, "40.50 (40.00–41.00)")
    assert recipe.scores(record, "recipe", "val", beam=1).bleu == (39.0, 40.0)
    assert str(recipe.scores(record, "paper", "val")) == "36.50"
    with pytest.raises(ValueError, match=r"recipe-1 was not scored with .*'beam': 3"):
        recipe.scores(record, "recipe", "val", beam=3)


def test_the_table_has_a_line_a_split_with_seeds_and_lengths(record):
    lines = recipe.score_table(record, {"val": "validation", recipe.FLICKR_2016: "2016"})
    assert [" ".join(line.split()) for line in lines.splitlines()] == [
        "seeds BLEU length",
        "our recipe 2 validation 40.50 (40.00–41.00) 1.020",
        "2016 41.50 (41.00–42.00) 1.020",
        "the paper's 1 validation 36.50 1.020",
        "2016 37.50 1.020",
    ]


def test_the_other_direction_has_a_score_and_stands_in_no_comparison(record):
    before = recipe.score_table(record, recipe.TESTS)
    record["runs"].append({**record["runs"][0], "name": "back-1"})
    record["decoding"] = {**CHOSEN, recipe.BACK: CHOSEN["recipe"]}
    assert recipe.scores(record, recipe.BACK, "val").bleu == (41.0,)
    assert recipe.score_table(record, recipe.TESTS) == before


def test_costs_are_means_over_the_runs_of_a_row(record):
    ours, paper = recipe.cost_rows(record, base=1e15)
    assert (ours["runs"], paper["runs"], ours["minutes"]) == (2, 1, 2.5)
    assert ours["FLOPs"] == recorded_runs.run_flops(record["runs"][0])
    assert ours["FLOPs"] * ours["base"] == pytest.approx(1e15)


# Figures -----------------------------------------------------------------------------------------


def test_the_picture_of_seeds_says_every_score(record):
    rows = {
        words: recipe.scores(record, row, "val").bleu
        for row, words in recipe.ROWS.items()
        if row in CHOSEN
    }
    picture = seed_picture(rows, {"published": 41.02})
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
