"""What every figure must have: title, alt text, short numbers, a size for phone and page."""

import itertools
import json

import altair as alt
import numpy as np
import pytest
import torch
from chart_specs import numbers, spec, views

from transformer.positional import sinusoidal_encoding
from walkthrough.ch02_scaled_dot_product_attention.figures import explorer, scaling
from walkthrough.ch07_positional_encoding import figures as positional
from walkthrough.ch13_regularisation.figures import loss_explorer
from walkthrough.drawing import attention, lines, loss, mask, style

TOKENS = ["Jane", "visite", "l'", "Afrique", "en", "septembre", "."]
N = len(TOKENS)
D_K = [2**power for power in range(10)]


def random_weights(*shape):
    return torch.rand(*shape, generator=torch.Generator().manual_seed(3)).softmax(-1)


def make_figures():
    encoding = sinusoidal_encoding(50, 64)
    flat = [(d, 1.0) for d in D_K]
    losses = {"training": [(i, 5.0 / i) for i in range(1, 60)]}
    square = torch.ones(N, N, dtype=torch.bool).tril()
    return {
        "weights_heatmap": attention.weights_heatmap(random_weights(N, N), TOKENS, TOKENS),
        "masked heatmap": attention.weights_heatmap(
            random_weights(N, N), TOKENS, TOKENS, attend_mask=square
        ),
        "attention_viewer": attention.attention_viewer(
            random_weights(2, 4, N, N), TOKENS, TOKENS, gold=[(0, 0)]
        ),
        "qk_explorer": explorer.qk_explorer(torch.ones(N, 4) / 3, torch.ones(N, 4), TOKENS, TOKENS),
        "vanishing_chart": scaling.vanishing_chart([(d, d / 512) for d in D_K], flat),
        "softmax_explorer": scaling.softmax_explorer(torch.arange(N) / 3, TOKENS),
        "mask_viewer": mask.mask_viewer(square, TOKENS, TOKENS),
        "encoding_heatmap": positional.encoding_heatmap(encoding),
        "encoding_waves": positional.encoding_waves(encoding),
        "loss_curve": loss.loss_curve(losses),
        "loss_explorer": loss_explorer(8),
    }


FIGURES = make_figures()


SPECS = {name: spec(figure) for name, figure in FIGURES.items()}


@pytest.fixture(params=SPECS)
def figure(request):
    return SPECS[request.param]


def test_title_says_what_to_see(figure):
    whole = figure
    title = whole.get("title") or whole["vconcat"][0]["title"]
    words = " ".join(title["text"] if isinstance(title, dict) else title)
    assert len(words.split()) >= 5, words


def test_title_lines_fit_a_phone(figure):
    for node in [figure, *views(figure)]:
        title = node.get("title", [])
        for line in title["text"] if isinstance(title, dict) else title:
            assert len(line) <= 46, line


def test_alt_text_says_more_than_the_title(figure):
    assert len(figure["description"]) > 80


def test_axes_are_named(figure):
    for view in views(figure):
        for channel in ("x", "y"):
            field = view["encoding"].get(channel, {})
            if "field" in field and field["field"] != "vector":
                titled = field.get("title") or (field.get("axis") or {}).get("title")
                keys_below_each_other = field["field"] == "key" and view.get("height") == 110
                assert titled or keys_below_each_other, field


def test_numbers_are_short(figure):
    found = [number for dataset in datasets(figure) for number in numbers(dataset)]
    assert all(len(repr(abs(number))) <= 9 for number in found)


def datasets(figure):
    return [
        *figure.get("datasets", {}).values(),
        *(view["data"]["values"] for view in views(figure) if "values" in view.get("data", {})),
    ]


def test_that_test_sees_the_data():
    assert sum(1 for d in datasets(SPECS["weights_heatmap"]) for _ in numbers(d)) >= N * N


def test_width_follows_the_page_or_fits_a_phone(figure):
    for node in [figure, *views(figure)]:
        width = node.get("width")
        if isinstance(width, dict):
            n_cells = 4 if "bit" in str(node) and "counter" in str(node).lower() else N
            assert width["step"] * n_cells <= style.NARROW
        elif isinstance(width, (int, float)):
            assert width <= 260
        else:
            assert width in (None, "container")


@pytest.mark.parametrize("name", FIGURES)
def test_no_figure_is_heavy(name):
    assert style.kilobytes(FIGURES[name]) < 100


