"""A handful of translations is chosen by a rule that nobody can bend, and never more than 8."""

import json
import re

import pytest
import sample_translations as tool

from transformer.data.corpus import Corpus
from transformer.inference.translate import Translation

SOURCES = ("Jane rit.", "Paul dort.", "Jane dort.", "Paul rit.", "Jane visite Paris.")
TARGETS = ("Jane laughs.", "Paul sleeps.", "Jane sleeps.", "Paul laughs.", "Jane visits Paris.")


def corpus():
    return Corpus(
        name="ours",
        source_language="fr",
        target_language="en",
        split="test",
        source=SOURCES,
        target=TARGETS,
    )


def test_the_sample_is_sorted_best_first_with_its_scores():
    outputs = ["Jane laughs.", "Paul.", "xyz", "Paul laughed.", "Jane visits London."]
    rows = tool.sample(corpus(), outputs, count=5)
    assert [row["number"] for row in rows] == [1, 4, 5, 2, 3]
    assert (rows[0]["score"], rows[0]["rank"], rows[-1]["rank"]) == (100.0, 5, 1)
    assert rows[0]["score"] > rows[1]["score"] > rows[-1]["score"]
    for row in rows:
        index = row["number"] - 1
        expected = (SOURCES[index], TARGETS[index], outputs[index])
        assert (row["source"], row["reference"], row["translation"]) == expected


@pytest.mark.parametrize("count", [1, 9])
def test_more_than_a_handful_is_refused(count):
    with pytest.raises(ValueError, match=f"from 2 to 8 .*got {count}"):
        tool.sample(corpus(), TARGETS, count=count)


def test_a_run_folder_becomes_a_record(tmp_path, monkeypatch):
    folder, output = tmp_path / "first", tmp_path / "sample.json"
    folder.mkdir()
    (folder / "settings.json").write_text(json.dumps({"data": {"corpus": "multi30k"}}))
    asked = {}

    def load_corpus(data, split, *, progress):
        asked.update(corpus=data.corpus, split=split)
        return corpus()

    def translate(_model, _codec, lines, decoding):
        asked.update(lines=lines, beam=decoding.beam)
        return [[Translation(line)] for line in TARGETS]

    monkeypatch.setattr(tool, "load_corpus", load_corpus)
    monkeypatch.setattr(tool, "translate", translate)
    monkeypatch.setattr(tool, "open_model", lambda args: (None, None))
    assert tool.main([str(folder), "--beam", "1", "--count", "3", "--output", str(output)]) == 0
    assert asked == {
        "corpus": "multi30k",
        "split": "test_2016_flickr",
        "lines": SOURCES,
        "beam": 1,
    }
    record = json.loads(output.read_text())
    assert (record["run"], record["of"], len(record["sentences"])) == ("first", 5, 3)
    assert all(row["score"] == 100 for row in record["sentences"])
    assert record["command"].startswith("python tools/sample_translations.py")
    assert str(tmp_path) in record["command"]
    for name in ("commit", "rule", "split", "beam", "alpha", "average"):
        assert record[name] is not None, name
    assert re.match(r"\d{4}-\d\d-\d\dT", record["date"])
