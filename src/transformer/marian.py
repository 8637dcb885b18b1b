"""Folders of HuggingFace's `MarianMTModel`, written and read.

Marian holds the paper's model (§3) with its encoding (§3.5) in another order: all sines, then all
cosines. It never saves that table and makes it anew whenever it loads. So the weights are put into
its order of d_model: they are then the same function with Marian's own table, whoever saves them
again. What is read is put back, and the encoding stays as the paper prints it.

Published translators (OPUS-MT) begin an output with the padding token. Here padding and start are
two tokens, so such a model gets one row more, and an output bias under which no softmax sees it.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from torch import Tensor

from transformer.config import BOS_ID, EOS_ID, PAD_ID, UNK_ID
from transformer.data.codec import SubwordCodec, TextCodec
from transformer.data.sentencepiece_codec import SentencePieceCodec
from transformer.engines import check_portable, n_positions, tokens_of
from transformer.files import write_atomically
from transformer.model import Transformer
from transformer.training.checkpoint import unique_weights

NAMES = {  # ours → Marian's
    "query_proj": "q_proj",
    "key_proj": "k_proj",
    "value_proj": "v_proj",
    "output_proj": "out_proj",
    "self_attention": "self_attn",
    "cross_attention": "encoder_attn",
    "feed_forward.expand": "fc1",
    "feed_forward.contract": "fc2",
}
NORMS = {
    "encoder": ("self_attn_layer_norm", "final_layer_norm"),
    "decoder": ("self_attn_layer_norm", "encoder_attn_layer_norm", "final_layer_norm"),
}
SIZES = {"layers": "n_layers", "attention_heads": "n_heads", "ffn_dim": "d_ff"}
OF_TOKENS = {"output_weight": "model.shared.weight", "output_bias": "final_logits_bias"}
WRITES = ("output_proj", "contract", "layer_norm")
"""Modules whose rows are d_model; where a matrix reads instead, its columns are."""

LONGEST = 512
"""Most tokens that `generate` writes unless told, as with Marian's own models; else it is 20."""


def halves(d_model: int) -> Tensor:
    """Return the order 0, 2, 4, …, 1, 3, 5, …: our sines, then our cosines."""
    return torch.cat([torch.arange(0, d_model, 2), torch.arange(1, d_model, 2)])


def reordered(name: str, weight: Tensor, order: Tensor) -> Tensor:
    """Return a weight of ours with d_model in another order; heads and inner units keep theirs."""
    if any(module in name for module in WRITES):
        return weight[order]
    return weight[:, order] if weight.ndim == 2 else weight


def marian_name(name: str) -> str:
    """Return Marian's name of one of our weights."""
    if name in OF_TOKENS:
        return OF_TOKENS[name]
    side = name.partition(".")[0]
    for number, norm in enumerate(NORMS[side]):
        name = name.replace(f"residuals.{number}.layer_norm", norm)
    for ours, theirs in NAMES.items():
        name = name.replace(ours, theirs)
    return f"model.{name}"


def export_marian(model: Transformer, codec: TextCodec, folder: str | Path) -> list[Path]:
    """Write a folder that `MarianMTModel` and `AutoTokenizer` read with `from_pretrained`.

    A model of words gets a tokenizer that takes them with spaces between; "l'Afrique" in one piece
    is unknown to it. `ct2-transformers-converter` refuses the folder of a model that was trained
    here: it takes the last token for the padding and begins with zeros. `export_ctranslate2` writes
    what CTranslate2 reads.

    Raises:
        ValueError: Marian cannot hold the model; see `check_portable`. Nor learned positions.
    """
    check_portable(model.config, codec)
    if model.config.positions == "learned":
        raise ValueError(
            "Marian never saves positions: learned ones would be lost at the next save_pretrained, "
            "without a word (CTranslate2 and ONNX hold them)"
        )
    folder = Path(folder)
    special = special_ids(codec)
    forbidden = sorted({special["pad_token_id"], special["decoder_start_token_id"]})
    generation = {"max_length": LONGEST, "bad_words_ids": [[number] for number in forbidden]}
    files = {
        "config.json": _json(marian_config(model, codec)),
        "generation_config.json": _json(special | generation),
        **_tokenizer_files(codec),
        "model.safetensors": save(marian_weights(model, codec), {"format": "pt"}),
    }
    for name, content in files.items():
        write_atomically(folder / name, content)
    return sorted(folder / name for name in files)


