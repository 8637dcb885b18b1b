"""Experiment 09-silent: what a decoder says without its attention to the memory (§3.1).

Small translators of the phrasebook with two layers a side. The attention of one layer or of both is
silenced after training; or the layers have none, and training knows it.
"""

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn

from transformer.model import Transformer
from walkthrough.lab import Arm, Experiment, Job, Outcome, Trained, translator
from walkthrough.lab.experiment import Key
from walkthrough.lab.measures import next_word
from walkthrough.lab.one_layer import RECIPE, SIZES
from walkthrough.lab.tasks import phrasebook

WIDTHS = {**SIZES, "n_layers": 2, "d_ff": 256}
MEASURE = next_word("valid")
_trained: dict[Key, Trained] = {}


class Nothing(nn.Module):
    """In the place of an attention: it finds zeros, and has nothing to learn."""

    def forward(self, query: Tensor, *_: Any, **__: Any) -> tuple[Tensor, None]:
        """Return zeros, and no weights."""
        return torch.zeros_like(query), None


@contextmanager
def silenced(model: Transformer, layers: Collection[int]) -> Iterator[None]:
    """Silence the attention to the memory in these layers, counted from 0, while the block runs."""
    kept = {n: model.decoder.layers[n].cross_attention for n in layers}
    for n in layers:
        model.decoder.layers[n].cross_attention = Nothing()
    try:
        yield
    finally:
        for n, attention in kept.items():
            model.decoder.layers[n].cross_attention = attention


def without(job: Job) -> Transformer:
    """Return an untrained translator whose decoder has no attention to the memory."""
    model = translator.new_model(job.data, seed=job.seed, **WIDTHS)
    for layer in model.decoder.layers:
        layer.cross_attention = Nothing()
    return model


def after_training(*layers: int) -> Callable[[Job], Outcome]:
    """Return what measures the whole translator of the same key with these layers silent."""

    def run(job: Job) -> Outcome:
        key = job.key._replace(arm="whole")
        whole = job._replace(key=key, arm=job.experiment.arm("whole"))
        if key not in _trained:  # trained once a process, for all silences
            _trained[key] = job.experiment.task.train(whole)
        with silenced(_trained[key].model, layers):
            return MEASURE.of(job, _trained[key])

    return run


EXPERIMENT = Experiment(
    name="09-silent",
    question="What does a translator lose when its attention to the memory falls silent?",
    task=phrasebook(*RECIPE),
    base="whole",
    rival="never there",  # a language model of the target
    arms=[
        Arm("whole", model=WIDTHS, run=after_training()),
        Arm("layer 1 silent", run=after_training(0)),
        Arm("layer 2 silent", run=after_training(1)),
        Arm("both silent", run=after_training(0, 1)),
        Arm("never there", build=without),
    ],
    rates=(0.5, 1, 2),
    rate_seeds=(1,),
    lengths=(150, 300),
    measures=[MEASURE],
)
