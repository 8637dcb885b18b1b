"""A folder that HuggingFace saved translates here as it does there."""

import json
import pickle
import threading
import warnings
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import import_module
from pathlib import Path

import pytest
import torch
from published_folder import (
    CODES,
    CONFIG,
    END,
    PAD,
    START,
    TOKENS,
    Spelling,
    marian_logits,
    random_weights,
    write_folder,
)

from phrasebook.corpus import phrasebook_corpus
from transformer.cli import main
from transformer.config import BOS_ID, EOS_ID, PAD_ID
from transformer.marian import export_marian, halves
from transformer.positional import sinusoidal_encoding
from transformer.published import read_published
from transformer.training.checkpoint import load_checkpoint
from transformer.translator import Translator

LINES = ["zwei hunde und ein hund", "", ">>ron<< ein hund", "hunde"]
OURS = [PAD, START, END, 1, *range(2, PAD)]  # their id of each of our tokens


@pytest.fixture(autouse=True)
def spelling(monkeypatch, request) -> None:
    if "real" not in request.keywords:
        monkeypatch.setattr("transformer.data.sentencepiece_codec._processor", Spelling)


@pytest.fixture
def folder(tmp_path) -> Path:
    write_folder(tmp_path / "opus")
    return tmp_path / "opus"


@pytest.mark.parametrize(
    "changes", [{}, {"activation_function": "relu"}, {"scale_embedding": False}], ids=str
)
def test_the_logits_are_marians(tmp_path, changes) -> None:
    """Swish, halves, the bias of the output, and padding that is the start: all in one number."""
    weights = write_folder(tmp_path, **changes)
    source = torch.tensor([[4, 8, 2, 5, EOS_ID], [6, 9, EOS_ID, PAD_ID, PAD_ID]])
    target = torch.tensor([[BOS_ID, 5, 11, 3], [BOS_ID, 9, 9, 4]])
    theirs = torch.tensor(OURS)
    wanted = marian_logits(weights, CONFIG | changes, theirs[source], theirs[target])
    model = Translator.load(tmp_path).model
    assert (model.config.activation, model.config.vocab_size) == (
        changes.get("activation_function", "swish"),
        len(TOKENS) + 1,
    )
    found = model(source, target)
    torch.testing.assert_close(found[..., 1:], wanted[..., theirs[1:]], atol=1e-5, rtol=1e-5)
    # the row that is there twice counts once
    torch.testing.assert_close(found.logsumexp(-1), wanted.logsumexp(-1), atol=1e-5, rtol=1e-5)


def test_a_search_goes_as_marians(folder) -> None:
    """It begins with padding, never writes it, and ends with their token 0."""
    weights = random_weights(CONFIG)
    translator = Translator.load(folder)
    ids = [OURS[n] for n in translator.codec.encode(">>ron<< zwei hunde")]
    assert [TOKENS[n] for n in ids] == [">>ron<<", "▁zwei", "▁hunde"]
    source, written = torch.tensor([[*ids, END]]), [START]
    while len(written) < 12 and END not in written:
        logits = marian_logits(weights, CONFIG, source, torch.tensor([written]))[0, -1]
        logits[PAD] = float("-inf")
        written.append(int(logits.argmax()))
    words = [TOKENS[n] for n in written[1:] if n not in (END, 1)]
    found = translator.translate(">>ron<< zwei hunde", beam=1, max_len=12)
    assert found == "".join(words[:11]).replace("▁", " ").strip()


def test_export_gives_the_folder_back(folder, tmp_path) -> None:
    translator = Translator.load(folder)
    export_marian(translator.model, translator.codec, tmp_path / "back")
    for name in ("source.spm", "target.spm", "model.safetensors"):
        assert (tmp_path / "back" / name).read_bytes() == (folder / name).read_bytes()
    vocabularies = [json.loads((f / "vocab.json").read_text()) for f in (folder, tmp_path / "back")]
    assert vocabularies[0] == vocabularies[1]
    config = json.loads((tmp_path / "back" / "config.json").read_text())
    assert config.items() >= (CONFIG | {"max_position_embeddings": 1051}).items()


