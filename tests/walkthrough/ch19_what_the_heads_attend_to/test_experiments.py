"""Looks, neighbours, trees and margins are counted as the page says."""

import pandas as pd
import pytest
import torch
from jaxtyping import config

from transformer.data.phrasebook import parse_brackets
from transformer.data.phrasebook.questions import Question
from transformer.data.vocabulary import Vocabulary
from walkthrough.ch19_what_the_heads_attend_to.experiments import (
    asking,
    looking,
    measuring,
    reading,
    surgery,
    trees,
)

ENGLISH = tuple(["Paul", "makes", "the", "cake", "for", "Jane", "more", "beautiful"])
FRENCH = tuple(["Paul", "rend", "le", "gâteau", "pour", "Jane", "plus", "beau"])


def question(**changes):
    given = {
        "relation": "makes",
        "source": ENGLISH,
        "target": FRENCH,
        "query": 1,
        "answers": (6, 7),
        "predicted": 1,
        "wrong": ("fait",),
        "written": (),
    }
    return Question(**(given | changes))


@pytest.fixture(scope="module")
def translator():
    words = Vocabulary.from_sentences([ENGLISH, FRENCH, ("fait",)])
    return asking.new_translator("en", words, seed=0)


# --- asking -----------------------------------------------------------------------------------


@torch.no_grad()
def test_a_margin_is_that_of_the_row_that_predicts(translator):
    batch = translator.batch([(ENGLISH, FRENCH)])
    row = translator.model(batch.source, batch.target_in)[0, 1].log_softmax(-1)
    right, wrong = row[translator.words.encode(["rend", "fait"])]
    (margin,) = asking.margins(translator, [question()])
    torch.testing.assert_close(margin, right - wrong)


def test_shipped_translators_answer_and_are_small():
    for language, sentence, wanted in (
        ("en", "Paul makes the cake more beautiful", "Paul rend le gâteau plus beau."),
        ("fr", "Jane aime la ville pour ses musées", "Jane likes the city for its museums."),
    ):
        assert reading.translation(asking.load_translator(language), sentence) == wanted
    names = [asking.checkpoint_name(language) for language in ("en", "fr")]
    assert sum((asking.FOLDER / name).stat().st_size for name in names) < 2_000_000


def test_what_cannot_be_asked_is_refused(translator):
    with pytest.raises(ValueError, match="source_language must be 'en' or 'fr', got 'de'"):
        asking.load_translator("de")
    with pytest.raises(ValueError, match="relation must be one of"):
        asking.asked("who", translator.words, n=1)
    with pytest.raises(ValueError, match="elephant"):
        reading.translation(translator, "Paul makes the elephant")


# --- looking ----------------------------------------------------------------------------------


def test_a_look_counts_on_any_word_of_the_answer(translator):
    weights = translator.maps(ENGLISH, FRENCH).encoder[:, 0, :, 1]
    found = looking.looks(translator, [question(), question(answers=tuple(range(9)))])
    assert found.shape == (2, 4, 2)
    on_answer = torch.isin(weights.argmax(-1), torch.tensor([6, 7])).float()
    torch.testing.assert_close(found[..., 0], on_answer)
    assert found[..., 1].all()


def test_the_decoder_is_read_where_the_word_is_predicted(translator):
    maps = translator.maps(ENGLISH, FRENCH)
    asked = [question(query=4, answers=(3,), predicted=5, written=(3,))]
    cross = maps.cross[:, 0, :, 5].argmax(-1) == 3
    torch.testing.assert_close(looking.looks(translator, asked, "cross")[..., 0], cross.float())
    own = maps.decoder[:, 0, :, 5].argmax(-1) == 4  # the start token comes first
    torch.testing.assert_close(looking.looks(translator, asked, "decoder")[..., 0], own.float())


def test_a_distance_finds_a_sentence_once():
    asked = [question(), question(query=2, answers=(7, 8)), question(query=0, answers=(2,))]
    assert looking.best_offset(asked) == 5
    assert looking.offset_share(asked, 5) == pytest.approx(2 / 3)
    assert looking.best_head(torch.tensor([[0.1, 0.2], [0.7, 0.3]])) == (1, 0)


