"""The figures of chapter 11 draw the pieces, the padding and the shift that the package makes."""

import pytest
from chart_specs import all_rows, spec

from transformer.data.batching import collate
from transformer.data.bpe import learn_merges
from walkthrough.ch11_subwords_and_batches.figures.batch_layout import batch_grid
from walkthrough.ch11_subwords_and_batches.figures.subwords import live_merges, pieces_after

TEXT = ["Jane visits Africa", "Jane visited Peru", "Paul visits Peru", "Paul waits"] * 2
MERGES = learn_merges(TEXT, 18)
BATCH = collate([([10, 11, 12, 13], [20, 21]), ([14], [22, 23, 24])])


def pieces(ids):
    return [f"t{number}" for number in ids]


def test_the_slider_stops_where_it_is_told_and_says_each_merge():
    line = "Jane visits Peru again"
    shown = live_merges(MERGES, [line], [0, 1, len(MERGES)], first=1)
    n_starts = [len(pieces_after(MERGES[:n], line)) for n in (0, 1, len(MERGES))]
    assert n_starts[0] == len(line) + 1 > n_starts[2]
    for frame, n in enumerate(n_starts):
        assert shown.markup.count(f"--a{frame}:.32em") == n
        assert f">{n} pieces<" in shown.markup
    assert "Merge 1 joined <code>▁</code> and <code>P</code>" in shown.markup
    assert 'type="range"' in shown.markup
    with pytest.raises(ValueError, match="stops must be between 0 and"):
        live_merges(MERGES, [line], [99])


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


def test_the_grid_fits_a_phone_and_says_what_it_shows():
    whole = spec(batch_grid(BATCH, pieces))
    assert whole["width"]["step"] * BATCH.source.shape[1] <= 300
    assert all(len(line) <= 46 for line in whole["title"])
    assert len(whole["description"]) > 40
