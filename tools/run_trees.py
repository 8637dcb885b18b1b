"""Parse CRAFT with the Transformer, with a PCFG and without a parser, and record the figures.

    python tools/run_trees.py --resume              # what is missing → results/craft-trees.json
    python tools/run_trees.py baselines             # flat, right-branching, PCFG: 9 minutes
    python tools/run_trees.py leaves                # tags or numbers as leaves, on the dev articles
    python tools/run_trees.py words --seeds 1       # one model: 45 minutes of training, then beams
    python tools/run_trees.py words tags curve      # 3 seeds, 1 seed, 3 sizes of the corpus
    python tools/run_trees.py curve --sizes 4525    # one point of the curve
    python tools/run_trees.py words --updates 500 --every 70 --output /tmp/try.json

Settings are chosen on the dev articles; the test articles are scored once for each row. With
`--resume` a row that the file holds is not made again. An interrupted training goes on where it
stopped, and a finished one is only scored, as long as its folder stands (`runs/trees`).
`--every 7` scores each seventh sentence of the test articles, for every row the same ones: beams of
21 are dear. `--every 1` scores all.
"""

import argparse
import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import torch
from records import RESULTS, ROOT, heading, keep_runs, origin, rounded, write

from transformer.cli.corpora import trees_of
from transformer.cli.plan import make_plan
from transformer.data.codec import codec_from_text
from transformer.data.corpus import Corpus
from transformer.data.craft import craft_trees
from transformer.data.phrasebook import leaves, parse_brackets
from transformer.data.tree_codec import Leaf, TreeCodec
from transformer.data.trees import TaggedTree
from transformer.inference.translate import Decoding, translate
from transformer.training.checkpoint import average_checkpoints
from transformer.training.run_folder import checkpoints_of, read_json
from walkthrough.ch18_constituency_parsing.experiments import measuring
from walkthrough.ch18_constituency_parsing.experiments.pcfg import Grammar
from walkthrough.page.results import recorded

OUTPUT = RESULTS / "craft-trees.json"
FOLDER = ROOT / "runs" / "trees"
PARTS = ("baselines", "leaves", "words", "tags", "curve")
SEEDS = {"words": (1, 2, 3), "tags": (1,)}
PCFG = {"vertical": 2, "horizontal": 2}  # the best of these on the dev articles
TRIED = ({"vertical": 1, "horizontal": 1}, {"vertical": 2, "horizontal": 1}, PCFG)
LEAVES: tuple[Leaf, ...] = ("tag", "number")  # the second is the preset's
DEV_EVERY = 16
SIZES = (2_262, 4_525, 9_050)  # of 18 101 sentences: each twice the one before
AVERAGED = 5
WAYS = {
    "greedy": {"beam": 1, "constrained": False},
    "greedy, constrained": {"beam": 1, "constrained": True},
    "beam 21": {"beam": 21, "alpha": 0.3, "constrained": False},
    "beam 21, constrained": {"beam": 21, "alpha": 0.3, "constrained": True},
}


def main(arguments: list[str] | None = None) -> int:
    """Make the rows that are missing, and write the file after each of them."""
    args = parsed(arguments)
    torch.set_num_threads(1)
    plan = make_plan("craft-trees", None)
    settings = {"model": plan.model, "training": plan.training.to_dict(), "every": args.every}
    record = heading(settings)
    if args.output.exists():
        old = recorded(args.output.stem, folder=args.output.parent)
        if old["settings"]["every"] != args.every:
            raise SystemExit(f"{args.output} scores every {old['settings']['every']}th sentence")
    asked = list(rows(args))
    again = {(row, seed, sentences) for row, seed, sentences, _ in asked}
    keep_runs(record, args.output, resume=args.resume, again=lambda run: key_of(run) in again)
    there = {key_of(run) for run in record["runs"]}
    for row, seed, sentences, make in asked:
        if (row, seed, sentences) in there:
            continue
        began = time.process_time() + children_seconds()
        found = make()
        spent = time.process_time() + children_seconds() - began
        told = origin()
        run = {"row": row, "seed": seed, "sentences": sentences, **found, "cpu_seconds": spent}
        run |= {"commit": told["commit"], "date": told["date"], "command": told["command"]}
        run["changed_since"] = [line.split()[-1] for line in told["changed_since"]]
        record["runs"].append(run)
        write(args.output, rounded(record), flat_from=4)
        print(f"{row}, seed {seed}, {sentences} sentences: {spent:.0f} CPU s", flush=True)
    return 0


def key_of(run: dict[str, Any]) -> tuple[str, int | None, int]:
    """Return what tells a row from the others."""
    return run["row"], run["seed"], run["sentences"]


def parsed(arguments: list[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(PARTS)}")
    parser.add_argument("--seeds", type=int, nargs="+", help="default: words 1 2 3, tags 1")
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES, help="sentences, for curve")
    parser.add_argument("--updates", type=int, help="default: the preset's number")
    parser.add_argument("--every", type=int, default=7, help="score each N-th test sentence")
    parser.add_argument("--folder", type=Path, default=FOLDER)
    parser.add_argument("--resume", action="store_true", help="keep the rows of the file")
    parser.add_argument("--output", type=Path, default=OUTPUT)
    args = parser.parse_args(arguments)
    args.parts = args.parts or list(PARTS)
    if unknown := set(args.parts) - set(PARTS):
        parser.error(f"no part {unknown.pop()!r}; there are {', '.join(PARTS)}")
    if min(args.sizes) < 1:
        parser.error(f"--sizes must be at least 1, got {min(args.sizes)}")
    return args


