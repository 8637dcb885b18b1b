"""What the page says of its switches was measured, on the model that the page loads."""

import re
from pathlib import Path

import pytest
import torch

from phrasebook import phrasebook
from transformer.inference import greedy_decode
from walkthrough.ch21_translate_in_your_browser import breaking
from walkthrough.ch21_translate_in_your_browser.translator import (
    EXAMPLES,
    load_translator,
    source_ids,
)

PHRASES = Path(__file__).parents[3] / "book" / "web" / "live" / "phrases.js"
N_SENTENCES, N_MAPS = 200, 100


@pytest.fixture(scope="module")
def trained():
    return load_translator()


@pytest.fixture(scope="module")
def unseen():
    return phrasebook().splits()["test_sentences"][:N_SENTENCES]


def said(name: str, page: str | None = None) -> list[str]:
    """The numbers that the page's sentence about a switch names, in its order."""
    block = (page or PHRASES.read_text(encoding="utf-8")).partition("look: {")[2]
    (sentence,) = re.findall(rf'^ +{name}: "(.+)",$', block, re.MULTILINE)
    return re.findall(r"\d+(?:\.\d+)?", sentence)


def test_the_numbers_of_a_sentence_are_found():
    assert said("mask", 'look: {\n      mask: "Of 200 some 7 at 0.95.",\n') == ["200", "7", "0.95"]


def test_what_is_said_of_mask_positions_and_scale_is_so(trained, unseen):
    model, codec = trained
    some = unseen[:N_MAPS]

    def counts(other):
        return breaking.changes(model, other, codec, unseen)

    no_mask = breaking.broken(model, mask=False)
    assert said("mask") == ["200", str(counts(no_mask).same)]
    assert breaking.weight_on_later_words(no_mask, codec, some) == pytest.approx(0.5, abs=0.02)
    assert breaking.weight_on_later_words(model, codec, some) == 0

    found = counts(breaking.broken(model, positions=False))
    numbers = (N_SENTENCES, found.lost_a_word, found.never_ends, found.same, found.other_order)
    assert said("positions") == [str(number) for number in numbers]

    no_scale = breaking.broken(model, scale=False)
    largest = [breaking.largest_weight(one, codec, some) for one in (no_scale, model)]
    shown = [f"{value:.2f}" for value in largest]
    assert said("scale") == [*shown, "200", str(counts(no_scale).same)]


@pytest.mark.slow
def test_what_is_said_of_heads_is_so(trained, unseen):
    model, codec = trained
    alone = [breaking.only_head(model, head) for head in range(model.config.n_heads)]
    same = [breaking.changes(model, other, codec, unseen).same for other in alone]
    assert said("only") == ["200", str(min(same)), str(max(same))]
    without = breaking.each_head_off(model)
    assert len(without) == 3 * model.config.n_layers * model.config.n_heads
    same = [breaking.changes(model, other, codec, unseen).same for other in without.values()]
    assert said("off") == [str(min(same)), "200"]


def test_the_first_pages_sentence_breaks_as_it_says(trained):
    model, codec = trained
    first_page = (PHRASES.parents[2] / "index.ipynb").read_text(encoding="utf-8")
    source, broken = "Paul rend le voyage plus difficile.", "Paul makes Paul more difficult."
    assert source in EXAMPLES
    assert f"[*{source}*](" in first_page
    assert f"*{broken}*" in first_page
    ids = source_ids(codec, source)
    (now,) = greedy_decode(breaking.broken(model, positions=False), ids)
    (before,) = greedy_decode(model, ids)
    assert codec.decode(now) == broken
    assert codec.decode(before) == "Paul makes the trip more difficult."


def test_every_switch_shows_on_the_sentence_that_the_panel_starts_with(trained):
    model, codec = trained
    controls = (PHRASES.parent / "controls.js").read_text(encoding="utf-8")
    assert "value: examples[1]" in controls
    assert '["cross", "2"]' in controls
    ids = source_ids(codec, EXAMPLES[1])
    (before,) = greedy_decode(model, ids)
    assert codec.decode(before) == "The neighbours think that this mouse is white."
    (unmasked,) = breaking.decode_anew(breaking.broken(model, mask=False), ids)
    others = [
        breaking.broken(model, positions=False),
        breaking.broken(model, scale=False),
        breaking.each_head_off(model)["cross", 0, 2],
        *(breaking.only_head(model, head) for head in range(model.config.n_heads)),
    ]
    assert before not in [unmasked, *(greedy_decode(other, ids)[0] for other in others)]


def test_decoding_without_a_cache_is_the_same_where_there_is_a_mask(trained, unseen):
    model, codec = trained
    rows = [source_ids(codec, e.source_text)[0] for e in unseen[:20]]
    source = torch.nn.utils.rnn.pad_sequence(rows, batch_first=True)
    for one in (model, breaking.broken(model, positions=False)):  # the second runs into limits
        assert breaking.decode_anew(one, source) == greedy_decode(one, source)


def test_a_head_that_counts_as_before_changes_nothing_and_the_model_is_left_alone(trained, unseen):
    model, codec = trained
    before = {name: value.clone() for name, value in model.state_dict().items()}
    ones = torch.ones(model.config.n_layers, model.config.n_heads)
    same = breaking.with_heads(model, dict.fromkeys(breaking.KINDS, ones))
    assert breaking.changes(model, same, codec, unseen[:20]).same == 20
    none = breaking.with_heads(model, {"cross": 0 * ones})
    assert breaking.changes(model, none, codec, unseen[:20]).same < 20
    assert all(torch.equal(value, before[name]) for name, value in model.state_dict().items())
    with pytest.raises(ValueError, match="encoder, decoder, cross, got memory"):
        breaking.with_heads(model, {"memory": ones})
