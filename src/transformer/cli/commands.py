"""What is done with a model: the commands but for `train`; each returns the exit code."""

import argparse
import json
import sys
import time
from itertools import chain
from pathlib import Path
from typing import Any

from filelock import FileLock

from transformer.analysis.bleu import bleu_with
from transformer.cli.corpora import (
    encode_pairs,
    load_corpus,
    measured,
    split_to_measure,
)
from transformer.cli.models import (
    open_model,
)
from transformer.cli.places import (
    check_output,
    check_output_folder,
    lines_of,
    open_input,
    output,
    standard_stream,
)
from transformer.cli.plan import DataSettings, make_plan, read_data
from transformer.cli.surroundings import surroundings
from transformer.cli.usage import UsageError, as_usage, one_line
from transformer.engines import CTranslate2, check_ctranslate2, export_ctranslate2
from transformer.files import remove_unfinished, write_atomically
from transformer.inference.translate import (
    CHARACTERS_A_TOKEN,
    Decoding,
    translate,
)
from transformer.marian import export_marian
from transformer.published import fetch_published, read_published
from transformer.training.checkpoint import average_checkpoints, save_checkpoint
from transformer.training.objective import perplexity
from transformer.training.run_folder import (
    read_json,
)
from transformer.translator import Translator, run_checkpoints

OK, FAILED, USAGE, INTERRUPTED = 0, 1, 2, 128


def translate_command(args: argparse.Namespace) -> int:
    """Translate the lines of a file or of standard input, as they come."""
    decoding = _decoding(args)
    if args.scores and args.beam == 1:
        raise UsageError("--scores needs --beam 2 or more: greedy decoding has no scores")
    if sys.stdout is None:
        raise UsageError("standard output is closed: translations have no place to go")
    translator = _translator(args)
    code = OK

    def refused(number: int, error: ValueError) -> None:
        nonlocal code
        code = FAILED
        print(f"error: line {number}: {one_line(error)}", file=sys.stderr)

    with open_input(args.input) as file:
        window = args.window or (1 if file.isatty() else 100)  # a person waits for an answer
        lines = lines_of(file, longest=4 * CHARACTERS_A_TOKEN * (decoding.max_source + 1))
        windows = translator.stream(lines, decoding, window=window, refused=refused)
        for translation in chain.from_iterable(windows):
            score = "" if translation.score is None else f"{translation.score:.4f}"
            print(f"{score}\t{translation.text}" if args.scores else translation.text, flush=True)
    return code


def evaluate_command(args: argparse.Namespace) -> int:
    """Translate a split and measure BLEU, chrF, exact matches and perplexity (§6.1).

    Of trees: labelled bracketing F1 instead (§6.3).
    """
    decoding, data = _decoding(args), _data_settings(args)
    if args.output:
        check_output(args.output)
    if data.bleu_tokenizer:
        bleu_with(data.bleu_tokenizer)  # its package may be missing
    model, codec = open_model(args)
    split = args.split or split_to_measure(data)
    corpus = load_corpus(data, split, progress=not args.quiet)
    began = time.perf_counter()
    best = translate(model, codec, corpus.source, decoding)
    seconds = time.perf_counter() - began
    hypotheses = [translations[0].text for translations in best]
    results = {
        "model": str(args.model),
        "average": args.average,
        "corpus": corpus.name,
        "split": split,
        "beam": args.beam,
        "alpha": args.alpha,
        "early_stopping": args.early_stopping,
        "constrained": args.constrained,
        **measured(codec, corpus, hypotheses, data.bleu_tokenizer),
        "sentences": len(hypotheses),
        "perplexity": perplexity(model, encode_pairs(codec, corpus)),
        "seconds": seconds,
        **surroundings(),
    }
    is_taken = args.output and standard_stream(args.output) is sys.stdout
    told = json.dumps(results, indent=2, ensure_ascii=False)
    print(told, file=sys.stderr if is_taken else sys.stdout, flush=True)  # then file it
    if results.get("four_grams") == 0:
        say(args, "note: no translation has four tokens, so BLEU is 0: read chrF and exact")
    try:
        if Path(args.model).is_dir():
            add_results(args.model, "evaluation", results)
    finally:
        if args.output:
            with output(args.output) as path:
                write_atomically(path, "".join(f"{line}\n" for line in hypotheses).encode())
    return OK


