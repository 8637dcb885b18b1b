"""Experiment 01-translators: one vector or attention, by the length of the sentence (§1, §2)."""

from collections.abc import Mapping
from typing import Any

from walkthrough.ch01_why_attention.experiments import translators
from walkthrough.lab import Arm, Experiment, Job, Outcome
from walkthrough.lab.tasks import phrasebook

LENGTHS = ((1, 5), (6, 7), (8, 9), (10, 12), (13, 99))
"""Of source words."""
SHOWN = ("Jane visite l'Afrique en septembre.", "Ces oiseaux noirs ne mangent pas le gâteau.")
SPLIT = "test_sentences"
ONE, ATTENTION, LONGER = "one vector", "attention", "one vector, 2 × the updates"


def translate(job: Job) -> Outcome:
    """Train one translator; its figures are the exact translations, by length as well."""
    kind, times = job.arm.labels["kind"], job.arm.labels["times"]
    model = translators.new_translator(kind, len(job.data.codec), seed=job.seed)
    translators.train(
        model,
        job.data.pairs("train"),
        updates=times * job.length,
        seed=job.seed,
        rate=translators.RATE * job.key.rate,
    )
    pairs = job.data.pairs(SPLIT)
    right = translators.exact(model, pairs)
    figures = {f"{SPLIT}/greedy/exact": sum(right) / len(right)}
    for low, high in LENGTHS:
        those = [ok for ok, pair in zip(right, pairs, strict=True) if low <= len(pair[0]) <= high]
        if those:
            figures[f"{low}-{high} words/greedy/exact"] = sum(those) / len(those)
    extra = {}
    if kind == ATTENTION:
        score = translators.alignment_score(model, pairs, job.data.book.splits()[SPLIT])
        figures[f"{SPLIT}/-/alignment_accuracy"] = score.accuracy
        extra["maps"] = [weight_map(job, model, sentence) for sentence in SHOWN]
    parameters = sum(p.numel() for p in model.parameters())
    return Outcome(figures=figures, extra=extra, parameters=parameters)


def weight_map(
    job: Job, model: translators.RecurrentTranslator, sentence: str
) -> Mapping[str, Any]:
    """Return the words and the weights of one sentence; of the first, where a corpus lacks it."""
    everything = [example for split in job.data.book.splits().values() for example in split]
    example = next((e for e in everything if e.source_text == sentence), everything[0])
    words = job.data.codec.vocabulary
    pair = (words.encode(example.source), words.encode(example.target))
    weights = translators.alignment(model, pair)
    return {
        "source": [*example.source, "<eos>"],
        "target": [*example.target, "<eos>"],
        "weights": [[round(w, 3) for w in row] for row in weights.tolist()],
    }


EXPERIMENT = Experiment(
    name="01-translators",
    question="Does a recurrent translator with attention keep long sentences, and one without?",
    task=phrasebook(),
    base=ONE,
    rival=LONGER,
    arms=[
        Arm(ONE, rates=(1, 2, 4), labels={"kind": ONE, "times": 1}),
        Arm(ATTENTION, rates=(0.5, 1, 2), labels={"kind": ATTENTION, "times": 1}),
        Arm(LONGER, rates=(1, 2), labels={"kind": ONE, "times": 2}),  # times the key's length
    ],
    seeds=range(10),
    rate_seeds=(0, 1, 2),
    lengths=(1000,),
    run=translate,
)
