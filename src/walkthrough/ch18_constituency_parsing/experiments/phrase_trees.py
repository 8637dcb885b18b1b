"""A parser small enough for the page: English sentences of the phrasebook to their trees (§6.3).

The split is by *shape*, the tree without its words: most sentences of an ordinary test split have a
shape that training has seen, so a model could answer with a shape that it knows by heart.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import Any, NamedTuple

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from transformer.analysis.brackets import BracketScore, score_brackets
from transformer.config import BOS_ID, EOS_ID, TransformerConfig
from transformer.data.phrasebook import Example, Phrasebook, Tree, phrasebook
from transformer.data.tree_codec import Leaf, TreeCodec, symbols_of_leaves
from transformer.data.trees import TaggedTree, linearize
from transformer.inference.translate import Decoding, translate
from transformer.model import Transformer
from transformer.training import History, TrainSettings, train
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
        return {"shapes seen": self.seen_shapes, "shapes held out": self.held_out_shapes}


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


def ordinary_split() -> Phrasebook:
    """Return sentences to train on and to test on that nobody chose by their shape."""
    return phrasebook(0, train=N_SENTENCES, valid=1, test=N_TEST)


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
            beam=beam, alpha=alpha, constrained=constrained, extra_tokens=EXTRA_TOKENS
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


def words_of(example: Example) -> str:
    """Return the English words with spaces between them."""
    return " ".join(example.target)


def train_parser(
    examples: Sequence[Example],
    *,
    leaf: Leaf = "word",
    seed: int = 1,
    settings: TrainSettings = SETTINGS,
) -> Parser:
    """Train a parser whose leaves are `XX`, numbers or the words themselves."""
    sources = [words_of(example) for example in examples]
    treebank = [TaggedTree(example.target_tree, example.target) for example in examples]
    targets = [" ".join(linearize(one.tree, symbols_of_leaves(leaf, one))) for one in treebank]
    codec = TreeCodec.learn(sources, targets, leaf=leaf, min_count=1)
    pairs = [
        (codec.encode(source), codec.encode_target(target))
        for source, target in zip(sources, targets, strict=True)
    ]
    torch.manual_seed(seed)
    model = Transformer(
        TransformerConfig(
            vocab_size=len(codec),
            target_vocab_size=codec.target_size,
            tie_embeddings=False,
            **SIZES,
        )
    )
    settings = settings.replace(seed=seed)
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


LEAVES: tuple[Leaf, ...] = ("XX", "number", "word")
BEAMS = {"greedy": 1, f"beam{BEAM}": BEAM}


def trees(job: Job) -> Outcome:
    """Train one parser; score the trees that it writes greedily and with the beam."""
    leaf, rules = job.arm.labels["leaf"], bool(job.arm.labels["rules"])
    settings = settings_of(SETTINGS, job.arm, job.key)
    parser = train_parser(job.data.train, leaf=leaf, seed=job.seed, settings=settings)
    kinds = {"seen": job.data.seen_shapes, "held_out": job.data.held_out_shapes}
    figures: dict[str, float] = {}
    for (kind, examples), (name, beam) in product(kinds.items(), BEAMS.items()):
        score, share = score_parser(parser, examples, constrained=rules, beam=beam)
        found = {"f1": 100 * score.f1, "exact": score.exact, "well_formed": share}
        figures |= {f"{kind}/{name}/{measure}": value for measure, value in found.items()}
    return Outcome(figures=figures, parameters=parser.model.n_parameters)


EXPERIMENT = Experiment(
    name="18-phrases",
    question="What do rules, a beam and words as leaves add, on shapes that training never had?",
    task=Loaded(split_by_shape, partial(split_by_shape, n_sentences=1500, n_test=2)),
    base="word, free",
    arms=[
        Arm(f"{leaf}, {'with rules' if rules else 'free'}", labels={"leaf": leaf, "rules": rules})
        for leaf, rules in product(LEAVES, (False, True))
    ],
    seeds=(1, 2, 3),
    lengths=(SETTINGS.max_updates,),
    run=trees,
)
