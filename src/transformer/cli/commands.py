"""The commands of `python -m transformer`; each returns the exit code."""

import argparse
import json
import os
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any, BinaryIO

import torch

from transformer.analysis.bleu import score
from transformer.cli.corpora import (
    TEST_SPLIT,
    VALID_SPLIT,
    encode_pairs,
    exact_matches,
    has_valid,
    learn_codec,
    load_corpus,
    spell_with_dropout,
)
from transformer.cli.models import open_model, run_checkpoints, start_codec, start_model
from transformer.cli.plan import DataSettings, Plan, make_plan
from transformer.cli.surroundings import command_line, peak_memory_mb, surroundings
from transformer.data.codec import SubwordCodec, TextCodec
from transformer.data.corpus import Corpus
from transformer.inference.translate import Decoding, translate, translate_stream
from transformer.model import Transformer
from transformer.training.checkpoint import (
    average_checkpoints,
    load_checkpoint,
    save_checkpoint,
    write_atomically,
)
from transformer.training.objective import perplexity
from transformer.training.run_folder import refuse_existing_run
from transformer.training.trainer import Pairs, train

OK, FAILED, USAGE, INTERRUPTED = 0, 1, 2, 128


def train_command(args: argparse.Namespace) -> int:
    """Train a model into a run folder."""
    plan = make_plan(args.preset, args.settings, _options(args))
    is_first = os.environ.get("RANK", "0") == "0"  # of the processes that torchrun started
    if is_first and not args.resume:
        refuse_existing_run(args.folder)
    torch.manual_seed(plan.training.seed)
    corpus = load_corpus(plan.data, "train", progress=not args.quiet)
    start = load_checkpoint(args.start_from) if args.start_from else None
    codec = start_codec(start, args.start_from) if start else learn_codec(plan.data, corpus)
    pairs = training_pairs(plan, codec, corpus)
    valid = None
    if has_valid(plan.data):
        valid_split = VALID_SPLIT[plan.data.corpus]
        valid = encode_pairs(codec, load_corpus(plan.data, valid_split, progress=not args.quiet))
    config = plan.config(len(codec))
    model = start_model(start, config, args.start_from) if start else Transformer(config)
    _say(args, f"{len(corpus)} pairs, {len(codec)} tokens, {model.n_parameters:,} parameters")
    notes = {"data": asdict(plan.data), "command": command_line(), **surroundings()}
    if plan.training.threads is not None:  # `train` sets them, after this
        notes["threads"] = plan.training.threads
    history = train(
        model,
        pairs,
        plan.training,
        valid=valid,
        folder=args.folder,
        resume=args.resume,
        tokenizer=codec.to_text(),
        progress=not args.quiet,
        notes=notes,
    )
    last = history.records[-1] if history.records else None
    if history.interrupted_by is not None:
        print(f"interrupted; go on with --resume and the same options: {args.folder}", flush=True)
        return INTERRUPTED + history.interrupted_by
    if last is not None and is_first:
        measured = {**asdict(last), "peak_memory_mb": peak_memory_mb()}
        add_results(args.folder, "training", measured)
        _say(args, f"done: loss {last.loss:.3f}, perplexity {last.valid_perplexity}")
    return OK


def translate_command(args: argparse.Namespace) -> int:
    """Translate the lines of a file or of standard input, as they come."""
    model, codec = open_model(args)
    decoding = _decoding(args)
    with _open_input(args.input) as file:
        for best in translate_stream(model, codec, _lines(file), decoding, window=args.window):
            for translation in best:
                scored = args.scores and translation.score is not None
                prefix = f"{translation.score:.4f}\t" if scored else ""
                print(prefix + translation.text, flush=True)
    return OK


