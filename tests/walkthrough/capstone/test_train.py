"""The reader's own loop, its scores, its weights, and their way into the panel."""

import base64
import gzip
import re

import numpy as np
import pytest
import torch
from safetensors.torch import save_model
from styles import RIGHT, STYLES, exchanged

from walkthrough.capstone import book, panel, see, solution, training
from walkthrough.capstone.panel import CannotExportError, as_package_model
from walkthrough.capstone.slips import SOLUTION
from walkthrough.capstone.training import TrainingError, train
from walkthrough.ch21_translate_in_your_browser import bundle
from walkthrough.lab import translator


@pytest.fixture(autouse=True)
def small(monkeypatch):
    task = translator.load_task(train=300, valid=20, test=4)
    monkeypatch.setattr(training.translator, "load_task", lambda: task)


def test_the_loop_is_run_its_loss_said_and_the_model_kept(tmp_path):
    said, out = [], tmp_path / "mine.safetensors"
    trained = train(SOLUTION, n_updates=12, out=out, say=said.append)
    assert len(trained.losses) == 12
    assert said[0].startswith("update    1  loss")
    assert said[-2:] == ["translating 1 of 4", "translating 1 of 4"]
    assert set(trained.exact) == set(training.SPLITS)
    assert "12 updates in" in str(trained)
    with pytest.raises(TrainingError, match="left as it is"):
        train(SOLUTION, n_updates=12, out=out)
    ours = as_package_model(SOLUTION, out)
    with torch.no_grad():
        mine = trained.model.eval()(*book.batch())
        assert torch.allclose(ours(*book.batch()), mine, atol=1e-4)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("        yield loss.item()\n", "        yield float('nan')\n", "update 1 is no number"),
        ("        yield loss.item()\n", "", "yields no loss"),
        ("        optimizer.step()\n", "", "no step was made"),
        ("loss.backward()", "loss.backwards()", "AttributeError in line"),
        ("def train(", "def trains(", "no function `train"),
    ],
)
def test_a_loop_that_does_not_train_is_told(tmp_path, old, new, words):
    path = tmp_path / "mine.py"
    path.write_text(exchanged((old, new)), encoding="utf-8")
    with pytest.raises(TrainingError, match=words):
        train(path, n_updates=10, say=lambda _: None)


def test_the_books_weights_score_in_the_readers_model(tmp_path):
    from walkthrough.capstone import check

    result = check(SOLUTION, doctor=False)
    assert training.exact(result.model, [(book.SENTENCE, book.WRITTEN[0])]) == 1.0


def test_weights_of_another_style_reach_the_package_and_a_wrong_model_does_not(tmp_path):
    path, weights = tmp_path / "mine.py", tmp_path / "mine.safetensors"
    path.write_text(STYLES["one projection for queries, keys and values"], encoding="utf-8")
    trained = train(path, n_updates=10, out=weights, say=lambda _: None)
    ours = as_package_model(path, weights)
    with torch.no_grad():
        mine = trained.model.eval()(*book.batch())
        assert torch.allclose(ours(*book.batch()), mine, atol=1e-4)
    path.write_text(exchanged((" / math.sqrt(query.shape[-1])", "")), encoding="utf-8")
    with pytest.raises(CannotExportError, match="does not give the book's numbers"):
        as_package_model(path, weights)
    path.write_text(RIGHT, encoding="utf-8")
    weights.write_text("no weights", encoding="utf-8")
    with pytest.raises(CannotExportError, match="does not fit this model"):
        as_package_model(path, weights)


def test_what_the_model_said_on_its_way_goes_with_the_weights_and_changes_nothing(
    tmp_path, monkeypatch
):
    out, quiet = tmp_path / "mine.safetensors", {"say": lambda _: None}
    monkeypatch.setattr(training, "ASKED", (0, 5))
    asked = train(SOLUTION, n_updates=10, out=out, **quiet)
    assert training.story(out) == asked.said
    assert [moment["update"] for moment in asked.said] == [0, 5, 10]
    assert all(len(moment["translations"]) == 2 for moment in asked.said)
    monkeypatch.setattr(training.Trained, "ask", lambda self: None)
    assert train(SOLUTION, n_updates=10, **quiet).losses == asked.losses


