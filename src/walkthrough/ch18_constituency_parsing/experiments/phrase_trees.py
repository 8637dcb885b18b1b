"""A parser small enough for the page: English sentences of the phrasebook to their trees (§6.3).

The split is by *shape*, the tree without its words: most sentences of an ordinary test split have a
shape that training has seen, so a model could answer with a shape that it knows by heart.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice, product
from typing import Any, NamedTuple

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from phrasebook import Example, phrasebook
from transformer.config import BOS_ID, EOS_ID, TransformerConfig
from transformer.inference.translate import Decoding, translate
from transformer.model import Transformer
from transformer.parsing.brackets import BracketScore, score_brackets
from transformer.parsing.codec import TreeCodec
from transformer.parsing.symbols import linearize
from transformer.parsing.trees import Tree
from transformer.training import History, TrainSettings, train
from walkthrough.ch18_constituency_parsing.experiments import measuring
from walkthrough.lab import Arm, Experiment, Job, Loaded, Outcome
from walkthrough.lab.tasks import settings_of

SIZES: dict[str, Any] = {"d_model": 96, "n_heads": 4, "n_layers": 2, "d_ff": 192, "dropout": 0.1}
SETTINGS = TrainSettings(
    max_updates=260,
    max_tokens=1280,
    schedule="linear",
    warmup=60,
    peak=4e-3,
    log_every=20,
    valid_every=0,
)
ONE_UPDATE = SETTINGS.replace(max_updates=1, warmup=1)
N_SENTENCES, N_TEST = 6000, 150
FREQUENT = 0.85
"""Shapes that cover this share of the sentences are always for training."""
EXTRA_TOKENS, BEAM, ALPHA = 300, 21, 0.3
"""The paper's decoding: outputs that much longer than the input, the beam, the penalty (§6.3)."""


@dataclass(frozen=True)
class Split:
    """Sentences to train on, and two kinds to test on: shapes seen in training, shapes held out."""

    train: tuple[Example, ...]
    seen_shapes: tuple[Example, ...]
    held_out_shapes: tuple[Example, ...]

    def tests(self) -> dict[str, tuple[Example, ...]]:
        """Return the test sentences by kind."""
        return {"seen": self.seen_shapes, "held_out": self.held_out_shapes}


def shape(example: Example) -> str:
    """Return the English tree without its words."""
    return " ".join(linearize(example.target_tree))


