"""Published translators in this package: what `MarianMTModel.save_pretrained` writes, read.

The folder holds config.json, model.safetensors or pytorch_model.bin, and the tokenizer: source.spm,
target.spm and vocab.json, as the models of OPUS-MT have them, or the tokenizer.json that this
package exports. Nothing of transformers is needed. What a folder asks for and this package does not
compute is refused, by name.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from transformer.config import BOS_ID, PAD_ID, Activation, TransformerConfig
from transformer.data.codec import SubwordCodec, TextCodec, codec_from_text
from transformer.data.sentencepiece_codec import SentencePieceCodec
from transformer.data.tokenizer import SubwordTokenizer
from transformer.files import read_text
from transformer.marian import NORMS, OF_TOKENS, SIZES, halves, marian_name, reordered
from transformer.model import Transformer
from transformer.positional import sinusoidal_encoding
from transformer.training.checkpoint import Checkpoint, read_tensors, unique_weights

UNSAID: dict[str, Any] = {
    **{"vocab_size": 58101, "d_model": 1024, "activation_function": "gelu"},
    **{f"{side}_layers": 12 for side in NORMS},
    **{f"{side}_attention_heads": 16 for side in NORMS},
    **{f"{side}_ffn_dim": 4096 for side in NORMS},
    **{"dropout": 0.1, "attention_dropout": 0.0, "scale_embedding": False},
    **{"max_position_embeddings": 1024, "eos_token_id": 0},
    **{"pad_token_id": 58100, "decoder_start_token_id": 58100},
}
"""What a value means that config.json leaves out: transformers' defaults."""

MUST: dict[str, Any] = {
    **{"is_encoder_decoder": True, "share_encoder_decoder_embeddings": True},
    **{"tie_word_embeddings": True, "static_position_embeddings": True},
    **{"normalize_before": False, "normalize_embedding": False, "add_final_layer_norm": False},
}
"""What is not read otherwise; left out, it means this."""

ACTIVATIONS: dict[str, Activation] = {"relu": "relu", "swish": "swish", "silu": "swish"}

SHARED = (*(f"model.{side}.embed_tokens.weight" for side in NORMS), "lm_head.weight")
TABLES = tuple(f"model.{side}.embed_positions.weight" for side in NORMS)

NEVER = -100.0
"""Bias of the padding where Marian's is the start token: e^−100 adds nothing to a softmax."""

SPIECE_FILES = ("source.spm", "target.spm", "vocab.json")
HUB_FILES = ("config.json", "tokenizer_config.json", "tokenizer.json", *SPIECE_FILES)
WEIGHT_FILES = ("model.safetensors", "pytorch_model.bin")


def is_published(folder: Path) -> bool:
    """Whether a folder is a published model's; a run's has no config.json."""
    return (folder / "config.json").is_file()


def read_published(folder: str | Path) -> Checkpoint:
    """Return weights, configuration and tokenizer of a folder.

    Raises:
        ValueError: a file is missing or damaged, or the model is another than can be computed here.
        ModuleNotFoundError: its tokenizer needs sentencepiece, which is not installed.
    """
    folder = Path(folder)
    if not is_published(folder):
        raise ValueError(f"{folder} holds no config.json: no folder of a published model")
    content = UNSAID | _read_json(folder / "config.json")
    try:
        config = _config(content)
    except ValueError as error:
        raise ValueError(f"{folder / 'config.json'}: {error}") from None
    codec, tokens = _codec(folder, content)
    weights = _weights(folder)
    for name in TABLES:
        _check_positions(folder, weights.pop(name, None), config)
    bias = weights.setdefault("final_logits_bias", torch.zeros(1, config.vocab_size))
    shares_a_row = tokens[PAD_ID] == tokens[BOS_ID]
    changes = {"output_bias": shares_a_row or bool(bias.any()), "vocab_size": len(tokens)}
    ours = _put_back(folder, weights, config.replace(**changes), torch.tensor(tokens))
    if shares_a_row:
        ours["output_bias"][PAD_ID] = NEVER
        ours["output_weight"][PAD_ID] = 0
    notes = {"published": folder.name}
    return Checkpoint(
        config=config.replace(**changes), weights=ours, tokenizer=codec.to_text(), notes=notes
    )


