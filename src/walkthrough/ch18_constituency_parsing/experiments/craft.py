"""Experiments 18-craft, 18-craft-more, 18-grammars: trees of real text (§6.3).

Settings were chosen on the dev articles. Of the test articles every seventh sentence is parsed, the
same ones by every parser: beams of 21 are dear. The test articles are scored once for each run.
"""

import random
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from statistics import fmean
from typing import Any

import pandas as pd

from transformer.cli.corpora import trees_of
from transformer.data.codec import codec_from_text
from transformer.inference.translate import Decoding, translate
from transformer.parsing.codec import TreeCodec
from transformer.parsing.craft import craft_corpus, craft_trees
from transformer.parsing.trees import TaggedTree, Tree, leaves, parse_brackets
from transformer.training.checkpoint import average_checkpoints
from transformer.training.run_folder import checkpoints_of
from walkthrough.ch18_constituency_parsing.experiments import measuring
from walkthrough.ch18_constituency_parsing.experiments.pcfg import Grammar
from walkthrough.ch18_constituency_parsing.experiments.phrase_trees import repair
from walkthrough.lab import (
    Arm,
    Experiment,
    Job,
    Key,
    Loaded,
    Measure,
    Outcome,
    Trained,
    scores,
    store,
)
from walkthrough.lab.hooks import command_line
from walkthrough.lab.intervals import over_sentences
from walkthrough.lab.measures import SCORES, scale_of
from walkthrough.lab.runner import joined

ALL_SENTENCES, AVERAGED = 18_101, 5
EVERY = {"dev": 16, "test": 7}
MEASURES = ("f1", "precision", "recall", "exact", "well_formed")
WAYS = {
    "greedy": {"beam": 1, "constrained": False},
    "greedy+rules": {"beam": 1, "constrained": True},
    "beam21": {"beam": 21, "alpha": 0.3, "constrained": False},
    "beam21+rules": {"beam": 21, "alpha": 0.3, "constrained": True},
}
REPAIRED = {"greedy": "greedy+repair", "beam21": "beam21+repair"}


def scored(split: str, way: str, found: Sequence[Tree | None], gold: Sequence[Tree]) -> Outcome:
    """Return what is kept of predicted trees."""
    told = measuring.measured(found, gold)
    figures = {f"{split}/{way}/{name}": told[name] for name in MEASURES}
    extra = {"conventions": {way: told["conventions"]}}
    counts = {f"{split}/{way}/f1": measuring.counts_of(found, gold)}
    return Outcome(figures=figures, counts=counts, extra=extra)


# The Transformer ---------------------------------------------------------------------------------


def last_perplexity(job: Job, trained: Trained) -> Outcome:
    """Return the perplexity on the dev articles where training ended."""
    del job
    return Outcome(figures={"valid/-/perplexity": trained.curve[-1][2]})


def parsed(job: Job, trained: Trained, *, repaired: bool = False) -> Outcome:
    """Parse sentences of the test articles with the mean of the last checkpoints, in four ways.

    With `repaired`, what is written freely is read once more, by a reader that always finds a tree.
    """
    mean = average_checkpoints(checkpoints_of(trained.model)[-AVERAGED:])
    codec, model = codec_from_text(mean.tokenizer or ""), mean.model()
    assert isinstance(codec, TreeCodec)
    corpus = craft_corpus("test", gold_tags="gold_tags" in job.arm.data)
    sources = corpus.source[:: EVERY["test"]]
    gold = [parse_brackets(tree) for tree in (corpus.source_trees or ())[:: EVERY["test"]]]
    trees: dict[str, Sequence[Tree | None]] = {}
    for way, how in WAYS.items():
        decoding = Decoding(
            **how,  # type: ignore[arg-type]
            extra_tokens=300,
            batch_tokens=1000,
            early_stopping=True,  # as all that is recorded
        )
        lines = [best[0].text for best in translate(model, codec, sources, decoding)]
        trees[way] = trees_of(codec, sources, lines)
        if repaired and way in REPAIRED:
            pairs = zip(lines, sources, strict=True)
            trees[REPAIRED[way]] = [repair(codec, *pair) for pair in pairs]
    found = {way: scored("test", way, parses, gold) for way, parses in trees.items()}
    conventions = {way: of_way.extra["conventions"][way] for way, of_way in found.items()}
    return replace(joined(found.values()), extra={"conventions": conventions})


def transformer(name: str, sentences: int = ALL_SENTENCES, **data: Any) -> Arm:
    """Return a parser that learns from so many sentences."""
    labels = {"parser": name, "sentences": sentences}
    if sentences == ALL_SENTENCES:
        return Arm(name, data=data, labels=labels)
    return Arm(f"{name}, {sentences}", data={"max_sentences": sentences, **data}, labels=labels)


WORDS = "Transformer, words"
trained_on = partial(
    Experiment,
    task=command_line("craft-trees"),
    rival="the grammars of 18-grammars, which learn nothing but counts",
    lengths=(9000,),
    measures=[Measure(("valid/-/perplexity",), last_perplexity)],
)


def on_test(*ways: str, **how: Any) -> Measure:
    """Return the measure of the test articles that these ways of reading give."""
    return Measure(tuple(f"test/{w}/{m}" for w in ways for m in MEASURES), partial(parsed, **how))


