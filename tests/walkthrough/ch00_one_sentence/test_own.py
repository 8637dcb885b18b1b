"""Chapter 00's pictures of somebody's model: its numbers, its sizes, its sentence."""

import re

import pytest
import torch

from transformer.config import TransformerConfig
from transformer.model import Transformer
from walkthrough.ch00_one_sentence import journey
from walkthrough.ch00_one_sentence.own import MARK, TITLE, pictures
from walkthrough.drawing.scene import MOST

LONG = "Le nouvel ami japonais aide l'étudiant italien qui travaille en France le matin."


@pytest.fixture(scope="module")
def other(translator):
    """An untrained model of another shape: one layer of three heads."""
    torch.manual_seed(7)
    sizes = {"vocab_size": len(translator[1]), "d_model": 48, "n_heads": 3, "n_layers": 1}
    return Transformer(TransformerConfig(**sizes, d_ff=64)).eval()


@pytest.fixture(scope="module")
def own(translator, other):
    return pictures(other, translator[1], "Jane cherche le chien noir.")


def scenes(found):
    return {one.caption.split(". ")[0]: one for some in found.steps.values() for one in some}


def test_a_model_of_another_shape_has_all_twelve_pictures_in_ten_steps(own):
    assert list(scenes(own)) == [f"Figure 0.{n}" for n in range(1, 13)]
    assert len(own.steps) == 1 + 10
    figures = scenes(own)
    assert "48 numbers" in figures["Figure 0.6"].markup
    assert "The 3 heads of the encoder" in figures["Figure 0.5"].caption
    assert figures["Figure 0.5"].markup.count('class="icon"') == 3
    assert "2 alone" not in figures["Figure 0.7"].markup


def test_the_numbers_are_those_of_the_model_and_not_the_books(own, other, translator, jane):
    way = journey.travel(other, translator[1], "Jane cherche le chien noir.", most=MOST)
    mine, figures = way.probabilities, scenes(own)
    for row in range(len(way.target)):
        assert f">{mine[row].max():.1%}<" in figures["Figure 0.10"].markup
    head = int(re.search(r"Head 1\.(\d)", figures["Figure 0.3"].caption)[1]) - 1
    word = way.source.index(re.search(r"word (\S+) asks", figures["Figure 0.3"].description)[1])
    weights = journey.ask(other, way, head).weights[word]
    assert all(f">{value:.2f}<" in figures["Figure 0.3"].markup for value in weights.tolist())
    looks = way.maps.encoder[0, 0, :, :-1, :-1] * (1 - torch.eye(len(way.source) - 1))
    assert weights[: len(way.source) - 1].max() >= looks.max() - 1e-6
    books = scenes(pictures(*translator, journey.SENTENCE))
    assert f">{jane.probabilities[0].max():.1%}<" in books["Figure 0.10"].markup
    assert {one.markup for one in books.values()}.isdisjoint(one.markup for one in figures.values())


def test_a_translation_without_an_end_is_stopped_and_said_so(own):
    assert len(own.journey.target) == MOST - 1
    assert journey.END not in own.journey.target
    assert len(own.journey.logits) == MOST - 1
    assert str(own).endswith("… (stopped after 19 words)")


def test_a_long_sentence_has_a_frame_for_each_word(translator):
    found = pictures(*translator, LONG)
    shown = scenes(found)["Figure 0.6"].markup
    assert len(found.journey.source) == 15
    assert all(f'[value="{n}"]:checked) .at-{n}{{' in shown for n in range(15))
    assert '[value="15"]' not in shown
    with pytest.raises(ValueError, match=r"a picture holds 19 words, got 27: Paul dort et Paul"):
        pictures(*translator, "Paul dort et " * 9)


def test_the_shortest_sentence_has_its_pictures(translator):
    found = pictures(*translator, "Paul.")
    assert found.journey.source == ["Paul", journey.END]


def test_the_page_is_one_file_that_fetches_nothing(own):
    page = own.page()
    assert page.startswith("<!doctype html>")
    assert f"<h1>{TITLE}</h1>" in page
    assert f"<title>{TITLE}</title>" in page
    assert MARK in page
    assert not re.search(r"<(script|link|iframe|img)|src=|@import|url\((?!\"?data:)", page)
    assert re.findall(r"<h2>(\d+) ", page) == [str(n) for n in range(1, 11)]
    assert own._repr_html_().startswith("<form>")  # buttons of two sentences keep apart


def test_what_the_training_said_is_shown_where_it_is_known(translator, own):
    story = [{"update": 50, "translations": ["the the.", "Jane the."]}]
    shown = scenes(pictures(*translator, journey.SENTENCE, said=story))["Figure 0.12"]
    assert ">50<" in shown.markup
    assert "One training" in shown.caption
    assert ">now<" in scenes(own)["Figure 0.12"].markup
    assert "keeps with the weights" in scenes(own)["Figure 0.12"].caption
