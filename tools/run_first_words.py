"""Record what the phrasebook translator says while it learns, for chapter 00.

    python tools/run_first_words.py            # seed 1 → results/phrasebook-first-words.json

It is the training of `make_page_translator.py`, asked every 50 updates.
"""

import argparse
import time
from dataclasses import asdict
from pathlib import Path

from records import RESULTS, rounded, write
from run_phrasebook import phrasebook_heading

from walkthrough.ch00_one_sentence.learning import SENTENCES, what_it_says
from walkthrough.lab import translator

OUTPUT = RESULTS / "phrasebook-first-words.json"


def main(arguments: list[str] | None = None) -> int:
    """Train, ask, write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--updates", type=int, default=None, help="default: the preset's")
    parser.add_argument("--output", type=Path, default=OUTPUT)
    parser.set_defaults(threads=1, jobs=1)
    args = parser.parse_args(arguments)
    task = translator.load_task()
    record, began = phrasebook_heading(task, args), time.process_time()
    said = what_it_says(task, seed=args.seed, updates=args.updates)
    run = {
        "seed": args.seed,
        "cpu_seconds": time.process_time() - began,
        "sentences": list(SENTENCES),
        "said": [asdict(moment) for moment in said],
    }
    record["runs"].append(run)
    write(args.output, rounded(record), flat_from=5)
    print(f"{args.output}: {said[-1].translations}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