def loaded(weights):
    model = solution.Transformer(**book.sizes()).eval()
    training.load_weights(model, weights)
    return model


@pytest.fixture
def weights(tmp_path):
    path = tmp_path / "mine.safetensors"
    torch.manual_seed(2)
    save_model(solution.Transformer(**book.sizes()), str(path))
    return path


def test_the_panels_file_holds_the_readers_weights_and_nothing_is_traced(
    tmp_path, weights, monkeypatch
):
    out, said = tmp_path / "mine.js", []
    monkeypatch.setattr(bundle, "export_graphs", None)
    panel.export(SOLUTION, weights, out, say=said.append)
    assert len(said) == 2
    text = out.read_text("ascii")
    names = set(re.findall(r'^live.receive\("([^"]+)"', text, re.MULTILINE))
    assert names == {"words.json", "weights.f16"} | {
        f"{name}.onnx"
        for name in ("encoder", "decoder-step", "laboratory-encoder", "laboratory-decoder")
    }
    parts = re.findall(r'^live.receive\("weights.f16".*"([^"]+)"\);$', text, re.MULTILINE)
    halves = np.frombuffer(gzip.decompress(base64.b64decode("".join(parts))), "<f2")
    state = as_package_model(SOLUTION, weights).state_dict()
    assert np.isin(state["source_embedding.weight"].half().numpy(), halves).all()
    with pytest.raises(FileExistsError, match="left as it is"):
        panel.export(SOLUTION, weights, out)


def test_the_readers_model_is_seen_in_the_pictures_of_chapter_00(tmp_path, weights):
    page = tmp_path / "mine.html"
    found = see(SOLUTION, "Paul dort.", weights=weights, out=page)
    assert found.journey.source == ["Paul", "dort", "(end)"]
    with torch.no_grad():
        logits = loaded(weights)(torch.tensor([found.journey.source_ids]), torch.tensor([[1]]))
    assert torch.allclose(found.journey.logits[0], logits[0, 0], atol=1e-4)
    assert f">{found.journey.probabilities[0].max():.1%}<" in page.read_text("utf-8")
    again = see(SOLUTION, "Jane dort.", weights=weights, out=page)  # a page of its own is replaced
    assert again.page() == page.read_text("utf-8")
    page.write_text("mine", "utf-8")
    with pytest.raises(FileExistsError, match="left as it is"):
        see(SOLUTION, "Jane dort.", weights=weights, out=page)


@pytest.mark.parametrize(
    ("sentence", "words"),
    [
        ("Paul danse.", "does not hold the word 'danse'; close to it: dans"),
        ("Jane visits Africa.", "no French sentence that the model learnt from has 'visits'"),
        ("", "at least one word"),
        ("Paul dort et " * 9, "a picture holds 19 words, got 27"),
    ],
)
def test_a_sentence_that_cannot_be_drawn_is_told(weights, sentence, words):
    with pytest.raises(ValueError, match=words):
        see(SOLUTION, sentence, weights=weights)


def test_a_model_that_cannot_be_drawn_is_told(tmp_path, weights):
    path = tmp_path / "mine.py"
    path.write_text(RIGHT, encoding="utf-8")  # its weights stand beside it
    assert see(path, "Paul dort.").journey.source[0] == "Paul"
    with pytest.raises(CannotExportError, match=r"none.safetensors is not there: `train` writes"):
        see(path, weights=tmp_path / "none.safetensors")
    save_model(solution.Transformer(**(book.sizes() | {"vocab_size": 300})), str(weights))
    with pytest.raises(
        CannotExportError, match=r"\[300, 128\].*\[514, 128\].*sizes: 2 layers, 4 h"
    ):
        see(path)
    path.write_text(exchanged(("for _ in range(n_layers)", "for _ in range(3)")), encoding="utf-8")
    with pytest.raises(CannotExportError, match=r"(?s)2 layers, 4 heads.*has 8 .*, yours has 12"):
        see(path)
    path.write_text("import torch\n", encoding="utf-8")
    with pytest.raises(CannotExportError, match="No model stands in the file yet"):
        see(path)