def rows(args: argparse.Namespace) -> Iterator[tuple[str, int | None, int, Any]]:
    """Yield each row's name, seed, number of training sentences and how to make it."""
    trees = craft_trees()
    train, test = trees["train"], trees["test"][:: args.every]
    n = len(train)
    if "baselines" in args.parts:
        for name, tree in (
            ("flat", measuring.flat),
            ("right-branching", measuring.right_branching),
        ):
            yield name, None, 0, lambda tree=tree: without_parser(tree, test)
        for tried in TRIED:
            dev = trees["dev"][::DEV_EVERY]
            name = f"PCFG on dev, v={tried['vertical']} h={tried['horizontal']}"
            yield name, None, n, lambda tried=tried, dev=dev: with_grammar(train, dev, **tried)
        yield "PCFG, words", None, n, lambda: with_grammar(train, test, **PCFG)
        yield "PCFG, tags", None, n, lambda: with_grammar(train, test, tags=True, **PCFG)
    for leaf in LEAVES if "leaves" in args.parts else ():
        name = f"Transformer on dev, leaves: {leaf}"
        yield name, 1, n, lambda leaf=leaf: with_model(args, 1, leaf=leaf, on_dev=True)
    for part, tags in (("words", False), ("tags", True)):
        for seed in args.seeds or SEEDS[part] if part in args.parts else ():
            name = "Transformer, words and tags" if tags else "Transformer, words"
            yield name, seed, n, lambda seed=seed, tags=tags: with_model(args, seed, tags=tags)
    for size in args.sizes if "curve" in args.parts else ():
        yield (
            "PCFG, words",
            None,
            size,
            lambda size=size: with_grammar(part_of(train, size), test, **PCFG),
        )
        yield "Transformer, words", 1, size, lambda size=size: with_model(args, 1, size=size)


def without_parser(tree: Any, test: Sequence[TaggedTree]) -> dict[str, Any]:
    """Score trees that know nothing of the sentence."""
    gold = [one.tree for one in test]
    found = [tree(tuple(leaves(one))) for one in gold]
    return {"scored": len(gold), "scores": {"as it is": measuring.measured(found, gold)}}


def with_grammar(
    train: Sequence[TaggedTree], test: Sequence[TaggedTree], *, tags: bool = False, **how: int
) -> dict[str, Any]:
    """Count a grammar and parse with it."""
    grammar = Grammar(train, **how)
    found = [grammar.parse(tuple(leaves(one.tree)), one.tags if tags else None) for one in test]
    gold = [one.tree for one in test]
    return {
        "rules": len(grammar.rules),
        "scored": len(test),
        "scores": {"CKY": measuring.measured(found, gold)},
    }


def with_model(
    args: argparse.Namespace,
    seed: int,
    *,
    tags: bool = False,
    size: int | None = None,
    leaf: Leaf = "number",
    on_dev: bool = False,
) -> dict[str, Any]:
    """Train a model with the command line, and score the mean of its last checkpoints."""
    kind = "tags" if tags else "words" if leaf == "number" else f"{leaf}-leaves"
    name = f"{kind}{f'-{size}' if size else ''}-{seed}"
    folder = args.folder / name
    options = ["--set", f"data.gold_tags={'yes' if tags else 'no'}", "--set", f"data.leaf={leaf}"]
    if size:
        options += ["--set", f"data.max_sentences={size}"]
    if args.updates:
        warmup = max(1, args.updates // 10)
        options += ["--max-updates", str(args.updates), "--set", f"training.warmup={warmup}"]
    command = [sys.executable, "-m", "transformer", "train", "--preset", "craft-trees"]
    command += ["--folder", str(folder), "--seed", str(seed), "--threads", "1", "--quiet"]
    command += ["--resume=auto", *options]
    subprocess.run(command, check=True, cwd=ROOT)
    (trained,) = read_json(folder / "results.json")["training"][-1:]
    mean = average_checkpoints(checkpoints_of(folder)[-AVERAGED:])
    codec = codec_from_text(mean.tokenizer or "")
    if not isinstance(codec, TreeCodec):
        raise SystemExit(f"{folder} holds no parser")
    split, every = ("dev", DEV_EVERY) if on_dev else ("test", args.every)
    model, corpus = mean.model(), Corpus.from_craft(split, gold_tags=tags)
    sources = corpus.source[::every]
    gold = [parse_brackets(tree) for tree in (corpus.source_trees or ())[::every]]
    scores = {}
    for way, how in WAYS.items():
        decoding = Decoding(**how, extra_tokens=300, batch_tokens=1000)
        lines = [best[0].text for best in translate(model, codec, sources, decoding)]
        scores[way] = measuring.measured(trees_of(codec, sources, lines), gold)
        print(f"  {name}, {way}: F1 {scores[way]['f1']:.1f}", flush=True)
    return {
        "scored": len(gold),
        "updates": trained["update"],
        "target_tokens": trained["tokens"],
        "valid_perplexity": trained["valid_perplexity"],
        "parameters": model.n_parameters,
        "scores": scores,
    }


def part_of(train: Sequence[TaggedTree], size: int) -> list[TaggedTree]:
    """Return the same sentences as `Corpus.from_craft(max_sentences=size)`."""
    trees = list(train)
    random.Random(0).shuffle(trees)
    return trees[:size]


def children_seconds() -> float:
    """Return the processor time of the processes that were started and have ended."""
    times = os.times()
    return times.children_user + times.children_system


if __name__ == "__main__":
    sys.exit(main())