def test_neighbours_are_as_many_as_the_answer_and_never_asked():
    assert surgery.neighbours(question()) == [5, 4]
    assert surgery.neighbours(question(query=2, answers=(1,))) == [0]
    assert surgery.neighbours(question(query=1, answers=(0,))) == [2]


@torch.no_grad()
def test_an_answer_that_nobody_sees_changes_nothing_that_is_said_later(translator):
    asked = [question(query=4, answers=(3,), predicted=6, written=(3,))]
    other = tuple(["Paul", "makes", "the", "more", "for", "Jane", "more", "beautiful"])
    written = tuple(["Paul", "rend", "le", "plus", "pour", "Jane", "plus", "beau"])
    for names, same in (((), False), (surgery.KINDS, True)):
        rows = []
        for pair in ((ENGLISH, FRENCH), (other, written)):
            batch = translator.batch([pair])
            masks = {
                kind: mask for kind, mask in surgery.unseen(batch, asked).items() if kind in names
            }
            with surgery.all_hidden(translator.model, masks):
                rows.append(translator.model(batch.source, batch.target_in)[0, 4:])
        assert torch.allclose(rows[0][1:], rows[1][1:], atol=1e-6) is same
        assert not torch.allclose(rows[0][0], rows[1][0], atol=1e-6)  # the answer's own row


# --- trees ------------------------------------------------------------------------------------

TREE = parse_brackets("(S (NP the old cat) (VP sleeps (PP in (NP the house))))")


def test_constituents_are_spans_of_more_than_a_word_and_less_than_the_sentence():
    assert trees.constituents(TREE) == {(0, 3), (3, 7), (4, 7), (5, 7)}


def test_a_sentence_is_cut_where_the_distance_is_largest():
    assert trees.split_where_far([1.0, 2.0, 9.0, 5.0, 4.0, 3.0]) == {
        (0, 3),
        (0, 2),
        (3, 7),
        (4, 7),
        (5, 7),
    }
    right = trees.BASELINES["right-branching"](4)
    assert trees.split_where_far(right) == {(1, 4), (2, 4)}
    left = trees.BASELINES["left-branching"](4)
    assert trees.split_where_far(left) == {(0, 3), (0, 2)}


def test_f1_counts_over_all_sentences():
    gold = trees.constituents(TREE)
    assert trees.f1([gold], [gold]) == 1
    assert trees.f1([{(0, 2), (0, 3)}, set()], [gold, gold]) == pytest.approx(2 / 10)
    scores = trees.baseline_f1([TREE, TREE])
    assert scores["right-branching"] == pytest.approx(2 * 3 / 9)
    assert scores["best binary"] == pytest.approx(2 * 4 / 9)