CRAFT = trained_on(
    name="18-craft",
    question="How well does a Transformer parse real text, freely and with rules?",
    arms=[transformer(WORDS)],
    seeds=(1, 2, 3),
    tests=[on_test(*WAYS, *REPAIRED.values(), repaired=True)],
)
MORE = trained_on(
    name="18-craft-more",
    question="What do gold tags add to that parser, and what do fewer sentences cost it?",
    arms=[
        transformer("Transformer, words and tags", gold_tags="yes"),
        *(transformer(WORDS, sentences) for sentences in (4_525, 9_050)),
    ],
    seeds=(1,),
    tests=[on_test(*WAYS)],
)

# Without a network -------------------------------------------------------------------------------


def without_parser(job: Job) -> Outcome:
    """Score trees that know nothing of the sentence."""
    make = {"flat": measuring.flat, "right-branching": measuring.right_branching}[job.arm.name]
    gold = [one.tree for one in job.data["test"][:: EVERY["test"]]]
    return scored("test", "-", [make(tuple(leaves(tree))) for tree in gold], gold)


def grammar(job: Job) -> Outcome:
    """Count a grammar and parse with it."""
    settings = dict(job.arm.data)
    split, with_tags = settings.pop("split", "test"), settings.pop("tags", False)
    train = part_of(job.data["train"], settings.pop("sentences", ALL_SENTENCES))
    asked = job.data[split][:: EVERY[split]]
    rules = Grammar(train, **settings)
    found = [rules.parse(tuple(leaves(t.tree)), t.tags if with_tags else None) for t in asked]
    return scored(split, "cky", found, [one.tree for one in asked])


def part_of(train: Sequence[TaggedTree], size: int) -> list[TaggedTree]:
    """Return the same sentences as `craft_corpus(max_sentences=size)`, or all in order."""
    trees = list(train)
    if size < len(trees):
        random.Random(0).shuffle(trees)
    return trees[:size]


def pcfg(name: str, sentences: int = ALL_SENTENCES, *, v: int = 2, h: int = 2, **data: Any) -> Arm:
    """Return a grammar that is counted in so many sentences."""
    labels = {"parser": name, "sentences": sentences}
    settings = {"vertical": v, "horizontal": h, "sentences": sentences, **data}
    arm = name if sentences == ALL_SENTENCES else f"{name}, {sentences}"
    return Arm(arm, data=settings, run=grammar, labels=labels)


def few_trees() -> dict[str, tuple[TaggedTree, ...]]:
    """Return some trees of each split."""
    return {split: trees[:40] for split, trees in craft_trees().items()}


GRAMMARS = Experiment(
    name="18-grammars",
    question="How well do trees of CRAFT come out without a network?",
    rival="right-branching",
    task=Loaded(craft_trees, few_trees),
    arms=[
        *(
            pcfg(f"PCFG, v={v} h={h}", v=v, h=h, split="dev")
            for v, h in ((1, 1), (2, 1), (2, 2), (2, 3))  # the third is the best
        ),
        pcfg("PCFG, words"),
        *(
            Arm(name, run=without_parser, labels={"parser": name, "sentences": 0})
            for name in ("flat", "right-branching")
        ),
        pcfg("PCFG, tags", tags=True),
        *(pcfg("PCFG, words", sentences) for sentences in (4_525, 9_050)),
    ],
    seeds=(0,),
)
EXPERIMENTS = [GRAMMARS, CRAFT, MORE]


# What the records say ----------------------------------------------------------------------------


def runs() -> pd.DataFrame:
    """Return the runs of all three experiments, by arm and seed."""
    return pd.concat([e.frame() for e in EXPERIMENTS]).set_index(["arm", "seed"])


def tested() -> pd.DataFrame:
    """Return F1 and the other scores of every run on the test articles and way of decoding."""
    labels = {arm.name: arm.labels for e in EXPERIMENTS for arm in e.arms}
    long = pd.concat([scores(e.name) for e in EXPERIMENTS]).query("split == 'test'")
    for label in ("parser", "sentences"):
        long[label] = [labels[arm][label] for arm in long["arm"]]
    index = ["parser", "sentences", "decode", "seed"]
    return long.pivot_table("value", index, "measure", sort=False).reset_index()


def above_the_grammar(way: str) -> tuple[float, float, float]:
    """Return how much F1 the parser of words is above the grammar of words, with its 95 % interval.

    The mean of its runs on the same sentences; the interval is over draws of sentences.
    """
    figure = f"test/{way}/f1"
    ours = [Key(WORDS, 1.0, CRAFT.lengths[-1], seed) for seed in CRAFT.seeds]
    sides = (
        [store.counts(store.path_of(CRAFT.name), key, figure) for key in ours],
        [store.counts(store.path_of(GRAMMARS.name), Key("PCFG, words"), "test/cky/f1")],
    )
    reach = over_sentences(sides, figure, scale_of(figure))
    assert reach, "counts a sentence are recorded"
    means = [fmean(SCORES["f1"](rows.sum(axis=0)) for rows in side) for side in sides]
    difference = means[0] - means[1]
    return difference, difference - reach[0], difference + reach[1]
