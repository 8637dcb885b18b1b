"""Looks, closings, trees and margins are counted as the page says."""

from collections import Counter

import pandas as pd
import pytest
import torch
from jaxtyping import config

from phrasebook.questions import Question
from transformer.data.vocabulary import Vocabulary
from transformer.parsing.trees import parse_brackets
from walkthrough.ch19_what_the_heads_attend_to.experiments import (
    asking,
    heads,
    looking,
    measuring,
    reading,
    surgery,
    trees,
)
from walkthrough.lab import Job, Key

HOW = ("plain", "bias", "best_bias")
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
            with surgery.hidden(translator.model, masks):
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
    assert trees.attention_distances(weights).tolist() == pytest.approx([0, 1])


def test_a_bias_lifts_the_first_cut_most_and_the_last_not():
    assert trees.leaning_right([1.0, 2.0, 3.0], 1.5) == pytest.approx([4.0, 3.5, 3.0])
    assert trees.leaning_right([1.0, 2.0, 3.0], 0.0) == [1.0, 2.0, 3.0]
    assert trees.leaning_right([0.5], 2.0) == [1.5]
    spans = trees.split_where_far(trees.leaning_right([0.3, 0.1, 0.2, 0.4], 50.0))
    assert spans == trees.split_where_far(trees.BASELINES["right-branching"](5))


def test_a_head_that_knows_the_tree_gets_it_all():
    rows = torch.zeros(7, 8)
    rows[:3, 0] = 1
    rows[1:3, 0] = torch.tensor([0.8, 0.8])
    rows[1:3, 1] = 0.2
    rows[3, 2] = 1
    rows[4, 3:5] = 0.5
    rows[5:7, 4] = 1
    far = trees.attention_distances(rows[None, None])
    assert trees.head_f1([far], [TREE]).item() > 0.8


# --- the record -------------------------------------------------------------------------------


def test_rows_of_the_record_are_those_of_its_runs():
    found = {"best": [1, 0], "shares": [[0.1, 0.2], [0.9, 0.3]]}
    of_one = {"offset_share": 0.4, **dict.fromkeys(reading.LOOKS, found)}
    sets = {name: [1.0, 0.0] for name in ("encoder", "cross", "encoder, cross closed")}
    extra = {"relations": {measuring.MAKES: of_one}, "sets": sets}
    arms = [("trained", 1.0), ("encoder closed", 0.25)]
    runs = pd.DataFrame(
        [
            {"arm": arm, "seed": 4, "extra": extra if arm == "trained" else {}}
            | {f"{split}/forced/accuracy": share for split in measuring.SPLITS.values()}
            for arm, share in arms
        ]
    )
    look, *_ = reading.looks(runs)
    assert (look["word"], look["look"], look["seed"]) == (measuring.MAKES, "encoder", 4)
    assert (look["values"], look["best"]) == ([0.1, 0.2, 0.9, 0.3, 0.4], 0.9)
    closed, *_ = reading.closings(runs, {"nothing": "trained", "encoder": "encoder closed"})
    assert (closed["word"], closed["values"]) == (measuring.MAKES, [1.0, 0.25])
    assert [row["shares"] for row in reading.sets(runs)] == [[1.0, 0.0]] * 3


def test_the_smallest_sets_are_all_of_the_same_size():
    shares = [1.0] * 256
    for number in (0b110, 0b101, 0b111, 0b1000_0001):
        shares[number] = 0.2
    assert reading.smallest_sets(shares) == [["1.1", "1.3"], ["1.2", "1.3"], ["1.1", "2.4"]]
    assert reading.smallest_sets([1.0] * 256) == []


def test_a_span_of_seeds():
    assert reading.span([0.5, 0.25, 0.75]) == "0.25–0.75"
    assert reading.span([0.998, 1.0]) == "1.00"


def test_points_are_lost_against_the_whole_model_of_the_same_seed():
    runs = []
    for whole in (0.6, 0.5):
        scores = {kind: [[whole - 0.01]] for kind in ("cross", "decoder")}
        found = {
            "nothing": whole,
            "one": scores | {"encoder": [[whole - 0.002, whole + 0.001]]},
            "all but one": scores | {"encoder": [[whole - 0.01, whole - 0.03]]},
            "layer": {"encoder": [whole - 0.04], "cross": [0.1], "decoder": [0.2]},
        }
        runs.append({"next_word": found})
    rows = {row["layer"]: row for row in reading.caption_rows(runs)}
    assert list(rows) == ["encoder 1", "decoder 1", "encoder–decoder 1"]
    assert rows["encoder 1"]["one out"] == pytest.approx([0.2, -0.1, 0.2, -0.1])
    assert rows["encoder 1"]["one left"] == pytest.approx([1, 3, 1, 3])
    assert rows["encoder 1"]["none left"] == pytest.approx([4, 4])
    assert rows["encoder–decoder 1"]["none left"] == pytest.approx([50, 40])


# --- what is measured -------------------------------------------------------------------------


def test_every_right_word_is_asked_for_as_often():
    words = asking.words(small=True)
    for name, kinds in (("it → le, la", {"le": 3, "la": 3}), (measuring.MAKES, {"rend": 6})):
        asked = asking.asked(name, words, n=6)
        counts = Counter(q.right.replace("rendent", "rend") for q in asked)
        assert counts == kinds


def test_a_stranger_stands_where_an_answer_could():
    for question_ in asking.strangers(asking.words(small=True), n=3):
        assert question_.right in ("fait", "font")
        first = question_.source[question_.answers[0]]
        assert first == "more" or first.endswith("er") or first in ("better", "worse")


def test_a_run_answers_everything_with_every_look_closed(monkeypatch):
    monkeypatch.setattr(asking, "SIZES", {**asking.SIZES, "d_model": 8, "d_ff": 8})
    monkeypatch.setattr(measuring, "BIASES", (0.0, measuring.FIXED))
    e = heads.EXPERIMENT
    config.update("jaxtyping_disable", True)  # some hundred thousand small calls
    try:
        found = {
            arm.name: arm.run(Job(e, arm, Key(arm.name, 1.0, 2, 1), None, small=True))
            for arm in e.arms
        }
    finally:
        config.update("jaxtyping_disable", False)
        heads.tests_of.cache_clear()
    asked = {f"{split}/forced/accuracy" for split in measuring.SPLITS.values()}
    assert all(set(found[name].figures) >= asked for name in measuring.CLOSED)
    tree = {f"{one}/{how}/f1" for one in ("english", "french") for how in HOW}
    assert all(
        set(found[name].figures) >= tree for name in ("trained", "untrained", "right-branching")
    )
    extra = found["trained"].extra
    assert list(extra["relations"]) == list(measuring.SPLITS)
    assert {len(shares) for shares in extra["sets"].values()} == {256}


def test_the_weights_that_ship_are_the_record_of_seed_1():
    runs = heads.EXPERIMENT.frame().set_index(["arm", "seed"])
    for language, name in heads.LANGUAGES.items():
        shipped = asking.load_translator(language)
        found = measuring.exact(shipped, measuring.known_sentences(shipped, "test", 200))
        assert found == pytest.approx(runs.loc[("trained", 1), f"{name}/greedy/exact"], abs=0.006)
