"""The records of trees: rows that are missing are made, rows that are there are kept."""

import json

import pytest
import run_phrase_trees
import run_trees
from records import RESULTS

from transformer.data.phrasebook import parse_brackets
from transformer.data.trees import TaggedTree
from walkthrough.ch18_constituency_parsing.experiments import phrase_trees

TREES = [
    TaggedTree(parse_brackets(f"(S (NP the {noun}) (VP {verb}) .)"), ("DT", "NN", "VB", "."))
    for noun in ("cat", "dog", "mouse")
    for verb in ("sleeps", "sings")
]


@pytest.fixture
def small_craft(monkeypatch):
    splits = {"train": tuple(TREES), "dev": tuple(TREES), "test": tuple(TREES)}
    monkeypatch.setattr(run_trees, "craft_trees", lambda: splits)


def test_baselines_are_written_row_by_row_and_kept(small_craft, tmp_path, monkeypatch, capsys):
    output = tmp_path / "trees.json"
    words = ["baselines", "--every", "2", "--output", str(output)]
    assert run_trees.main(words) == 0
    record = json.loads(output.read_text())
    rows = [run["row"] for run in record["runs"]]
    assert rows[:2] == ["flat", "right-branching"]
    assert rows[-2:] == ["PCFG, words", "PCFG, tags"]
    assert len(set(rows)) == len(rows)
    by_row = {run["row"]: run for run in record["runs"]}
    assert by_row["PCFG, words"]["scores"]["CKY"]["f1"] == 100
    assert by_row["PCFG, words"]["scored"] == 3
    assert by_row["flat"]["scores"]["as it is"]["recall"] < 50
    assert all({"commit", "cpu_seconds", "command"} <= set(run) for run in record["runs"])
    capsys.readouterr()
    assert run_trees.main([*words, "--resume"]) == 0
    assert capsys.readouterr().out == ""  # nothing is made again
    assert json.loads(output.read_text())["runs"] == record["runs"]
    assert run_trees.main(words) == 0
    assert capsys.readouterr().out.count("\n") == len(rows)  # everything is
    with pytest.raises(SystemExit, match="scores every 2th sentence"):
        run_trees.main(["baselines", "--every", "3", "--output", str(output)])


def test_models_are_asked_for_by_seed_and_size(small_craft, tmp_path, monkeypatch):
    asked = []

    def with_model(args, seed, *, tags=False, size=None, leaf="number", on_dev=False):
        asked.append((seed, tags, size, leaf, on_dev))
        return {"scored": 1, "scores": {}}

    monkeypatch.setattr(run_trees, "with_model", with_model)
    monkeypatch.setattr(run_trees, "SIZES", (2, 4))
    output = str(tmp_path / "trees.json")
    assert run_trees.main(["leaves", "words", "tags", "curve", "--output", output]) == 0
    assert asked == [
        *((1, False, None, leaf, True) for leaf in ("tag", "number")),
        *((seed, False, None, "number", False) for seed in (1, 2, 3)),
        (1, True, None, "number", False),
        (1, False, 2, "number", False),
        (1, False, 4, "number", False),
    ]
    asked.clear()
    words = ["words", "tags", "--seeds", "2", "--output", output]
    assert run_trees.main(words) == 0
    assert [one[:2] for one in asked] == [(2, False), (2, True)]
    asked.clear()
    assert run_trees.main(["curve", "--sizes", "3", "--output", output]) == 0
    assert asked == [(1, False, 3, "number", False)]


def test_a_part_is_the_one_that_the_corpus_draws(monkeypatch):
    from transformer.data import corpus as corpus_module

    monkeypatch.setattr(corpus_module, "craft_trees", lambda **options: {"train": tuple(TREES)})
    drawn = corpus_module.Corpus.from_craft("train", max_sentences=3).source_trees
    parts = run_trees.part_of(TREES, 3)
    assert [parse_brackets(tree) for tree in drawn] == [part.tree for part in parts]


def test_unknown_parts_are_refused(capsys):
    with pytest.raises(SystemExit):
        run_trees.main(["everything"])
    assert (
        "no part 'everything'; there are baselines, leaves, words, tags, curve"
        in capsys.readouterr().err
    )


def test_the_phrasebooks_parsers_are_crossed(tmp_path, monkeypatch):
    def train_parser(examples, *, leaf, seed, updates):
        return (leaf, seed)

    def score_parser(parser, examples, *, constrained, beam):
        return phrase_trees.score_brackets([TREES[0].tree], [TREES[0].tree]), 1.0

    monkeypatch.setattr(phrase_trees, "train_parser", train_parser)
    monkeypatch.setattr(phrase_trees, "score_parser", score_parser)
    output = tmp_path / "record.json"
    assert run_phrase_trees.main(["--seeds", "1", "2", "--output", str(output)]) == 0
    record = json.loads(output.read_text())
    assert [(run["leaf"], run["seed"]) for run in record["runs"]] == [
        (leaf, seed) for seed in (1, 2) for leaf in ("XX", "number", "word")
    ]
    ways = {(s["sentences"], s["constrained"], s["beam"]) for s in record["runs"][0]["scores"]}
    assert len(ways) == 8


def test_the_records_name_the_same_sentences():
    record = json.loads((RESULTS / "phrasebook-trees.json").read_text())
    assert record["settings"]["training"]["max_updates"] == phrase_trees.SETTINGS.max_updates
    assert record["settings"]["model"] == phrase_trees.SIZES


def test_a_corpus_of_no_sentences_is_no_point_of_the_curve():
    with pytest.raises(SystemExit):
        run_trees.main(["curve", "--sizes", "4", "0"])