def test_words_that_look_alike_are_near():
    weights = torch.tensor([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    assert trees.attention_distances(weights) == pytest.approx([0, 1])


def test_a_head_that_knows_the_tree_gets_it_all():
    rows = torch.zeros(7, 8)
    rows[:3, 0] = 1
    rows[1:3, 0] = torch.tensor([0.8, 0.8])
    rows[1:3, 1] = 0.2
    rows[3, 2] = 1
    rows[4, 3:5] = 0.5
    rows[5:7, 4] = 1
    scores = trees.head_f1([rows[None, None]], [TREE])
    assert scores.item() > 0.8


# --- the record -------------------------------------------------------------------------------


def test_rows_of_the_record_are_those_of_its_runs():
    kinds = {"best": [1, 0], "shares": [[0.1, 0.2], [0.9, 0.3]]}
    hidden = dict.fromkeys(reading.HIDDEN.values(), 0.5) | {"by head": [[1.0, 0.7]]}
    of_one = {
        "offset": 3,
        "offset_share": 0.4,
        "right": 1.0,
        "hidden": hidden,
        "encoder": kinds,
        "without": {
            "one": {"encoder": [[1.0, 0.9]], "cross": [[0.8, 1.0]]},
            "all but one": {"encoder": [[1.0, 0.6]], "cross": [[0.2, 0.4], [1.0, 0.9]]},
        },
    }
    runs = pd.DataFrame([{"seed": 4, "extra": {"relations": {"makes": of_one}}}])
    (look,) = reading.looks_rows(runs)
    assert (look["relation"], look["seed"], look["which"]) == ("makes", 4, "2.1")
    assert (look["head"], look["offset"]) == (0.9, 0.4)
    shares = {row["hidden"]: row["right"] for row in reading.hidden_rows(runs)}
    assert shares == dict.fromkeys(reading.HIDDEN, 0.5) | {"nothing": 1.0}
    (row,) = reading.ablation_rows(runs)
    assert (row["without encoder"], row["without cross"]) == (0.9, 0.8)
    assert (row["one encoder"], row["one cross"]) == pytest.approx((0.8, 0.3))
    assert reading.roles(runs)["makes"]["seed 4, 2.1"] == 0.9


def test_a_span_of_seeds():
    assert reading.span([0.5, 0.25, 0.75]) == "0.25–0.75"
    assert reading.span([0.998, 1.0]) == "1.00"


def caption_run(nothing, *, shares):
    """A run of two encoder heads in one layer, and one head of each other kind."""
    scores = {kind: [[nothing - 0.01]] for kind in ("cross", "decoder")}
    return {
        "next_word": {
            "nothing": nothing,
            "one": scores | {"encoder": [[nothing - 0.002, nothing + 0.001]]},
            "all but one": scores | {"encoder": [[nothing - 0.01, nothing - 0.03]]},
            "layer": {"encoder": [nothing - 0.04], "cross": [0.1], "decoder": [0.2]},
            "kind": {"encoder": nothing - 0.05, "cross": 0.0, "decoder": nothing},
        },
        "steady": {"shares": shares, "offsets": [[-1, 0], [1, 2]]},
    }


def test_points_are_lost_against_the_whole_model_of_the_same_seed():
    runs = [
        caption_run(0.6, shares=[[0.1, 0.2], [0.4, 0.3]]),
        caption_run(0.5, shares=[[0.1, 0.5], [0.4, 0.3]]),
    ]
    rows = {row["layer"]: row for row in reading.caption_rows(runs)}
    assert list(rows)[:3] == ["encoder 1", "encoder, all", "decoder 1"]
    assert rows["encoder 1"]["one out"] == pytest.approx([0.2, -0.1, 0.2, -0.1])
    assert rows["encoder 1"]["one left"] == pytest.approx([1, 3, 1, 3])
    assert rows["encoder 1"]["none left"] == pytest.approx([4, 4])
    assert rows["encoder, all"]["none left"] == pytest.approx([5, 5])
    assert rows["encoder, all"]["one out"] == []
    assert rows["encoder–decoder 1"]["none left"] == pytest.approx([50, 40])
    assert reading.steadiest(runs) == [("2.1", 1, 0.4), ("1.2", 0, 0.5)]


def test_a_span_of_points():
    assert reading.points([0.2, -0.14, 0.9]) == "−0.1 to 0.9"
    assert reading.points([-0.04, 0.04]) == "0.0"
    assert reading.points([]) == ""


# --- what is measured -------------------------------------------------------------------------


def test_what_is_measured_covers_every_relation_and_head(monkeypatch):
    monkeypatch.setattr(asking, "SIZES", {**asking.SIZES, "d_model": 8, "n_heads": 2, "d_ff": 8})
    words = asking.distant_phrasebook(train=600).vocabulary()
    config.update("jaxtyping_disable", True)  # some hundred thousand small calls
    try:
        found = measuring.measure(asking.new_translator("fr", words, seed=1), n=3, n_sentences=3)
    finally:
        config.update("jaxtyping_disable", False)
    assert list(found["relations"]) == measuring.relations_of("fr")
    for one in found["relations"].values():
        assert torch.tensor(one["hidden"]["by head"]).shape == (2, 2)
        assert {"edge", "neighbour", "cross", "decoder", "all three"} <= set(one["hidden"])
        for kind in ("encoder", "cross", "decoder"):
            assert torch.tensor(one[kind]["shares"]).shape == (2, 2)
            assert torch.tensor(one["without"]["one"][kind]).shape == (2, 2)
    assert {"trained", "untrained", "right-branching", "random"} <= set(found["trees"])
