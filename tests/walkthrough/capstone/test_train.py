"""The reader's own loop, its scores, its weights, and their way into the panel."""

import pytest
import torch
from safetensors.torch import save_model
from styles import RIGHT, STYLES, exchanged

from walkthrough.capstone import book, panel, solution, training
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
    with pytest.raises(CannotExportError, match="not the book's"):
        as_package_model(path, weights)
    path.write_text(RIGHT, encoding="utf-8")
    with pytest.raises(CannotExportError, match="does not fit this model"):
        as_package_model(path, tmp_path / "missing.safetensors")


def test_the_panels_file_is_the_bundles_scripts_in_one(tmp_path, monkeypatch):
    weights, out = tmp_path / "mine.safetensors", tmp_path / "mine.js"
    save_model(solution.Transformer(**book.sizes()), str(weights))
    given = {}

    def contents(model, codec, folder):
        given["model"] = model
        return {"words.json": b"{}"}

    monkeypatch.setattr(bundle, "model_contents", contents)
    said = []
    panel.export(SOLUTION, weights, out, say=said.append)
    assert [line[:11] for line in said] == ["step 1 of 3", "step 2 of 3", "step 3 of 3"]
    assert out.read_text("ascii").startswith('live.receive("words.json", 0, 1, "')
    weight = given["model"].output_weight
    assert torch.equal(weight, weight.half().float())
    with pytest.raises(FileExistsError, match="left as it is"):
        panel.export(SOLUTION, weights, out)
