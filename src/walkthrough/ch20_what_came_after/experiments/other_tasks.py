"""Experiments 20-bert and 20-images: an encoder alone, on sentences to judge and on digits."""

import copy
from itertools import product

from walkthrough.ch20_what_came_after import bert, images
from walkthrough.ch20_what_came_after.experiments import load_corpus
from walkthrough.ch20_what_came_after.experiments.compared import recipe_of
from walkthrough.lab import Arm, Experiment, Job, Loaded, Outcome

LABELS = (100, 400, 1600)
SIZES = (100, 300, 1200)
PRE_TRAINED, FROM_NOTHING = "pre-trained", "from nothing"
SHUFFLES = {"patches": 2, "pixels": 1}
"""What is put into another order → pixels a side."""
RIVALS = ("linear", "convolution", "ViT 2")


def judge(job: Job) -> Outcome:
    """Fine-tune an encoder on few labels, after guessing hidden words or from nothing."""
    words, splits = job.data.task.codec.vocabulary, job.data.task.book.splits()
    labelled = bert.judgements(splits["train"], seed=job.seed)
    test = bert.judgements(splits["test_sentences"], seed=job.seed)
    figures = {}
    if job.arm.name == PRE_TRAINED:
        sentences = [words.encode(example.source) for example in splits["train"]]
        body = bert.new_bert(job.data.vocab_size, seed=job.seed)
        bert.pretrain(body, sentences, recipe_of(job, bert.PRETRAINING.peak), seed=job.seed)
        figures["test/asked/accuracy"] = bert.asked(body, test, words)
    else:
        body = bert.new_bert(job.data.vocab_size, seed=job.seed + 100)
    for n in LABELS[:1] if job.small else LABELS:
        tuned = bert.fine_tune(copy.deepcopy(body), labelled[:n], words, seed=job.seed)
        figures[f"test/{n} labels/accuracy"] = bert.accuracy(tuned, test, words)
    return Outcome(figures=figures, extra={"sentences": len(test)})


def name_digits(job: Job) -> Outcome:
    """Train one model on the first digits; count which of the others it names."""
    kind, n, order = (job.arm.labels[name] for name in ("kind", "n_images", "order"))
    data, test = job.data
    if order in SHUFFLES:
        data, test = (
            images.shuffled(one, size=SHUFFLES[order], seed=job.seed) for one in (data, test)
        )
    some = images.Digits(data.images[:n], data.labels[:n])
    if kind == "linear":
        right = images.linear_share_right(some, test)
    else:
        recipe = recipe_of(job, images.RECIPE.peak)
        model = images.train_images(
            images.new_model(kind, seed=job.seed), some, recipe, seed=job.seed
        )
        right = images.share_right(model, test)
    return Outcome(figures={"test/-/accuracy": right})


def _arm(kind: str, n_images: int = SIZES[-1], order: str = "as is") -> Arm:
    named = f"{kind}, {n_images}" + (f", {order}" if order in SHUFFLES else "")
    return Arm(named, labels={"kind": kind, "n_images": n_images, "order": order})


EXPERIMENTS = [
    Experiment(
        name="20-bert",
        question="How many labels is it worth to have guessed hidden words before?",
        task=Loaded(load_corpus),
        base=FROM_NOTHING,
        arms=[Arm(PRE_TRAINED), Arm(FROM_NOTHING)],
        seeds=(1, 2, 3),
        lengths=(bert.PRETRAINING.updates,),
        run=judge,
    ),
    Experiment(
        name="20-images",
        question="Does a vision transformer name digits as well as models that know of pixels?",
        task=Loaded(images.digits),
        base=f"convolution, {SIZES[-1]}",
        arms=[
            *(_arm(kind, n) for kind, n in product(RIVALS, SIZES)),
            *(_arm(kind) for kind in ("ViT 4", "ViT 2 blind")),
            *(_arm(kind, order=order) for kind, order in product(RIVALS, SHUFFLES)),
        ],
        seeds=(1, 2, 3),
        lengths=(images.RECIPE.updates,),
        run=name_digits,
    ),
]
