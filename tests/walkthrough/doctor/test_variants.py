"""One line broken: the doctor names it. Right in another convention: it says nothing false."""

import pytest
import torch
from right import RIGHT
from variants import BROKEN, built

from walkthrough.ch09_encoder_and_decoder.experiments.broken import FAULTS, SmallModel
from walkthrough.ch14_the_training_run.experiments import PARTS, broken_model
from walkthrough.doctor import examine

OF_14 = ("repeatable", "future", "padding", "order", "source", "batch")
OF_09 = (
    "future",
    "padding",
    "source",
    "no gradient",
    "one layer",
    "memory",
    "no gradient",
    "order",
)

IGNORED = pytest.mark.filterwarnings("ignore::UserWarning")  # torch's, about its own modules


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_line_is_named(name):
    change, to, finding, words = BROKEN[name]
    report = examine(built(change))
    said = [f for f in getattr(report, to) if finding in (None, f.name)]
    assert any(words in f"{f.sentence} {f.witness}" for f in said), str(report)
    assert to == "bugs" or not report.bugs, str(report)


@IGNORED
@pytest.mark.parametrize("name", RIGHT)
def test_of_a_right_model_nothing_false_is_said(name):
    make, departures = RIGHT[name]
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        report = examine(make())
    assert not report.bugs, str(report)
    assert {f.name for f in report.departures} == departures, str(report)


CANNOT_TELL = {
    "experts": "dropout",
    "sentence by sentence": "memory",
    "a learned temperature": "scale",
    "tied and wide": "first loss",
}


@pytest.mark.parametrize("name", CANNOT_TELL)
def test_where_it_cannot_tell_it_says_so(name):
    report = examine(RIGHT[name][0]())
    assert CANNOT_TELL[name] in {f.name for f in report.not_examined}, str(report)
    assert CANNOT_TELL[name] not in {f.name for f in report.same}


ROOMS = {
    **{("14", part): name for part, name in zip(PARTS[1:], OF_14, strict=True)},
    **{("09", fault): name for fault, name in zip(FAULTS, OF_09, strict=True)},
}


@pytest.mark.parametrize(("chapter", "fault"), ROOMS)
def test_what_the_chapters_break_is_named(chapter, fault):
    model = broken_model(fault, seed=1) if chapter == "14" else SmallModel(fault)
    report = examine(model)
    assert ROOMS[chapter, fault] in {f.name for f in (*report.bugs, *report.departures)}, str(
        report
    )


def test_what_the_chapters_have_in_order_has_no_bug():
    assert not examine(broken_model("nothing", seed=1)).bugs
    assert not examine(SmallModel()).bugs


def test_the_plain_model_departs_in_nothing():
    report = examine(built())
    assert report.bugs == report.departures == []
    assert {f.name for f in report.not_examined} == {"labels"}
