"""The heads of a translator of real captions, in numbers: what each is worth.

Nothing knows the answers here, so nobody can count what a head finds. What can be counted is what
is lost without it. Experiment 19-caption-heads asks it of the base models of chapter 17, on the
validation captions alone.
"""

from collections.abc import Callable, Sequence
from typing import Any

import torch

from transformer.cli.corpora import encode_pairs
from transformer.config import PAD_ID
from transformer.data.batching import Batch, Pair, collate
from transformer.data.codec import codec_from_text
from transformer.data.corpus import Corpus
from transformer.model import Transformer
from transformer.training.checkpoint import load_checkpoint
from transformer.training.run_folder import checkpoints_of
from walkthrough.ch19_what_the_heads_attend_to.experiments import surgery
from walkthrough.lab import Arm, Experiment, Job, Loaded, Outcome
from walkthrough.lab.discovery import find

BATCH = 50
TRAINED_BY = "17-captions"


def measure_captions(model: Transformer, pairs: Sequence[Pair]) -> dict[str, Any]:
    """Return the share of next words that are right, whole and with fewer heads.

    "one": without one head; "all but one": with that head alone in its layer; both layer by layer,
    head by head. Then the rivals of one head alone, which have none: "layer", without any head of
    a layer, and "kind", without any head of that kind of attention.
    """
    model.eval()
    batches = in_batches(pairs)

    def score() -> float:
        return next_words_right(model, batches)

    found = {**_ablated(model, score), "layer": {}, "kind": {}}
    for kind in surgery.KINDS:
        all_heads = surgery.heads(model, kind)
        with surgery.without(model, all_heads):
            found["kind"][kind] = score()
        found["layer"][kind] = []
        for layer in range(len(surgery.attentions(model, kind))):
            with surgery.without(model, [head for head in all_heads if head[1] == layer]):
                found["layer"][kind].append(score())
    n_words = sum(batch.n_target_tokens for batch in batches)
    return {"words": n_words, "next_word": found}


def _ablated(model: Transformer, score: Callable[[], float]) -> dict[str, Any]:
    """Return a score whole, without each head, and with one head alone in its layer."""
    found: dict[str, Any] = {"nothing": score(), "one": {}, "all but one": {}}
    for kind, layer, head in surgery.heads(model):
        one = (kind, layer, head)
        for name, removed in (("one", [one]), ("all but one", surgery.all_but(model, one))):
            rows = found[name].setdefault(kind, [])
            if len(rows) == layer:
                rows.append([])
            with surgery.without(model, removed):
                rows[layer].append(score())
    return found


def in_batches(pairs: Sequence[Pair]) -> list[Batch]:
    """Return the pairs in batches of like lengths, so that little is padding."""
    ordered = sorted(pairs, key=lambda pair: (len(pair[1]), len(pair[0])))
    return [collate(ordered[start : start + BATCH]) for start in range(0, len(pairs), BATCH)]


@torch.no_grad()
def next_words_right(model: Transformer, batches: Sequence[Batch]) -> float:
    """Return the share of next words that are the model's first choice, end symbols among them.

    A next word is a subword of the target, or its end; the decoder reads the reference before it.
    As `next_word_accuracy`, which is slow where the vocabulary is large: here nothing is projected
    to it but what counts.
    """
    right = total = 0
    for batch in batches:
        counts = batch.target_out != PAD_ID
        states = model.states(batch.source, batch.target_in)[counts]
        right += int((model.project(states).argmax(-1) == batch.target_out[counts]).sum())
        total += batch.n_target_tokens
    return right / total


def captions() -> Corpus:
    """Return the captions that the models were not trained on."""
    return Corpus.from_multi30k("val", source_language="en", target_language="de")


def heads_of_captions(job: Job) -> Outcome:
    """Measure a run of chapter 17 at its last update; train it where it has no folder yet."""
    e = find(TRAINED_BY)
    trained = e.task.train(job._replace(experiment=e, arm=e.arm(job.arm.name)))
    checkpoint = load_checkpoint(checkpoints_of(trained.model)[-1])
    pairs = encode_pairs(codec_from_text(checkpoint.tokenizer or ""), job.data)
    found = measure_captions(checkpoint.model(), pairs[: 20 if job.small else None])
    return Outcome(figures={"val/-/next_word": found["next_word"]["nothing"]}, extra=found)


EXPERIMENT = Experiment(
    name="19-caption-heads",
    question="What is a head worth to a translator of real captions?",
    task=Loaded(captions),
    rival="the distance that alone fits best, beside which every head is printed",
    arms=[Arm("base")],
    seeds=(1, 2, 3),
    lengths=(1500,),
    run=heads_of_captions,
)
