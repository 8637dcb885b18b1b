"""A folder as `MarianMTModel.save_pretrained` writes it, and Marian's forward pass beside it."""

import json
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from safetensors.torch import save_file
from torch import Tensor

CODES = [">>fra<<", ">>ron<<"]
WORDS = ["▁ein", "▁zwei", "▁hund", "▁hunde", "▁und", "▁dog", "▁two", "s", ","]
TOKENS = ["</s>", "<unk>", *CODES, *WORDS, "<pad>"]
PAD, START, END = len(TOKENS) - 1, len(TOKENS) - 1, 0
CONFIG: dict[str, Any] = {
    "model_type": "marian",
    "architectures": ["MarianMTModel"],
    "activation_function": "swish",
    "d_model": 10,
    "vocab_size": len(TOKENS),
    "decoder_vocab_size": len(TOKENS),
    **{f"{side}_layers": 2 for side in ("encoder", "decoder")},
    **{f"{side}_attention_heads": 2 for side in ("encoder", "decoder")},
    **{f"{side}_ffn_dim": 6 for side in ("encoder", "decoder")},
    "max_position_embeddings": 20,
    "scale_embedding": True,
    "pad_token_id": PAD,
    "decoder_start_token_id": START,
    "eos_token_id": END,
}


class Spelling:
    """In the place of SentencePiece, which the suite does without: known pieces, else letters."""

    def __init__(self, model: bytes) -> None:
        if model == b"broken":
            raise ValueError("no SentencePiece model")

    def encode(self, text: str, out_type: type) -> list[str]:
        words = [f"▁{word}" for word in text.split()]
        return [p for word in words for p in ([word] if word in WORDS else word)]

    def decode_pieces(self, pieces: list[str]) -> str:
        return "".join(pieces)


def random_weights(config: dict[str, Any]) -> dict[str, Tensor]:
    """Every tensor that Marian saves, biases and gains random too."""
    torch.manual_seed(0)
    d, inner = config["d_model"], config["encoder_ffn_dim"]
    weights = {
        "model.shared.weight": torch.randn(config["vocab_size"], d),
        "final_logits_bias": torch.randn(1, config["vocab_size"]),
    }
    sides = {"encoder": ["self_attn"], "decoder": ["self_attn", "encoder_attn"]}
    for side, attentions in sides.items():
        for number in range(config[f"{side}_layers"]):
            shapes = {f"{a}.{p}_proj": (d, d) for a in attentions for p in ("q", "k", "v", "out")}
            shapes |= {"fc1": (inner, d), "fc2": (d, inner)}
            shapes |= {f"{name}_layer_norm": (d,) for name in (*attentions, "final")}
            for name, shape in shapes.items():
                place = f"model.{side}.layers.{number}.{name}"
                weights[f"{place}.weight"] = torch.randn(shape) * 0.5
                weights[f"{place}.bias"] = torch.randn(shape[0]) * 0.5
    return weights


def write_folder(
    folder: Path, weights: dict[str, Tensor] | None = None, **changes: Any
) -> dict[str, Tensor]:
    """Write the folder and return its weights; a change to None leaves a setting out."""
    config = {name: value for name, value in (CONFIG | changes).items() if value is not None}
    weights = random_weights(config) if weights is None else weights
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "vocab.json").write_text(json.dumps({t: n for n, t in enumerate(TOKENS)}))
    (folder / "tokenizer_config.json").write_text(json.dumps({"source_lang": "de"}))
    for side in ("source", "target"):
        (folder / f"{side}.spm").write_bytes(side.encode())
    save_file(weights, folder / "model.safetensors", {"format": "pt"})
    return weights


def marian_logits(
    weights: dict[str, Tensor], config: dict[str, Any], source: Tensor, target: Tensor
) -> Tensor:
    """What MarianMTModel computes, in one piece, with the table that it makes at loading."""
    d, heads = config["d_model"], config["encoder_attention_heads"]
    angles = torch.arange(config["max_position_embeddings"])[:, None] / 10000 ** (
        torch.arange(0, d, 2) / d
    )
    table = torch.cat([angles.sin(), angles.cos()], dim=1)[:, :d]
    act = {"swish": F.silu, "relu": F.relu}[config["activation_function"]]

    def linear(x: Tensor, name: str) -> Tensor:
        return F.linear(x, weights[f"{name}.weight"], weights[f"{name}.bias"])

    def norm(x: Tensor, name: str) -> Tensor:
        parts = weights[f"{name}_layer_norm.weight"], weights[f"{name}_layer_norm.bias"]
        return F.layer_norm(x, (d,), *parts)

    def attend(x: Tensor, memory: Tensor, name: str, mask: Tensor) -> Tensor:
        inputs = {"q": x, "k": memory, "v": memory}
        q, k, v = (
            linear(y, f"{name}.{part}_proj").unflatten(-1, (heads, -1)).transpose(1, 2)
            for part, y in inputs.items()
        )
        scores = q @ k.transpose(-2, -1) / (d // heads) ** 0.5
        shares = scores.masked_fill(~mask, -1e9).softmax(-1)
        return linear((shares @ v).transpose(1, 2).flatten(-2), f"{name}.out_proj")

    def embedded(tokens: Tensor) -> Tensor:
        scale = d**0.5 if config["scale_embedding"] else 1.0
        return weights["model.shared.weight"][tokens] * scale + table[: tokens.shape[1]]

    real = (source != config["pad_token_id"])[:, None, None]
    past = torch.ones(target.shape[1], target.shape[1]).tril().bool()
    memory = embedded(source)
    for number in range(config["encoder_layers"]):
        place = f"model.encoder.layers.{number}"
        own = attend(memory, memory, f"{place}.self_attn", real)
        memory = norm(memory + own, f"{place}.self_attn")
        inner = linear(act(linear(memory, f"{place}.fc1")), f"{place}.fc2")
        memory = norm(memory + inner, f"{place}.final")
    x = embedded(target)
    for number in range(config["decoder_layers"]):
        place = f"model.decoder.layers.{number}"
        x = norm(x + attend(x, x, f"{place}.self_attn", past), f"{place}.self_attn")
        cross = attend(x, memory, f"{place}.encoder_attn", real)
        x = norm(x + cross, f"{place}.encoder_attn")
        x = norm(x + linear(act(linear(x, f"{place}.fc1")), f"{place}.fc2"), f"{place}.final")
    return x @ weights["model.shared.weight"].T + weights["final_logits_bias"]
