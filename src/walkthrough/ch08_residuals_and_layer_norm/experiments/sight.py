"""Experiment 08-sight: what two post-norm models of 08-captions see of their source (§3.1).

How alike the encoder makes the words of a sentence, and the perplexity with the right source and
with that of the next sentence.
"""

from collections.abc import Sequence
from pathlib import Path

import torch

from transformer.cli.corpora import encode_pairs
from transformer.data.codec import codec_from_text
from transformer.data.corpus import Corpus
from transformer.model import Transformer
from transformer.training.checkpoint import load_checkpoint
from transformer.training.objective import perplexity
from transformer.training.run_folder import checkpoints_of
from walkthrough.ch08_residuals_and_layer_norm.experiments.captions import (
    POST_FULL,
    POST_SMALL,
    SHORT,
)
from walkthrough.lab import Arm, Experiment, Job, Loaded, Outcome

EARLY = 600


def captions() -> Corpus:
    """Return the validation captions."""
    return Corpus.from_multi30k("val", source_language="en", target_language="de")


def what_it_sees(job: Job) -> Outcome:
    """Measure a run of 08-captions early and at its end; train it where it has no folder yet."""
    trained = SHORT.task.train(job._replace(experiment=SHORT, arm=SHORT.arm(job.arm.name)))
    paths = {int(path.stem): path for path in checkpoints_of(trained.model)}
    found = {update: seen(paths[update], job) for update in (EARLY, job.length) if update in paths}
    curve = [(update, name, value) for update, of in found.items() for name, value in of.items()]
    return Outcome(figures=found[job.length], curve=curve)


def seen(path: Path, job: Job) -> dict[str, float]:
    """Return alikeness and both perplexities of one checkpoint."""
    checkpoint = load_checkpoint(path)
    model = checkpoint.model().eval()
    every = encode_pairs(codec_from_text(checkpoint.tokenizer or ""), job.data)
    pairs = every[: 20 if job.small else None]
    sources = [source for source, _ in pairs]
    wrong = zip(sources[1:] + sources[:1], (target for _, target in pairs), strict=True)
    return {
        "val/-/alike": sum(alike(model, source) for source in sources) / len(sources),
        "val/-/perplexity": perplexity(model, pairs),
        "val/-/wrong_source_perplexity": perplexity(model, list(wrong)),
    }


@torch.no_grad()
def alike(model: Transformer, source: Sequence[int]) -> float:
    """Return the mean correlation of two different places of one encoded sentence."""
    x = model.encode(torch.tensor([source]))[0]
    x = torch.nn.functional.normalize(x - x.mean(-1, keepdim=True), dim=-1)
    pairs = x @ x.T
    n = len(pairs)
    return ((pairs.sum() - pairs.trace()) / (n * (n - 1))).item()


EXPERIMENT = Experiment(
    name="08-sight",
    question="Does a model that starts at full size see the words of its source, or one vector?",
    task=Loaded(captions),
    arms=[Arm(POST_SMALL), Arm(POST_FULL)],
    seeds=(1,),
    lengths=(1500,),
    run=what_it_sees,
)
