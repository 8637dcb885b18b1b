"""Splits by shape, ways of counting, and what is read from the records."""

import pytest

from transformer.analysis.brackets import labelled_spans, score_brackets
from transformer.data.phrasebook import leaves, parse_brackets
from walkthrough.ch18_constituency_parsing.experiments import (
    evalb_sample,
    measuring,
    phrase_trees,
)
from walkthrough.ch18_constituency_parsing.experiments import recorded_trees as craft
from walkthrough.ch18_constituency_parsing.experiments.published import TABLE_4
from walkthrough.page.results import recorded

GOLD = parse_brackets("(S (NP a) (VP b (NP c d) (PP e (NP f))))")


@pytest.fixture(scope="module")
def split():
    return phrase_trees.split_by_shape(n_sentences=1500, n_test=20)


def test_a_shape_that_is_held_out_is_nowhere_in_training(split):
    known = {phrase_trees.shape(example) for example in split.train}
    assert known.isdisjoint(phrase_trees.shape(e) for e in split.held_out_shapes)
    assert known.issuperset(phrase_trees.shape(e) for e in split.seen_shapes)
    assert split.held_out_shapes
    sentences = {example.target for example in split.train}
    assert sentences.isdisjoint(e.target for e in split.held_out_shapes)


@pytest.mark.parametrize("leaf", ["XX", "number", "word"])
def test_a_parser_of_one_update_writes_trees_under_rules(split, leaf):
    settings = phrase_trees.ONE_UPDATE
    parser = phrase_trees.train_parser(split.train[:300], leaf=leaf, settings=settings)
    known = [e for e in split.held_out_shapes if all(w in parser.codec.words for w in e.target)]
    for beam in (1, 3):
        _, share = phrase_trees.score_parser(parser, known[:2], constrained=True, beam=beam)
        assert share == 1
    steps = phrase_trees.along(parser, phrase_trees.words_of(known[0]))
    assert steps.allowed.shape == steps.probabilities.shape
    assert len(steps.allowed) == len(steps.written) + 1
    assert 0 <= steps.first_closed <= len(steps.written)


def test_trees_without_a_parser_have_the_words():
    for make in (measuring.flat, measuring.right_branching):
        assert list(leaves(make(("a", "b", "c")))) == ["a", "b", "c"]
        assert list(leaves(make(("a",)))) == ["a"]
    assert measuring.right_branching(("a", "b", "c")) == ("S", "a", ("NP", "b", ("NP", "c")))


def test_conventions_by_hand():
    chain = parse_brackets("(S (NP (NP mice)) (VP run) .)")
    assert measuring.as_a_set(chain).total() == labelled_spans(chain).total() - 1
    assert ("S", 0, 3) not in measuring.without_root(chain)
    assert measuring.without_labels(chain)["", 0, 1] == 2
    assert measuring.without_punctuation(chain)["S", 0, 2] == 1
    particle = parse_brackets("(S (PRT up) (PRN ,) go)")
    assert set(measuring.without_punctuation(particle)) == {("ADVP", 0, 1), ("S", 0, 2)}


def test_the_first_convention_is_the_packages():
    other = parse_brackets("(S (NP a) (VP b (NP c d (PP e (NP f)))))")
    found = measuring.measured([other, None], [GOLD, GOLD])
    score = score_brackets([other, None], [GOLD, GOLD])
    assert found["f1"] == pytest.approx(100 * score.f1)
    assert found["conventions"]["all words, all labels"] == pytest.approx(found["f1"])
    assert found["well_formed"] == 0.5
    assert found["by_length"] == [{"words": [1, 10], "sentences": 2, "f1": found["f1"]}]


def test_table_4_as_the_paper_prints_it():
    ours = [(system.training, system.f1) for system in TABLE_4 if system.is_transformer]
    assert ours == [("WSJ only", 91.3), ("semi-supervised", 92.7)]
    assert len(TABLE_4) == 12
    assert max(TABLE_4, key=lambda system: system.f1).f1 == 93.3


def test_the_record_of_craft_is_read():
    record = recorded("craft-trees")
    assert {row["parser"] for row in craft.tested(record)} >= {"flat", "right-branching"}
    assert all(0 < value < 100 for value in craft.on_dev(record).values())
    assert craft.best_scores(record, "flat")["well_formed"] == 1
    with pytest.raises(KeyError, match="no row 'nobody'; there are PCFG"):
        craft.best_scores(record, "nobody")
    lines = craft.lengths(record, {"grammar": ("PCFG, words", "CKY")})
    assert lines == {"grammar": craft.best_scores(record, "PCFG, words")["by_length"]}
    with pytest.raises(KeyError, match="no row 'nobody' decoded 'CKY' with seed 1"):
        craft.lengths(record, {"nobody": ("nobody", "CKY")})


