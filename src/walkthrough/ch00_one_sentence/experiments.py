"""What the translator says while it learns: one training, stopped now and then to ask (§5)."""

import time
from typing import Any

from transformer.inference.translate import Decoding, translate
from transformer.training import train
from transformer.training.history import Record
from walkthrough.lab.experiment import Arm, Experiment, Job, Outcome
from walkthrough.lab.tasks import phrasebook, settings_of
from walkthrough.lab.translator import new_model

SENTENCES = ("Jane visite l'Afrique en septembre.", "Jane cherche le chien noir.")
EVERY = 50


def ask_while_it_learns(job: Job) -> Outcome:
    """Train the preset's translator and keep what it says of `SENTENCES` every 50 updates.

    Asking changes nothing of the training: the weights end where they end without it.
    """
    task, decoding = job.data, Decoding(beam=1, extra_tokens=5)
    model = new_model(task, seed=job.seed)
    few = task.book.splits()["valid"][: len(SENTENCES)]  # a small corpus lacks some of the words
    sentences = [example.source_text for example in few] if job.small else list(SENTENCES)
    settings = settings_of(task.plan.training, job.arm, job.key).replace(log_every=EVERY)
    said: list[dict[str, Any]] = []
    losses: list[tuple[int, str, float]] = []

    def ask(update: int) -> None:
        model.eval()
        found = translate(model, task.codec, sentences, decoding)
        said.append({"update": update, "translations": [best.text for (best,) in found]})

    def listen(record: Record) -> None:
        losses.append((record.update, "train/-/loss", record.loss))
        ask(record.update)

    began = time.process_time()
    ask(0)
    train(model, task.pairs("train"), settings, progress=False, callbacks=[listen])
    return Outcome(
        figures={"train/-/loss": losses[-1][2]},
        curve=losses,
        extra={"sentences": sentences, "said": said},
        parameters=model.n_parameters,
        cpu_seconds=time.process_time() - began,
    )


EXPERIMENT = Experiment(
    name="00-first-words",
    question="What does the translator say while it learns?",
    rival="none: one arm, of which is shown what it says, and nothing is claimed of why",
    task=phrasebook(),
    arms=[Arm("as in chapter 14")],
    run=ask_while_it_learns,
    seeds=(1,),  # the seed of the weights that ship
    lengths=(900,),
)
