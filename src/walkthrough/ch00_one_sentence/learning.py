"""What the translator says while it learns: the same training, stopped now and then to ask (§5)."""

from dataclasses import dataclass

from transformer.inference.translate import Decoding, translate
from transformer.training import train
from transformer.training.history import Record
from walkthrough.lab.translator import Task, new_model

SENTENCES = ("Jane visite l'Afrique en septembre.", "Jane cherche le chien noir.")
EVERY, EXTRA_WORDS = 50, 5


@dataclass(frozen=True)
class Said:
    """The greedy translations after so many updates, and the mean loss of those updates."""

    update: int
    loss: float | None
    translations: list[str]


def what_it_says(task: Task, *, seed: int, updates: int | None = None) -> list[Said]:
    """Train the preset's translator; return what it says of `SENTENCES` every 50 updates.

    Asking changes nothing of the training: the weights end where they end without it.
    """
    model = new_model(task, seed=seed)
    settings = task.plan.training.replace(seed=seed, threads=1, log_every=EVERY)
    if updates is not None:
        settings = settings.replace(max_updates=updates)
    decoding = Decoding(beam=1, extra_tokens=EXTRA_WORDS)

    def asked(update: int, loss: float | None) -> Said:
        model.eval()
        found = translate(model, task.codec, SENTENCES, decoding)
        return Said(update, loss, [best.text for (best,) in found])

    story = [asked(0, None)]

    def listen(record: Record) -> None:
        story.append(asked(record.update, record.loss))

    train(model, task.pairs("train"), settings, progress=False, callbacks=[listen])
    return story