def test_lengths_are_of_one_seed_and_of_all_sentences():
    def run(seed, sentences):
        scores = {"free": {"by_length": [{"seed": seed, "of": sentences}]}}
        return {"row": "parser", "seed": seed, "sentences": sentences, "scores": scores}

    record = {"runs": [run(2, 80), run(1, 40), run(1, 80), run(1, 20)]}
    assert craft.lengths(record, {"it": ("parser", "free")}) == {"it": [{"seed": 1, "of": 80}]}
    assert craft.lengths(record, {"it": ("parser", "free")}, seed=2) == {
        "it": [{"seed": 2, "of": 80}]
    }
    with pytest.raises(KeyError, match="with seed 3"):
        craft.lengths(record, {"it": ("parser", "free")}, seed=3)


def test_a_row_counts_once_for_each_way_of_decoding():
    scores = {"f1": 50.0, "precision": 50.0, "recall": 50.0, "exact": 0.1, "well_formed": 1.0}
    run = {"row": "Transformer, words", "seed": 1, "sentences": 9, "scores": {"a": scores}}
    later = {**run, "seed": 2, "scores": {"a": scores, "b": {**scores, "f1": 60.0}}}
    record = {"runs": [run, later]}
    assert [(r["seed"], r["decoding"]) for r in craft.tested(record)] == [
        (1, "a"),
        (2, "a"),
        (2, "b"),
    ]
    assert craft.best_scores(record, "Transformer, words")["f1"] == 50.0  # the first seed
    turned = {"runs": [later, run, {**run, "row": "PCFG on dev, h=1", "seed": None}]}
    parser = {**run, "row": "Transformer on dev, leaves: tag"}
    assert list(craft.on_dev({"runs": [*turned["runs"], parser]})) == ["h=1"]
    assert [(row.way, row.f1) for row in craft.table(turned)] == [
        ("a", (50.0, 50.0)),
        ("b", (60.0,)),
    ]
    other = {**run, "seed": 2, "scores": {"a": {**scores, "f1": 40.0, "exact": 0.3}}}
    (row,) = craft.table({"runs": [other, run]})
    assert (row.f1, row.exact) == ((50.0, 40.0), pytest.approx(0.2))


def test_a_learning_curve_is_that_of_the_first_seed():
    def run(seed, sentences, f1, row="Transformer, words"):
        scores = dict.fromkeys(("precision", "recall", "exact", "well_formed"), 1.0)
        ways = {"free": {"f1": f1 - 10, **scores}, "rules": {"f1": f1, **scores}}
        return {"row": row, "seed": seed, "sentences": sentences, "scores": ways}

    runs = [run(2, 80, 9.0), run(1, 80, 70.0), run(3, 80, 8.0), run(1, 40, 60.0)]
    grammar = run(None, 80, 65.0, row="PCFG, words")
    record = {"runs": [*runs, grammar, run(1, 80, 99.0, row="Transformer on dev, leaves: tag")]}
    sizes = {(row.parser, row.sentences) for row in craft.table(record, sentences=80)}
    assert sizes == {("Transformer, words", 80), ("PCFG, words", 80)}
    assert {row.sentences for row in craft.table(record)} == {40, 80}
    assert craft.by_sentences(record, "Transformer, words", "rules") == {40: 60.0, 80: 70.0}
    assert craft.by_sentences(record, "Transformer, words", "free") == {40: 50.0, 80: 60.0}
    assert craft.by_sentences(record, "PCFG, words", "rules") == {80: 65.0}
    with pytest.raises(KeyError, match="no row 'PCFG, words' decoded 'CKY'; there are"):
        craft.by_sentences(record, "PCFG, words", "CKY")


def test_brackets_are_counted_as_evalb_counts_them():
    def counts(spans):
        gold = spans(evalb_sample.GOLD)
        found = {text: spans(parse_brackets(text)) for text in evalb_sample.PRINTED}
        return {t: ((f & gold).total(), gold.total(), f.total()) for t, f in found.items()}

    assert counts(labelled_spans) == evalb_sample.PRINTED
    for name, other in measuring.CONVENTIONS.items():  # the sample tells the others apart
        agrees = counts(other) == evalb_sample.PRINTED
        assert agrees == (name in ("all words, all labels", "without punctuation (COLLINS.prm)"))