def fetch_published(name: str, revision: str | None = None) -> Path:
    """Download what `read_published` reads of a model into the hub's own cache; return its folder.

    Raises:
        ModuleNotFoundError: huggingface_hub is not installed.
        OSError: the hub cannot be reached, or has no such model.
    """
    try:
        from huggingface_hub import HfApi
    except ImportError:
        told = "models come from the hub with huggingface_hub: pip install huggingface_hub"
        raise ModuleNotFoundError(told) from None
    try:
        hub = HfApi()
        info = hub.model_info(name, revision=revision)
        held = {file.rfilename for file in info.siblings or ()}
        wanted = [*HUB_FILES, *[file for file in WEIGHT_FILES if file in held][:1]]
        folder = hub.snapshot_download(name, revision=info.sha, allow_patterns=wanted)
    except Exception as error:  # of its own, of its client's and of the system's kinds
        raise OSError(f"{name} cannot be fetched: {error}") from error
    return Path(folder)


def _config(content: Mapping[str, Any]) -> TransformerConfig:
    if content.get("model_type") != "marian":
        raise ValueError(f"model_type must be 'marian', got {content.get('model_type')!r}")
    for name, value in MUST.items():
        if content.get(name, value) != value:
            raise ValueError(f"{name} must be {value}, got {content[name]!r}")
    for theirs in SIZES:
        sizes = [content[f"{side}_{theirs}"] for side in NORMS]
        if sizes[0] != sizes[1]:
            raise ValueError(f"encoder_{theirs} must equal decoder_{theirs}, got {sizes}")
    if content["activation_function"] not in ACTIVATIONS:
        known = ", ".join(ACTIVATIONS)
        told = content["activation_function"]
        raise ValueError(f"activation_function must be one of {known}, got {told!r}")
    if content.get("decoder_vocab_size") not in (None, content["vocab_size"]):
        told = content["decoder_vocab_size"]
        raise ValueError(f"decoder_vocab_size must be {content['vocab_size']}, got {told!r}")
    config = TransformerConfig(
        vocab_size=content["vocab_size"],
        d_model=content["d_model"],
        **{ours: content[f"encoder_{theirs}"] for theirs, ours in SIZES.items()},
        dropout=content["dropout"],
        attention_dropout=content["attention_dropout"],
        max_len=content["max_position_embeddings"],
        activation=ACTIVATIONS[content["activation_function"]],
        scale_embeddings=content["scale_embedding"],
    )
    for name in ("pad_token_id", "decoder_start_token_id", "eos_token_id"):
        if content[name] not in range(config.vocab_size):
            most = config.vocab_size - 1
            raise ValueError(f"{name} must be between 0 and {most}, got {content[name]!r}")
    return config


def _codec(folder: Path, content: Mapping[str, Any]) -> tuple[TextCodec, list[int]]:
    """Return the tokenizer, and Marian's id of each of our tokens."""
    settings = {}
    if (folder / "tokenizer_config.json").is_file():
        settings = _read_json(folder / "tokenizer_config.json")
    special = [content[name] for name in ("pad_token_id", "decoder_start_token_id", "eos_token_id")]
    if (folder / "tokenizer.json").is_file() and not (folder / "source.spm").is_file():
        codec: TextCodec = _own_codec(folder / "tokenizer.json", settings)
        if special != [0, 1, 2] or len(codec) != content["vocab_size"]:
            told = f"{content['vocab_size']} and {special}"
            own = f"{len(codec)} tokens, padding, start and end [0, 1, 2]"
            raise ValueError(f"{folder}: tokenizer.json has {own}, config.json {told}")
        return codec, list(range(len(codec)))
    for name in SPIECE_FILES:
        if not (folder / name).is_file():
            raise ValueError(f"{folder} lacks {name}, a part of its tokenizer")
    if settings.get("separate_vocabs"):
        raise ValueError(f"{folder}: separate_vocabs must be false: one vocabulary is read")
    names = _tokens(folder / "vocab.json", content["vocab_size"])
    unknown = _name(settings, "unk_token", "<unk>")
    for name, number, usual in (
        ("pad_token", special[0], "<pad>"),
        ("eos_token", special[2], "</s>"),
    ):
        told = _name(settings, name, usual)
        if names[number] != told:
            there = f"which is {names[number]!r} in vocab.json, not {told!r}"
            raise ValueError(f"{folder}: {name}_id is {number} in config.json, {there}")
    if unknown not in names:
        raise ValueError(f"{folder / 'vocab.json'} lacks the unknown token {unknown!r}")
    special.append(names.index(unknown))
    tokens = [*special, *(n for n in range(len(names)) if n not in special)]
    spelled = [names[number] for number in tokens]
    if special[PAD_ID] == special[BOS_ID]:
        spelled[BOS_ID] = "⟨bos⟩"
    try:
        source, target = ((folder / name).read_bytes() for name in SPIECE_FILES[:2])
        tidy = settings.get("clean_up_tokenization_spaces") is True
        return SentencePieceCodec(source, target, spelled, tidy=tidy), tokens
    except ValueError as error:
        raise ValueError(f"{folder}: {error}") from None