def test_the_command_writes_a_checkpoint_that_every_command_reads(folder, tmp_path, capsys) -> None:
    file = tmp_path / "de-fr.safetensors"
    assert main(["import", str(folder), "--output", str(file)]) == 0
    assert "2 layers of 10, 15 tokens" in capsys.readouterr().err
    assert load_checkpoint(file).notes == {"published": "opus", "revision": None}
    (tmp_path / "in.txt").write_text("".join(f"{line}\n" for line in LINES))
    said = []
    for model in (file, folder):
        words = ["translate", str(model), "--input", f"{tmp_path}/in.txt", "--extra-tokens", "5"]
        assert main(words) == 0
        said.append(capsys.readouterr().out)
    assert said[0] == said[1]
    assert len(said[0].splitlines()) == len(LINES)
    found = Translator.load(file).n_best(LINES[:1], beam=3, n_best=2, max_len=5)
    assert found[0][0].score >= found[0][1].score
    assert main(["import", "--output", str(file)]) == 2
    assert main(["import", str(folder), "--from-hub", "a/b", "--output", str(file)]) == 2
    assert main(["import", str(folder), "--revision", "a", "--output", str(file)]) == 2
    with pytest.raises(ValueError, match=r"needs a run folder, .* is a published model"):
        Translator.load(folder, average=2)


def test_older_files_are_read(folder) -> None:
    """A pickle of tensors, in 16 bits, with every name of the shared matrix and Marian's table."""
    weights = {name: value.half() for name, value in random_weights(CONFIG).items()}
    table = sinusoidal_encoding(20, 10)[:, halves(10)]
    for side in ("encoder", "decoder"):
        weights[f"model.{side}.embed_tokens.weight"] = weights["model.shared.weight"]
        weights[f"model.{side}.embed_positions.weight"] = table.half()
    wanted = read_published(folder).weights
    (folder / "model.safetensors").unlink()
    torch.save(weights, folder / "pytorch_model.bin")
    found = read_published(folder).weights
    assert found.keys() == wanted.keys()
    assert all(torch.allclose(found[name], wanted[name], atol=2e-3) for name in wanted)


class Program:
    def __reduce__(self):
        return (print, ("a pickle can run anything",))


def test_a_pickle_with_a_program_in_it_is_refused_and_not_run(folder, capsys) -> None:
    (folder / "model.safetensors").unlink()
    (folder / "pytorch_model.bin").write_bytes(pickle.dumps({"model.shared.weight": Program()}))
    with pytest.raises(ValueError, match="damaged, or holds more than tensors"):
        read_published(folder)
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"model_type": "t5"}, "config.json: model_type must be 'marian', got 't5'"),
        ({"activation_function": "gelu"}, "must be one of relu, swish, silu, got 'gelu'"),
        ({"activation_function": None}, "relu, swish, silu, got 'gelu'"),
        ({"decoder_layers": 1}, r"encoder_layers must equal decoder_layers, got \[2, 1\]"),
        ({"normalize_before": True}, "normalize_before must be False, got True"),
        ({"share_encoder_decoder_embeddings": False}, "embeddings must be True, got False"),
        ({"d_model": "10"}, "d_model must be a whole number, got '10'"),
        ({"encoder_attention_heads": 3, "decoder_attention_heads": 3}, "multiple of n_heads"),
        ({"pad_token_id": 99}, "pad_token_id must be between 0 and 13, got 99"),
        ({"eos_token_id": [0]}, r"eos_token_id must be between 0 and 13, got \[0\]"),
        ({"eos_token_id": 2}, "eos_token_id is 2 in config.json, which is '>>fra<<' in vocab.json"),
        ({"vocab_size": 20, "decoder_vocab_size": 20}, "vocab.json has 14 tokens, config.json 20"),
        ({"decoder_vocab_size": 20}, "decoder_vocab_size must be 14, got 20"),
        ({"d_model": 8}, r"must have shape \[.*8.*\] by config.json, got \[.*10.*\]"),
        ({"encoder_layers": 3, "decoder_layers": 3}, "the model lacks model.decoder.layers.2"),
    ],
    ids=lambda value: str(value)[:40],
)
@pytest.mark.usefixtures("as_users_run_it")
def test_another_model_than_is_computed_here_is_refused_in_a_line(tmp_path, changes, told) -> None:
    write_folder(tmp_path, random_weights(CONFIG), **changes)
    with pytest.raises(ValueError, match=told) as caught:
        read_published(tmp_path)
    assert str(tmp_path) in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("config.json", None, "holds no config.json"),
        ("config.json", b"{", "config.json is no JSON"),
        ("config.json", b"[]", "must hold names and values, got list"),
        ("model.safetensors", None, "lacks its weights, model.safetensors or pytorch_model.bin"),
        ("model.safetensors", b"????????", "damaged or no safetensors file"),
        ("source.spm", None, "lacks source.spm"),
        ("target.spm", None, "lacks target.spm"),
        ("target.spm", b"broken", "no SentencePiece model"),
        ("vocab.json", None, "lacks vocab.json"),
        ("vocab.json", json.dumps(dict.fromkeys(TOKENS, 3)).encode(), "from 0 to 13, each once"),
        ("vocab.json", json.dumps(dict.fromkeys(TOKENS, "a")).encode(), "from 0 to 13, each once"),
        ("tokenizer_config.json", b'{"separate_vocabs": true}', "separate_vocabs must be false"),
        ("tokenizer_config.json", b'{"unk_token": "<u>"}', "lacks the unknown token '<u>'"),
        ("tokenizer_config.json", b'{"pad_token": "</s>"}', "which is '<pad>' in vocab.json, not"),
    ],
)
def test_a_missing_or_damaged_file_is_named(folder, name, content, told) -> None:
    if content is None:
        (folder / name).unlink()
    else:
        (folder / name).write_bytes(content)
    with pytest.raises(ValueError, match=told):
        read_published(folder)


