"""A run that takes a second, the translator that ships, and a run that dies."""

from collections.abc import Callable
from pathlib import Path

import pytest

from phrasebook.corpus import phrasebook_corpus
from transformer.cli import main
from transformer.training.run_folder import RunFolder
from transformer.translator import Translator

CHECKPOINT = Path(__file__).parents[2] / "results" / "phrasebook-translator.safetensors"
WORDS = ["ein", "hund", "zwei", "hunde", "eine", "katze", "drei", "katzen", "auf", "dem", "dach"]
LINES = [f"{a} {b} {c}" for a in WORDS for b in WORDS[:6] for c in WORDS[3:9]]


@pytest.fixture(scope="session")
def files(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("text")
    (folder / "train.de").write_text("".join(f"{line}\n" for line in LINES))
    (folder / "train.xx").write_text("".join(f"{line.upper()}\n" for line in LINES))
    (folder / "valid.de").write_text("".join(f"{line}\n" for line in LINES[::40]))
    (folder / "valid.xx").write_text("".join(f"{line.upper()}\n" for line in LINES[::40]))
    (folder / "settings.toml").write_text(
        f"""
        [data]
        corpus = "files"
        merges = 30
        train_source = "{folder}/train.de"
        train_target = "{folder}/train.xx"
        valid_source = "{folder}/valid.de"
        valid_target = "{folder}/valid.xx"
        [model]
        d_model = 16
        n_heads = 2
        n_layers = 1
        d_ff = 24
        [training]
        max_updates = 4
        max_tokens = 300
        warmup = 2
        peak = 0.001
        save_every = 2
        valid_every = 2
        log_every = 1
        """
    )
    return folder


@pytest.fixture(scope="session")
def run(files: Path) -> Path:
    folder = files / "run"
    code = main(
        ["train", "--settings", f"{files}/settings.toml", "--folder", str(folder), "--quiet"]
    )
    assert code == 0
    return folder


@pytest.fixture(scope="session")
def ours() -> Translator:
    return Translator.load(CHECKPOINT)


@pytest.fixture(scope="session")
def sentences() -> list[str]:
    return list(phrasebook_corpus("test_sentences").source)


@pytest.fixture
def dying_after_2(monkeypatch) -> Callable[[Callable[[], object]], None]:
    """Start a run that dies when its state of update 2 is saved."""
    saved = RunFolder.save_state

    def save_and_die(folder, model, optimizer, position, *rest, **options):
        saved(folder, model, optimizer, position, *rest, **options)
        if position["update"] == 2:
            raise MemoryError

    def start(run: Callable[[], object]) -> None:
        with monkeypatch.context() as patch:
            patch.setattr(RunFolder, "save_state", save_and_die)
            with pytest.raises(MemoryError):
                run()

    return start
