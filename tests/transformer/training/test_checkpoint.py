"""Checkpoints: whole or not at all, tied weights once, and errors that say what is wrong."""

import json
import os
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from transformer import files
from transformer.config import TransformerConfig
from transformer.model import Transformer
from transformer.training.checkpoint import (
    average_checkpoints,
    load_checkpoint,
    load_model,
    load_weights,
    save_checkpoint,
    unique_weights,
    write_tensors,
)

CONFIG = TransformerConfig.tiny(vocab_size=13).replace(d_model=16, d_ff=24)


def model(seed: int = 0, config: TransformerConfig = CONFIG) -> Transformer:
    torch.manual_seed(seed)
    return Transformer(config).eval()


def logits(of: Transformer) -> torch.Tensor:
    return of(torch.tensor([[5, 6, 2]]), torch.tensor([[1, 7]])).detach()


@pytest.mark.parametrize("tied", [True, False])
def test_round_trip(tmp_path: Path, tied: bool) -> None:
    original = model(config=CONFIG.replace(tie_embeddings=tied))
    save_checkpoint(tmp_path / "m.safetensors", original, tokenizer='{"ü": 1}', update=7)
    loaded = load_checkpoint(tmp_path / "m.safetensors")
    assert loaded.config == original.config
    assert loaded.tokenizer == '{"ü": 1}'
    assert loaded.notes == {"update": 7}
    assert torch.equal(logits(loaded.model()), logits(original))


def test_tied_weights_are_stored_once_and_stay_tied(tmp_path: Path) -> None:
    save_checkpoint(tmp_path / "m.safetensors", model())
    size = (tmp_path / "m.safetensors").stat().st_size
    assert size < 4 * model().n_parameters + 20_000
    loaded = load_model(tmp_path / "m.safetensors")
    assert loaded.output_weight is loaded.source_embedding.weight
    assert loaded.target_embedding.weight is loaded.source_embedding.weight
    assert len(list(loaded.parameters())) == len(list(model().parameters()))


def test_average_is_the_mean_and_keeps_tying(tmp_path: Path) -> None:
    models = [model(seed) for seed in range(3)]
    paths = [tmp_path / f"{seed}.safetensors" for seed in range(3)]
    for path, one in zip(paths, models, strict=True):
        save_checkpoint(path, one, tokenizer="words")
    mean = average_checkpoints(paths)
    for name, value in unique_weights(mean.model()).items():
        expected = torch.stack([unique_weights(m)[name].double() for m in models]).mean(0)
        assert torch.equal(value, expected.float()), name
    assert mean.tokenizer == "words"
    averaged = mean.model()
    assert averaged.output_weight is averaged.source_embedding.weight


def averages_the_logits(models: list[Transformer]) -> torch.Tensor:
    return torch.stack([logits(one) for one in models]).mean(0)


def takes_the_last(models: list[Transformer]) -> torch.Tensor:
    return logits(models[-1])


@pytest.mark.parametrize("wrong", [averages_the_logits, takes_the_last])
def test_wrong_averages_are_told_apart(tmp_path: Path, wrong) -> None:
    models = [model(seed) for seed in range(2)]
    for seed, one in enumerate(models):
        save_checkpoint(tmp_path / f"{seed}.safetensors", one)
    mean = average_checkpoints(sorted(tmp_path.glob("*.safetensors"))).model()
    assert not torch.allclose(logits(mean), wrong(models), atol=1e-3)


def test_a_state_dict_copied_entry_by_entry_unties() -> None:
    # the mistake: new tensors assigned under every name, each its own copy
    one = model()
    copied = {name: value.clone() for name, value in one.state_dict().items()}
    other = model(1)
    other.load_state_dict(copied, assign=True)
    assert other.output_weight is not other.source_embedding.weight
    ours = model(1)
    load_weights(ours, unique_weights(one))
    assert ours.output_weight is ours.source_embedding.weight


