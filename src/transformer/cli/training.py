"""The command `train`: from settings and a corpus to a run folder, in one process or several.

What the processes must have in common comes from the first, whatever the disk of each holds.
"""

import argparse
from dataclasses import asdict
from pathlib import Path

import torch

from transformer.cli.commands import INTERRUPTED, OK, add_results, say
from transformer.cli.corpora import (
    VALID_SPLIT,
    check_lengths,
    encode_pairs,
    has_valid,
    learn_codec,
    load_corpus,
    training_pairs,
)
from transformer.cli.models import check_device, start_model
from transformer.cli.places import check_output_folder
from transformer.cli.plan import Plan, make_plan
from transformer.cli.surroundings import command_line, peak_memory_mb, surroundings
from transformer.cli.usage import UsageError, as_usage
from transformer.data.batching import PairArrays
from transformer.data.codec import SubwordCodec, TextCodec, codec_from_text
from transformer.data.corpus import Corpus
from transformer.data.tree_codec import TreeCodec
from transformer.inference.translate import vocabulary_sizes
from transformer.model import Transformer
from transformer.training import distributed
from transformer.training.checkpoint import Checkpoint, load_checkpoint
from transformer.training.history import History
from transformer.training.run_folder import (
    SETTINGS,
    holds_run,
    refuse_existing_run,
    refuse_incomplete_run,
    refuse_run_in_use,
)
from transformer.training.trainer import train
from transformer.translator import start_codec


def train_command(args: argparse.Namespace) -> int:
    """Train a model into a run folder."""
    with as_usage():
        plan = make_plan(args.preset, args.settings, _options(args))
        check_device(plan.training.device)
    with distributed.process_group(torch.device(plan.training.device).type):
        return _train(args, plan)


def _train(args: argparse.Namespace, plan: Plan) -> int:
    is_first = distributed.rank() == 0
    resume = distributed.from_first(lambda: _checked_folder(args.folder, args.resume))
    torch.manual_seed(plan.training.seed)
    start = distributed.together(lambda: _start(args, plan) if is_first else None)
    corpus = distributed.together(lambda: load_corpus(plan.data, "train", progress=not args.quiet))
    codec = codec_from_text(distributed.from_first(lambda: _codec(args, plan, corpus, start)))
    pairs = training_pairs(plan, codec, corpus)
    valid = distributed.together(lambda: _valid_pairs(args, plan, codec))
    source_size, target_size = vocabulary_sizes(codec)
    has_two = isinstance(codec, TreeCodec)
    config = plan.config(source_size, target_size if has_two else None)
    distributed.together(lambda: check_lengths(config, pairs, valid))
    model = distributed.together(
        lambda: start_model(start, config, args.start_from) if start else Transformer(config)
    )
    if is_first:
        told = f"{source_size} words, {target_size} symbols" if has_two else f"{source_size} tokens"
        say(args, f"{len(corpus)} pairs, {told}, {model.n_parameters:,} parameters")
    notes = {"data": asdict(plan.data), "start_from": args.start_from}
    notes |= {"command": command_line(), **surroundings()}
    if plan.training.threads is not None:  # `train` sets them, after this
        notes["threads"] = plan.training.threads
    history = train(
        model,
        pairs,
        plan.training,
        valid=valid,
        folder=args.folder,
        resume=resume,
        tokenizer=codec.to_text(),
        progress=not args.quiet,
        notes=notes,
    )
    return _told(args, history) if is_first else OK


def _told(args: argparse.Namespace, history: History) -> int:
    last = history.records[-1] if history.records else None
    if history.interrupted_by is not None:
        print(f"interrupted; go on with --resume and the same options: {args.folder}", flush=True)
        return INTERRUPTED + history.interrupted_by
    if last is not None:
        results = {**asdict(last), "peak_memory_mb": peak_memory_mb()}
        say(args, f"done: loss {last.loss:.3f}, perplexity {last.valid_perplexity}")
        add_results(args.folder, "training", results, unless_has="update")
    return OK


def _options(args: argparse.Namespace) -> list[str]:
    named = ("max_updates", "seed", "threads", "device")
    given = [(name, getattr(args, name)) for name in named]
    return [*args.set, *(f"training.{name}={value}" for name, value in given if value is not None)]


def _checked_folder(folder: str, asked: str) -> bool:
    """Return whether a run is to be resumed; raise if the folder is not fit for what is asked."""
    resume = holds_run(folder) if asked == "auto" else asked == "yes"
    if resume and holds_run(folder):
        refuse_incomplete_run(folder)
    elif resume and not (Path(folder) / SETTINGS).exists():
        raise UsageError(f"--resume goes on with a run, {folder} holds none")
    refuse_run_in_use(folder)
    if not resume:
        refuse_existing_run(folder)
    check_output_folder("--folder", folder)
    return resume


def _start(args: argparse.Namespace, plan: Plan) -> Checkpoint | None:
    return load_checkpoint(args.start_from) if args.start_from else None


def _codec(args: argparse.Namespace, plan: Plan, corpus: Corpus, start: Checkpoint | None) -> str:
    if start is None:
        return learn_codec(plan.data, corpus).to_text()
    codec, data = start_codec(start, args.start_from), plan.data
    if isinstance(codec, TreeCodec) != (data.corpus == "craft"):
        raise ValueError(f"{args.start_from} holds a model of another kind of text")
    kept = len(codec.tokenizer.merges) if isinstance(codec, SubwordCodec) else data.merges
    if kept != data.merges:
        raise ValueError(
            f"--start-from keeps the tokenizer of {args.start_from}, which has {kept} merges, and "
            f"data.merges is {data.merges}: set data.merges={kept}"
        )
    return codec.to_text()


def _valid_pairs(args: argparse.Namespace, plan: Plan, codec: TextCodec) -> PairArrays | None:
    if not has_valid(plan.data):
        return None
    split = VALID_SPLIT[plan.data.corpus]
    return encode_pairs(codec, load_corpus(plan.data, split, progress=not args.quiet))