def split_by_shape(*, n_sentences: int = N_SENTENCES, n_test: int = N_TEST) -> Split:
    """Hold out every third of the rarer shapes, with all sentences that have it."""
    book = phrasebook(0, train=n_sentences, valid=1, test=n_test)
    counts = Counter(map(shape, book.train))
    ranked = sorted(counts, key=lambda name: (-counts[name], name))
    covered, rare = 0, []
    for name in ranked:
        covered += counts[name]
        if covered > FREQUENT * len(book.train):
            rare.append(name)
    held_out = set(rare[::3])
    known = set(ranked) - held_out
    away = [example for example in book.train if shape(example) in held_out]
    return Split(
        train=tuple(example for example in book.train if shape(example) not in held_out),
        seen_shapes=tuple(e for e in book.test_sentences if shape(e) in known),
        held_out_shapes=tuple(away[:: max(1, len(away) // n_test)][:n_test]),
    )


@dataclass(frozen=True)
class Parser:
    """A trained model with its two vocabularies and its log."""

    model: Transformer
    codec: TreeCodec
    history: History

    def write(
        self, sentences: Sequence[str], *, constrained: bool, beam: int = 1, alpha: float = ALPHA
    ) -> list[str]:
        """Return the symbols that the model writes for each sentence (words between spaces)."""
        decoding = Decoding(
            beam=beam,
            alpha=alpha,
            constrained=constrained,
            extra_tokens=EXTRA_TOKENS,
            early_stopping=True,  # as all that is recorded
        )
        best = translate(self.model, self.codec, sentences, decoding)
        return [candidates[0].text for candidates in best]

    def parse(
        self, sentences: Sequence[str], *, constrained: bool = True, beam: int = 1
    ) -> list[Tree | None]:
        """Return the tree of each sentence, None where what is written is no tree over it."""
        written = self.write(sentences, constrained=constrained, beam=beam)
        return [read_tree(self.codec, *pair) for pair in zip(written, sentences, strict=True)]


def read_tree(codec: TreeCodec, symbols: str, sentence: str) -> Tree | None:
    """Return the tree that the symbols write over the sentence, None where they write none."""
    try:
        return codec.tree(symbols, sentence)
    except ValueError:
        return None


def repair(codec: TreeCodec, symbols: str, sentence: str) -> Tree:
    """Return a tree over the sentence, whatever the symbols are.

    What is open is closed, what does not fit is dropped, and words that are missing hang on the
    outermost constituent, which stays open to the end.
    """
    remaining, begun = iter(sentence.split()), False
    nodes: list[list[Any]] = [["S"]]

    def close() -> None:
        node = tuple(nodes.pop())
        nodes[-1].extend([node] if len(node) > 1 else [])

    for symbol in symbols.split():
        if symbol in codec.leaf_symbols:
            nodes[-1].extend(islice(remaining, 1))
        elif symbol.startswith("(") and not begun:
            nodes[0][0], begun = symbol[1:], True
        elif symbol.startswith("("):
            nodes.append([symbol[1:]])
        else:
            fitting = [place for place, node in enumerate(nodes) if f"){node[0]}" == symbol]
            while fitting and len(nodes) > max(fitting[-1], 1):
                close()
    while len(nodes) > 1:
        close()
    return (*nodes[0], *remaining)


def words_of(example: Example) -> str:
    """Return the English words with spaces between them."""
    return " ".join(example.target)


def train_parser(
    examples: Sequence[Example],
    *,
    settings: TrainSettings = SETTINGS,
) -> Parser:
    """Train a parser whose leaves are the words; its seed is that of the settings."""
    sources = [words_of(example) for example in examples]
    targets = [" ".join(linearize(e.target_tree, e.target)) for e in examples]
    codec = TreeCodec.learn(sources, targets, leaf="word", min_count=1)
    pairs = [
        (codec.encode(source), codec.encode_target(target))
        for source, target in zip(sources, targets, strict=True)
    ]
    torch.manual_seed(settings.seed)
    model = Transformer(
        TransformerConfig(
            vocab_size=len(codec),
            target_vocab_size=codec.target_size,
            tie_embeddings=False,
            **SIZES,
        )
    )
    return Parser(model, codec, train(model, pairs, settings, progress=False))


def score_parser(
    parser: Parser, examples: Sequence[Example], *, constrained: bool, beam: int = 1
) -> tuple[BracketScore, float]:
    """Return the score on these sentences, and the share of outputs that are trees over them."""
    found = parser.parse([words_of(e) for e in examples], constrained=constrained, beam=beam)
    gold = [example.target_tree for example in examples]
    return score_brackets(found, gold), sum(tree is not None for tree in found) / len(found)


class Steps(NamedTuple):
    """What a parser wants at each step of a sentence, and what the rules leave of it."""

    written: list[str]
    symbols: list[str]
    probabilities: Float[Tensor, "steps symbols"]
    allowed: Bool[Tensor, "steps symbols"]

    @property
    def first_closed(self) -> int:
        """The first step whose likeliest symbol is closed; 0 if there is none."""
        wanted = self.probabilities.argmax(dim=-1, keepdim=True)
        closed = ~self.allowed.gather(1, wanted).squeeze(1)
        return int(closed.nonzero()[0, 0]) if closed.any() else 0


@torch.no_grad()
def along(parser: Parser, sentence: str) -> Steps:
    """Follow what greedy decoding under rules writes for a sentence."""
    (line,) = parser.write([sentence], constrained=True)
    written, codec = line.split(), parser.codec
    source = torch.tensor([[*codec.encode(sentence), EOS_ID]])
    ids = codec.symbols.encode(written)
    logits = parser.model.eval()(source, torch.tensor([[BOS_ID, *ids]]))[0]
    rules = codec.constraint([source[0, :-1].tolist()])
    state, rows = rules.start(0), []
    for token in [*ids, None]:
        rows.append(rules.allowed(state))
        state = state if token is None else rules.step(state, token)
    return Steps(written, list(codec.symbols.tokens), logits.softmax(dim=-1), torch.stack(rows))


BEAMS = {"greedy": 1, f"beam{BEAM}": BEAM}
FREE, REPAIRED, RULES = "free", "repaired", "with rules"
LENGTHS = (SETTINGS.max_updates, 4 * SETTINGS.max_updates)
_WRITTEN: dict[Any, tuple[Parser, dict[tuple[str, str], list[str]]]] = {}


def written(job: Job, *, constrained: bool) -> tuple[Parser, dict[tuple[str, str], list[str]]]:
    """Return the parser of a run and what it writes by kind of shape and search.

    Both are kept: the arms of a seed are one parser, and repair reads what the free one wrote.
    """
    run = job.key._replace(arm=""), job.small
    if (run, constrained) not in _WRITTEN:
        settings = settings_of(SETTINGS, job.arm, job.key)
        known = _WRITTEN.get((run, not constrained))
        parser = known[0] if known else train_parser(job.data.train, settings=settings)
        lines = {
            (kind, search): parser.write(list(map(words_of, e)), constrained=constrained, beam=beam)
            for (kind, e), (search, beam) in product(job.data.tests().items(), BEAMS.items())
        }
        _WRITTEN[run, constrained] = parser, lines
    return _WRITTEN[run, constrained]


def trees(job: Job) -> Outcome:
    """Score the trees that one way of reading makes of what a parser writes."""
    parser, lines = written(job, constrained=job.arm.name == RULES)
    read = repair if job.arm.name == REPAIRED else read_tree
    figures: dict[str, float] = {}
    counts, kept = {}, {}
    for (kind, search), of_kind in lines.items():
        examples = job.data.tests()[kind]
        found = [read(parser.codec, w, words_of(e)) for w, e in zip(of_kind, examples, strict=True)]
        gold = [example.target_tree for example in examples]
        score, name = score_brackets(found, gold), f"{kind}/{search}"
        figures |= {
            f"{name}/f1": 100 * score.f1,
            f"{name}/exact": score.exact,
            f"{name}/well_formed": sum(tree is not None for tree in found) / len(found),
        }
        counts[f"{name}/f1"] = measuring.counts_of(found, gold)
        if job.seed == 1 and job.key.rate == 1 and name == "held_out/greedy":
            kept = {"written": of_kind}
    n = parser.model.n_parameters
    return Outcome(figures=figures, counts=counts, extra=kept, parameters=n)


EXPERIMENT = Experiment(
    name="18-phrases",
    question="Is it rules, repair or training that gives trees, on shapes that training never had?",
    task=Loaded(split_by_shape, partial(split_by_shape, n_sentences=1500, n_test=2)),
    base=FREE,
    rival=REPAIRED,  # brackets that a program closes, without any rule while decoding
    arms=[Arm(FREE), Arm(REPAIRED), Arm(RULES)],
    rates=(0.5, 1, 2),
    rate_seeds=(1,),
    lengths=LENGTHS,
    run=trees,
)
