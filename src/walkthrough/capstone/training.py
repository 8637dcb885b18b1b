"""`train`: batches of the phrasebook for the reader's own loop, and what its model has learnt."""

import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from math import isfinite
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import load_model, save_model
from torch import Tensor, nn

from transformer.cli.corpora import exact_matches
from transformer.config import EOS_ID
from walkthrough.capstone import book, judging
from walkthrough.capstone.checkup import loaded
from walkthrough.ch00_one_sentence.experiments import SENTENCES
from walkthrough.ch14_the_training_run.loop import updates
from walkthrough.doctor.calling import CannotCallError, Subject, find_call
from walkthrough.doctor.loading import NoModelError
from walkthrough.lab import translator

SPLITS = {"test_sentences": "unseen sentences", "test_combinations": "unseen combinations"}
UPDATES = 400
ASKED = (0, 50, 100, 150, 200)
"""Updates after which, and after the last, the model is asked for chapter 00's two sentences."""


class TrainingError(ValueError):
    """The reader's loop cannot be run, or did nothing; the message says why."""


@dataclass
class Trained:
    """A model that the reader's loop has trained, its losses, what it said, held-out scores."""

    model: nn.Module = field(repr=False)
    losses: list[float] = field(default_factory=list, repr=False)
    said: list[dict[str, Any]] = field(default_factory=list, repr=False)
    seconds: float = 0.0
    exact: dict[str, float] = field(default_factory=dict)

    def __str__(self) -> str:
        scores = ", ".join(f"{SPLITS[n]} {100 * x:.1f} % exact" for n, x in self.exact.items())
        return f"{len(self.losses)} updates in {self.seconds:.0f} s of processor time: {scores}"

    def ask(self) -> None:
        """Keep what the model says now; the training goes on as if it had not been asked."""
        with torch.random.fork_rng(devices=[]):
            try:
                subject = find_call(self.model.eval(), None, (0, 0))
                found = translations(subject, SENTENCES, extra=5)
                self.said.append({"update": len(self.losses), "translations": found})
            except CannotCallError:  # what is wrong is said when the loop stops
                pass
        self.model.train()


def train(
    file: Any = "my_transformer.py",
    *,
    n_updates: int = UPDATES,
    minutes: float | None = None,
    seed: int = 1,
    out: str | Path | None = None,
    say: Any = print,
) -> Trained:
    """Run the reader's `train` on the phrasebook, say its losses, and score what it has learnt.

    `file` is what `check` takes: a path, a module, or `globals()`. `minutes` ends the batches
    early. With `out` the weights are written there, with what the model said on its way.

    Raises:
        NoModelError: the file is not there, is no Python, or has no such class.
        TrainingError: the loop is not written, stops, makes no update, or `out` exists already.
    """
    if out is not None and Path(out).exists():
        raise TrainingError(f"{out} is there already, and is left as it is: name another --out")
    if n_updates < 10:
        raise TrainingError(f"updates must be at least 10, for a rate that rises; got {n_updates}")
    own, known = loaded(file)
    loop = own.get("train")
    if not callable(loop):
        raise TrainingError(f"{known.file} has no function `train(model, batches, n_updates)`")
    trained = Trained(new_model(own, seed))
    before = _weights(trained.model)
    trained.ask()
    began = time.process_time()
    for loss in _losses(loop, trained.model, _batches(n_updates, seed, minutes), n_updates):
        trained.losses.append(loss)
        update = len(trained.losses)
        if update in (1, 2, 5, 10, 20) or update % 50 == 0:
            spent = time.process_time() - began
            say(f"update {update:4d}  loss {loss:6.3f}  {spent:5.0f} s")
        if not isfinite(loss):
            raise TrainingError(f"the loss of update {update} is no number: {loss}")
        if update in ASKED:
            trained.ask()
    trained.seconds = time.process_time() - began
    if not trained.losses:
        raise TrainingError("your loop yields no loss: `yield loss.item()` after each update")
    if torch.equal(before, _weights(trained.model)):
        raise TrainingError("after all updates the weights are what they were: no step was made")
    if len(trained.losses) not in ASKED:
        trained.ask()
    if out is not None:
        save_model(trained.model, str(out), {STORY: json.dumps(trained.said)})
        say(f"weights: {out}")
    trained.exact = scores(trained.model, say=say)
    return trained


