"""Figures are tested on what they draw: the data, the axes and the selectors, not on pixels."""

import pytest
import torch
from chart_specs import all_rows, axis_titles, inputs, spec, views

from walkthrough.drawing import attention, style
from walkthrough.drawing.maps import KEYS, QUERIES

TOKENS = ["Jane", "visite", "l'", "Afrique", "."]
ENGLISH = ["<bos>", "Jane", "visits", "Africa"]


def weights(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed)).softmax(-1)


def test_heatmap_rows_are_queries_and_columns_are_keys():
    values = torch.tensor([[0.9, 0.1, 0.0], [0.25, 0.25, 0.5]])
    chart = attention.weights_heatmap(values, ["q1", "q2"], ["k1", "k2", "k3"])
    cells = {(row["query"], row["key"]): row["weight"] for row in all_rows(chart)}
    assert cells[("q2", "k3")] == 0.5
    assert cells[("q1", "k2")] == 0.1
    assert axis_titles(chart, "x") == {KEYS}
    assert axis_titles(chart, "y") == {QUERIES}
    for view in views(spec(chart)):
        assert view["encoding"]["x"]["field"] == "key"
        assert view["encoding"]["y"]["field"] == "query"


def test_tokens_keep_the_order_of_the_sentence():
    chart = attention.weights_heatmap(weights(3, 3), ["b", "c", "a"], ["b", "c", "a"])
    order = {row["query"]: row["row"] for row in all_rows(chart)}
    assert order == {"b": 0, "c": 1, "a": 2}
    for view in views(spec(chart)):
        assert view["encoding"]["y"]["sort"] == {"field": "row", "op": "min"}
        assert view["encoding"]["x"]["sort"] == {"field": "column", "op": "min"}


def test_heatmap_shows_closed_cells_as_closed_and_not_as_zero():
    allowed = torch.ones(5, 5, dtype=torch.bool).tril()
    closed = attention.weights_heatmap(weights(5, 5), TOKENS, TOKENS, attend_mask=allowed)
    states = {(row["row"], row["column"]): row["weight"] for row in all_rows(closed)}
    for (i, j), weight in states.items():
        assert (weight is None) == (j > i)
    assert "10 cells are closed" in spec(closed)["description"]
    rect = next(view for view in views(spec(closed)) if view["mark"]["type"] == "rect")
    assert rect["mark"]["invalid"] is None  # else Vega-Lite drops the grey cells


@pytest.mark.parametrize(("n", "printed"), [(5, True), (12, False)])
def test_values_are_printed_when_there_is_room(n, printed):
    tokens = [f"t{i}" for i in range(n)]
    marks = [view["mark"]["type"] for view in views(spec(heatmap(tokens)))]
    assert ("text" in marks) == printed


def heatmap(tokens):
    return attention.weights_heatmap(weights(len(tokens), len(tokens)), tokens, tokens)


def test_alt_text_of_a_map_names_its_largest_weight():
    values = torch.full((5, 5), 0.05)
    values[1, 3] = 0.8
    text = spec(attention.weights_heatmap(values, TOKENS, TOKENS))["description"]
    assert "0.80, goes from visite to Afrique" in text


@pytest.mark.parametrize("figure", [attention.weights_heatmap, attention.attention_viewer])
def test_maps_that_do_not_fit_their_tokens_are_refused(figure):
    shape = (5, 4) if figure is attention.weights_heatmap else (2, 2, 5, 4)
    with pytest.raises(ValueError, match=r"expected \(5, 5\), got \(5, 4\)"):
        figure(weights(*shape), TOKENS, TOKENS)


def all_kinds(n_layers=2, n_heads=4):
    n, m = len(TOKENS), len(ENGLISH)
    causal = torch.ones(m, m, dtype=torch.bool).tril()
    decoder = weights(n_layers, n_heads, m, m).masked_fill(~causal, 0.0)
    maps = {
        attention.ENCODER: weights(n_layers, n_heads, n, n),
        attention.DECODER: decoder,
        attention.CROSS: weights(n_layers, n_heads, m, n),
    }
    kinds = (attention.ENCODER, attention.DECODER, attention.CROSS)
    queries = dict(zip(kinds, (TOKENS, ENGLISH, ENGLISH), strict=True))
    keys = dict(zip(kinds, (TOKENS, ENGLISH, TOKENS), strict=True))
    return maps, queries, keys


