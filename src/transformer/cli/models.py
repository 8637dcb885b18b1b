"""The models that commands work with: from a checkpoint, or a mean of a run's checkpoints."""

import argparse
from pathlib import Path

import torch

from transformer.cli.usage import UsageError, as_usage
from transformer.config import TransformerConfig
from transformer.data.codec import TextCodec
from transformer.model import Transformer
from transformer.training.checkpoint import Checkpoint, check_same_config
from transformer.translator import Translator


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
    translator = Translator.load(path, average=args.average, best=args.best, device=args.device)
    return translator.model, translator.codec


def check_device(name: str) -> None:
    """Raise ValueError unless torch can compute on the device."""
    try:
        if torch.device(name).type != "meta":  # which computes nothing
            torch.empty((), device=name)
            return
        reason = "it holds no numbers"
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        reason = str(error).splitlines()[0].partition(". ")[0][:100]
    raise ValueError(f"device must be one that torch can use here, got {name!r}: {reason}")


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
