"""The figures of chapter 19 hold the numbers they show."""

from chart_specs import all_rows, inputs, spec

from walkthrough.ch19_what_the_heads_attend_to import figures


def test_a_map_by_seed_holds_every_choice_and_says_the_first():
    rows = [
        {"word": word, "seed": seed, "values": [share, 0.5]}
        for word, share in (("it", 0.25), ("makes", 0.75))
        for seed in (1, 2)
    ]
    chart = figures.by_seed(rows, ["1.1", "dist."], {"word": "word"}, title="Who?", unit="of 100")
    assert inputs(chart)["word"]["options"] == ["it", "makes"]
    assert [row["value"] for row in all_rows(chart)] == [[0.25, 0.5]] * 2 + [[0.75, 0.5]] * 2
    assert "For it, of 100: 1.1 25%; dist. 50%" in spec(chart)["description"]


def test_ticked_heads_are_bits_of_a_set():
    rows = [{"look": "the encoder", "seed": 1, "shares": [1.0, 0.9, 0.5, 0.0]}]
    chart = figures.sets_chart(rows, ["1.1", "1.2"], title="Which?", unit="right", closed=["1.2"])
    found = spec(chart)
    ticked = {p["name"]: p["value"] for p in found["params"] if p["name"].startswith("h")}
    assert ticked == {"h0": False, "h1": True}
    assert "datum.shares[(h0 ? 1 : 0) + (h1 ? 2 : 0)]" in str(found)
    assert "With 1.2 closed: 50%" in found["description"]


def test_trees_and_captions_are_said():
    f1 = {"english": {"untrained": [40.0, 41.0], "trained": [50.0, 52.0]}}
    drawn = figures.tree_chart(f1, {"english": 47.4}, title="Trees")
    assert "english: line 47.4, untrained 40.0 to 41.0, trained 50.0 to 52.0" in drawn.alt
    rows = [{"layer": "encoder 1", "one out": [0.1, 0.2], "one left": [0.5], "none left": [1.0]}]
    drawn = figures.captions_chart(rows, title="Fewer heads")
    assert "encoder 1: one out 0.1 to 0.2, one left 0.5 to 0.5, none left 1.0" in drawn.alt


def test_two_causes_are_bars_side_by_side_and_said():
    closed = {"encoder closed": [0.1, 0.9], "decoder closed": [0.8, 0.05]}
    drawn = figures.causes_chart(closed, title="Other causes")
    assert "encoder closed: 10, 90; decoder closed: 80, 5" in drawn.alt
    assert drawn.narrow  # a phone has its own