def test_viewer_holds_every_map_of_every_kind():
    maps, queries, keys = all_kinds()
    rows = [
        row for row in all_rows(attention.attention_viewer(maps, queries, keys)) if "layer" in row
    ]
    assert len(rows) == 3 * 2 * (4 + 1)
    for row in rows:
        shown = torch.tensor([[0.0 if w is None else w for w in line] for line in row["weight"]])
        layer = maps[row["kind"]][row["layer"] - 1]
        wanted = layer.mean(0) if row["head"] == "mean" else layer[row["head"] - 1]
        torch.testing.assert_close(shown, wanted, atol=5.1e-4, rtol=0)


def test_viewer_has_a_selector_for_kind_layer_and_head():
    maps, queries, keys = all_kinds()
    found = inputs(attention.attention_viewer(maps, queries, keys))
    assert found["kind"]["options"] == list(maps)
    assert found["layer"]["options"] == [1, 2]
    assert found["head"]["options"] == [1, 2, 3, 4, "mean"]
    assert {item["input"] for item in found.values()} == {"select"}
    one_kind = attention.attention_viewer(weights(2, 4, 5, 5), TOKENS, TOKENS)
    assert "kind" not in inputs(one_kind)


def test_viewer_greys_what_no_head_may_see():
    maps, queries, keys = all_kinds()
    for row in all_rows(attention.attention_viewer(maps, queries, keys)):
        if row.get("layer"):
            for i, line in enumerate(row["weight"]):
                for j, weight in enumerate(line):
                    future = row["kind"] == attention.DECODER and j > i
                    assert (weight is None) == future


def test_viewer_outlines_gold_pairs_of_their_kind():
    maps, queries, keys = all_kinds()
    gold = {attention.CROSS: [(0, 0), (2, 3)]}
    labels = lookup(attention.attention_viewer(maps, queries, keys, gold=gold))
    assert labels[attention.CROSS]["outlined"][2] == [0, 0, 0, 1, 0]
    assert sum(map(sum, labels[attention.CROSS]["outlined"])) == 2
    assert not any(map(any, labels[attention.ENCODER]["outlined"]))


def lookup(chart):
    whole = spec(chart)
    for view in views(whole):
        for transform in view["transform"]:
            if "lookup" in transform:
                return {row["kind"]: row for row in transform["from"]["data"]["values"]}
    raise AssertionError("the viewer looks no labels up")


def test_viewer_of_the_base_model_stays_small():
    tokens = [f"word{i}" for i in range(12)]
    maps = {kind: weights(6, 8, 12, 12) for kind in all_kinds()[0]}
    names = dict.fromkeys(maps, tokens)
    assert style.kilobytes(attention.attention_viewer(maps, names, names)) < 200


def test_viewer_needs_tokens_for_every_kind():
    maps, queries, keys = all_kinds()
    del keys[attention.CROSS]
    with pytest.raises(ValueError, match="need the same kinds"):
        attention.attention_viewer(maps, queries, keys)


def test_viewer_refuses_flat_maps_and_gold_pairs_outside(as_users_run_it):
    names = ["a", "b"]
    with pytest.raises(ValueError, match=r"shape \(layers, heads.* has \(1, 2, 2\)"):
        attention.attention_viewer(weights(1, 2, 2), names, names)
    with pytest.raises(ValueError, match=r"inside its map of \(2, 2\), got \(0, 2\)"):
        attention.attention_viewer(weights(1, 1, 2, 2), names, names, gold=[(0, 2)])
    with pytest.raises(ValueError, match=r"got \['x'\] for maps of \['encoder self-attention'\]"):
        attention.attention_viewer(weights(1, 1, 2, 2), names, names, gold={"x": [(0, 0)]})


def test_heatmap_refuses_a_mask_of_another_shape(as_users_run_it):
    closed = torch.ones(2, 3, dtype=torch.bool)
    with pytest.raises(ValueError, match=r"expected \(2, 2\), got \(2, 3\)"):
        attention.weights_heatmap(weights(2, 2), ["a", "b"], ["a", "b"], attend_mask=closed)


def test_decoder_rows_are_named_by_the_word_they_predict():
    assert attention.predicting(["Jane", "laughs"]) == [
        "<bos> → Jane",
        "Jane → laughs",
        "laughs → <eos>",
    ]


@pytest.mark.parametrize("letters", [1, 9, 20])
def test_cells_leave_room_for_their_labels_on_a_phone(letters):
    side = style.step(8, ["x" * letters])
    assert style.MIN_STEP <= side <= style.MAX_STEP
    assert 8 * side + style.LETTER * letters <= style.PHONE


def test_viewer_makes_room_when_labels_change():
    maps, queries, keys = all_kinds()
    whole = spec(attention.attention_viewer(maps, queries, keys))
    assert whole["autosize"] == {"type": "pad", "resize": True}
