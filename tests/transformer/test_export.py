"""ONNX files give what torch gives, for any length, with the past a step was given."""

import jaxtyping
import numpy as np
import onnxruntime
import pytest
import torch

from transformer.config import BOS_ID, EOS_ID, PAD_ID, TransformerConfig
from transformer.export import empty_past, export_onnx
from transformer.inference import greedy_decode
from transformer.model import Transformer

TOLERANCE = 1e-4
CONFIG = TransformerConfig.tiny(vocab_size=23).replace(d_model=16, d_ff=24, max_len=64)


POST = CONFIG.replace(n_layers=2)
PRE = CONFIG.replace(norm="pre", positions="learned", n_layers=1)
TWO = CONFIG.replace(n_layers=1, tie_embeddings=False, vocab_size=29, target_vocab_size=23)


@pytest.fixture(scope="module", params=[POST, PRE, TWO], ids=["post", "pre", "two vocabularies"])
def exported(request, tmp_path_factory):
    torch.manual_seed(0)
    config = request.param
    model = Transformer(config).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.1 * torch.randn_like(parameter))
    folder = tmp_path_factory.mktemp("onnx")
    jaxtyping.config.update("jaxtyping_disable", True)  # the exporter's sizes are no ints
    try:
        paths = export_onnx(model, folder, max_positions=64)
    finally:
        jaxtyping.config.update("jaxtyping_disable", False)
    assert sorted(path.name for path in folder.iterdir()) == sorted(path.name for path in paths)
    return model, *(onnxruntime.InferenceSession(path) for path in paths)


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
