"""What adapters measure searches with: a half-trained translator, whose beams differ by rule."""

from collections.abc import Sequence
from functools import cache
from pathlib import Path

import torch
from torch.nn.utils.rnn import pad_sequence

from phrasebook.corpus import phrasebook_corpus
from transformer.config import BOS_ID, EOS_ID, PAD_ID
from transformer.inference.beam import beam_search
from transformer.model import Transformer
from transformer.translator import Translator

MODEL = Path(__file__).parents[3] / "results/phrasebook-half-trained.safetensors"
BEAM, SENTENCES, LIMIT = 4, 1000, 40


@cache
def translator() -> Translator:
    """Return the model that shows what a search does: a finished one shows little."""
    return Translator.load(MODEL)


@cache
def sources() -> list[list[int]]:
    """Return the ids of sentences that it has not seen, with their end token."""
    lines = phrasebook_corpus("test_sentences").source[:SENTENCES]
    return [[*translator().codec.encode(line), EOS_ID] for line in lines]


def batches(size: int = 100) -> list[torch.Tensor]:
    """Return the sources, padded, in their order."""
    rows = [torch.tensor(ids) for ids in sources()]
    return [
        pad_sequence(rows[i : i + size], batch_first=True, padding_value=PAD_ID)
        for i in range(0, len(rows), size)
    ]


def rule_like(theirs: Sequence[Sequence[int]], alpha: float | None = None) -> str:
    """Return which of our two rules ends a search as theirs does, and what the other would do."""
    differing = {}
    for early in (True, False):
        options = {"beam": BEAM, "alpha": alpha, "max_len": LIMIT, "early_stopping": early}
        ours = [
            h[0].tokens for b in batches() for h in beam_search(translator().model, b, **options)
        ]
        differing[early] = sum(list(a) != list(b) for a, b in zip(ours, theirs, strict=True))
    rule = min(differing, key=differing.__getitem__)
    words = {
        True: "when as many are finished as the beam is wide",
        False: "when nothing unfinished can win",
    }
    return (
        f"stops {words[rule]} ({differing[rule]} of {len(theirs)} outputs differ from ours under "
        f"that rule, {differing[not rule]} under the other)"
    )


@torch.no_grad()
def length_like(theirs: Sequence[Sequence[int]], scores: Sequence[float], power: float) -> str:
    """Return what a score's length counts: Σ log p / length^power, over the first outputs."""
    model, counts = translator().model, {"words": 0, "words and end": 1, "start, words, end": 2}
    found = set()
    for ids, words, score in zip(sources()[:20], theirs, scores, strict=False):
        total = sum(log_probs(model, ids, words))
        misses = {n: abs(total / (len(words) + k) ** power - score) for n, k in counts.items()}
        best = min(misses, key=misses.__getitem__)
        found.add(best if misses[best] < 0.01 * abs(score) + 1e-4 else "something else")
    return " or ".join(sorted(found))


def log_probs(model: Transformer, source: Sequence[int], words: Sequence[int]) -> list[float]:
    """Return log p of each word and of the end token."""
    target = torch.tensor([[BOS_ID, *words]])
    logs = model(torch.tensor([list(source)]), target)[0].log_softmax(-1)
    return logs.gather(-1, torch.tensor([*words, EOS_ID])[:, None])[:, 0].tolist()
