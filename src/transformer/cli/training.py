"""The command `train`: from settings and a corpus to a run folder, in one process or several.

What the processes must have in common comes from the first, whatever the disk of each holds.
"""

import argparse
import os
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch

from transformer.analysis.bleu import bleu_with
from transformer.cli.commands import INTERRUPTED, OK, add_results, say
from transformer.cli.corpora import (
    VALID_SPLIT,
    check_corpus,
    check_lengths,
    encode_pairs,
    has_valid,
    learn_codec,
    lines_of,
    oddities,
    origin,
    training_pairs,
)
from transformer.cli.models import check_device, start_model
from transformer.cli.places import check_output_folder
from transformer.cli.plan import Plan, make_plan
from transformer.cli.prepared import PAIRS, Prepared, keep, kept
from transformer.cli.surroundings import command_line, peak_memory_mb, surroundings
from transformer.cli.usage import UsageError, as_usage
from transformer.config import TransformerConfig
from transformer.data.codec import SubwordCodec, codec_from_text
from transformer.data.corpus import Corpus
from transformer.data.text_files import TextPair
from transformer.inference.translate import vocabulary_sizes
from transformer.model import Transformer
from transformer.parsing.codec import TreeCodec
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
from transformer.translator import run_checkpoints, start_codec


def train_command(args: argparse.Namespace) -> int:
    """Train a model into a run folder."""
    with as_usage():
        plan = make_plan(args.preset, args.settings, _options(args))
        check_device(plan.training.device)
    if plan.data.bleu_tokenizer:
        bleu_with(plan.data.bleu_tokenizer)  # its package may be missing, which `evaluate` needs
    check_corpus(plan.data)
    if args.start_from and Path(args.start_from).is_dir():
        args.start_from = str(run_checkpoints(Path(args.start_from), 1)[0])
    with distributed.process_group(torch.device(plan.training.device).type):
        return _train(args, plan)


def _train(args: argparse.Namespace, plan: Plan) -> int:
    is_first = distributed.rank() == 0
    resume = distributed.from_first(lambda: _checked_folder(args.folder, args.resume))
    torch.manual_seed(plan.training.seed)
    made_of = distributed.together(lambda: origin(plan.data))
    own = {f"model.{name}": value for name, value in plan.model.items()}
    distributed.agree({**made_of, **own, "settings": plan.training.replace(threads=None)})
    first = distributed.together(lambda: _first(args, plan, made_of, resume) if is_first else None)
    tokenizer, checksum = distributed.from_first(lambda: first[0].mark if first else ("", ""))
    made, model = distributed.together(
        lambda: first or _other(args, plan, made_of, tokenizer, checksum)
    )
    if is_first:
        sizes = model.config.vocab_sizes
        words = "{} words, {} symbols" if model.config.target_vocab_size else "{} tokens"
        counted = f"{made.number} pairs, {words.format(*sizes)}"
        say(args, f"{counted}, {model.n_parameters:,} parameters")
    start = os.path.abspath(args.start_from) if args.start_from else None
    notes = {"data": plan.data.recorded(), "start_from": start}
    notes |= {"command": command_line(), **surroundings()}
    if plan.training.threads is not None:  # `train` sets them, after this
        notes["threads"] = plan.training.threads
    history = train(
        model,
        made.pairs,
        plan.training,
        valid=made.valid,
        folder=args.folder,
        resume=resume,
        tokenizer=made.tokenizer,
        progress=not args.quiet,
        notes=notes,
    )
    if is_first:
        _tell(args, history)
    return OK if history.interrupted_by is None else INTERRUPTED + history.interrupted_by


def _tell(args: argparse.Namespace, history: History) -> None:
    if history.interrupted_by is not None:
        print(f"interrupted; go on with --resume and the same options: {args.folder}", flush=True)
    elif history.records:
        last = history.records[-1]
        results = {**asdict(last), "peak_memory_mb": peak_memory_mb()}
        say(args, f"done: loss {last.loss:.3f}, perplexity {last.valid_perplexity}")
        add_results(args.folder, "training", results, unless_has="update")


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


def _first(
    args: argparse.Namespace, plan: Plan, made_of: dict[str, Any], resume: bool
) -> tuple[Prepared, Transformer]:
    stored = kept(args.folder, made_of) if resume and holds_run(args.folder) else None
    start = load_checkpoint(args.start_from) if args.start_from and stored is None else None
    made = _prepared(args, plan, stored, lambda corpus: _tokenizer(args, plan, corpus, start))
    config = _config(plan, made)
    check_lengths(plan, config, made.pairs, made.valid)
    for told in oddities(plan.data, made_of):
        say(args, f"note: {told}")
    model = start_model(start, config, args.start_from) if start else Transformer(config)
    if stored is None and not (resume and (Path(args.folder) / PAIRS).exists()):
        made = keep(args.folder, made, made_of)
    return made, model


def _other(
    args: argparse.Namespace, plan: Plan, made_of: dict[str, Any], tokenizer: str, checksum: str
) -> tuple[Prepared, Transformer]:
    stored = kept(args.folder, made_of, checksum=checksum)  # unless this machine has its own disk
    made = _prepared(args, plan, stored, lambda _: tokenizer)
    return made, Transformer(_config(plan, made))


def _prepared(
    args: argparse.Namespace,
    plan: Plan,
    stored: Prepared | None,
    tokenizer: Callable[[Corpus | TextPair], str],
) -> Prepared:
    data, progress = plan.data, not args.quiet
    if stored is not None and stored.pairs is not None:
        return stored
    corpus = lines_of(data, "train", progress=progress)
    text = tokenizer(corpus) if stored is None else stored.tokenizer
    codec, valid = codec_from_text(text), None if stored is None else stored.valid
    pairs = training_pairs(plan, codec, corpus)
    if stored is None and has_valid(data):
        valid = encode_pairs(codec, lines_of(data, VALID_SPLIT[data.corpus], progress=progress))
    number = len(corpus) if isinstance(corpus, Corpus) else 0 if callable(pairs) else len(pairs)
    return Prepared(text, number, pairs, valid, stored.checksum if stored else "")


def _config(plan: Plan, made: Prepared) -> TransformerConfig:
    codec = codec_from_text(made.tokenizer)
    source_size, target_size = vocabulary_sizes(codec)
    return plan.config(source_size, target_size if isinstance(codec, TreeCodec) else None)


def _tokenizer(
    args: argparse.Namespace, plan: Plan, corpus: Corpus | TextPair, start: Checkpoint | None
) -> str:
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
