"""Measure what two trained models of chapter 08 see of their source → results/multi30k-sight.json.

    python -m walkthrough.lab run 08-captions --seeds 1
    python tools/run_sight.py        # about two minutes, from the checkpoints under runs/

Post-norm with a small and with a full-size start, on the validation split of Multi30k: how alike
the encoder makes the words of a sentence, and the perplexity with the right source and with that
of the next sentence.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from records import RESULTS, heading, write

from transformer.cli.corpora import encode_pairs
from transformer.data.codec import codec_from_text
from transformer.data.corpus import Corpus
from transformer.model import Transformer
from transformer.training.checkpoint import load_checkpoint
from transformer.training.objective import perplexity

OUTPUT = RESULTS / "multi30k-sight.json"
RUNS = tuple(f"08-captions/post-norm-{start}-start-1-1500-1" for start in ("small", "full-size"))
UPDATES = (600, 1500)


def main(arguments: Sequence[str] | None = None) -> int:
    """Open the checkpoints, measure, write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folder", type=Path, default=Path("runs"), help="place of run folders")
    parser.add_argument("--output", type=Path, default=OUTPUT)
    args = parser.parse_args(arguments)
    torch.set_num_threads(1)
    corpus = Corpus.from_multi30k("val", source_language="en", target_language="de")
    record = heading({"corpus": "multi30k", "split": "val", "sentences": len(corpus.source)})
    for run in RUNS:
        for update in UPDATES:
            path = args.folder / run / "checkpoints" / f"{update:06d}.safetensors"
            record["runs"].append({"run": run, "update": update, **measured(path, corpus)})
    write(args.output, record, flat_from=3)
    return 0


def measured(path: Path, corpus: Corpus) -> dict[str, Any]:
    """Return start, alikeness and both perplexities of one checkpoint."""
    checkpoint = load_checkpoint(path)
    model = checkpoint.model().eval()
    pairs = encode_pairs(codec_from_text(checkpoint.tokenizer or ""), corpus)
    sources = [source for source, _ in pairs]
    wrong = zip(sources[1:] + sources[:1], (target for _, target in pairs), strict=True)
    return {
        "start": model.config.residual_init,
        "alike": round(sum(alike(model, s) for s in sources) / len(sources), 4),
        "right_source": round(perplexity(model, pairs), 2),
        "wrong_source": round(perplexity(model, list(wrong)), 2),
    }


@torch.no_grad()
def alike(model: Transformer, source: Sequence[int]) -> float:
    """Return the mean correlation of two different places of one encoded sentence."""
    x = model.encode(torch.tensor([source]))[0]
    x = torch.nn.functional.normalize(x - x.mean(-1, keepdim=True), dim=-1)
    pairs = x @ x.T
    n = len(pairs)
    return ((pairs.sum() - pairs.trace()) / (n * (n - 1))).item()


if __name__ == "__main__":
    raise SystemExit(main())