def layout(codec: TextCodec) -> list[int]:
    """Return our ids in the order of the folder: of published models, their own order again."""
    if isinstance(codec, SentencePieceCodec):
        return [EOS_ID, UNK_ID, *range(UNK_ID + 1, len(codec)), BOS_ID]  # which pads, too
    return list(range(len(codec)))


def special_ids(codec: TextCodec) -> dict[str, Any]:
    """Return the ids that Marian's configurations name."""
    order = layout(codec)
    start = order.index(BOS_ID)
    return {
        "pad_token_id": order.index(PAD_ID) if PAD_ID in order else start,
        "bos_token_id": start,
        "eos_token_id": order.index(EOS_ID),
        "decoder_start_token_id": start,
        "forced_eos_token_id": 0 if isinstance(codec, SentencePieceCodec) else None,
    }


def marian_config(model: Transformer, codec: TextCodec) -> dict[str, Any]:
    """Return the content of Marian's config.json."""
    config, n_tokens = model.config, len(layout(codec))
    return {
        "architectures": ["MarianMTModel"],
        "model_type": "marian",
        "is_encoder_decoder": True,
        "vocab_size": n_tokens,
        "decoder_vocab_size": n_tokens,
        "d_model": config.d_model,
        **{
            f"{side}_{theirs}": getattr(config, ours)
            for side in NORMS
            for theirs, ours in SIZES.items()
        },
        "dropout": config.dropout,
        "attention_dropout": config.attention_dropout,
        "activation_function": config.activation,
        "scale_embedding": config.scale_embeddings,
        "share_encoder_decoder_embeddings": True,
        "max_position_embeddings": n_positions(config),
        **special_ids(codec),
    }


def marian_weights(model: Transformer, codec: TextCodec) -> dict[str, Tensor]:
    """Return the weights under Marian's names, in its order of d_model; tied ones once."""
    tokens, order = torch.tensor(layout(codec)), halves(model.config.d_model)
    weights = {"final_logits_bias": torch.zeros(len(tokens))}
    for name, value in unique_weights(model).items():
        value = reordered(name, value.cpu(), order)
        weights[marian_name(name)] = value[tokens] if name in OF_TOKENS else value
    weights["final_logits_bias"] = weights["final_logits_bias"][None]
    return weights


def _tokenizer_files(codec: TextCodec) -> dict[str, bytes]:
    tokens = tokens_of(codec)
    if isinstance(codec, SentencePieceCodec):
        tokens = [tokens[number] for number in layout(codec)[:-1]] + [tokens[PAD_ID]]
        pad, end, unknown = tokens[-1], *tokens[:2]
        names = {"pad_token": pad, "eos_token": end, "unk_token": unknown, "separate_vocabs": False}
        settings = {"tokenizer_class": "MarianTokenizer", "model_max_length": LONGEST, **names}
        settings["clean_up_tokenization_spaces"] = codec.tidy
        source, target = codec.models
        vocabulary = {token: number for number, token in enumerate(tokens)}
        files = {"source.spm": source, "target.spm": target, "vocab.json": _json(vocabulary)}
    else:
        settings = {"tokenizer_class": "PreTrainedTokenizerFast"}
        for name, number in {"pad": PAD_ID, "bos": BOS_ID, "eos": EOS_ID, "unk": UNK_ID}.items():
            settings[f"{name}_token"] = tokens[number]
        for side in ("source", "target"):
            if language := getattr(codec, f"{side}_language", None):
                settings[f"{side}_lang"] = language
        files = {"tokenizer.json": _with_end(codec, tokens).to_str(pretty=True).encode()}
    return {"tokenizer_config.json": _json(settings), **files}


def _with_end(codec: TextCodec, tokens: Sequence[str]) -> Tokenizer:
    if isinstance(codec, SubwordCodec):
        tokenizer = Tokenizer.from_str(codec.tokenizer.to_json())
    else:
        vocabulary = {token: number for number, token in enumerate(tokens)}
        tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token=tokens[UNK_ID]))
        tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    end = (tokens[EOS_ID], EOS_ID)
    tokenizer.post_processor = processors.TemplateProcessing(f"$A {end[0]}", special_tokens=[end])
    return tokenizer


def _json(content: Mapping[str, Any]) -> bytes:
    return (json.dumps(content, indent=2, ensure_ascii=False) + "\n").encode()