STORY = "said"


def story(weights: str | Path) -> list[dict[str, Any]]:
    """Return what the model of these weights said in training; nothing where they do not tell."""
    with safe_open(str(weights), "pt") as held:
        return list(json.loads((held.metadata() or {}).get(STORY, "[]")))


def new_model(own: dict[str, Any], seed: int = 1) -> nn.Module:
    """Return the reader's `Transformer` in the book's sizes, untrained.

    Raises:
        NoModelError: the file has none, or it cannot be built.
    """
    made = own.get("Transformer")
    if made is None:
        raise NoModelError("the file has no class `Transformer`")
    torch.manual_seed(seed)
    try:
        return judging.built("Transformer", made).train()
    except NotImplementedError:
        raise NoModelError("`Transformer` is not written yet") from None
    except Exception as error:  # whatever a reader's code raises
        raise NoModelError(judging.stopped("`Transformer(…)`", error)) from error


def load_weights(model: nn.Module, weights: str | Path) -> None:
    """Load what `train` wrote.

    Raises:
        ValueError: the file is not there, is damaged, or belongs to another model: which tensors.
    """
    try:
        load_model(model, str(weights))
    except (OSError, SafetensorError, RuntimeError) as error:
        head, *lines = str(error).strip().splitlines()
        first = "; ".join(line.strip().rstrip(".") for line in lines[:2]) or head
        raise ValueError(f"{weights} does not fit this model: {first}") from error


def scores(model: nn.Module, say: Any = print) -> dict[str, float]:
    """Return the share of exact translations of both held-out splits."""
    splits = translator.load_task().book.splits()
    pairs = {name: [(e.source_text, e.target_text) for e in splits[name]] for name in SPLITS}
    return {name: exact(model, some, say) for name, some in pairs.items()}


def exact(model: nn.Module, pairs: Sequence[tuple[str, str]], say: Any = None) -> float:
    """Return the share of sentences that greedy decoding translates exactly.

    Raises:
        CannotCallError: no way to call the model was found.
    """
    subject = find_call(model.eval(), None, (0, 0))
    outputs = translations(subject, [pair[0] for pair in pairs], say=say)
    return exact_matches(outputs, [pair[1] for pair in pairs])


def translations(
    subject: Subject, texts: Sequence[str], *, extra: int = 50, say: Any = None
) -> list[str]:
    """Return the greedy translation of each text, whatever its length."""
    codec = book.translator()[1]
    ids = [[*codec.encode(text), EOS_ID] for text in texts]
    order = sorted(range(len(ids)), key=lambda i: len(ids[i]))
    found: dict[int, str] = {}
    for start in range(0, len(order), 100):
        some = order[start : start + 100]
        if say is not None and not start % 500:
            say(f"translating {start + 1} of {len(texts)}")
        outputs = book.greedy(subject.logits, [ids[i] for i in some], extra)
        found |= {i: codec.decode(output) for i, output in zip(some, outputs, strict=True)}
    return [found[i] for i in range(len(texts))]


def _losses(
    loop: Any, model: nn.Module, batches: Iterator[tuple[Tensor, Tensor]], n_updates: int
) -> Iterator[float]:
    try:
        yielded = loop(model, batches, n_updates)
        for loss in yielded if yielded is not None else ():
            yield float(loss)
    except NotImplementedError:
        raise TrainingError("`train` is not written yet") from None
    except Exception as error:  # whatever a reader's code raises
        raise TrainingError(judging.stopped("`train`", error)) from error


def _batches(n_updates: int, seed: int, minutes: float | None) -> Iterator[tuple[Tensor, Tensor]]:
    """Yield pairs of source and whole target, as many as there are updates."""
    task = translator.load_task()
    began = time.monotonic()
    settings = replace(task.plan.training, seed=seed)
    for _, (batch,) in zip(range(n_updates), updates(task.pairs("train"), settings), strict=False):
        if minutes is not None and time.monotonic() - began > 60 * minutes:
            return
        yield batch.source, torch.cat([batch.target_in[:, :1], batch.target_out], dim=1)


def _weights(model: nn.Module) -> Tensor:
    return torch.cat([p.detach().flatten().clone() for p in model.parameters()])
