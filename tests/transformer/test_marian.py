"""What `export --format marian` writes is the model, also after others have saved it again."""

import json
from importlib import import_module
from pathlib import Path

import pytest
import torch
from published_folder import marian_logits

from transformer.config import EOS_ID, TransformerConfig
from transformer.data.codec import SubwordCodec
from transformer.marian import export_marian, halves, marian_config, marian_weights, reordered
from transformer.model import Transformer
from transformer.positional import sinusoidal_encoding
from transformer.translator import Translator


@pytest.fixture(scope="module")
def subwords() -> Translator:
    """A random model whose d_model is odd and whose biases and gains are random, too."""
    codec = SubwordCodec.train(["ein hund", "zwei hunde", "ein hund und zwei hunde"], n_merges=5)
    torch.manual_seed(0)
    config = TransformerConfig.tiny(len(codec), d_model=15, n_heads=3, d_ff=24)
    model = Transformer(config.replace(max_len=40)).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.1)
    return Translator(model, codec)


def transformers():
    """Skip where the extra is missing; warnings about its insides are its own."""
    pytest.importorskip("transformers", reason="the extra `engines` is not installed: transformers")
    return import_module("transformers")


def test_the_order_turns_the_papers_table_into_marians() -> None:
    """All sines, then all cosines; of an odd d_model, one sine more."""
    for d_model in (6, 7):
        table = sinusoidal_encoding(4, d_model)[:, halves(d_model)]
        assert table[0].tolist() == [0.0] * -(-d_model // 2) + [1.0] * (d_model // 2)
        angles = torch.arange(4.0)[:, None] / 10000 ** (torch.arange(0, d_model, 2) / d_model)
        assert torch.allclose(table[:, : angles.shape[1]], angles.sin())


def test_marians_forward_on_its_own_table_is_our_model(subwords) -> None:
    """Without the order, or with one weight left out of it, the logits are others."""
    model, codec = subwords.model, subwords.codec
    source = torch.tensor([[5, 9, 4, 2], [7, 2, 0, 0]])
    target = torch.tensor([[1, 8, 4], [1, 6, 6]])
    wanted = model(source, target)
    weights, config = marian_weights(model, codec), marian_config(model, codec)
    found = marian_logits(weights, config, source, target)
    torch.testing.assert_close(found, wanted, atol=1e-5, rtol=1e-4)
    order = halves(15)
    for name in ("model.shared.weight", "model.encoder.layers.0.self_attn.out_proj.bias"):
        wrong = weights[name].clone()
        wrong = wrong[..., order] if wrong.ndim == 2 else wrong[order]
        assert not torch.allclose(
            marian_logits(weights | {name: wrong}, config, source, target), wanted, atol=1e-2
        )


def test_an_order_and_its_inverse_leave_every_weight_as_it_was(subwords) -> None:
    order = halves(15)
    for name, value in subwords.model.state_dict().items():
        assert torch.equal(reordered(name, reordered(name, value, order), order.argsort()), value)


def test_every_weight_goes_once_and_no_positions_do(subwords) -> None:
    model = subwords.model
    weights = marian_weights(model, subwords.codec)
    held = sum(value.numel() for value in weights.values())
    assert held == model.n_parameters + model.config.vocab_size  # a bias of 0
    assert not any("embed_positions" in name for name in weights)
    layer = model.decoder.layers[0]
    names = {
        "encoder_attn.q_proj.bias": layer.cross_attention.query_proj.bias,
        "encoder_attn_layer_norm.bias": layer.residuals[1].layer_norm.bias[halves(15)],
        "fc2.weight": layer.feed_forward.contract.weight[halves(15)],
    }
    for name, value in names.items():
        assert torch.equal(weights[f"model.decoder.layers.0.{name}"], value)


def test_what_the_configurations_say(subwords, tmp_path) -> None:
    """Without a length, `generate` ends after 20 tokens and says nothing."""
    export_marian(subwords.model, subwords.codec, tmp_path)
    generation = json.loads((tmp_path / "generation_config.json").read_text())
    assert generation["max_length"] == 512
    assert generation["bad_words_ids"] == [[0], [1]]
    config = json.loads((tmp_path / "config.json").read_text())
    assert config["decoder_ffn_dim"] == 24
    # a line of the 1 000 tokens that translate takes, its end, and 50 more on the other side
    assert config["max_position_embeddings"] == 1051 > subwords.model.config.max_len
    longer = Transformer(subwords.model.config.replace(max_len=3000))
    assert marian_config(longer, subwords.codec)["max_position_embeddings"] == 3000


def test_learned_positions_are_refused_with_the_reason(subwords, tmp_path) -> None:
    learned = Transformer(subwords.model.config.replace(positions="learned"))
    with pytest.raises(ValueError, match="never saves positions: learned ones would be lost"):
        export_marian(learned, subwords.codec, tmp_path / "m")
    assert not (tmp_path / "m").exists()


def test_words_and_pieces_are_read_back_to_the_last_bit(ours, subwords, tmp_path) -> None:
    for name, one in (("words", ours), ("pieces", subwords)):
        export_marian(one.model, one.codec, tmp_path / name)
        path = tmp_path / name / "tokenizer.json"
        saved = json.loads(path.read_text())  # as transformers saves it again
        saved["added_tokens"] = [{"id": 2, "content": "</s>", "special": True}]
        saved["truncation"] = {"max_length": 5, "stride": 0, "strategy": "LongestFirst"}
        path.write_text(json.dumps(saved))
        back = Translator.load(tmp_path / name)
        assert back.codec.to_text() == one.codec.to_text()
        kept = one.model.state_dict()
        assert all(torch.equal(kept[n], value) for n, value in back.model.state_dict().items())


def theirs(folder: Path, ours: Translator, lines: list[str], **options) -> list[str]:
    model = transformers().MarianMTModel.from_pretrained(folder, **options)
    rows = [torch.tensor([*ours.codec.encode(line), EOS_ID]) for line in lines]
    source = torch.nn.utils.rnn.pad_sequence(rows, batch_first=True)
    mask = (source != 0).long()
    found = model.generate(input_ids=source, attention_mask=mask, do_sample=False)
    return [ours.codec.decode([n for n in ids if n > EOS_ID]) for ids in found.tolist()]


def test_saving_a_step_and_a_cast_keep_the_translations(ours, sentences, tmp_path) -> None:
    """Marian drops positions at a save and makes its own: 165 of 200 became others."""
    marian, lines = transformers().MarianMTModel, sentences[:40]
    wanted = ours.translate(lines, beam=1)
    export_marian(ours.model, ours.codec, tmp_path / "first")
    assert theirs(tmp_path / "first", ours, lines) == wanted
    model = marian.from_pretrained(tmp_path / "first")
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-6)
    source, target = torch.tensor([[*ours.codec.encode(lines[0]), EOS_ID]]), torch.tensor([[5, 2]])
    model(input_ids=source, labels=target).loss.backward()
    optimizer.step()
    model.save_pretrained(tmp_path / "tuned")
    assert theirs(tmp_path / "tuned", ours, lines) == wanted
    short = marian.from_pretrained(tmp_path / "first", dtype=torch.bfloat16)
    short.save_pretrained(tmp_path / "16")
    assert theirs(tmp_path / "16", ours, lines, dtype=torch.float32) == wanted


@pytest.mark.slow
@pytest.mark.parametrize("beam", [1, 4])
def test_marian_translates_1000_sentences_as_we_do(ours, sentences, beam) -> None:
    transformers()
    stream = import_module("translate_stream")
    found = stream.Marian(ours).translate(ours.codec, sentences, beam=beam, batch=100, max_len=60)
    assert found == ours.translate(sentences, beam=beam, alpha=0.0, max_len=60)


def test_marians_tokenizer_spells_as_ours_does(subwords, ours, tmp_path) -> None:
    auto = transformers().AutoTokenizer
    for name, translator, text in (
        ("pieces", subwords, "zwei  hunde 🐕"),
        ("words", ours, "Jane visite l’Afrique en septembre."),
    ):
        codec = translator.codec
        export_marian(translator.model, codec, tmp_path / name)
        words = text if name == "pieces" else " ".join(codec.vocabulary.decode(codec.encode(text)))
        ids = auto.from_pretrained(tmp_path / name)(words)["input_ids"]
        assert ids == [*codec.encode(text), EOS_ID]
