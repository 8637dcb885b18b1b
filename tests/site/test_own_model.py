"""A model of the reader's own in the panel: dropped or chosen, shown, and refused with a reason.

The file is what `python -m walkthrough.capstone export` writes: the bundle's scripts of a model.
"""

import base64
import gzip
import json
import re
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
from live_page import WEB, loaded, offered, write_page
from playwright.sync_api import Page

from walkthrough.ch21_translate_in_your_browser.bundle import scripts, words
from walkthrough.ch21_translate_in_your_browser.translator import load_translator

pytestmark = [pytest.mark.site, pytest.mark.usefixtures("live_translator")]

BUNDLE = WEB / "vendor" / "live"
BOOKS = "The neighbours think that this mouse is white."
DROP = """([name, text]) => {
  const carried = new DataTransfer();
  carried.items.add(new File([text], name));
  const place = document.querySelector(".live-translator");
  for (const kind of ["dragover", "drop"]) {
    const event = new DragEvent(kind, { dataTransfer: carried, bubbles: true, cancelable: true });
    if (place.firstElementChild.dispatchEvent(event)) throw new Error("the browser would leave");
  }
}"""


@pytest.fixture(scope="module")
def page_file(tmp_path_factory) -> Path:
    """The panel alone, opened as a file."""
    return write_page(tmp_path_factory.mktemp("own"))


def own_file(changed: Mapping[str, bytes] | None = None) -> str:
    """The book's model as one file, some of its parts changed."""
    wanted = ("words.json", "weights.f16", "encoder", "decoder-step", "laboratory")
    kept = {p.name: p.read_text() for p in sorted(BUNDLE.glob("*.js")) if p.name.startswith(wanted)}
    for name, content in (changed or {}).items():
        kept = {file: text for file, text in kept.items() if not file.startswith(name)}
        kept |= scripts(name, content)
    return "".join(kept.values())


def another_model() -> str:
    """A model that answers otherwise: the embeddings of other words."""
    weights = np.frombuffer(unpacked("weights.f16"), "<f2").copy()
    weights[: 514 * 128] = np.roll(weights[: 514 * 128], 128)
    return own_file({"weights.f16": weights.tobytes()})


def unpacked(name: str) -> bytes:
    """A part of the bundle, as it was packed."""
    texts = (path.read_text() for path in sorted(BUNDLE.glob(f"{name}.*.js")))
    packed = "".join(re.search(r'"([A-Za-z0-9+/=]*)"\);', text).group(1) for text in texts)
    return gzip.decompress(base64.b64decode(packed))


def drop(page: Page, name: str, text: str) -> str:
    """Drop a file on the panel; return what is said of it when it has been read."""
    page.evaluate(DROP, [name, text])
    page.wait_for_function(
        """() => { const said = document.querySelector(".live-own")?.textContent;
                   return said && !said.startsWith("Reading"); }"""
    )
    return page.inner_text(".live-own")


def test_a_dropped_model_is_shown_with_its_own_numbers_and_goes_again(page, page_file):
    visit = loaded(page, page_file.as_uri())
    page.get_by_label("French sentence").fill("Paul rend le voyage plus difficile.")
    assert "This is your model, from mine.js" in drop(page, "mine.js", another_model())
    page.wait_for_selector("[data-translation]")
    assert page.input_value("#live-source") == "Paul rend le voyage plus difficile."
    own = page.get_attribute(".live-translator", "data-translation")
    title = page.locator(".live-maps svg").get_attribute("aria-label") or ""
    assert title.startswith("Your model, your sentence: encoder–decoder attention")
    page.get_by_label("no scale").check()
    assert "The numbers here are the book's model's" in page.inner_text(".live-looks")
    page.get_by_role("button", name="Back to the book's model").click()
    page.wait_for_selector("[data-translation]")
    books = page.get_attribute(".live-translator", "data-translation")
    assert books == "Paul makes the trip more difficult." != own
    assert page.inner_text(".live-own") == ""
    assert (visit.third_party(), visit.errors) == ([], [])


def test_the_button_takes_a_file_and_a_drop_loads_the_panel_first(page, page_file, tmp_path):
    visit = offered(page, page_file.as_uri())
    assert "This is your model" in drop(page, "mine.js", own_file())
    page.wait_for_selector("[data-translation]")
    assert page.get_attribute(".live-translator", "data-translation") == BOOKS
    chosen = tmp_path / "other.js"
    chosen.write_text(own_file())
    page.set_input_files(".live-translator input[type=file]", chosen)
    page.wait_for_function("document.querySelector('.live-own').textContent.includes('other.js')")
    assert (visit.third_party(), visit.errors) == ([], [])


def test_what_is_no_model_of_this_panel_is_refused_with_its_reason(page, page_file):
    model, codec = load_translator()
    other = words(codec, model)
    other["sizes"] = {**other["sizes"], "heads": 8}
    weights = unpacked("weights.f16")
    whole = own_file()
    files = {
        "weights.pt": ("PK", "it holds weights without the rest of a model"),
        "my_transformer.py": ("import torch", "it is the code"),
        "notes.txt": ("Dear diary", "it is not what “python -m walkthrough.capstone export”"),
        "script.js": ("alert(1);", "it is not what “python -m walkthrough.capstone export”"),
        "empty.js": ("", "it is not what “python -m walkthrough.capstone export”"),
        "cut.js": (whole[: len(whole) // 2], "it begins well and is not whole"),
        "lines.js": (whole[: whole.rindex("live.receive")], "its part words.json is missing"),
        "damaged.js": (whole.replace("H4sI", "H5sI"), "its part words.json is missing or damaged"),
        "heads.js": (
            own_file({"words.json": json.dumps(other).encode()}),
            "it has 2 layers, 8 heads, d_model 128 and 514 words; this panel shows models that have"
            " 2 layers, 4 heads, d_model 128 and 514 words",
        ),
        "short.js": (own_file({"weights.f16": weights[: len(weights) // 2]}), "it did not run"),
        "nan.js": (own_file({"weights.f16": b"\xff" * len(weights)}), "its logits are no numbers"),
    }
    visit = loaded(page, page_file.as_uri())
    for name, (text, reason) in files.items():
        said = drop(page, name, text)
        assert said.startswith(f"{name} is not shown: {reason}"), (name, said)
        page.evaluate("document.querySelector('.live-own').textContent = ''")
    page.get_by_role("button", name="Translate", exact=True).click()
    page.wait_for_selector("[data-translation]")
    assert page.get_attribute(".live-translator", "data-translation") == BOOKS
    assert visit.third_party() == []