def average_command(args: argparse.Namespace) -> int:
    """Write the mean of several checkpoints (§6.1)."""
    check_output(args.output)
    paths = [Path(path) for path in args.checkpoints]
    if len(paths) == 1 and paths[0].is_dir():
        paths = run_checkpoints(paths[0], args.last or 5)
    elif args.last is not None:
        raise UsageError(f"--last needs one run folder, got {', '.join(args.checkpoints)}")
    mean = average_checkpoints(paths)
    with output(args.output) as path:
        save_checkpoint(path, mean.model(), tokenizer=mean.tokenizer, **mean.notes)
    say(args, f"{args.output}: mean of {', '.join(path.name for path in paths)}")
    return OK


def export_command(args: argparse.Namespace) -> int:
    """Write the model for another engine, its tokenizer beside it."""
    if args.format == "onnx":
        from transformer.export import check_exporter, export_onnx  # a second to load

        check_exporter()
    elif args.format == "ctranslate2":
        check_ctranslate2()
    check_output_folder("--output", args.output)
    model, codec = open_model(args)
    if args.format == "onnx":
        paths = list(export_onnx(model, args.output))
        write_atomically(Path(args.output) / "tokenizer.json", codec.to_text().encode())
    else:
        write = export_marian if args.format == "marian" else export_ctranslate2
        paths = write(model, codec, args.output)
    for path in paths:
        say(args, f"{path}: {path.stat().st_size} bytes")
    return OK


def import_command(args: argparse.Namespace) -> int:
    """Write a published model as a checkpoint of this package."""
    if (args.folder is None) == (args.from_hub is None):
        raise UsageError("name either a folder or a model of the hub, with --from-hub")
    if args.revision and not args.from_hub:
        raise UsageError(f"--revision needs --from-hub, got the folder {args.folder}")
    check_output(args.output)
    folder = fetch_published(args.from_hub, args.revision) if args.from_hub else args.folder
    published = read_published(folder)
    notes = {"published": args.from_hub or published.notes["published"], "revision": args.revision}
    with output(args.output) as path:
        save_checkpoint(path, published.model(), tokenizer=published.tokenizer, **notes)
    sizes = f"{published.config.n_layers} layers of {published.config.d_model}"
    say(args, f"{args.output}: {sizes}, {published.config.vocab_size} tokens")
    return OK


def add_results(
    folder: str | Path, kind: str, results: dict[str, Any], *, unless_has: str | None = None
) -> None:
    """Append to the list of that kind in `results.json` of a run folder.

    With `unless_has`, only if no entry has the same value of that name.
    """
    path = Path(folder) / "results.json"
    with FileLock(path.with_name(f".{path.name}.lock")):  # others may measure the same run
        remove_unfinished(path.parent, path.name)
        content = read_json(path) if path.exists() else {}
        if not isinstance(content.setdefault(kind, []), list):
            raise ValueError(f"{path}: {kind!r} must be a list, nothing is added")
        kept = [entry.get(unless_has) for entry in content[kind] if isinstance(entry, dict)]
        if unless_has and results[unless_has] in kept:
            return
        content[kind].append(results)
        write_atomically(path, (json.dumps(content, indent=2, ensure_ascii=False) + "\n").encode())


def _translator(args: argparse.Namespace) -> Translator:
    if args.engine == "ctranslate2":
        check_ctranslate2()
        model, codec = open_model(args)
        return Translator(model, codec, search=CTranslate2(model, codec))
    return Translator(*open_model(args))


def _data_settings(args: argparse.Namespace) -> DataSettings:
    useless = [option for option in args.set if not option.strip().startswith("data.")]
    if useless:
        raise UsageError(f"evaluate takes its model as it is; it has no use for {useless[0]!r}")
    if args.preset or args.settings:
        with as_usage():
            return make_plan(args.preset, args.settings, args.set).data
    written = Path(args.model) / "settings.json"
    if not written.exists():
        raise UsageError(
            f"{args.model} is no run folder: name the corpus with --preset, or your own files with "
            "--settings; a run's best checkpoint is RUN --best"
        )
    data = read_json(written).get("data")
    if not isinstance(data, dict):
        raise UsageError(f"{written} names no corpus: name it with --preset")
    with as_usage():
        return read_data(data, args.set)


def _decoding(args: argparse.Namespace) -> Decoding:
    with as_usage():
        return Decoding(
            beam=args.beam,
            alpha=args.alpha,
            n_best=getattr(args, "n_best", 1),
            max_source=args.max_source,
            extra_tokens=args.extra_tokens,
            early_stopping=args.early_stopping,
            constrained=args.constrained,
        )


def say(args: argparse.Namespace, text: str) -> None:
    """Tell on standard error, unless the command is to be quiet."""
    if not args.quiet:
        print(text, file=sys.stderr)
