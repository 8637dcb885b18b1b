"""ONNX files give what torch gives, for any length, with the past a step was given."""

import contextlib
import io
import logging
import warnings
from types import SimpleNamespace

import jaxtyping
import numpy as np
import onnx
import onnxruntime
import pytest
import torch

from transformer import export
from transformer.config import BOS_ID, EOS_ID, PAD_ID, TransformerConfig
from transformer.export import DecoderStepGraph, EncoderGraph, empty_past, export_onnx
from transformer.inference import greedy_decode
from transformer.model import Transformer

TOLERANCE = 1e-4
CONFIG = TransformerConfig.tiny(vocab_size=23).replace(d_model=16, d_ff=24, max_len=64)
PAPER = CONFIG.replace(n_layers=2)
OTHER = CONFIG.replace(
    n_layers=1,
    norm="pre",
    positions="learned",
    tie_embeddings=False,
    vocab_size=29,
    target_vocab_size=23,
    activation="swish",
    output_bias=True,
)


@pytest.fixture(scope="module", params=[PAPER, OTHER], ids=["the paper's", "another"])
def files(request, tmp_path_factory):
    """Return a model, its two files, and what was printed while they were made."""
    torch.manual_seed(0)
    config = request.param
    model = Transformer(config).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.1 * torch.randn_like(parameter))
    folder = tmp_path_factory.mktemp("onnx")
    jaxtyping.config.update("jaxtyping_disable", True)  # the exporter's sizes are no ints
    printed = io.StringIO()
    try:
        with contextlib.redirect_stdout(printed):
            paths = export_onnx(model, folder, max_positions=64)
    finally:
        jaxtyping.config.update("jaxtyping_disable", False)
    assert sorted(path.name for path in folder.iterdir()) == sorted(path.name for path in paths)
    return model, paths, printed.getvalue()


@pytest.fixture(scope="module")
def exported(files):
    model, paths, _ = files
    return model, *(onnxruntime.InferenceSession(path) for path in paths)


def test_files_have_the_names_that_the_module_promises_for_runtimes_of_opset_18(files) -> None:
    _, paths, printed = files
    assert printed == ""
    names = [
        (["source"], ["memory", "encoder_attention"]),
        (
            ["source", "memory", "token", "past_keys", "past_values"],
            ["logits", "keys", "values", "decoder_attention", "cross_attention"],
        ),
    ]
    for path, (inputs, outputs) in zip(paths, names, strict=True):
        file = onnx.load(path)
        assert [x.name for x in file.graph.input] == inputs
        assert [x.name for x in file.graph.output] == outputs
        assert {x.domain: x.version for x in file.opset_import}[""] == 18


@pytest.mark.parametrize("positions", ["sinusoidal", "learned", "none"])
def test_graphs_compute_what_the_model_computes(positions) -> None:
    model = Transformer(CONFIG.replace(positions=positions)).eval()
    source, target = torch.tensor([[5, 6, 7, EOS_ID]]), torch.tensor([[BOS_ID, 8, 9]])
    with torch.no_grad():
        memory, _ = EncoderGraph(model, 64)(source)
        assert (memory - model.encode(source)).abs().max() < TOLERANCE
        past, step = empty_past(model.config, 1), DecoderStepGraph(model, 64)
        for token, expected in zip(target.T, model(source, target)[0], strict=True):
            logits, *past, _own, _cross = step(source, memory, token[None], *past)
            assert (logits - expected).abs().max() < TOLERANCE


@pytest.fixture
def written(monkeypatch):
    """Collect what would be written, at no cost."""
    found = []

    class Program:
        def __init__(self, module) -> None:
            self.module, self.model = module, SimpleNamespace(metadata_props={})

        def save(self, path) -> None:
            path.write_text("new")
            found.append((self.module, self.model.metadata_props))

    monkeypatch.setattr(export, "exported", lambda module, *_, **__: Program(module))
    return found


def test_a_file_has_1024_positions_unless_told_otherwise(written, tmp_path) -> None:
    model = Transformer(CONFIG).train()
    paths = export_onnx(model, tmp_path / "made" / "on the way")
    assert [path.read_text() for path in paths] == ["new", "new"]
    for module, metadata in written:
        assert metadata == {"max_positions": "1024"}
        assert not any(part.training for part in module.model.modules())
    paths[0].rename(tmp_path / "elsewhere")
    paths[0].symlink_to(tmp_path / "elsewhere")
    export_onnx(model, paths[0].parent, max_positions=1)
    assert paths[0].is_symlink(), "a link goes on leading where it led"
    assert [metadata["max_positions"] for _, metadata in written[2:]] == ["1", "1"]


