"""Experiment 11-pieces: small translators whose tokens are words or pieces of words (§5.1).

Both learn from the same few pairs of short sentences, with as many tokens an update. So an update
costs about the same, and one of pieces sees two thirds of the sentences that one of words sees.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch
import torch.nn.functional as F

from phrasebook import phrasebook
from transformer.cli.corpora import exact_matches
from transformer.config import PAD_ID, TransformerConfig
from transformer.data.batching import Pair, collate
from transformer.data.codec import SubwordCodec
from transformer.data.tokenizer import SubwordTokenizer
from transformer.data.vocabulary import Vocabulary
from transformer.inference.translate import Decoding, translate
from transformer.model import Transformer
from transformer.training import TrainSettings, train
from walkthrough.lab import Arm, Experiment, Job, Loaded, Outcome
from walkthrough.lab.tasks import settings_of

WIDTHS: dict[str, Any] = {"d_model": 64, "n_heads": 4, "n_layers": 1, "d_ff": 128}
SETTINGS = TrainSettings(max_updates=400, max_tokens=400, warmup=50, schedule="linear", peak=3e-3)
PAIRS, SHORT = 500, 5

Lines = Sequence[tuple[str, str]]


class WordCodec:
    """Whole words, cut at spaces and nowhere else; what is not in the list is unknown."""

    def __init__(self, lines: Sequence[str]) -> None:
        self.vocabulary = Vocabulary.from_sentences([line.split() for line in lines])

    def encode(self, text: str) -> list[int]:
        """Return the ids of a sentence."""
        return self.vocabulary.encode(text.split(), unknown="unk")

    def decode(self, ids: Sequence[int]) -> str:
        """Return the sentence of the ids; `<unk>` where no word is known."""
        return " ".join(self.vocabulary.decode(ids))

    def __len__(self) -> int:
        return len(self.vocabulary)


class LongestFirst(SubwordCodec):
    """The pieces and ids of a tokenizer, but not its order: the longest piece first."""

    def encode(self, text: str) -> list[int]:
        """Return the ids of a sentence."""
        tokens = self.tokenizer.tokens
        ids = {token: number for number, token in enumerate(tokens)}
        words = "".join(tokens[number] for number in self._bytes.encode(text)).split("Ġ")[1:]
        return [ids[part] for word in words for part in longest_first("Ġ" + word, set(tokens))]

    @cached_property
    def _bytes(self) -> SubwordTokenizer:
        return SubwordTokenizer.train([], n_merges=0)


def longest_first(word: str, known: set[str]) -> list[str]:
    """Spell a word by the longest known piece from the left, again and again: not BPE."""
    parts = []
    while word:
        size = next((n for n in range(len(word), 1, -1) if word[:n] in known), 1)
        parts.append(word[:size])
        word = word[size:]
    return parts


@dataclass(frozen=True)
class ShortSentences:
    """Pairs of which the French side has few words; `new` ones hold a word that no pair taught."""

    train: Lines
    valid: Lines
    old: Lines
    new: Lines

    @property
    def lines(self) -> list[str]:
        """Both sides of what is learned from, one list."""
        return [side for pair in self.train for side in pair]


def load_short() -> ShortSentences:
    """Return the short sentences of the phrasebook; those of both test splits are the test."""
    found = {
        name: [
            (e.source_text, e.target_text) for e in examples if len(e.source_text.split()) <= SHORT
        ]
        for name, examples in phrasebook(0).splits().items()
    }
    learned, test = found["train"][:PAIRS], found["test_sentences"] + found["test_combinations"]
    words = {word for pair in learned for side in pair for word in side.split()}
    old = [pair for pair in test if words.issuperset(" ".join(pair).split())]
    return ShortSentences(learned, found["valid"], old, [p for p in test if p not in old])


def new_codec(merges: int | None, lines: Sequence[str]) -> Any:
    """Return whole words (None), or so many merges of bytes (0: characters)."""
    return WordCodec(lines) if merges is None else SubwordCodec.train(lines, n_merges=merges)


def train_and_translate(job: Job) -> Outcome:
    """Train one translator; count exact greedy translations, and what a sentence costs in nats."""
    data: ShortSentences = job.data
    codec = new_codec(job.arm.data["merges"], data.lines)
    torch.manual_seed(job.seed)
    model = Transformer(TransformerConfig(vocab_size=len(codec), dropout=0.1, **WIDTHS))
    began = time.process_time()
    settings = settings_of(SETTINGS, job.arm, job.key)
    history = train(model, encoded(codec, data.train), settings, progress=False)
    seconds = time.process_time() - began
    model.eval()
    figures = {
        "valid/-/sentence_loss": sentence_loss(model, encoded(codec, data.valid)),
        "test_old/greedy/exact": exact(model, codec, data.old),
        "test_new/greedy/exact": exact(model, codec, data.new),
    }
    if job.arm.data["merges"]:
        other = LongestFirst(codec.tokenizer)
        figures["test_old/longest-first/exact"] = exact(model, other, data.old)
    return Outcome(
        figures=figures,
        curve=[(record.update, "train/-/loss", record.loss) for record in history.records],
        parameters=model.n_parameters,
        target_tokens=history.records[-1].tokens,
        cpu_seconds=seconds,
        extra={"entries": len(codec)},
    )


def encoded(codec: Any, pairs: Lines) -> list[Pair]:
    """Return the ids of both sides of each pair."""
    return [(codec.encode(source), codec.encode(target)) for source, target in pairs]


@torch.no_grad()
def sentence_loss(model: Transformer, pairs: list[Pair]) -> float:
    """Return −ln of a whole target's probability, on average: it can be compared across tokens."""
    batch = collate(pairs)
    logits = model(batch.source, batch.target_in).flatten(0, 1)
    gold = batch.target_out.flatten()
    return F.cross_entropy(logits, gold, ignore_index=PAD_ID, reduction="sum").item() / len(pairs)


def exact(model: Transformer, codec: Any, pairs: Lines) -> float:
    """Return the share of greedy translations that equal the reference, letter by letter."""
    found = translate(model, codec, [source for source, _ in pairs], Decoding(beam=1))
    return exact_matches([best[0].text for best in found], [target for _, target in pairs])


EXPERIMENT = Experiment(
    name="11-pieces",
    question="What does a small translator learn from words, and what from pieces of words?",
    task=Loaded(load_short),
    base="words",
    rival="none: words are what pieces are held against, and no table writes a sentence",
    arms=[
        Arm("words", data={"merges": None}),
        Arm("400 merges", data={"merges": 400}),
    ],
    rates=(2, 4, 8),
    rate_seeds=(1,),
    choose="valid/-/sentence_loss",
    lengths=(100, 400),
    run=train_and_translate,
)
