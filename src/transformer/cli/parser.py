"""The options of `python -m transformer`."""

import argparse

from transformer.cli import commands, training
from transformer.cli.plan import PRESETS
from transformer.cli.surroundings import package_version
from transformer.cli.usage import Parser, length_penalty, path, whole
from transformer.inference.greedy import EXTRA_TOKENS
from transformer.training.settings import MOST_THREADS

EXIT_CODES = (
    "Exit codes: 0 done, 1 failed (one line on standard error says why), 2 wrong usage, "
    "130 or 143 interrupted by Ctrl-C or a request to end (a training run's state is saved)."
)


def make_parser() -> argparse.ArgumentParser:
    """Build the parser with one sub-command for each thing a person does with a model."""
    parser = Parser(
        prog="python -m transformer",
        description="Train the Transformer of the paper, translate with it, and measure it.",
        epilog=EXIT_CODES,
    )
    parser.add_argument("--version", action="version", version=package_version())
    kinds = parser.add_subparsers(required=True, metavar="COMMAND")
    _train(kinds)
    _translate(kinds)
    _evaluate(kinds)
    _average(kinds)
    _export(kinds)
    _import(kinds)
    return parser


def _train(kinds: "argparse._SubParsersAction[Parser]") -> None:
    parser = kinds.add_parser(
        "train",
        help="train a model into a run folder",
        description=(
            "Train a model. Settings come from a preset, then from a TOML file with the sections "
            "data, model and training, then from options; later ones win. The run folder gets "
            "settings.json, log.csv, results.json, checkpoints, the state to resume from, and the "
            "sentence pairs as numbers, which a resumed run reads in place of the corpus."
        ),
        epilog="Example: python -m transformer train --preset phrasebook --folder runs/first. "
        "Two text files of your own: train --preset multi30k-tiny --set data.corpus=files "
        "--set data.train_source=train.fr --set data.train_target=train.ko "
        "--set data.valid_source=valid.fr --set data.valid_target=valid.ko --folder runs/own. "
        "Several processes: torchrun --standalone --nproc-per-node 2 -m transformer train …; an "
        "update then takes accumulate batches from each. One command that a queue, or torchrun "
        "--max-restarts, may start again and again: --resume=auto. To stop when the validation "
        "split gains no more: --set training.patience=10. For small corpora, from after the paper "
        "and off: --set training.r_drop=2 (R-Drop), --set data.bpe_dropout=0.1 (BPE dropout). "
        f"{EXIT_CODES}",
    )
    parser.set_defaults(command=training.train_command)
    _plan_options(parser)
    parser.add_argument("--folder", type=path, required=True, help="run folder; holds no run yet")
    parser.add_argument(
        "--resume",
        nargs="?",
        const="yes",
        default="no",
        choices=("yes", "no", "auto"),
        help="go on with the run in the folder; auto: begin one if there is none",
    )
    parser.add_argument(
        "--start-from",
        type=path,
        metavar="CHECKPOINT",
        help="begin with the weights and the tokenizer of this checkpoint, not with random ones",
    )
    parser.add_argument("--max-updates", help="same as --set training.max_updates=…")
    parser.add_argument("--seed", help="same as --set training.seed=…")
    _threads_option(parser)
    parser.add_argument("--device", help='"cpu" or "cuda"')
    parser.add_argument("--quiet", action="store_true", help="no progress bar, no messages")


def _translate(kinds: "argparse._SubParsersAction[Parser]") -> None:
    parser = kinds.add_parser(
        "translate",
        help="translate lines of text",
        description=(
            "Translate one sentence a line, in order, as the lines come: one line out for each "
            "line in. A blank line stays blank. So does a line that cannot be translated; its "
            "number and the reason go to standard error, and the exit code at the end is 1. "
            "Nothing checks that a line is in the run's source language: one vocabulary serves "
            "both. A model of trees (preset craft-trees) reads words with spaces between all of "
            "them and writes the symbols of a tree, whose leaves are the numbers of the words."
        ),
        epilog="Example: echo 'Jane visite l’Afrique en septembre.' | "
        "python -m transformer translate runs/first. " + EXIT_CODES,
    )
    parser.set_defaults(command=commands.translate_command)
    _model_options(parser)
    _decoding_options(parser)
    parser.add_argument("--input", type=path, help="text file (default: standard input)")
    parser.add_argument(
        "--n-best",
        type=whole(least=1),
        default=1,
        metavar="N",
        help="N lines for every line read, best first; lines that lack a translation are empty",
    )
    parser.add_argument(
        "--scores",
        action="store_true",
        help="score and tab before each line; no score before a line that lacks a translation",
    )
    parser.add_argument(
        "--engine",
        choices=("torch", "ctranslate2"),
        default="torch",
        help="what searches: PyTorch, or CTranslate2, which is faster (pip install ctranslate2)",
    )
    parser.add_argument(
        "--window",
        type=whole(least=1),
        help="lines to translate at a time (default 100; 1 where lines are typed)",
    )


def _evaluate(kinds: "argparse._SubParsersAction[Parser]") -> None:
    parser = kinds.add_parser(
        "evaluate",
        help="measure BLEU, chrF, exact matches and perplexity on a split; of trees, F1",
        description="Translate a split of the corpus the run was trained on, and measure: BLEU and "
        "chrF of text, labelled bracketing F1 and the well-formed share of trees.",
        epilog="Example: python -m transformer evaluate runs/first --average 5 --beam 5. "
        + EXIT_CODES,
    )
    parser.set_defaults(command=commands.evaluate_command)
    _model_options(parser)
    _decoding_options(parser)
    _plan_options(parser)
    parser.add_argument("--split", help="split to measure on (default: the corpus's test split)")
    parser.add_argument(
        "--output",
        type=path,
        help="also write the translations to this file; - is standard output, and the results then "
        "go to standard error",
    )