def test_a_write_that_fails_leaves_the_old_file_and_no_half_of_a_new_one(
    monkeypatch, tmp_path
) -> None:
    class Program:
        model = SimpleNamespace(metadata_props={})

        def save(self, path) -> None:
            path.write_text("half")
            raise OSError("no space left")

    monkeypatch.setattr(export, "exported", lambda *_, **__: Program())
    (tmp_path / export.ENCODER_FILE).write_text("old")
    with pytest.raises(OSError, match="no space left"):
        export_onnx(Transformer(CONFIG), tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == [export.ENCODER_FILE]
    assert (tmp_path / export.ENCODER_FILE).read_text() == "old"


def test_missing_packages_are_told_before_anything_is_made(monkeypatch, tmp_path) -> None:
    monkeypatch.setattr(export, "find_spec", lambda name: None if name == "onnx" else name)
    with pytest.raises(ModuleNotFoundError, match="export needs onnx: pip install"):
        export_onnx(Transformer(CONFIG), tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_no_program_is_an_error(monkeypatch) -> None:
    monkeypatch.setattr(torch.onnx, "export", lambda *_, **__: None)
    with pytest.raises(RuntimeError, match="torch wrote no ONNX program"):
        export.exported(torch.nn.Identity(), (), dynamic_shapes={}, output_names=[])


def test_the_exporter_is_silent_and_its_logger_is_left_as_it_was(caplog) -> None:
    logger = logging.getLogger("torch.onnx")
    logger.setLevel(logging.INFO)
    try:
        with export.silent_exporter():
            warnings.warn("of its own insides", stacklevel=1)  # elsewhere an error in these tests
            logger.warning("of packages not used here")
            logger.error("a reason to look")
        assert caplog.messages == ["a reason to look"]
        assert logger.level == logging.INFO
    finally:
        logger.setLevel(logging.NOTSET)


def random_tokens(generator, batch: int, length: int, *, padded: bool) -> torch.Tensor:
    tokens = torch.randint(3, 23, (batch, length), generator=generator)
    if padded:
        for row in range(1, batch):
            tokens[row, max(1, length - row) :] = PAD_ID
    return tokens


def steps(model, decoder, source, memory, target, *, shift: int = 0):
    """Run the decoder file token by token; `shift` takes the past from that many steps before."""
    past = [tensor.numpy() for tensor in empty_past(model.config, len(source))]
    for position in range(target.shape[1]):
        logits, keys, values, own, cross = decoder.run(
            None,
            {
                "source": source.numpy(),
                "memory": memory,
                "token": target[:, position : position + 1].numpy(),
                "past_keys": past[0][:, :, :, shift:],
                "past_values": past[1][:, :, :, shift:],
            },
        )
        past = [keys, values]
        yield logits, own, cross


def test_parity_over_random_lengths(exported) -> None:
    model, encoder, decoder = exported
    generator = torch.Generator().manual_seed(0)
    for batch, source_len, target_len in ((1, 1, 1), (1, 9, 5), (3, 7, 4), (4, 17, 12)):
        source = random_tokens(generator, batch, source_len, padded=True)
        target = random_tokens(generator, batch, target_len, padded=False)
        target[:, 0] = BOS_ID
        expected, maps = model(source, target).detach().numpy(), model.attention(source, target)
        memory, encoder_attention = encoder.run(None, {"source": source.numpy()})
        assert np.abs(encoder_attention - maps.encoder.numpy()).max() < TOLERANCE
        found = steps(model, decoder, source, memory, target)
        for at, (logits, own, cross) in enumerate(found):
            assert np.abs(logits - expected[:, at]).max() < TOLERANCE
            own_expected = maps.decoder[:, :, :, at, : at + 1].numpy()
            assert np.abs(own[:, :, :, 0] - own_expected).max() < TOLERANCE
            cross_expected = maps.cross[:, :, :, at].numpy()
            assert np.abs(cross[:, :, :, 0] - cross_expected).max() < TOLERANCE


def test_a_wrong_past_or_memory_is_told_apart(exported) -> None:
    model, encoder, decoder = exported
    source = torch.tensor([[5, 6, 7, EOS_ID]])
    target = torch.tensor([[BOS_ID, 8, 9, 10]])
    memory, _ = encoder.run(None, {"source": source.numpy()})
    expected = model(source, target).detach().numpy()
    # the mistakes: the first position's keys are lost; the source's embedding given as memory
    for wrong_memory, shift in ((memory, 1), (0 * memory, 0)):
        found = list(steps(model, decoder, source, wrong_memory, target, shift=shift))
        assert np.abs(found[-1][0] - expected[:, -1]).max() > 10 * TOLERANCE


def test_greedy_decoding_with_the_files(exported) -> None:
    model, encoder, decoder = exported
    source = torch.tensor([[5, 6, 7, EOS_ID]])
    memory, _ = encoder.run(None, {"source": source.numpy()})
    past = [tensor.numpy() for tensor in empty_past(model.config, 1)]
    token, output = BOS_ID, []
    for _ in range(11):
        logits, *past, _own, _cross = decoder.run(
            None,
            {
                "source": source.numpy(),
                "memory": memory,
                "token": np.array([[token]]),
                "past_keys": past[0],
                "past_values": past[1],
            },
        )
        logits[0, [PAD_ID, BOS_ID]] = -np.inf
        token = int(logits[0].argmax())
        if token == EOS_ID:
            break
        output.append(token)
    assert output == greedy_decode(model, source, max_len=12)[0]


def test_bad_size(tmp_path) -> None:
    with pytest.raises(ValueError, match="max_positions must be at least 1, got 0"):
        export_onnx(Transformer(CONFIG), tmp_path, max_positions=0)


def test_more_positions_than_the_files_have(exported):
    """A table cut short would give a broadcast error here and silence at a later step."""
    model, encoder, decoder = exported
    for session in (encoder, decoder):
        assert session.get_modelmeta().custom_metadata_map["max_positions"] == "64"
    source = torch.full((1, 65), 5)
    with pytest.raises(Exception, match="out of data bounds"):
        encoder.run(None, {"source": source.numpy()})
    past = [
        np.zeros((*tensor.shape[:3], 64, tensor.shape[4]), np.float32)
        for tensor in empty_past(model.config, 1)
    ]
    inputs = {
        "source": source[:, :3].numpy(),
        "memory": np.zeros((1, 3, 16), np.float32),
        "token": np.array([[BOS_ID]]),
        "past_keys": past[0],
        "past_values": past[1],
    }
    with pytest.raises(Exception, match="out of data bounds"):
        decoder.run(None, inputs)
