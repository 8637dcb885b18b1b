"""Experiments 13-dropout and 13-smoothing: small translators (§5.4, Table 3 D).

Two encoder and two decoder layers with d_model = 64, trained on few sentence pairs, so that there
is something to regularise.
"""

import math
from collections.abc import Sequence
from dataclasses import replace

import torch

from transformer.analysis.bleu import score as bleu_score
from transformer.cli.corpora import exact_matches
from transformer.config import PAD_ID
from transformer.data.batching import Pair, collate
from transformer.layers import ResidualNorm
from transformer.model import Transformer
from transformer.training import train
from transformer.training.history import Record
from transformer.training.loss import cross_entropy
from walkthrough.lab import Arm, Experiment, Job, Measure, Outcome, Trained, translator
from walkthrough.lab.tasks import phrasebook, settings_of

SMALL = (
    "model.d_model=64",
    "model.d_ff=128",
    "training.max_tokens=600",
    "training.accumulate=1",
    "training.warmup=100",
)
N_TESTED = 500
EVERY = 50
"""Updates between two points of the curves of dropout."""
EMBEDDING, SUBLAYERS = "embedding + encoding", "sub-layer outputs"
PAPER = (EMBEDDING, SUBLAYERS)
"""The two places of §5.4."""


def set_dropout(model: Transformer, places: Sequence[str], p: float = 0.1) -> None:
    """Let dropout act at these of the two places with probability `p`, and not at the others."""
    model.dropout.p = p if EMBEDDING in places else 0.0
    for module in model.modules():
        if isinstance(module, ResidualNorm):
            module.dropout.p = p if SUBLAYERS in places else 0.0


def evaluate(model: Transformer, task: translator.Task, *, pairs: Sequence[Pair]) -> Outcome:
    """Measure one model; perplexity and next words are unsmoothed, of validation pairs.

    `temperature` is the divisor of the logits that gives the lowest perplexity,
    `tempered_perplexity`. Perplexity of "train" is that of the first of `pairs`.
    """
    logits, gold = gold_logits(model, task.pairs("valid"))
    perplexities = {t: _perplexity(logits / t, gold) for t in _TEMPERATURES}
    best = min(perplexities, key=lambda t: perplexities[t])
    examples = task.book.splits()["test_sentences"][:N_TESTED]
    outputs = translator.translations(model, task, examples)
    references = [example.target_text for example in examples]
    found = (
        _perplexity(logits, gold),
        _first_choices(logits, gold),
        float(logits.softmax(dim=-1).amax(dim=-1).mean()),
        best,
        perplexities[best],
        _perplexity(*gold_logits(model, pairs[:N_TESTED])),
        exact_matches(outputs, references),
        bleu_score(outputs, references).bleu,
    )
    return Outcome(figures=dict(zip(FIGURES, found, strict=True)))


FIGURES = (
    "valid/-/perplexity",
    "valid/-/next_word",
    "valid/-/confidence",
    "valid/-/temperature",
    "valid/-/tempered_perplexity",
    "train/-/perplexity",
    "test_sentences/greedy/exact",
    "test_sentences/greedy/bleu",
)


def evaluated(job: Job, trained: Trained) -> Outcome:
    """Measure the model of a run."""
    return evaluate(trained.model, job.data, pairs=job.data.pairs("train"))


def watched(job: Job) -> Outcome:
    """Train one model, and measure it every 50 updates on sentences seen and unseen."""
    task: translator.Task = job.data
    model = translator.new_model(task, seed=job.seed, **job.arm.model)
    pairs, valid = task.pairs("train")[: job.arm.data["pairs"]], task.pairs("valid")
    settings = settings_of(task.plan.training, job.arm, job.key)
    settings = settings.replace(log_every=min(EVERY, settings.max_updates))
    curve = []

    def measure(record: Record) -> None:
        logits, gold = gold_logits(model, valid)
        seen = _perplexity(*gold_logits(model, pairs[:N_TESTED]))
        curve.append((record.update, "train/-/perplexity", seen))
        curve.append((record.update, "valid/-/perplexity", _perplexity(logits, gold)))
        curve.append((record.update, "valid/-/next_word", _first_choices(logits, gold)))

    train(model, pairs, settings, progress=False, callbacks=[measure])
    found = evaluate(model, task, pairs=pairs)
    return replace(found, curve=curve, parameters=model.n_parameters)


_TEMPERATURES = [round(0.40 + 0.05 * n, 2) for n in range(33)]  # 0.4 to 2.0


@torch.no_grad()
def gold_logits(
    model: Transformer, pairs: Sequence[Pair], *, training: bool = False
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the logits and the gold ids of all target tokens, padding left out.

    With `training`, dropout stays on.
    """
    was_training = model.training
    model.train(training)
    logits, gold = [], []
    for start in range(0, len(pairs), 250):
        batch = collate(pairs[start : start + 250])
        is_token = batch.target_out != PAD_ID
        logits.append(model(batch.source, batch.target_in)[is_token])
        gold.append(batch.target_out[is_token])
    model.train(was_training)
    return torch.cat(logits), torch.cat(gold)


def _first_choices(logits: torch.Tensor, gold: torch.Tensor) -> float:
    return float((logits.argmax(dim=-1) == gold).float().mean())


def _perplexity(logits: torch.Tensor, gold: torch.Tensor) -> float:
    return math.exp(float(cross_entropy(logits, gold)))


DROPOUT = Experiment(
    name="13-dropout",
    question="Does dropout help translators that see the same 1000 sentence pairs again and again?",
    task=phrasebook(
        *SMALL,
        "training.peak=2e-3",
        "training.schedule=constant",  # so that any update may be the last
        "training.smoothing=0.0",  # so that perplexity says what it says
    ),
    base="p = 0.0",
    rival="none: one model with and without dropout; what fewer weights would do was not tried",
    arms=[
        Arm(f"p = {p}", model={"dropout": p}, data={"pairs": 1000}, labels={"p": p})
        for p in (0.0, 0.1)
    ],
    rates=(0.5, 1, 2, 4),
    rate_seeds=(1,),
    choose="valid/-/perplexity",
    lengths=(200, 1000),
    run=watched,
)
SMOOTHING = Experiment(
    name="13-smoothing",
    question="What does label smoothing change in small translators?",
    task=phrasebook(*SMALL, "training.peak=5e-3"),
    base="ε = 0.0",
    rival="none: one model and two losses; softer logits would look the same in perplexity alone",
    arms=[
        Arm(f"ε = {e}", train={"smoothing": e}, data={"pairs": 2000}, labels={"ε": e})
        for e in (0.0, 0.1)
    ],
    rates=(0.5, 1, 2, 4),
    rate_seeds=(1,),
    choose="valid/-/next_word",
    lengths=(300, 1000),
    measures=[Measure(FIGURES, evaluated)],
)
EXPERIMENTS = [DROPOUT, SMOOTHING]
