"""The pictures show the numbers that they are given, and every button has something to show."""

import base64
import io
import re
from html.parser import HTMLParser

import matplotlib.image
import numpy as np
import pytest
import torch

from walkthrough.ch00_one_sentence import journey
from walkthrough.ch00_one_sentence.figures import attention, thinking, words, writing
from walkthrough.drawing.scene import MOST, scene
from walkthrough.drawing.strips import bar_code, picture

EMPTY = {"input", "img", "br"}
LEARNING = [
    {"update": 0, "translations": ["morning", ""]},
    {"update": 50, "translations": ["Jane visits a dog.", "Jane <b>"]},
]


class Page(HTMLParser):
    """Which elements are open, and every element with its attributes."""

    def __init__(self, text):
        super().__init__()
        self.open, self.elements = [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))
        if tag not in EMPTY:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


@pytest.fixture(scope="module")
def figures(translator, jane):
    model, codec = translator
    inside = journey.one_word_in(
        model, codec, ["Jane visite l'Europe.", "Jane visite l'hôtel."], place=2
    )
    ways = dict(zip(("Europe", "hôtel"), journey.plane(inside), strict=True))
    nearest = [["le", "la"]] * len(jane.source)
    return {
        "lead": attention.links(
            "lead",
            jane.maps.cross[1, 0, 2],
            jane.target,
            jane.source,
            question="Which?",
            caption="Figure 9.1. A head.",
            first=2,
        ),
        "words": words.words_to_vectors(jane, nearest),
        "asks": attention.one_word_asks(jane, journey.ask(model, jane, 1), 2),
        "changed": attention.what_the_sum_does(jane, 2),
        "heads": attention.all_heads(jane),
        "alone": thinking.each_word_alone(jane),
        "path": thinking.ways_through_the_layers(
            ways, {"Europe": "name", "hôtel": "thing"}, caption="Figure 9.2. Ways."
        ),
        "seen": words.seen_so_far(jane, layer=0, head=2),
        "next": writing.next_word(jane, list(codec.vocabulary.tokens)),
        "loop": writing.the_loop(jane),
        "said": words.what_it_said(
            LEARNING, ["Jane visits Africa.", "?"], sentences=["Jane visite l'Afrique.", "x"]
        ),
    }


NAMES = [
    "lead",
    "words",
    "asks",
    "changed",
    "heads",
    "alone",
    "path",
    "seen",
    "next",
    "loop",
    "said",
]


@pytest.fixture(params=NAMES)
def figure(request, figures):
    return figures[request.param]


def test_a_figure_is_whole_and_fetches_nothing(figure):
    page = Page(figure.markup)
    assert page.open == []
    assert not re.search(r"https?:|<script", figure.markup)
    assert len(figure.markup) < 60_000


def test_a_figure_says_what_it_shows(figure):
    assert re.match(r"Figure \d+\.\d+\. ", figure.caption)
    assert len(figure.description) > 40
    assert repr(figure).endswith(figure.description)
    labelled = [a for _, a in Page(figure.markup).elements if a.get("role") == "img"]
    assert all(len(attributes["aria-label"]) > 40 for attributes in labelled)
    assert labelled


def test_every_button_has_a_frame_and_every_frame_a_button(figure):
    """One is chosen at first, and where a page cannot choose it alone is shown."""
    elements = Page(figure.markup).elements
    radios = [a for tag, a in elements if tag == "input" and a["type"] == "radio"]
    assert [radio["value"] for radio in radios] == [str(n) for n in range(len(radios))]
    chosen = [n for n, radio in enumerate(radios) if "checked" in radio]
    assert len(chosen) == bool(radios)
    for attributes in (a for _, a in elements if "at" in a.get("class", "").split()):
        frames = [int(n) for n in re.findall(r"at-(\d)", attributes["class"])]
        assert set(frames) <= set(range(len(radios)))
        assert ("first" in attributes["class"].split()) == (chosen[0] in frames)


def test_a_button_more_than_the_style_sheet_knows_is_refused():
    for choices, says in ((["a"] * (MOST + 1), []), (["a", "b"], ["one"])):
        with pytest.raises(ValueError, match="frames"):
            scene("x", "", caption="F. c", description="d", choices=choices, says=says)


def test_curves_are_as_wide_as_the_weights(jane):
    weights = torch.tensor([[0.75, 0.25, 0.0], [0.0, 0.0, 1.0]])
    shown = attention.links(
        "x", weights, ["a", "b"], ["c", "d", "e"], question="?", caption="F. c", first=0
    )
    widths = [float(width) for width in re.findall(r'stroke-width="([\d.]+)"', shown.markup)]
    assert len(widths) == 3
    assert (widths[0] - 1) / (widths[1] - 1) == pytest.approx(3, rel=0.05)
    assert "a → c 0.75, b → e 1.00" in shown.description


def test_the_row_of_a_query_holds_the_numbers_of_each_step(translator, jane, figures):
    model, _ = translator
    asking = journey.ask(model, jane, 1)
    for number in (f"{asking.products[2, 3]:.1f}", f"{asking.weights[2, 3]:.2f}"):
        assert f">{number}<" in figures["asks"].markup
    assert f">−{-asking.scores[2, 6]:.2f}<" in figures["asks"].markup


def test_what_is_not_written_yet_is_hatched(figures, jane):
    lines = figures["seen"].markup.split('<div class="line">')[1:]
    hatched = [line.count('class="shut"') for line in lines]
    assert hatched == list(range(len(jane.target) - 1, -1, -1))


def test_only_words_of_the_right_translation_are_marked(figures):
    marked = re.findall(r'class="right"[^>]*>([^<]+)<', figures["said"].markup)
    assert marked == ["Jane", "visits"]
    assert "&lt;b&gt;" in figures["said"].markup


def test_the_list_of_probabilities_is_that_of_the_chosen_moment(figures, jane):
    for row in range(len(jane.target)):
        assert f">{jane.probabilities[row].max():.1%}<" in figures["next"].markup


def pixels(address):
    data = base64.b64decode(address.removeprefix("data:image/png;base64,"))
    return (matplotlib.image.imread(io.BytesIO(data)) * 255).round().astype(int)


def test_a_stripe_is_the_stronger_the_larger_its_number():
    shown = pixels(bar_code(np.array([-9.0, -1.0, 0.0, 1.0, 9.0]), "#0072b2", reach=2.0))
    assert shown.shape == (1, 5, 4)
    strengths = shown[0, :, 3].tolist()
    assert strengths[0] == 0
    assert strengths[-1] == 255
    assert strengths == sorted(strengths)
    assert shown[0, 1, :3].tolist() == [0x00, 0x72, 0xB2]


def test_a_map_keeps_its_rows():
    shown = pixels(picture(np.array([[0.0, 1.0], [0.5, 0.0]]), "#d55e00"))
    assert shown[..., 3].tolist() == [[0, 255], [128, 0]]


def test_the_sentences_of_a_scene_describe_it_unless_something_else_does():
    says = ["<i>Jane</i> asks.", "<i>visits</i> asks."]
    assert scene("a", "", choices="ab", says=says).description == "Jane asks. visits asks."
    assert (
        scene("a", "", choices="ab", says=says, description="Two words").description == "Two words"
    )
    with pytest.raises(ValueError, match="needs a description"):
        scene("a", "")
