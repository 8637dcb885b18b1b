"""The controls of the page hide and count what they say."""

import pytest

from transformer.data.phrasebook.questions import RELATIONS
from walkthrough.ch19_what_the_heads_attend_to.experiments import asking, controls, surgery

MAKES, HE = "makes → fait, rend", "il, elle → it, he, she"


@pytest.fixture(scope="module")
def english():
    return asking.load_translator("en")


@pytest.fixture(scope="module")
def french():
    return asking.load_translator("fr")


def test_a_stranger_is_no_answer_and_stands_where_it_is_said(english):
    found = controls.strangers(MAKES, english.words, n=60)
    assert found
    answered = {q.source for q in asking.asked(MAKES, english.words, n=60)}
    for question in found:
        assert question.source[question.answers[0]] == "more"
        assert question.source not in answered
    assert not controls.strangers(MAKES, english.words, n=60, word="nobody")


def test_the_word_before_goes_along(french):
    questions = asking.asked(HE, french.words, n=20)
    for before, after in zip(questions, controls.with_word_before(questions), strict=True):
        assert set(after.answers) == {*before.answers, max(min(before.answers) - 1, 0)}
        assert set(after.written) == {max(p, 0) for j in before.written for p in (j - 1, j)}
        assert after.query == before.query


def test_neighbours_are_as_many_as_hidden_places_and_never_among_them(french, monkeypatch):
    questions = asking.asked(HE, french.words, n=30)
    masks = {}

    def hidden(_, kind, mask):
        masks[kind] = mask
        return surgery.all_hidden(french.model, {})

    with monkeypatch.context() as patch:
        patch.setattr(surgery, "hidden", hidden)
        patch.setattr(controls, "share_right", lambda *_: 0.5)
        assert controls.right_without_neighbours(french, questions) == {
            "cross": 0.5,
            "decoder": 0.5,
        }
    for number, question in enumerate(questions):
        row = question.predicted
        cross = set((~masks["cross"][number, 0, row]).nonzero().flatten().tolist())
        assert len(cross) == len(question.answers)
        assert not cross & set(question.answers)
        decoder = set((~masks["decoder"][number, 0, row]).nonzero().flatten().tolist())
        closed = {place for j in question.written for place in (j, j + 1)} - {0}
        assert decoder
        assert len(decoder) <= len(closed)
        assert not decoder & closed
        assert max(decoder) < row


def test_hiding_the_answers_instead_would_be_seen(french):
    """The control must not hide what decides: then it would cost what the look costs."""
    name = "son, sa, ses → its, his, her"
    questions = asking.asked(name, french.words, n=100)
    batch = french.batch([(q.source, q.target) for q in questions])
    rows = [q.predicted for q in questions]
    keys = [{p for j in q.written for p in (j, j + 1)} - {0} for q in questions]
    mask = surgery.without_edges(batch, rows, keys, kind="decoder")
    with surgery.hidden(french.model, "decoder", mask):
        answers_hidden = asking.share_right(french, questions)
    assert answers_hidden < 0.9 < controls.right_without_neighbours(french, questions)["decoder"]


def test_one_word_for_all_sentences():
    assert controls.most_frequent(["le", "la", "le"]) == ("le", pytest.approx(2 / 3))
    with pytest.raises(ValueError, match="at least one"):
        controls.most_frequent([])
    assert set(RELATIONS) >= {MAKES, HE}