def test_missing_file(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"no checkpoint at .*nothing\.safetensors"):
        load_checkpoint(tmp_path / "nothing.safetensors")


@pytest.mark.parametrize("kept", [0, 5, 200, 0.9])
def test_truncated_file(tmp_path: Path, kept: float) -> None:
    path = tmp_path / "m.safetensors"
    save_checkpoint(path, model())
    content = path.read_bytes()
    length = kept if isinstance(kept, int) else int(kept * len(content))
    path.write_bytes(content[:length])
    with pytest.raises(ValueError, match=rf"damaged or no safetensors file \({length} bytes\)"):
        load_checkpoint(path)


def test_safetensors_file_of_something_else(tmp_path: Path) -> None:
    save_file({"x": torch.zeros(2)}, tmp_path / "x.safetensors")
    with pytest.raises(ValueError, match="holds no model configuration"):
        load_checkpoint(tmp_path / "x.safetensors")


def test_other_configuration_names_fields_and_both_values(tmp_path: Path) -> None:
    save_checkpoint(tmp_path / "m.safetensors", model())
    wanted = CONFIG.replace(n_layers=3, norm="pre")
    with pytest.raises(ValueError, match="another configuration") as caught:
        load_checkpoint(tmp_path / "m.safetensors", expected=wanted)
    assert "n_layers (expected 3, found 2)" in str(caught.value)
    assert "norm (expected 'pre', found 'post')" in str(caught.value)
    assert "d_ff" not in str(caught.value)


def test_missing_unknown_and_misshapen_tensors() -> None:
    weights = unique_weights(model())
    name = next(iter(weights))
    renamed = {("other" if n == name else n): w for n, w in weights.items()}
    with pytest.raises(ValueError, match=rf"missing \['{name}'\], unknown \['other'\]"):
        load_weights(model(), renamed)
    with pytest.raises(ValueError, match=r"missing none, unknown \['other'\]"):
        load_weights(model(), {**weights, "other": torch.zeros(2)})
    with pytest.raises(ValueError, match=rf"missing \['{name}'\], unknown none"):
        load_weights(model(), {n: w for n, w in weights.items() if n != name})
    with pytest.raises(ValueError, match=rf"{name} must have shape .*, got \(2,\)"):
        load_weights(model(), {**weights, name: torch.zeros(2)})


def test_averaging_refuses_nothing_and_strangers(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="at least one checkpoint"):
        average_checkpoints([])
    save_checkpoint(tmp_path / "a", model())
    save_checkpoint(tmp_path / "b", model(config=CONFIG.replace(d_ff=32)))
    save_checkpoint(tmp_path / "c", model(), tokenizer="other")
    with pytest.raises(ValueError, match=r"d_ff \(expected 24, found 32\)"):
        average_checkpoints([tmp_path / "a", tmp_path / "b"])
    with pytest.raises(ValueError, match="different tokenizers"):
        average_checkpoints([tmp_path / "a", tmp_path / "c"])


def test_no_room_on_the_disk_leaves_the_old_file(tmp_path: Path, monkeypatch) -> None:
    path = tmp_path / "m.safetensors"
    save_checkpoint(path, model(0))
    before = path.read_bytes()
    usage = type("Usage", (), {"free": 1000})()
    monkeypatch.setattr(files.shutil, "disk_usage", lambda _: usage)
    with pytest.raises(OSError, match=r"too little room .*: \d+ bytes needed, 1000 free"):
        save_checkpoint(path, model(1))
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["m.safetensors"]


def test_a_write_that_fails_leaves_the_old_file_and_no_litter(tmp_path: Path, monkeypatch) -> None:
    path = tmp_path / "m.safetensors"
    save_checkpoint(path, model(0))
    before = path.read_bytes()

    def fail(_: int) -> None:
        raise OSError("disk pulled out")

    monkeypatch.setattr(files.os, "fsync", fail)
    with pytest.raises(OSError, match="disk pulled out"):
        save_checkpoint(path, model(1))
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["m.safetensors"]


