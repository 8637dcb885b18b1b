"""Figures are tested on what they draw: the data, the axes and the selectors, not on pixels."""

import itertools
import math

import pytest
import torch
from chart_specs import all_rows, axis_titles, inputs, spec, views

from transformer.positional import sinusoidal_encoding
from walkthrough.figures import attention, mask, positional, scaling, style
from walkthrough.figures.maps import KEYS, QUERIES

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


def test_explorer_scores_are_the_dot_products_of_the_rows_it_shows():
    g = torch.Generator().manual_seed(1)
    query, key = torch.randn(5, 4, generator=g), torch.randn(5, 4, generator=g)
    for row in all_rows(attention.qk_explorer(query, key, TOKENS, TOKENS)):
        torch.testing.assert_close(
            torch.tensor(row["score"]), query[row["row"]] @ key[row["column"]], atol=6e-4, rtol=0
        )
        total = sum(a * b for a, b in zip(row["q"], row["k"], strict=True))
        assert total == pytest.approx(row["score"], abs=0.01)


def test_explorer_answers_clicks_and_selectors_and_starts_with_a_cell():
    chart = attention.qk_explorer(torch.ones(5, 4), torch.ones(5, 4), TOKENS, TOKENS)
    (param,) = spec(chart)["params"]
    assert param["value"] == [{"query": "Jane", "key": "Jane"}]
    assert param["select"]["on"] == "click"
    assert param["select"]["fields"] == ["query", "key"]
    assert inputs(chart)["key"]["options"] == TOKENS


def test_explorer_starts_where_there_is_something_to_see():
    query, key = torch.zeros(3, 2), torch.ones(3, 2)
    query[1, 0] = 2.0  # only the second word asks for anything
    (param,) = spec(attention.qk_explorer(query, key, TOKENS[:3], TOKENS[:3]))["params"]
    assert param["value"] == [{"query": TOKENS[1], "key": TOKENS[0]}]


def test_mask_viewer_draws_true_as_open():
    allowed = torch.tensor([[True, False], [True, True]])
    chart = mask.mask_viewer(allowed, ["a", "b"], ["a", "b"])
    states = {(row["query"], row["key"]): row["state"] for row in all_rows(chart)}
    assert states[("a", "b")] == mask.CLOSED
    assert states[("b", "a")] == mask.OPEN
    assert "3 of 4 cells are open" in spec(chart)["description"]


def test_variance_chart_holds_measurement_and_claim():
    chart = scaling.variance_chart([(1, 1.1), (64, 63.0)], [(1, 1.1), (64, 0.98)])
    points = {(row["series"], row["x"]): row["y"] for row in all_rows(chart)}
    assert points[("q·k", 64)] == 63.0
    assert points[("q·k / √d_k", 64)] == 0.98
    assert points[("d_k, the paper's claim", 64)] == 64
    for view in views(spec(chart)):
        assert view["encoding"]["x"]["scale"] == {"type": "log", "base": 2, "nice": False}


def test_softmax_explorer_computes_softmax_in_the_browser_from_the_scores():
    chart = scaling.softmax_explorer(torch.tensor([0.1234, 2.0]), ["a", "b"])
    assert [row["score"] for row in all_rows(chart)] == [0.123, 2.0]
    assert inputs(chart)["factor"]["input"] == "range"
    steps = [t.get("calculate") for t in spec(chart)["vconcat"][0]["transform"]]
    assert "exp(datum.scaled - datum.largest)" in steps
    assert "datum.power / datum.total" in steps
    with pytest.raises(ValueError, match="2 scores, 1 tokens"):
        scaling.softmax_explorer(torch.tensor([0.1, 2.0]), ["a"])


ENCODING = sinusoidal_encoding(20, 8)


def test_encoding_heatmap_has_positions_as_rows_and_dimensions_as_columns():
    chart = positional.encoding_heatmap(ENCODING)
    (row,) = all_rows(chart)
    assert len(row["value"]) == len(row["position"]) == 20
    assert len(row["value"][0]) == len(row["dimension"]) == 8
    assert row["value"][0] == [0.0, 1.0] * 4
    assert row["value"][1][0] == round(math.sin(1), 2)
    assert spec(chart)["encoding"]["y"]["field"] == "position"
    assert "→" in spec(chart)["encoding"]["x"]["title"]


