"""Experiments 14-phrasebook, 14-watched, 14-broken, and untrained models to tell apart (§3, §5)."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from phrasebook import Example
from transformer.config import BOS_ID, EOS_ID, PAD_ID, TransformerConfig
from transformer.data.batching import collate
from transformer.model import Transformer
from transformer.training import perplexity as perplexity_of
from walkthrough.ch14_the_training_run import loop, measuring
from walkthrough.lab import Arm, Experiment, Job, Outcome, Trained, translator
from walkthrough.lab.measures import exact, next_word, perplexity
from walkthrough.lab.tasks import phrasebook, settings_of

SIZES = TransformerConfig(vocab_size=60, d_model=32, d_ff=64, n_heads=4, n_layers=1, dropout=0.2)
"""Small, because a check asks such models some thousand times."""
Ids = tuple[Tensor, Tensor]


class _AlwaysDropping(nn.Module):
    """Dropout that does not listen to `eval()`."""

    def __init__(self, p: float) -> None:
        super().__init__()
        self.p = p

    def forward(self, x: Tensor) -> Tensor:
        return F.dropout(x, self.p, training=True)


def _dropout_stays_on(model: Transformer) -> None:
    setattr(model, "dropout", _AlwaysDropping(model.config.dropout))  # noqa: B010


def _padding_is_read(model: Transformer) -> None:
    # the encoder's mask lets every query attend to every place
    model.encoder.register_forward_pre_hook(
        lambda _module, given: (given[0], torch.ones_like(given[1]), *given[2:])
    )


def _source_is_not_read(model: Transformer) -> None:
    # the decoder gets an empty memory in place of the encoder's
    model.decoder.register_forward_pre_hook(
        lambda _module, given: (given[0], torch.zeros_like(given[1]), *given[2:])
    )


def _sentences_mix(model: Transformer) -> None:
    # as a reshape in the wrong order, or a norm over the batch, would do
    def mix(_module: nn.Module, _given: Any, result: tuple[Tensor, Any]) -> tuple[Tensor, Any]:
        states, weights = result
        return 0.7 * states + 0.3 * states.mean(dim=0, keepdim=True), weights

    model.encoder.register_forward_hook(mix)


_BREAKS: Mapping[str, tuple[dict[str, Any], Callable[[Transformer], None] | None]] = {
    "nothing": ({}, None),
    "dropout": ({}, _dropout_stays_on),
    "target mask": ({"causal": False}, None),
    "padding mask": ({}, _padding_is_read),
    "positions": ({"positions": "none"}, None),
    "source": ({}, _source_is_not_read),
    "batch": ({}, _sentences_mix),
}
PARTS = tuple(_BREAKS)
"""What may be broken in a model of `broken_model`, and "nothing"."""


def broken_model(part: str, *, seed: int) -> Transformer:
    """Return a small untrained model, switched to evaluation, with one part broken.

    Raises:
        ValueError: there is no such part.
    """
    if part not in _BREAKS:
        raise ValueError(f"part must be among {', '.join(PARTS)}; got {part!r}")
    changes, break_it = _BREAKS[part]
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = Transformer(SIZES.replace(**changes)).eval()
    if break_it is not None:
        break_it(model)
    return model.requires_grad_(False)


def patients(order: str = "ECAFBDG") -> dict[str, Callable[[Tensor, Tensor], Tensor]]:
    """Return seven models by letter: one in order, and one for each part that can be broken.

    They are handed out as functions from (source, target_in) to logits, as only experiments shall
    tell them apart.
    """
    parts = dict(zip(order, PARTS, strict=True))
    models = {name: broken_model(parts[name], seed=20 + n) for n, name in enumerate(sorted(order))}
    return {name: partial(_logits, model) for name, model in models.items()}


def _logits(model: Transformer, source: Tensor, target_in: Tensor) -> Tensor:
    return model(source, target_in)


def two_sentences(seed: int = 0) -> Ids:
    """Return source and target_in of two sentences of random words; the second source is padded."""
    generator = torch.Generator().manual_seed(seed)
    source = torch.randint(4, 60, (2, 7), generator=generator)
    source[:, -1] = EOS_ID
    source[1, -3:] = torch.tensor([EOS_ID, PAD_ID, PAD_ID])
    target_in = torch.randint(4, 60, (2, 5), generator=generator)
    target_in[:, 0] = BOS_ID
    return source, target_in


def aligned_heads(job: Job, trained: Trained) -> Mapping[str, Any]:
    """Return the alignment error of every encoder–decoder head, and of the diagonal."""
    examples = job.data.book.splits()["test_sentences"][: measuring.N_ALIGNED]
    return {
        "heads": measuring.head_errors(trained.model, job.data, examples).tolist(),
        "diagonal": measuring.diagonal_error(examples),
    }


PAGE = (
    "training.max_updates=500",
    "training.max_tokens=320",
    "training.accumulate=2",
    "training.warmup=80",
)
"""Changes to the preset for the run of the page: less than a third of its target tokens."""
LOOKS = (0, 10, 20, 40, 60, 80, 100, 150, 200, 300, 500)
"""Updates after which the run of the page is looked at."""
N_KEPT = 20
"""Translations that a run of 14-broken keeps."""


def watched(job: Job) -> Outcome:
    """Train with the loop of the page; keep what it says about the first test sentence."""
    task: translator.Task = job.data
    model = translator.new_model(task, seed=job.seed)
    settings = settings_of(task.plan.training, job.arm, job.key)
    curve, looks = [], [look(model, task, 0)]
    for update, loss in loop.training(model, task.pairs("train"), settings):
        curve.append((update, "train/-/loss", round(loss, 4)))
        if update in LOOKS:
            looks.append(look(model, task, update))
    figures = {"valid/-/perplexity": perplexity_of(model, task.pairs("valid"))}
    return Outcome(figures=figures, curve=curve, extra={"looks": looks})


@torch.no_grad()
def look(model: Transformer, task: translator.Task, update: int) -> dict[str, Any]:
    """Return what a model says about *Jane visite l'Afrique en septembre*, and how sure it is.

    `alone` is its own translation; `sure` the probability of each gold word, and `first` the most
    probable word, where the gold words before are given; `cross` the encoder–decoder weights.
    """
    jane = task.book.test_sentences[0]
    batch = collate(translator.encoded([jane], task.codec))
    model.eval()
    p = model(batch.source, batch.target_in)[0].softmax(dim=-1)
    gold = batch.target_out[0]
    cross = model.attention(batch.source, batch.target_in).cross[:, 0]
    return {
        "update": update,
        "alone": translator.translations(model, task, [jane])[0],
        "sure": [round(v, 4) for v in p[range(len(gold)), gold].tolist()],
        "first": [task.codec.vocabulary.tokens[i] for i in p.argmax(dim=-1).tolist()],
        "cross": [
            [[[round(v, 3) for v in row] for row in head] for head in layer]
            for layer in cross.tolist()
        ],
        "perplexity": round(perplexity_of(model, task.pairs("valid")[:200]), 3),
    }


def symptoms(job: Job, trained: Trained) -> Mapping[str, Any]:
    """Return some translations of a model, and how large its largest encoder weights are."""
    examples = job.data.book.splits()["test_sentences"][:N_KEPT]
    largest = [_largest_weight(trained.model, job.data, example) for example in examples]
    return {
        "outputs": translator.translations(trained.model, job.data, examples),
        "largest": sum(largest) / len(largest),
    }


@torch.no_grad()
def _largest_weight(model: Transformer, task: translator.Task, example: Example) -> float:
    batch = collate(translator.encoded([example], task.codec))
    weights = model.attention(batch.source, batch.target_in).encoder
    return float(weights.max(dim=-1).values.mean())


PRESET = Experiment(
    name="14-phrasebook",
    question="What does the translator of the preset reach, and do its heads find words?",
    rival="the best alignment by distance alone, which the page prints beside each head's",
    task=phrasebook(),
    arms=[Arm("preset", after=aligned_heads)],
    seeds=(1, 2, 3),
    lengths=(900,),
    measures=[perplexity("valid"), exact("valid", "test_sentences", "test_combinations")],
)
WATCHED = Experiment(
    name="14-watched",
    question="What does the translator of the page say while it learns?",
    rival="none: one arm, of which is shown what it says",
    task=phrasebook(*PAGE),
    arms=[Arm("page")],
    seeds=(1,),
    lengths=(500,),
    run=watched,
)
BROKEN = Experiment(
    name="14-broken",
    question="What does a translator lose without the scale, or without positions?",
    task=phrasebook(
        "training.max_updates=700",
        "training.max_tokens=320",
        "training.accumulate=1",
        "training.warmup=60",
        "model.dropout=0.0",  # it would only slow down runs as short as these
    ),
    base="whole",
    rival="none: the whole model is what the broken ones are held against",
    arms=[
        Arm("whole", after=symptoms),
        Arm("no scale", model={"scale_scores": False}, rates=(0.25, 0.5, 1, 2), after=symptoms),
        Arm("no positions", model={"positions": "none"}, after=symptoms),
    ],
    rates=(0.5, 1, 2),
    rate_seeds=(1,),
    choose="valid/-/perplexity",
    lengths=(260, 700),
    measures=[
        perplexity("valid"),
        next_word("valid"),
        exact("test_sentences", "test_combinations", first=500),
    ],
)
EXPERIMENTS = [PRESET, WATCHED, BROKEN]
