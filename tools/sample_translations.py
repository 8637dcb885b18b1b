"""Record a handful of a run's translations of its test set, good and bad ones by a fixed rule.

    python tools/sample_translations.py runs/en-de-1
    python tools/sample_translations.py runs/en-de-1 --average 5 --count 6 --output /tmp/try.json

The test set is translated, each sentence is scored with chrF, the sentences are sorted by score
(equal scores: in the order of the test set), and those at evenly spaced ranks are kept, from the
worst to the best. At most 8: a corpus like Multi30k may be quoted from, not passed on.
"""

import argparse
import json
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from records import RESULTS, write
from sacrebleu.metrics import BLEU, CHRF

from transformer.cli.corpora import TEST_SPLIT, load_corpus
from transformer.cli.models import open_model
from transformer.cli.plan import DataSettings
from transformer.cli.surroundings import surroundings
from transformer.data.corpus import Corpus
from transformer.inference.translate import Decoding, translate
from walkthrough.ch16_translation.experiments.scoring_ways import even_ranks

OUTPUT = RESULTS / "multi30k-translations.json"
MOST = 8
RULE = "sorted by sentence chrF; evenly spaced ranks from the worst to the best"


def main(arguments: Sequence[str] | None = None) -> int:
    """Translate, choose, write."""
    args = parsed(arguments)
    data = DataSettings(
        **json.loads((args.model / "settings.json").read_text(encoding="utf-8"))["data"]
    )
    split = args.split or TEST_SPLIT[data.corpus]
    corpus = load_corpus(data, split, progress=False)
    model, codec = open_model(args)
    decoding = Decoding(beam=args.beam, alpha=args.alpha)
    outputs = [best[0].text for best in translate(model, codec, corpus.source, decoding)]
    record = {
        "command": shlex.join(["python", "tools/sample_translations.py", *told(arguments)]),
        **surroundings(),
        "run": args.model.name,
        "corpus": corpus.name,
        "split": split,
        "average": args.average,
        "beam": args.beam,
        "alpha": args.alpha,
        "rule": RULE,
        "of": len(outputs),
        "sentences": sample(corpus, outputs, count=args.count),
    }
    write(args.output, record)
    return 0


def parsed(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", type=Path, help="run folder")
    parser.add_argument("--average", type=int, default=1, help="newest checkpoints to average")
    parser.add_argument("--beam", type=int, default=5)
    parser.add_argument("--alpha", type=float, default=0.6)
    parser.add_argument("--count", type=int, default=MOST, help=f"sentences, at most {MOST}")
    parser.add_argument("--split", help="default: the corpus's test split")
    parser.add_argument("--threads", type=int)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--output", type=Path, default=OUTPUT)
    return parser.parse_args(arguments)


def told(arguments: Sequence[str] | None) -> list[str]:
    """Return the command line's words."""
    return list(sys.argv[1:] if arguments is None else arguments)


def sample(corpus: Corpus, outputs: Sequence[str], *, count: int) -> list[dict[str, Any]]:
    """Return sentences by the rule, best first, with their scores.

    Raises:
        ValueError: the number of sentences asked for is not between 2 and 8.
    """
    if not 2 <= count <= MOST:
        raise ValueError(
            f"count must be from 2 to {MOST} (the text may not be passed on), got {count}"
        )
    chrf = CHRF()
    bleu = BLEU(tokenize=corpus.bleu_tokenizer, effective_order=True)
    scores = [
        chrf.sentence_score(output, [reference]).score
        for output, reference in zip(outputs, corpus.target, strict=True)
    ]
    return [
        {
            "rank": rank + 1,
            "number": index + 1,
            "source": corpus.source[index],
            "reference": corpus.target[index],
            "translation": outputs[index],
            "score": round(scores[index], 1),
            "bleu": round(bleu.sentence_score(outputs[index], [corpus.target[index]]).score, 1),
        }
        for rank, index in reversed(even_ranks(scores, count))
    ]


if __name__ == "__main__":
    raise SystemExit(main())