def test_other_tensors_than_marians_are_named(tmp_path) -> None:
    table, place = torch.zeros(20, 10), "model.encoder.embed_positions.weight"
    for extra, told in (
        (
            {"model.encoder.layer_norm.weight": torch.ones(10)},
            "an unknown model.encoder.layer_norm",
        ),
        ({"lm_head.weight": torch.ones(14, 10)}, "one matrix must serve"),
        ({place: table}, "positions that Marian does not make again at loading, 1.0 apart"),
        ({place: table[:9]}, r"\[9, 10\] positions, by config.json \[20, 10\]"),
    ):
        write_folder(tmp_path, random_weights(CONFIG) | extra)
        with pytest.raises(ValueError, match=told):
            read_published(tmp_path)


def test_a_tokenizer_that_is_not_ours_is_refused(folder) -> None:
    (folder / "source.spm").unlink()
    for content in ({}, {"model": {"type": "BPE", "vocab": {}, "merges": []}}):
        (folder / "tokenizer.json").write_text(json.dumps(content))
        with pytest.raises(ValueError, match="is no tokenizer that this package exported"):
            read_published(folder)


class Hub(BaseHTTPRequestHandler):
    """Two addresses of the hub: what a model holds, and its files."""

    def __init__(self, *arguments, folder: Path, asked: list[str]) -> None:
        self.folder, self.asked = folder, asked
        super().__init__(*arguments)

    def do_HEAD(self) -> None:
        self.do_GET()

    def do_GET(self) -> None:
        path, commit = self.path.partition("?")[0], "a" * 40
        names = sorted(file.name for file in self.folder.iterdir())
        if path.startswith("/api/models/us/opus/tree"):
            tree = [{"type": "file", "path": n, "size": 1, "oid": n} for n in names]
            self.answer(json.dumps(tree).encode(), {"Content-Type": "application/json"})
        elif path.startswith("/api/models/us/opus"):
            content = {
                "id": "us/opus",
                "sha": commit,
                "siblings": [{"rfilename": n} for n in names],
            }
            self.answer(json.dumps(content).encode(), {"Content-Type": "application/json"})
        elif path.rpartition("/")[2] in names and path.startswith("/us/opus/resolve/"):
            name = path.rpartition("/")[2]
            self.asked.append(name)
            self.answer((self.folder / name).read_bytes(), {"ETag": name, "X-Repo-Commit": commit})
        else:
            self.send_error(404)

    def answer(self, content: bytes, headers: dict[str, str]) -> None:
        self.send_response(200)
        for name, value in (headers | {"Content-Length": str(len(content))}).items():
            self.send_header(name, value)
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        pass


def test_a_model_of_the_hub_comes_with_what_is_read_and_nothing_else(
    folder, tmp_path, monkeypatch, capsys
) -> None:
    constants = import_module("huggingface_hub.constants")
    (folder / "tf_model.h5").write_bytes(b"large")
    torch.save(random_weights(CONFIG), folder / "pytorch_model.bin")
    asked: list[str] = []
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Hub, folder=folder, asked=asked)) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        here, path = (
            f"http://127.0.0.1:{server.server_port}",
            "{repo_id}/resolve/{revision}/{filename}",
        )
        monkeypatch.setattr(constants, "ENDPOINT", here)
        monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", f"{here}/{path}")
        monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
        output = tmp_path / "opus.safetensors"
        words = ["--output", str(output), "--quiet"]
        assert main(["import", "--from-hub", "us/opus", *words]) == 0, capsys.readouterr().err
        assert main(["import", "--from-hub", "us/none", *words]) == 1
        assert "error: us/none cannot be fetched: " in capsys.readouterr().err
        server.shutdown()
    assert {"config.json", "model.safetensors", "source.spm", "vocab.json"} <= set(asked)
    assert not {"tf_model.h5", "pytorch_model.bin"} & set(asked)
    assert load_checkpoint(output).notes["published"] == "us/opus"
    wanted = read_published(folder).weights
    assert all(
        torch.equal(wanted[n], value) for n, value in load_checkpoint(output).weights.items()
    )


