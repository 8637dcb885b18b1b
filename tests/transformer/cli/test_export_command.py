"""`export` hands the right model on and writes its tokenizer beside it."""

import json
from pathlib import Path

import pytest
import torch

from transformer import export
from transformer.cli import main
from transformer.config import TransformerConfig
from transformer.data.codec import SubwordCodec
from transformer.model import Transformer
from transformer.training.checkpoint import save_checkpoint


@pytest.fixture
def checkpoint(tmp_path: Path) -> Path:
    codec = SubwordCodec.train(["ein hund", "zwei hunde", "ein hund und zwei hunde"], n_merges=5)
    torch.manual_seed(0)
    model = Transformer(TransformerConfig.tiny(len(codec), d_model=8, n_heads=2, d_ff=8))
    save_checkpoint(tmp_path / "m.safetensors", model, tokenizer=codec.to_text())
    return tmp_path / "m.safetensors"


@pytest.fixture
def exported(monkeypatch) -> list[Transformer]:
    """Stands for the exporter, which `test_export.py` tests and which takes ten seconds."""
    models: list[Transformer] = []

    def write(model: Transformer, folder: str) -> list[Path]:
        models.append(model)
        Path(folder).mkdir(parents=True)
        paths = [Path(folder) / name for name in (export.ENCODER_FILE, export.DECODER_FILE)]
        for path in paths:
            path.write_bytes(b"graph")
        return paths

    monkeypatch.setattr(export, "export_onnx", write)
    return models


def test_model_and_tokenizer_are_written(checkpoint: Path, exported, tmp_path, capsys) -> None:
    folder = tmp_path / "deep" / "onnx"
    assert main(["export", str(checkpoint), "--output", str(folder)]) == 0
    names = sorted(path.name for path in folder.iterdir())
    assert names == ["decoder-step.onnx", "encoder.onnx", "tokenizer.json"]
    assert json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))["kind"] == "subwords"
    (model,) = exported
    assert model.config.d_model == 8
    assert not model.training
    assert "encoder.onnx: 5 bytes" in capsys.readouterr().err


def test_quiet_says_nothing(checkpoint: Path, exported, tmp_path, capsys) -> None:
    assert main(["export", str(checkpoint), "--output", f"{tmp_path}/onnx", "--quiet"]) == 0
    assert capsys.readouterr() == ("", "")


def test_missing_packages_are_told_before_the_model_is_opened(
    tmp_path, monkeypatch, capsys
) -> None:
    monkeypatch.setattr(export, "find_spec", lambda name: None)
    missing = str(tmp_path / "nothing.safetensors")
    assert main(["export", missing, "--output", str(tmp_path / "onnx")]) == 1
    assert not (tmp_path / "onnx").exists()
    assert "pip install onnx onnxscript" in capsys.readouterr().err