def test_equal_models_give_equal_bytes(tmp_path: Path) -> None:
    """The library alone writes metadata in an order of chance."""
    for number in range(6):
        notes = {"tokenizer": "words", "update": 7, "more": [1, 2]}
        save_checkpoint(tmp_path / f"{number}", model(), **notes)
    assert len({path.read_bytes() for path in tmp_path.iterdir()}) == 1
    save_checkpoint(tmp_path / "other", model(1), **notes)
    assert (tmp_path / "other").read_bytes() != (tmp_path / "0").read_bytes()


def test_the_file_is_plain_safetensors(tmp_path: Path) -> None:
    """Whoever has the library reads it, with tensors aligned to 8 bytes."""
    path = tmp_path / "m.safetensors"
    save_checkpoint(path, model(), tokenizer='"checksum":"00000000" \u00fc')
    assert load_file(path).keys() == unique_weights(model()).keys()
    assert load_checkpoint(path).tokenizer == '"checksum":"00000000" \u00fc'
    content = path.read_bytes()
    header = content[8 : 8 + int.from_bytes(content[:8], "little")].decode()
    assert "\u00fc" in header, "text is text"
    for length in range(8):
        write_tensors(path, {"x": torch.zeros(1)}, {"text": "t" * length})
        assert int.from_bytes(path.read_bytes()[:8], "little") % 8 == 0


def test_a_flipped_bit_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "m.safetensors"
    save_checkpoint(path, model(), tokenizer="words", update=7)
    content = path.read_bytes()
    end = 8 + int.from_bytes(content[:8], "little")
    name = content.index(b'"checksum"')  # under another name it is no checksum; weights are whole
    places = [*range(8, end, 43), *range(end, len(content), 16001), len(content) - 1]
    for place in places:
        if name <= place < name + 10:
            continue
        damaged = bytearray(content)
        damaged[place] ^= 1 << place % 8
        path.write_bytes(damaged)
        with pytest.raises(ValueError, match=r"m\.safetensors (is|has) damaged"):
            load_checkpoint(path)
    path.write_bytes(content)
    assert load_checkpoint(path).notes == {"update": 7}


def test_a_file_without_a_checksum_is_read(tmp_path: Path) -> None:
    """As earlier versions wrote it."""
    metadata = {"config": json.dumps(CONFIG.to_dict()), "notes": '{"update": 3}'}
    save_file(unique_weights(model()), tmp_path / "old.safetensors", metadata)
    loaded = load_checkpoint(tmp_path / "old.safetensors")
    assert loaded.notes == {"update": 3}
    assert torch.equal(logits(loaded.model()), logits(model()))


def test_a_file_that_may_not_be_read_is_not_called_missing(tmp_path: Path, monkeypatch) -> None:
    path = tmp_path / "m.safetensors"
    save_checkpoint(path, model())
    if os.geteuid():
        path.chmod(0)
    else:  # nothing is forbidden to root

        def forbidden(self: Path, *_: object) -> None:
            raise PermissionError(13, "Permission denied", str(self))

        monkeypatch.setattr(Path, "open", forbidden)
    with pytest.raises(PermissionError, match=r"Permission denied: .*m\.safetensors"):
        load_checkpoint(path)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("config", "{"),
        ("config", "[1]"),
        ("config", '{"vocab_size": 13, "heads": 2}'),
        ("config", '{"d_model": 13}'),
        ("notes", "7"),
        ("notes", "{'a'}"),
    ],
)
def test_damaged_metadata_names_the_file(tmp_path: Path, key: str, value: str) -> None:
    metadata = {"config": json.dumps(CONFIG.to_dict()), "notes": "{}", key: value}
    save_file(unique_weights(model()), tmp_path / "m.safetensors", metadata)
    with pytest.raises(ValueError, match=r"m\.safetensors has damaged metadata: "):
        load_checkpoint(tmp_path / "m.safetensors")
