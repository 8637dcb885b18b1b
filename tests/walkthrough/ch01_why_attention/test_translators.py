"""The recurrent translators of chapter 01 and their drawing."""

from xml.etree import ElementTree

import pytest
import torch

from transformer.config import EOS_ID, PAD_ID
from transformer.data.batching import collate
from walkthrough.ch01_why_attention.experiments import translators
from walkthrough.ch01_why_attention.figures import encoder_decoder

PAIRS = [([5, 6, 7], [8, 9]), ([6, 5], [9, 8, 10]), ([7], [10])]


def new(kind="attention", seed=0):
    return translators.new_translator(kind, 12, seed=seed)


@pytest.mark.parametrize("kind", ["one vector", "attention"])
def test_padding_changes_nothing(kind):
    model, alone = new(kind), collate(PAIRS[2:])
    together = collate(PAIRS)
    with torch.no_grad():
        expected, _ = model(alone.source, alone.target_in)
        found, weights = model(together.source, together.target_in)
    torch.testing.assert_close(found[2, : expected.shape[1]], expected[0])
    if weights is not None:
        assert (weights[together.source.eq(PAD_ID)[:, None].expand_as(weights)] == 0).all()


def test_one_vector_knows_the_source_by_its_last_state_only():
    model = new("one vector")
    states, last, *_ = memory = model.read(collate(PAIRS[:1]).source)
    context, weights = model.context(torch.randn(1, translators.D_MODEL), memory)
    assert weights is None
    assert torch.equal(context, states[:, -1])
    assert torch.equal(context, last)


def test_greedy_ends_a_sentence_and_pads_behind():
    model = new()
    with torch.no_grad():
        model.answer.bias[EOS_ID] = 1e3
    written = model.greedy(collate(PAIRS).source)
    assert written.tolist() == [[EOS_ID]] * 3


def test_an_epoch_holds_every_pair_once():
    groups = translators.batches(PAIRS, 2, torch.Generator().manual_seed(0))
    assert sorted(i for group in groups for i in group) == [0, 1, 2]


def test_training_learns_three_pairs_and_depends_on_the_seed_alone():
    one, other = (translators.train(new(), PAIRS, updates=60, seed=1) for _ in range(2))
    assert translators.exact(one, PAIRS) == [True, True, True]
    assert torch.equal(one.answer.weight, other.answer.weight)


@pytest.mark.usefixtures("as_users_run_it")
def test_what_cannot_be_is_refused():
    with pytest.raises(ValueError, match="kind must be one of one vector, attention; got 'other'"):
        new("other")
    with pytest.raises(ValueError, match="updates must be at least 1, got 0"):
        translators.train(new(), PAIRS, updates=0, seed=0)
    with pytest.raises(ValueError, match="one weight a word: got 1 for 2 words"):
        encoder_decoder(["a", "b"], ["c"], weights=[1.0])


@pytest.mark.parametrize("weights", [None, [0.9, 0.1]])
def test_the_drawing_names_every_word(weights):
    svg = encoder_decoder(["eins", "zwei"], ["one", "two"], weights=weights)._repr_html_()
    ElementTree.fromstring(svg)
    assert all(f">{word}<" in svg for word in ("eins", "zwei", "one", "two", "h₁", "s₂"))
    assert ("widths are the weights: eins 0.90" in svg) == (weights is not None)
