"""The figures of chapter 11 draw the pieces, the padding and the shift that the package makes."""

import pytest
from chart_specs import all_rows, inputs, rows, spec, views

from transformer.data.batching import collate
from transformer.data.bpe import encode, learn_merges, merge_ranks
from walkthrough.ch11_subwords_and_batches.figures.batch_layout import batch_grid, prediction_steps
from walkthrough.ch11_subwords_and_batches.figures.padding import padding_map
from walkthrough.ch11_subwords_and_batches.figures.subwords import joined_at, merge_slider
from walkthrough.drawing import style

TEXT = ["Jane visits Africa", "Jane visited Peru", "Paul visits Peru", "Paul waits"] * 2
MERGES = learn_merges(TEXT, 18)
BATCH = collate([([10, 11, 12, 13], [20, 21]), ([14], [22, 23, 24])])


def pieces(ids):
    return [f"t{number}" for number in ids]


def test_a_character_is_tied_as_soon_as_and_as_long_as_the_package_ties_it():
    line = "Jane visits Peru again"
    tied = joined_at(line, MERGES)
    for known in range(len(MERGES) + 1):
        parts = encode(line, merge_ranks(MERGES[:known]))
        starts = [sum(map(len, parts[:number])) for number in range(len(parts))]
        assert [at for at in range(len(line) + 1) if tied[at] > known] == starts


def test_words_are_never_tied_to_each_other():
    line = "Jane visits Peru"
    tied = joined_at(line, MERGES)
    assert [tied[at] for at, c in enumerate(" " + line) if c == " "] == [len(MERGES) + 1] * 3


def test_the_slider_runs_over_all_merges_and_names_each():
    chart = merge_slider(MERGES, ["Jane visits Peru"], value=3)
    found = inputs(chart)["known"]
    assert (found["min"], found["max"]) == (0, len(MERGES))
    said = {row["number"]: row["words"] for row in all_rows(chart) if "number" in row}
    assert sorted(said) == list(range(len(MERGES) + 1))
    assert said[1] == "Merge 1: ▁ + P → ▁P"
    assert "subwords at the end" in spec(chart)["description"]
    assert style.kilobytes(chart) < 40


@pytest.mark.parametrize(
    ("merges", "lines", "value"), [([], ["a"], 0), (MERGES, [], 0), (MERGES, ["a"], 99)]
)
def test_a_slider_without_sense_is_refused(merges, lines, value):
    with pytest.raises(ValueError, match="merges"):
        merge_slider(merges, lines, value=value)


def drawn(chart):
    """The rows of the padding map by the name of the grouping."""
    return {row["grouping"]: row for row in rows(next(views(spec(chart))))}


def test_a_batch_is_padded_to_its_own_longest_or_to_the_fixed_length():
    chart = padding_map(
        [3, 9, 4], {"own": [[0, 1], [2]], "fixed": [[0, 1], [2]]}, fixed={"fixed": 5}
    )
    own, fixed = drawn(chart)["own"], drawn(chart)["fixed"]
    assert (own["real"], own["padded"]) == ([3, 9, 4], [9, 9, 4])
    assert own["words"] == "27% padding, 2 batches"
    assert (fixed["real"], fixed["padded"], fixed["whole"]) == ([3, 5, 4], [5, 5, 5], [5, 9, 5])
    assert fixed["words"] == "20% padding, 2 batches, 25% of the tokens cut off"
    assert own["place"][1] - own["place"][0] < own["place"][2] - own["place"][1]


def test_groupings_that_lose_sentences_are_refused():
    with pytest.raises(ValueError, match="each of the 3 sentences once"):
        padding_map([3, 9, 4], {"own": [[0, 1]]})
    with pytest.raises(ValueError, match="must name strategies"):
        padding_map([3], {"own": [[0]]}, fixed={"other": 4})
    with pytest.raises(ValueError, match=r"every batch needs a sentence; .* have \[1, 0\]"):
        padding_map([3], {"own": [[0], []]})


def test_the_axis_reaches_a_fixed_length_beyond_the_longest_sentence():
    chart = padding_map([3], {"own": [[0]]}, fixed={"own": 8})
    assert next(views(spec(chart)))["encoding"]["x"]["scale"]["domain"] == [0, 8]


def test_the_grid_holds_every_cell_with_its_four_meanings():
    found = all_rows(batch_grid(BATCH, pieces))
    cells = {(row["row"], row["position"]): row for row in found if "position" in row}
    assert len(cells) == BATCH.source.numel() + 2 * BATCH.target_in.numel()
    assert cells["source 2", 1]["kind"] == "end"
    padding = cells["source 2", 3]
    assert (padding["ids"], padding["positions"], padding["padding mask"]) == (0, 3, "F")
    assert cells["reads 1", 0]["kind"] == "begin"
    assert cells["gold 1", 3]["counted in the loss"] == "F"
    assert cells["gold 1", 2]["counted in the loss"] == "T"
    assert cells["gold 1", 2]["padding mask"] == ""
    assert cells["source 1", 0]["counted in the loss"] == ""


def test_digits_fill_their_cells_on_a_phone():
    long = collate([(list(range(300, 313)), [996, 997])])
    whole = spec(batch_grid(long, pieces))
    sizes = [
        layer["mark"]["fontSize"] for layer in whole["layer"] if layer["mark"]["type"] == "text"
    ]
    assert min(sizes) >= 11
    assert 14 * whole["width"]["step"] <= 310
    assert min(sizes) * 0.56 * 3 < whole["width"]["step"]


def test_a_position_predicts_what_the_next_one_reads():
    found = all_rows(prediction_steps(BATCH, pieces))
    for sentence, length in ((1, 3), (2, 4)):
        cells = {
            (row["position"], row["column"]): row
            for row in found
            if row.get("sentence") == sentence and "column" in row
        }
        for position in range(length - 1):
            assert cells[position, 1]["token"] == cells[position + 1, 0]["token"]
        assert cells[0, 0]["kind"] == "begin"
        assert cells[length - 1, 1]["kind"] == "end"
    padded = {row["token"] for row in found if row.get("kind") == "padding"}
    assert padded == {"t0", "no loss"}


@pytest.mark.parametrize("chart", [batch_grid(BATCH, pieces), prediction_steps(BATCH, pieces)])
def test_batch_figures_fit_a_phone_and_say_what_they_show(chart):
    whole = spec(chart)
    width = whole["width"]
    columns = BATCH.source.shape[1]
    assert (width if isinstance(width, int) else width["step"] * columns) <= 300
    assert all(len(line) <= 46 for line in whole["title"])
    assert len(whole["description"]) > 40
