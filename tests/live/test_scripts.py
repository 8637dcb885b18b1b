"""The browser's scripts on their own, in node: their tests pass, and they spell as the package."""

import difflib
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from phrasebook import phrasebook, tokenize
from walkthrough.ch21_translate_in_your_browser.bundle import words
from walkthrough.ch21_translate_in_your_browser.translator import load_translator

HERE = Path(__file__).parent
NODE = shutil.which("node", path=Path(sys.executable).parent) or "node"

SENTENCES = [
    "Jane visite l'Afrique en septembre.",
    "  jane VISITE l\u2019afrique\u00a0en septembre !?…",
    "L'\u00e9tudiante n'aime pas l'h\u00f4tel\u3000.",
    "L'e\u0301tudiante aujourd'hui",  # composed and split
    "\x1cPaul\x85rit\ufeff",  # the last is no space in Python
    "'' l' 'ami",
    "\U0001d49c \U0001f600 \u0130stanbul",
    "...",
    "",
]
TYPED = [
    "maisson",
    "Afriqe",
    "septembr",
    "étudient",
    "xylophone",
    "",
    "L'",
    "voisins",
    "Parsi",
    "é",
    "maison" * 20_000,
]


@pytest.mark.parametrize("file", ["decoding.test.js", "parts.test.js"])
def test_the_scripts_own_tests_pass(file):
    done = subprocess.run([NODE, "--test", HERE / file], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.usefixtures("as_users_run_it")  # with shapes enforced, the sentences take 20 seconds
def test_words_are_split_suggested_and_written_as_in_python(tmp_path):
    model, codec = load_translator()
    splits = phrasebook().splits()
    sentences = SENTENCES + [e.source_text for e in splits["test_sentences"][:200]]
    targets = [codec.encode_target(e.target_text) for e in splits["test_sentences"][:200]]
    targets += [[], [2, 5], [1, 5, 0, 6, 2, 7]]
    raw = words(codec, model)
    questions = {"words": raw, "split": sentences, "near": TYPED, "write": targets}
    questions["read"] = ["JANE VISITE l'AFRIQUE", "LE Chatt dort", "Paul dort. Jane dort."]
    path = tmp_path / "questions.json"
    path.write_text(json.dumps(questions), encoding="utf-8")
    done = subprocess.run([NODE, HERE / "text.js", path], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    answers = json.loads(done.stdout)
    assert answers["split"] == [split(sentence) for sentence in sentences]
    capitals, unknown, two = answers["read"]
    assert capitals["words"] == ["Jane", "visite", "l'", "Afrique"]
    assert [one["shown"] for one in unknown["unknown"]] == ["Chatt"]
    assert unknown["typed"] == ["LE", "Chatt", "dort"], "as it was typed"
    assert two["problem"] == "two"
    assert answers["near"] == [near(word, raw["french"]) for word in TYPED]
    assert answers["write"] == [codec.decode(ids) for ids in targets]


def split(sentence: str) -> list[str]:
    """The package's words; where it says that there is none, no words."""
    try:
        return tokenize(sentence, "fr")
    except ValueError:
        return []


def near(word: str, french: list[str]) -> list[str]:
    """The rule of `Vocabulary`, on French words only."""
    by_lower: dict[str, str] = {}
    for token in french:
        by_lower.setdefault(token.lower(), token)
    found = difflib.get_close_matches(word.lower(), by_lower, n=3, cutoff=0.6)
    return [by_lower[token] for token in found]
