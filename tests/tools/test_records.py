"""Records say how they were made, keep settings exact, and are written whole or not at all."""

import json
import re

import pytest
import records


def test_a_heading_names_command_commit_date_and_hardware():
    heading = records.heading({"peak": 1e-3}, jobs=2)
    assert re.fullmatch(r"[0-9a-f]{40}", heading["commit"])
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[+-]\d{4}", heading["date"])
    assert heading["command"].startswith("python ")
    assert heading["hardware"].keys() == {"processor", "instructions", "cores", "jobs"}
    assert (heading["settings"], heading["runs"]) == ({"peak": 1e-3}, [])
    assert heading["threads"] >= 1
    assert heading["versions"].keys() == {"python", "torch"}


def test_rounding_spares_the_settings():
    given = {"loss": (0.123456, 2), "settings": {"peak": 0.00123456}}
    assert records.rounded(given) == {"loss": [0.1235, 2], "settings": {"peak": 0.00123456}}


POINTS = """   "curve": [
    { "loss": 0.5 },
    { "loss": 0.25 }
   ]
"""


@pytest.mark.parametrize(
    ("flat_from", "line"),
    [(3, '  { "seed": 1, "curve": [ { "loss": 0.5 }, { "loss": 0.25 } ] }\n'), (5, POINTS)],
)
def test_every_form_holds_the_same(tmp_path, flat_from, line):
    record = {"task": "café", "runs": [{"seed": 1, "curve": [{"loss": 0.5}, {"loss": 0.25}]}]}
    path = tmp_path / "record.json"
    for form, found in ((flat_from, True), (None, False)):
        records.write(path, record, flat_from=form)
        text = path.read_text(encoding="utf-8")
        assert json.loads(text) == record
        assert "café" in text
        assert text.endswith("}\n")
        assert (line in text) == found


def test_a_record_that_cannot_be_written_leaves_the_old_one(tmp_path):
    path = tmp_path / "record.json"
    records.write(path, {"runs": [1]})
    with pytest.raises(TypeError):
        records.write(path, {"runs": [object()]})
    assert json.loads(path.read_text()) == {"runs": [1]}