def _own_codec(path: Path, settings: Mapping[str, Any]) -> TextCodec:
    """Read a tokenizer.json of `export_marian`, without what transformers adds at a save."""
    content = _read_json(path)
    try:
        if content["model"]["type"] == "WordLevel":
            words = content["model"]["vocab"]
            own = {
                "kind": "words",
                "languages": [
                    settings.get("source_lang") or "fr",
                    settings.get("target_lang") or "en",
                ],
                "words": sorted(words, key=words.__getitem__),
            }
            return codec_from_text(json.dumps(own))
        added = dict.fromkeys(("post_processor", "padding", "truncation")) | {"added_tokens": []}
        return SubwordCodec(SubwordTokenizer.from_json(json.dumps(content | added)))
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(f"{path} is no tokenizer that this package exported: {error}") from None


def _tokens(path: Path, vocab_size: int) -> list[str]:
    content = _read_json(path)
    if len(content) != vocab_size:
        raise ValueError(f"{path} has {len(content)} tokens, config.json {vocab_size}")
    try:
        names = sorted(content, key=content.__getitem__)
        numbered = [content[name] for name in names] == list(range(vocab_size))
    except TypeError:
        numbered = False
    if not numbered:
        raise ValueError(f"{path} must number its tokens from 0 to {vocab_size - 1}, each once")
    return names


def _weights(folder: Path) -> dict[str, Tensor]:
    kept = [folder / name for name in WEIGHT_FILES if (folder / name).is_file()]
    if not kept:
        raise ValueError(f"{folder} lacks its weights, {' or '.join(WEIGHT_FILES)}")
    if kept[0].suffix == ".safetensors":
        weights, _ = read_tensors(kept[0])
        return weights
    try:  # tensors only: a pickle can hold programs
        weights = torch.load(kept[0], map_location="cpu", weights_only=True)
        return {name: weights[name] for name in weights}
    except Exception as error:  # the library's kinds are many
        told = f"{kept[0]} is damaged, or holds more than tensors"
        raise ValueError(f"{told}: {error}") from None


def _put_back(
    folder: Path, weights: dict[str, Tensor], config: TransformerConfig, tokens: Tensor
) -> dict[str, Tensor]:
    """Return weights under our names, rows in the order of our tokens, d_model as the paper's."""
    shared = [weights.pop(name) for name in SHARED if name in weights]
    if shared:
        weights.setdefault(OF_TOKENS["output_weight"], shared[0])
    for other in shared:
        if not torch.equal(weights[OF_TOKENS["output_weight"]], other):
            raise ValueError(f"{folder}: one matrix must serve embeddings and output, got several")
    weights["final_logits_bias"] = weights["final_logits_bias"].flatten()
    if not config.output_bias:
        del weights["final_logits_bias"]
    own = unique_weights(Transformer(config))
    names = {name: marian_name(name) for name in own}
    missing, unknown = set(names.values()) - set(weights), set(weights) - set(names.values())
    for told, some in (("lacks", missing), ("holds an unknown", unknown)):
        if some:
            raise ValueError(f"{folder}: the model {told} {min(some)} ({len(some)} such)")
    back, ours = halves(config.d_model).argsort(), {}
    for name, own_weight in own.items():
        value, shape = weights[names[name]].float(), list(own_weight.shape)
        if name in OF_TOKENS:
            shape[0] = len(tokens.unique())
        if list(value.shape) != shape:
            told = f"must have shape {shape} by config.json, got {list(value.shape)}"
            raise ValueError(f"{folder}: {names[name]} {told}")
        value = reordered(name, value, back)
        ours[name] = value[tokens] if name in OF_TOKENS else value
    return ours


def _check_positions(folder: Path, table: Tensor | None, config: TransformerConfig) -> None:
    """Raise ValueError for a table that Marian would not make again at the next loading."""
    if table is None:
        return
    wanted = sinusoidal_encoding(config.max_len, config.d_model)[:, halves(config.d_model)]
    if table.shape != wanted.shape:
        told = f"{list(table.shape)} positions, by config.json {list(wanted.shape)}"
    elif (apart := float((table.float() - wanted).abs().max())) > 1e-2:  # kept in 16 bits, even
        told = f"positions that Marian does not make again at loading, {apart:.1f} apart"
    else:
        return
    raise ValueError(f"{folder} holds {told}: export the model anew")


def _read_json(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(read_text(path))
    except ValueError as error:
        raise ValueError(f"{path} is no JSON: {error}") from None
    if not isinstance(content, dict):
        raise ValueError(f"{path} must hold names and values, got {type(content).__name__}")
    return content


def _name(settings: Mapping[str, Any], name: str, usual: str) -> str:
    token = settings.get(name) or usual
    return str(token["content"] if isinstance(token, dict) else token)
