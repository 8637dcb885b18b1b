"""The runs of the page: shorter than the preset's, and some of them in a second process (§5)."""

import signal
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import Any

import torch
from numpy.typing import NDArray

from transformer.data.batching import Pair
from transformer.model import Transformer
from transformer.training import History, TrainSettings, train
from transformer.training.checkpoint import load_weights, unique_weights
from walkthrough.lab import translator

PAGE = {"max_updates": 500, "max_tokens": 320, "accumulate": 2, "warmup": 80}
"""Changes to the preset for the run of the page: less than a third of its target tokens."""
SHORT = 260
"""Updates of the models that the page breaks."""


class BackgroundRuns:
    """Models that train in a second process, one after the other, with one thread.

    Two cores then serve two runs, one here and one there, and a single core serves both in turn.
    The process ends with its last run.
    """

    def __init__(
        self, variants: Mapping[str, Transformer], pairs: Sequence[Pair], settings: TrainSettings
    ) -> None:
        # a new process: one that is forked hangs where a library has started threads before
        self._pool = ProcessPoolExecutor(
            1, mp_context=get_context("spawn"), initializer=_let_the_parent_handle_interrupts
        )
        self._models = dict(variants)
        self._runs = [
            self._pool.submit(_train_in_process, model, pairs, settings)
            for model in self._models.values()
        ]
        self._pool.shutdown(wait=False)

    def result(self) -> dict[str, tuple[Transformer, History]]:
        """Wait for all runs; return each trained model with its log."""
        found = {}
        for (name, model), run in zip(self._models.items(), self._runs, strict=True):
            weights, history = run.result()
            load_weights(model, {key: torch.from_numpy(value) for key, value in weights.items()})
            found[name] = (model.eval(), history)
        return found


def train_in_background(
    task: translator.Task, variants: Mapping[str, Mapping[str, Any]], settings: TrainSettings
) -> BackgroundRuns:
    """Begin to train one model for each variant (changes to the configuration), and return at once.

    All start from the seed of `settings` and get the same data in the same order.

    Raises:
        TypeError: the configuration has no such field.
        ValueError: it does not allow that value.
    """
    models = {
        name: translator.new_model(task, seed=settings.seed, **changes)
        for name, changes in variants.items()
    }
    return BackgroundRuns(models, task.pairs("train"), settings.replace(threads=1))


def _let_the_parent_handle_interrupts() -> None:
    # the stop button of a notebook reaches its whole group of processes
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _train_in_process(
    model: Transformer, pairs: Sequence[Pair], settings: TrainSettings
) -> tuple[dict[str, NDArray[Any]], History]:
    history = train(model, pairs, settings, progress=False)
    # arrays, because a tensor is sent as a file that ends with this process
    return {name: value.numpy() for name, value in unique_weights(model).items()}, history