def _average(kinds: "argparse._SubParsersAction[Parser]") -> None:
    parser = kinds.add_parser(
        "average",
        help="write the mean of checkpoints",
        description="Write the mean of the parameters of checkpoints, or of a run's newest ones.",
        epilog=EXIT_CODES,
    )
    parser.set_defaults(command=commands.average_command)
    parser.add_argument(
        "checkpoints", type=path, nargs="+", help="checkpoint files, or a run folder"
    )
    parser.add_argument("--last", type=whole(least=1), help="how many of a run folder (default 5)")
    parser.add_argument(
        "--output", type=path, required=True, help="file to write; - is standard output"
    )
    parser.add_argument("--quiet", action="store_true", help="no messages")


def _export(kinds: "argparse._SubParsersAction[Parser]") -> None:
    parser = kinds.add_parser(
        "export",
        help="write the model for another engine: ONNX, Marian, CTranslate2",
        description=(
            "Write the model into a folder. onnx: encoder.onnx, decoder-step.onnx and "
            "tokenizer.json, for up to 1024 positions. marian: what transformers' MarianMTModel "
            "and AutoTokenizer read. ctranslate2: what ctranslate2.Translator reads. The last two "
            "hold the paper's model of text, post-norm, one matrix for all embeddings; marian no "
            "learned positions, which it would lose. The AutoTokenizer of a model of words wants "
            "spaces between all of them and takes the rest for unknown (l'Afrique; septembre.). "
            "For CTranslate2 write ctranslate2: ct2-transformers-converter refuses what marian "
            "wrote of a model that was trained here."
        ),
        epilog=EXIT_CODES,
    )
    parser.set_defaults(command=commands.export_command)
    _model_options(parser)
    parser.add_argument("--output", type=path, required=True, help="folder to write into")
    parser.add_argument("--format", choices=("onnx", "marian", "ctranslate2"), default="onnx")


def _import(kinds: "argparse._SubParsersAction[Parser]") -> None:
    parser = kinds.add_parser(
        "import",
        help="read a published Marian model (OPUS-MT) into a checkpoint",
        description=(
            "Write a checkpoint of a published translator: a folder with config.json, "
            "model.safetensors or pytorch_model.bin, source.spm, target.spm and vocab.json, as "
            "MarianMTModel and MarianTokenizer save them, or what export --format marian wrote. "
            "All other commands take the checkpoint, and the folder itself. SentencePiece spells "
            "its sentences (pip install sentencepiece)."
        ),
        epilog="Example: python -m transformer import --from-hub Helsinki-NLP/opus-mt-fr-en "
        "--output fr-en.safetensors. Where there are several target languages, a line begins with "
        "one: >>ron<< Bonjour. " + EXIT_CODES,
    )
    parser.set_defaults(command=commands.import_command)
    parser.add_argument("folder", type=path, nargs="?", help="folder of the model")
    parser.add_argument(
        "--from-hub",
        metavar="NAME",
        help="download it from the HuggingFace hub first (pip install huggingface_hub)",
    )
    parser.add_argument("--revision", help="branch, tag or commit on the hub (default: the newest)")
    parser.add_argument(
        "--output", type=path, required=True, help="file to write; - is standard output"
    )
    parser.add_argument("--quiet", action="store_true", help="no messages")


def _plan_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--preset", choices=sorted(PRESETS), help="named settings to start from")
    parser.add_argument("--settings", type=path, metavar="FILE.toml", help="settings over these")
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="SECTION.NAME=VALUE",
        help="one setting over the others, as in --set model.n_layers=3, --set model.bias=no or "
        "--set training.peak=none; may be repeated",
    )


def _threads_option(parser: argparse.ArgumentParser) -> None:
    kind = whole(least=1, most=MOST_THREADS)
    parser.add_argument("--threads", type=kind, help="CPU threads, one per free core")


def _model_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", type=path, help="checkpoint file, or run folder (its newest ones)")
    parser.add_argument(
        "--average",
        type=whole(least=1),
        default=1,
        help="mean of that many newest checkpoints of a run folder (default 1)",
    )
    parser.add_argument(
        "--best", action="store_true", help="a run's best checkpoint on its validation split"
    )
    _threads_option(parser)
    parser.add_argument("--device", default="cpu", help='"cpu" or "cuda" (default cpu)')
    parser.add_argument("--quiet", action="store_true", help="no messages")


def _decoding_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--beam", type=whole(least=1), default=4, help="1 is greedy (default 4)")
    parser.add_argument(
        "--alpha",
        type=length_penalty,
        default=0.6,
        metavar="ALPHA",
        help='length penalty, 0 to 10 (default 0.6, §6.1), or "mean": log P over the length',
    )
    parser.add_argument(
        "--extra-tokens",
        type=whole(least=1),
        default=EXTRA_TOKENS,
        help="tokens that an output may exceed its input by (default 50; the paper: 300 for trees)",
    )
    parser.add_argument(
        "--early-stopping",
        action="store_true",
        help="end a search when `beam` outputs are finished, though an open one may be better: it "
        "is a little faster, and of 1000 outputs some 2 to 6 score below greedy's",
    )
    parser.add_argument(
        "--constrained",
        action="store_true",
        help="a model of trees writes only legal brackets, and a leaf for each word",
    )
    parser.add_argument(
        "--max-source",
        type=whole(least=1),
        default=1000,
        help="most tokens a line may have (default 1000); characters: 100 times as many",
    )
