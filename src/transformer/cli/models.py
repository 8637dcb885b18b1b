"""The models that commands work with: from a checkpoint, or a mean of a run's checkpoints."""

import argparse
from pathlib import Path

import torch

from transformer.config import TransformerConfig
from transformer.data.codec import TextCodec, codec_from_text
from transformer.inference.translate import check_vocabulary
from transformer.model import Transformer
from transformer.training.checkpoint import (
    Checkpoint,
    average_checkpoints,
    check_same_config,
    load_checkpoint,
)


def open_model(args: argparse.Namespace) -> tuple[Transformer, TextCodec]:
    """Open a checkpoint, or the mean of the last checkpoints of a run folder, with its tokenizer.

    Raises:
        ValueError: the checkpoint holds no tokenizer, or one of another size than the model's.
    """
    if args.threads:
        torch.set_num_threads(args.threads)
    checkpoint = _checkpoint(Path(args.model), args.average)
    if checkpoint.tokenizer is None:
        raise ValueError(f"{args.model} holds no tokenizer")
    codec = codec_from_text(checkpoint.tokenizer)
    model = checkpoint.model().to(args.device)
    check_vocabulary(model, codec)
    return model, codec


def run_checkpoints(folder: Path, last: int) -> list[Path]:
    """Return the newest checkpoints of a run folder, oldest first.

    Raises:
        FileNotFoundError: the run has fewer.
    """
    paths = sorted((folder / "checkpoints").glob("*.safetensors"))
    if len(paths) < last or not paths:
        raise FileNotFoundError(f"{folder} has {len(paths)} checkpoints, {last} are needed")
    return paths[-last:]


def start_codec(start: Checkpoint, path: str) -> TextCodec:
    """Return the tokenizer of the checkpoint that a run starts from.

    Raises:
        ValueError: it holds none.
    """
    if start.tokenizer is None:
        raise ValueError(f"{path} holds no tokenizer")
    return codec_from_text(start.tokenizer)


def start_model(start: Checkpoint, wanted: TransformerConfig, path: str) -> Transformer:
    """Return the model of the checkpoint that a run starts from, with the dropout of the plan.

    Raises:
        ValueError: its sizes are not those of the plan.
    """
    rates = {"dropout": wanted.dropout, "attention_dropout": wanted.attention_dropout}
    check_same_config(path, start.config.replace(**rates), wanted)
    model = Transformer(wanted)
    model.load_state_dict(start.model().state_dict())
    return model


def _checkpoint(path: Path, average: int) -> Checkpoint:
    if path.is_dir():
        return average_checkpoints(run_checkpoints(path, average))
    return load_checkpoint(path)
