"""Train the small parsers of chapter 18 on the phrasebook's trees and record the figures.

    python tools/run_phrase_trees.py            # seeds 1 2 3 → results/phrasebook-trees.json
    python tools/run_phrase_trees.py --seeds 1 --updates 100 --output /tmp/try.json

Leaves are `XX`, numbers or the words themselves; each parser decodes freely and constrained, with a
beam of 1 and of 21, sentences of shapes that training has seen and of shapes that were held out.
The file is written after every run.
"""

import argparse
import sys
import time
from itertools import product
from pathlib import Path
from typing import Any, get_args

import torch
from records import RESULTS, heading, rounded, write

from transformer.data.tree_codec import Leaf
from walkthrough.ch18_constituency_parsing.experiments import phrase_trees

OUTPUT = RESULTS / "phrasebook-trees.json"
LEAVES = [leaf for leaf in get_args(Leaf) if leaf != "tag"]  # the phrasebook has no tags


def main(arguments: list[str] | None = None) -> int:
    """Train, measure, write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--updates", type=int, help="default: the page's number")
    parser.add_argument("--output", type=Path, default=OUTPUT)
    args = parser.parse_args(arguments)
    torch.set_num_threads(1)
    split = phrase_trees.split_by_shape()
    settings = phrase_trees.SETTINGS.replace(threads=1)
    if args.updates is not None:
        settings = settings.replace(max_updates=args.updates)
    record = heading({"model": phrase_trees.SIZES, "training": settings.to_dict()})
    record["sentences"] = {"training": len(split.train)}
    record["sentences"] |= {name: len(examples) for name, examples in split.tests().items()}
    for seed in args.seeds:
        for leaf in LEAVES:
            began = time.process_time()
            trained = phrase_trees.train_parser(
                split.train, leaf=leaf, seed=seed, updates=args.updates
            )
            spent = time.process_time() - began
            run: dict[str, Any] = {"leaf": leaf, "seed": seed, "cpu_seconds": spent, "scores": []}
            for name, examples in split.tests().items():
                for constrained, beam in product((False, True), (1, phrase_trees.BEAM)):
                    score, well_formed = phrase_trees.score_parser(
                        trained, examples, constrained=constrained, beam=beam
                    )
                    run["scores"].append(
                        {
                            "sentences": name,
                            "constrained": constrained,
                            "beam": beam,
                            "f1": 100 * score.f1,
                            "exact": score.exact,
                            "well_formed": well_formed,
                        }
                    )
            record["runs"].append(run)
            write(args.output, rounded(record), flat_from=5)
            print(f"{leaf}, seed {seed}: {spent:.0f} CPU s", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