def evaluate_command(args: argparse.Namespace) -> int:
    """Translate a split and measure BLEU, chrF, exact matches and perplexity (§6.1)."""
    model, codec = open_model(args)
    data = _data_settings(args)
    split = args.split or TEST_SPLIT[data.corpus]
    corpus = load_corpus(data, split, progress=not args.quiet)
    began = time.perf_counter()
    best = translate(model, codec, corpus.source, _decoding(args))
    seconds = time.perf_counter() - began
    hypotheses = [translations[0].text for translations in best]
    results = {
        "model": str(args.model),
        "average": args.average,
        "corpus": corpus.name,
        "split": split,
        "beam": args.beam,
        "alpha": args.alpha,
        **asdict(score(hypotheses, corpus.target, tokenize=corpus.bleu_tokenizer)),
        "exact": exact_matches(hypotheses, corpus.target),
        "sentences": len(hypotheses),
        "perplexity": perplexity(model, encode_pairs(codec, corpus)),
        "seconds": seconds,
        **surroundings(),
    }
    if args.output:
        write_atomically(args.output, "".join(f"{line}\n" for line in hypotheses).encode())
    if Path(args.model).is_dir():
        add_results(args.model, "evaluation", results)
    print(json.dumps(results, indent=2, ensure_ascii=False))
    return OK


def average_command(args: argparse.Namespace) -> int:
    """Write the mean of several checkpoints (§6.1)."""
    paths = [Path(path) for path in args.checkpoints]
    if len(paths) == 1 and paths[0].is_dir():
        paths = run_checkpoints(paths[0], args.last)
    mean = average_checkpoints(paths)
    save_checkpoint(args.output, mean.model(), tokenizer=mean.tokenizer, **mean.notes)
    _say(args, f"{args.output}: mean of {', '.join(path.name for path in paths)}")
    return OK


def export_command(args: argparse.Namespace) -> int:
    """Write encoder and decoder step as ONNX files."""
    from transformer.export import export_onnx  # needs onnx, which only this command does

    model, codec = open_model(args)
    for path in export_onnx(model, args.output):
        _say(args, f"{path}: {path.stat().st_size} bytes")
    write_atomically(Path(args.output) / "tokenizer.json", codec.to_text().encode())
    return OK


def add_results(folder: str | Path, kind: str, results: dict[str, Any]) -> None:
    """Append to the list of that kind in `results.json` of a run folder."""
    path = Path(folder) / "results.json"
    content = json.loads(path.read_text()) if path.exists() else {}
    content.setdefault(kind, []).append(results)
    write_atomically(path, (json.dumps(content, indent=2, ensure_ascii=False) + "\n").encode())


def training_pairs(plan: Plan, codec: TextCodec, corpus: Corpus) -> Pairs:
    """Return the pairs' ids; with BPE dropout, a function that spells them for each epoch."""
    dropout = plan.data.bpe_dropout
    if dropout and isinstance(codec, SubwordCodec):
        return spell_with_dropout(codec, corpus, dropout=dropout, seed=plan.training.seed)
    return encode_pairs(codec, corpus)


def _options(args: argparse.Namespace) -> list[str]:
    named = ("max_updates", "seed", "threads", "device")
    given = [(name, getattr(args, name)) for name in named]
    return [*args.set, *(f"training.{name}={value}" for name, value in given if value is not None)]


def _data_settings(args: argparse.Namespace) -> DataSettings:
    if args.preset or args.settings:
        return make_plan(args.preset, args.settings, args.set).data
    written = Path(args.model) / "settings.json"
    if not written.exists():
        raise ValueError(f"{args.model} is no run folder: name the corpus with --preset")
    data = json.loads(written.read_text())["data"]
    return DataSettings(**data)


def _decoding(args: argparse.Namespace) -> Decoding:
    return Decoding(
        beam=args.beam,
        alpha=args.alpha,
        n_best=getattr(args, "n_best", 1),
        max_source=args.max_source,
    )


def _open_input(path: str | None) -> BinaryIO:
    return open(path, "rb") if path and path != "-" else sys.stdin.buffer


def _lines(file: BinaryIO) -> Iterator[str]:
    for number, raw in enumerate(file, start=1):
        try:
            yield raw.decode("utf-8").rstrip("\r\n")
        except UnicodeDecodeError as error:
            raise ValueError(f"line {number}: not UTF-8 ({error.reason})") from None


def _say(args: argparse.Namespace, text: str) -> None:
    if not args.quiet:
        print(text, file=sys.stderr, flush=True)
