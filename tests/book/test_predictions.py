"""Every chapter asks two or three predictions, each once, as its room has them."""

import importlib
import json
import pkgutil
import re
from collections import Counter
from pathlib import Path

import pytest

import walkthrough
from walkthrough.page.prediction import Prediction

ROOT = Path(__file__).resolve().parents[2]
BOOK = ROOT / "book"
ROOMS = [m.name for m in pkgutil.iter_modules(walkthrough.__path__) if re.match(r"ch\d\d_", m.name)]

LISTED = re.findall(r"file: book/(\d\d)-", (ROOT / "_toc.yml").read_text(encoding="utf-8"))


def predictions_of(room: str) -> dict[str, Prediction]:
    """The predictions of a room by the names of its variables; none if it has no such module."""
    name = f"walkthrough.{room}.predictions"
    if importlib.util.find_spec(name) is None:
        return {}
    module = vars(importlib.import_module(name))
    return {key: value for key, value in module.items() if isinstance(value, Prediction)}


def faults(room: str, predictions: dict[str, Prediction], notebook: dict) -> list[str]:
    """What is wrong with a room's predictions and its chapter."""
    found = []
    number = room[2:4]
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    shown = Counter("".join(cell["source"]).strip() for cell in cells)
    for key, prediction in predictions.items():
        source = f"predictions.{key}"
        if not prediction.name.startswith(f"{number}-"):
            found.append(f"{prediction.name} is not named after chapter {number}")
        if shown[source] != 1:
            found.append(f"{source} is shown {shown[source]} times")
            continue
        cell = next(cell for cell in cells if "".join(cell["source"]).strip() == source)
        tags = cell["metadata"].get("tags", [])
        if sorted(tags) != ["nbval-check-output", "remove-input"]:
            found.append(f"{source} has the tags {tags}")
        texts = ["".join(o.get("data", {}).get("text/plain", "")) for o in cell["outputs"]]
        if texts != [repr(prediction)]:
            found.append(f"{source} has another text stored")
    for source in shown:
        if source.startswith("predictions.") and source[12:] not in predictions:
            found.append(f"{source} is not in the room")
    return found


def notebook_of(room: str) -> dict:
    (path,) = BOOK.glob(f"{room[2:4]}-*.ipynb")
    return json.loads(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("room", ROOMS)
def test_every_prediction_stands_in_its_chapter(room: str) -> None:
    assert faults(room, predictions_of(room), notebook_of(room)) == []


def advice(room: str, predictions: dict[str, Prediction]) -> str:
    """What to do about a chapter with too few or too many predictions; nothing if it is right."""
    if 2 <= len(predictions) <= 3:
        return ""
    return (
        f"chapter {room[2:4]} has {len(predictions)} predictions and needs 2 or 3: put them into "
        f"src/walkthrough/{room}/predictions.py, import `predictions` in the notebook's first code "
        "cell, and before each experiment add a cell `predictions.NAME` with the tag "
        "nbval-check-output (chapter 02 shows how), then run `make format`"
    )


@pytest.mark.parametrize("room", [room for room in ROOMS if room[2:4] in LISTED[1:]])
def test_every_chapter_with_a_room_asks_two_or_three(room: str) -> None:
    assert advice(room, predictions_of(room)) == ""


def test_the_chapters_were_found() -> None:
    assert {f"{number:02}" for number in range(1, 17)} <= set(LISTED)


def test_a_chapter_without_predictions_is_told_what_to_do() -> None:
    assert "src/walkthrough/ch17_variations/predictions.py" in advice("ch17_variations", {})


EVERY = [p for room in ROOMS for p in predictions_of(room).values()]


def test_names_are_unique_in_the_book() -> None:
    names = [prediction.name for prediction in EVERY]
    assert len(names) == len(set(names))
    assert names


RECORDED = {
    *("04-one-head", "05-enough-units", "05-longer-run", "07-beyond", "08-slowest", "08-without"),
    *("09-never-there", "12-no-warmup"),
    *("13-after-200", "13-smoothing", "15-beam"),
    *("17-keys-or-parameters", "17-after-200"),
    *("18-longer", "19-same-picture", "19-best-tree"),
    *("20-asking", "20-longer", "22-same-numbers"),
    "23-others",
}
"""What runs of the laboratory decide; all others ask for a count or for what the page computes."""


def test_where_runs_are_recorded_nobody_types_the_answer() -> None:
    """A prediction that has its answer from a record cannot have one typed beside it."""
    assert {prediction.name for prediction in EVERY if prediction.given} == RECORDED


def test_neither_its_place_nor_its_length_gives_the_right_choice_away() -> None:
    """Who always clicks on b, or on the shortest, is right less than half of the time."""
    found: Counter[str] = Counter()
    for prediction in EVERY:
        sizes = [len(choice.text) for choice in prediction.choices]
        (right,) = [n for n, choice in enumerate(prediction.choices) if choice.right]
        found["abcd"[right]] += 1
        found["shortest"] += sizes[right] == min(sizes)
        found["longest"] += sizes[right] == max(sizes)
    assert all(times < 0.45 * len(EVERY) for times in found.values()), found


def test_a_chapter_that_lost_a_prediction_is_noticed() -> None:
    room = "ch02_scaled_dot_product_attention"
    predictions, notebook = predictions_of(room), notebook_of(room)
    asks = [c for c in notebook["cells"] if "".join(c["source"]).startswith("predictions.")]
    (first, *_) = asks
    first["outputs"][0]["data"]["text/plain"] = ["something else"]
    assert "another text stored" in "; ".join(faults(room, predictions, notebook))
    first["metadata"]["tags"] = []
    assert "has the tags" in "; ".join(faults(room, predictions, notebook))
    first["source"] = ["predictions.other"]
    found = "; ".join(faults(room, predictions, notebook))
    assert "is shown 0 times" in found
    assert "is not in the room" in found
    assert "not named after chapter 03" in "; ".join(faults("ch03_masks", predictions, notebook))