def test_waves_are_the_columns_of_the_encoding():
    rows = {row["pair"]: row for row in all_rows(positional.encoding_waves(ENCODING))}
    assert len(rows) == 4
    torch.testing.assert_close(torch.tensor(rows[1]["sine"]), ENCODING[:, 2], atol=6e-4, rtol=0)
    torch.testing.assert_close(torch.tensor(rows[1]["cosine"]), ENCODING[:, 3], atol=6e-4, rtol=0)
    assert inputs(positional.encoding_waves(ENCODING))["pair"]["max"] == 3


def test_waves_stand_beside_the_bit_with_the_nearest_period():
    # wavelengths 2π and 20π: bits with periods 8 (nearest to 6.3 on a log scale) and 64
    rows = {row["pair"]: row for row in all_rows(positional.encoding_waves(ENCODING))}
    for pair, row in rows.items():
        wavelength = 2 * math.pi * 10_000 ** (2 * pair / 8)
        distances = {b: abs(math.log2(2 ** (b + 1) / wavelength)) for b in range(20)}
        assert row["bit"] == min(distances, key=distances.get)


def test_counter_counts():
    rows = all_rows(positional.binary_counter(n_bits=3))
    for position in range(8):
        bits = {row["bit"]: row["value"] for row in rows if row["position"] == position}
        assert sum(value << bit for bit, value in bits.items()) == position
    with pytest.raises(ValueError, match="got 9"):
        positional.binary_counter(n_bits=9)


def test_wavelengths_run_from_two_pi_to_below_the_base_times_two_pi():
    rows = all_rows(positional.wavelengths_chart(512))
    waves = [row["y"] for row in rows if row["series"].startswith("2π · base")]
    assert len(waves) == 256
    assert waves[0] == pytest.approx(2 * math.pi, rel=1e-3)
    assert waves[-1] == pytest.approx(10_000 ** (510 / 512) * 2 * math.pi, rel=1e-3)
    ratios = {round(b / a, 2) for a, b in itertools.pairwise(waves)}
    assert ratios <= {1.03, 1.04}  # a geometric progression, to the digits drawn
    with pytest.raises(ValueError, match="even d_model"):
        positional.wavelengths_chart(7)


def test_rotation_turns_by_k_times_the_rate():
    rows = {
        row["pair"]: row for row in all_rows(positional.rotation_chart(ENCODING)) if "pair" in row
    }
    for row in rows.values():
        for start in (0, 7):
            before = math.atan2(row["sine"][start], row["cosine"][start])
            after = math.atan2(row["sine"][start + 5], row["cosine"][start + 5])
            turned = (after - before - 5 * row["rate"]) % (2 * math.pi)
            assert min(turned, 2 * math.pi - turned) < 0.01


def test_rotation_sliders_never_leave_the_encoding():
    found = inputs(positional.rotation_chart(ENCODING))
    assert found["pos"]["max"] + found["k"]["max"] <= len(ENCODING) - 1


def test_odd_sizes_have_no_pairs():
    for figure in (positional.rotation_chart, positional.encoding_waves):
        with pytest.raises(ValueError, match="even d_model; got 7"):
            figure(torch.zeros(4, 7))


def test_distance_lines_of_all_anchors_lie_on_each_other():
    rows = all_rows(positional.distance_chart(ENCODING, anchors=(0, 5, 10)))
    by_distance = {}
    for row in rows:
        by_distance.setdefault(row["x"], []).append(row["y"])
    assert len(by_distance[3]) == 3
    for values in by_distance.values():
        assert max(values) - min(values) < 0.01


def test_distance_lines_of_learned_encodings_do_not():
    learned = torch.randn(20, 8, generator=torch.Generator().manual_seed(0))
    rows = all_rows(positional.distance_chart({"learned": learned}, anchors=(0, 5)))
    at_three = [row["y"] for row in rows if row["x"] == 3]
    assert abs(at_three[0] - at_three[1]) > 0.1
    with pytest.raises(ValueError, match="got 20"):
        positional.distance_chart(ENCODING, anchors=(20,))


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