# With the real thing: transformers and sentencepiece, where they are installed.


def saved_by_marian(folder: Path, words: int | None, d: int, **sizes: int):
    """Let transformers save a random model of these sizes, and a tokenizer made on the spot."""
    transformers = pytest.importorskip("transformers", reason="transformers is not installed")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        pieces = pytest.importorskip("sentencepiece", reason="sentencepiece is not installed")
    corpus = phrasebook_corpus("train")
    for side, lines in (("source", corpus.source), ("target", corpus.target)):
        (folder / f"{side}.txt").write_text("\n".join(lines[:2000]))
        pieces.SentencePieceTrainer.train(
            input=str(folder / f"{side}.txt"),
            model_prefix=str(folder / side),
            vocab_size=200,
            character_coverage=1.0,
            minloglevel=2,
        )
        (folder / f"{side}.model").rename(folder / f"{side}.spm")
    models = [
        pieces.SentencePieceProcessor(model_file=str(folder / f"{side}.spm"))
        for side in ("source", "target")
    ]
    known = [m.id_to_piece(n) for m in models for n in range(3, m.get_piece_size())]
    tokens = ["</s>", "<unk>", *CODES, *dict.fromkeys(known)]
    tokens += [f"x{number}" for number in range(len(tokens), (words or 0) - 1)]
    vocabulary = {token: number for number, token in enumerate([*tokens, "<pad>"])}
    (folder / "vocab.json").write_text(json.dumps(vocabulary))
    names = (str(folder / name) for name in ("source.spm", "target.spm", "vocab.json"))
    tokenizer = transformers.MarianTokenizer(*names)
    pad = len(tokens)
    special = {"pad_token_id": pad, "decoder_start_token_id": pad, "eos_token_id": 0}
    both = {f"{side}_{n}": size for side in ("encoder", "decoder") for n, size in sizes.items()}
    torch.manual_seed(0)
    model = transformers.MarianMTModel(
        transformers.MarianConfig(
            vocab_size=pad + 1,
            d_model=d,
            max_position_embeddings=512,
            activation_function="swish",
            scale_embedding=True,
            **both,
            **special,
        )
    ).eval()
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if "embed_positions" not in name:
                spread = parameter.shape[-1] ** -0.5 if parameter.ndim > 1 else 0.2
                parameter.copy_(torch.randn_like(parameter) * spread + ("norm.weight" in name))
        model.final_logits_bias.normal_(0, 2)
    model.generation_config = transformers.GenerationConfig(
        max_length=512, bad_words_ids=[[pad]], forced_eos_token_id=0, **special
    )
    model.save_pretrained(folder / "saved")
    tokenizer.save_pretrained(folder / "saved")
    return model, tokenizer


TINY = {"words": None, "d": 16, "layers": 2, "attention_heads": 2, "ffn_dim": 24}
PUBLISHED = {"words": 58101, "d": 512, "layers": 6, "attention_heads": 8, "ffn_dim": 2048}


@pytest.mark.real
@pytest.mark.parametrize(
    "sizes", [TINY, pytest.param(PUBLISHED, marks=pytest.mark.slow)], ids=["tiny", "published"]
)
def test_what_transformers_saved_translates_as_there(tmp_path, sizes) -> None:
    model, tokenizer = saved_by_marian(tmp_path, **sizes)
    ours = Translator.load(tmp_path / "saved")
    lines = [*phrasebook_corpus("test_sentences").source[:4], "Déjà «vu» ½ 🐕", ">>fra<< Jane"]
    there = tokenizer(lines, return_tensors="pt", padding=True)
    order = torch.tensor(OURS[:4] + list(range(2, len(tokenizer) - 1)))
    order[:2] = len(tokenizer) - 1
    rows = [torch.tensor([*ours.codec.encode(line), EOS_ID]) for line in lines]
    source = torch.nn.utils.rnn.pad_sequence(rows, batch_first=True)
    assert torch.equal(order[source], there["input_ids"])
    target = torch.tensor([[BOS_ID, 7, 9, 5]] * len(lines))
    with torch.no_grad():
        wanted = model(**there, decoder_input_ids=order[target]).logits
        found = ours.model(source, target)
    torch.testing.assert_close(found[..., 1:], wanted[..., order[1:]], atol=1e-5, rtol=1e-5)
    for beam in (1, 3):
        options = {"length_penalty": 1.0, "early_stopping": True} if beam > 1 else {}
        ids = model.generate(**there, num_beams=beam, do_sample=False, max_length=13, **options)
        said = tokenizer.batch_decode(ids, skip_special_tokens=True)
        assert ours.translate(lines, beam=beam, alpha=None, max_len=12) == said