def test_page_decides_background_and_text_colour(figure):
    config = figure["config"]
    assert "background" not in figure
    assert "background" not in config
    for part in ("axis", "legend", "title"):
        assert not [key for key in config[part] if "olor" in key], part


def test_words_inside_a_plot_have_the_pages_ink(figure):
    """Grey words on a dark page have too little contrast: only those on a mark choose theirs."""
    for view in views(figure):
        if view["mark"]["type"] == "text":
            assert "color" not in view["mark"], view["mark"]


def test_nothing_is_fetched(figure):
    text = json.dumps(figure)
    assert '"url"' not in text
    assert text.count("http") == text.count("https://vega.github.io/schema/")


@pytest.mark.parametrize("name", style.PALETTE)
def test_categories_hold_on_white_and_on_dark(name):
    assert style.contrast(style.PALETTE[name], "#ffffff") >= 3
    assert style.contrast(style.PALETTE[name], "#121212") >= 3


# Machado, Oliveira and Fernandes (2009), severity 1: what eyes without one receptor see.
WITHOUT_GREEN = [[0.3673, 0.8606, -0.2280], [0.2801, 0.6725, 0.0474], [-0.0118, 0.0429, 0.9689]]
WITHOUT_RED = [[0.1523, 1.0526, -0.2049], [0.1145, 0.7863, 0.0992], [-0.0039, -0.0481, 1.0520]]


def apart(one, other, receptor):
    channels = [[int(c[i : i + 2], 16) / 255 for i in (1, 3, 5)] for c in (one, other)]
    seen = (np.array(channels) ** 2.2 @ np.array(receptor).T).clip(0, 1) ** (1 / 2.2)
    return np.abs(seen[0] - seen[1]).sum()


@pytest.mark.parametrize("receptor", [WITHOUT_GREEN, WITHOUT_RED])
def test_first_four_categories_differ_to_colour_blind_eyes(receptor):
    for one, other in itertools.combinations(style.CATEGORIES[:4], 2):
        assert apart(one, other, receptor) > 0.25


def test_red_and_green_would_fail_that_test():
    assert apart("#cc3311", "#6b7a00", WITHOUT_GREEN) < 0.25


def test_theme_is_on():
    assert alt.theme.active == "walkthrough"


def test_empty_alt_text_is_refused():
    with pytest.raises(ValueError, match="alt text must say"):
        style.described(FIGURES["loss_curve"], "  ")


def test_rounding_keeps_three_decimals_and_no_minus_zero():
    assert style.rounded(torch.tensor([0.12345, -0.0001])) == [0.123, 0.0]
    assert str(style.rounded(torch.tensor([-0.0001]))[0]) == "0.0"


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_values_that_json_cannot_hold_are_refused(bad):
    with pytest.raises(ValueError, match="finite"):
        style.rounded(torch.tensor([bad]))
    with pytest.raises(ValueError, match="finite"):
        loss.loss_curve({"training": [(1, bad)]})


def test_repeated_tokens_keep_their_own_rows():
    labels = style.token_labels(["the", "cat", "the"])
    assert len(set(labels)) == 3
    assert [label.strip("\u200b") for label in labels] == ["the", "cat", "the"]


def test_line_charts_refuse_what_they_cannot_draw():
    with pytest.raises(ValueError, match="at least one series"):
        lines.line_chart({}, title="t", x_title="x", y_title="y")
    with pytest.raises(ValueError, match="'a' has none"):
        lines.line_chart({"a": []}, title="t", x_title="x", y_title="y")
    with pytest.raises(ValueError, match="above 0"):
        lines.line_chart({"a": [(0, 1)]}, title="t", x_title="x", y_title="y", log_x=True)


def test_reference_lines_are_in_the_alt_text():
    series, dashed = {"a": [(1, 2.0), (3, 4.0)]}, {"guessing": [(1, 0.5), (3, 0.5)]}
    words = {"title": "Which way?", "x_title": "x", "y_title": "y"}
    text = spec(lines.line_chart(series, reference=dashed, **words))["description"]
    assert text.startswith("Which way? Lines of y over x: a goes from 2 at 1 to 4 at 3.")
    assert text.endswith("Dashed, to compare with: guessing goes from 0.5 at 1 to 0.5 at 3.")
