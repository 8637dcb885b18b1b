"""The models that commands work with: from a checkpoint, or a mean of a run's checkpoints."""

import argparse
from pathlib import Path

import torch

from transformer.cli.usage import UsageError, as_usage
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
from transformer.training.run_folder import BEST, checkpoints_of


def open_model(args: argparse.Namespace) -> tuple[Transformer, TextCodec]:
    """Open a checkpoint, or the mean of the last checkpoints of a run folder, with its tokenizer.

    Raises:
        UsageError: --average or --best with a file, both, or a device that is not there.
        ValueError: the checkpoint holds no tokenizer, or one of another size than the model's.
    """
    with as_usage():
        check_device(args.device)
    path = Path(args.model)
    if args.average > 1 and path.is_file():
        raise UsageError(f"--average needs a run folder, {path} is a file")
    if args.best and path.is_file():
        raise UsageError(f"--best needs a run folder, {path} is a file")
    if args.best and args.average > 1:
        raise UsageError(f"--best is one checkpoint: it does not go with --average {args.average}")
    if args.threads:
        torch.set_num_threads(args.threads)
    checkpoint = _checkpoint(path / BEST if args.best else path, args.average)
    codec = start_codec(checkpoint, args.model)
    model = checkpoint.model().to(args.device)
    check_vocabulary(model, codec)
    return model, codec


def check_device(name: str) -> None:
    """Raise ValueError unless torch can compute on the device."""
    try:
        if torch.device(name).type != "meta":  # which computes nothing
            torch.empty((), device=name)
            return
        reason = "it holds no numbers"
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        reason = str(error)
    raise ValueError(f"device must be one that torch can use here, got {name!r}: {reason}")


def run_checkpoints(folder: Path, last: int) -> list[Path]:
    """Return the newest checkpoints of a run folder, oldest first.

    Raises:
        ValueError: last below 1.
        FileNotFoundError: the run has fewer.
    """
    if last < 1:
        raise ValueError(f"last must be at least 1, got {last}")
    paths = checkpoints_of(folder)
    if len(paths) < last:
        raise FileNotFoundError(f"{folder} has {len(paths)} checkpoints, {last} are needed")
    return paths[-last:]


def start_codec(start: Checkpoint, path: str) -> TextCodec:
    """Return the tokenizer of a checkpoint.

    Raises:
        ValueError: it holds none, or a damaged one.
    """
    if start.tokenizer is None:
        raise ValueError(f"{path} holds no tokenizer")
    try:
        return codec_from_text(start.tokenizer)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error


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
