"""Experiments 20-bert, 20-unmask, 20-images: an encoder that judges, writes, names digits."""

import copy
from functools import cache
from itertools import product
from typing import cast

import torch

from walkthrough.ch20_what_came_after import bert, images, unmask
from walkthrough.ch20_what_came_after.experiments import N_DECODED, Corpus, load_corpus
from walkthrough.ch20_what_came_after.experiments.compared import recipe_of
from walkthrough.ch20_what_came_after.stream import Stack
from walkthrough.ch20_what_came_after.training import Recipe
from walkthrough.lab import Arm, Experiment, Job, Loaded, Outcome

LABELS = (100, 400, 1600)
SIZES = (100, 300, 1000)
PRE_TRAINED, FROM_NOTHING, TABLE = "pre-trained", "from nothing", "two-word table"
RIVALS = ("convolution", "ViT")


@cache
def guessing(seed: int, *, small: bool = False) -> Stack:
    """Return an encoder that has guessed hidden words: the same one for each rate and length."""
    recipe = Recipe(updates=20, warmup=10) if small else bert.PRETRAINING
    corpus = load_corpus()
    words = corpus.task.codec.vocabulary
    sentences = [words.encode(example.source) for example in corpus.task.book.train]
    return bert.pretrain(bert.new_bert(corpus.vocab_size, seed=seed), sentences, recipe, seed=seed)


def judge(job: Job) -> Outcome:
    """Fine-tune an encoder on few labels, after guessing hidden words or from nothing.

    Rate and length are those of fine-tuning; the guessing before it is always the same.
    """
    words, splits = job.data.task.codec.vocabulary, job.data.task.book.splits()
    judged = {
        name: bert.judgements(splits[split], seed=job.seed)
        for name, split in (("train", "train"), ("valid", "valid"), ("test", "test_sentences"))
    }
    figures = {}
    if job.arm.name == PRE_TRAINED:
        body = guessing(job.seed, small=job.small)
        figures["test/asked/accuracy"] = bert.asked(body, judged["test"], words)
    else:
        body = bert.new_bert(job.data.vocab_size, seed=job.seed + 100)
    recipe = recipe_of(job, bert.FINE_TUNING.peak)
    for n in LABELS[:1] if job.small else LABELS:
        some = judged["train"][:n]
        tuned = bert.fine_tune(copy.deepcopy(body), some, words, recipe, seed=job.seed)
        for split in ("valid", "test"):
            figures[f"{split}/{n} labels/accuracy"] = bert.accuracy(tuned, judged[split], words)
    return Outcome(figures=figures, extra={"sentences": len(judged["test"])})


def count_pairs(job: Job) -> Outcome:
    """Judge by a table of the pairs of words that the same sentences have: nothing is trained."""
    book = job.data.task.book
    judged = bert.judgements(book.splits()["test_sentences"], seed=job.seed)
    right = bert.counted(judged, [example.source for example in book.train])
    return Outcome(figures={"test/asked/accuracy": right}, extra={"sentences": len(judged)})


@cache
def unmasker(updates: int, peak: float, *, seed: int) -> tuple[Corpus, Stack, float]:
    """Return an encoder that guesses hidden words of a translation; and its loss on new ones."""
    corpus, recipe = load_corpus(), Recipe(updates=updates, warmup=updates // 10 or 1, peak=peak)
    body = bert.new_bert(corpus.vocab_size, seed=seed)
    model = unmask.train_unmasking(body, corpus.train, recipe, seed=seed)
    generator = torch.Generator().manual_seed(0)
    with torch.no_grad():
        loss = unmask.unmasking_loss(model, unmask.rows(corpus.valid), generator)
    return corpus, model, float(loss)


def write(job: Job) -> Outcome:
    """Translate in the order of the arm; the model is the same in all of them."""
    peak = bert.PRETRAINING.peak * job.key.rate
    corpus, model, loss = unmasker(job.length, peak, seed=job.seed)
    test = corpus.test[:N_DECODED]
    order = cast(unmask.Order, job.arm.name)
    said, passes = unmask.written(model, [source for source, _ in test], order)
    right = sum(words == target for words, (_, target) in zip(said, test, strict=True))
    extra = {"words a pass": sum(len(target) + 1 for _, target in test) / sum(passes)}
    figures = {"valid/-/loss": loss, "test/-/exact": right / len(test)}
    return Outcome(figures=figures, extra=extra, parameters=model.n_parameters)


def name_digits(job: Job) -> Outcome:
    """Train one model on the first digits; count which of the others it names."""
    kind, n = job.arm.labels["kind"], job.arm.labels["n_images"]
    data, test = job.data
    some = images.Digits(data.images[:n], data.labels[:n])
    model = images.new_model(kind, seed=job.seed)
    images.train_images(model, some, recipe_of(job, images.RECIPE.peak), seed=job.seed)
    return Outcome(figures={"test/-/accuracy": images.share_right(model, test)})


EXPERIMENTS = [
    Experiment(
        name="20-bert",
        question="How many labels is it worth to have guessed hidden words before?",
        task=Loaded(load_corpus),
        base=FROM_NOTHING,
        rival=TABLE,
        arms=[Arm(PRE_TRAINED), Arm(FROM_NOTHING), Arm(TABLE, rates=(1,), run=count_pairs)],
        rates=(0.1, 0.3, 1, 2, 4),
        rate_seeds=(1,),
        choose="valid/1600 labels/accuracy",
        lengths=(300, 1200),
        run=judge,
    ),
    Experiment(
        name="20-unmask",
        question="How many words can a pass write, if any order of writing is allowed?",
        task=Loaded(),
        base="left to right",
        rival="all at once",
        arms=[Arm(order) for order in unmask.ORDERS],
        rates=(1, 2, 4),
        rate_seeds=(1,),
        choose="valid/-/loss",
        lengths=(1000,),
        run=write,
    ),
    Experiment(
        name="20-images",
        question="Does a vision transformer name digits as well as a convolution?",
        task=Loaded(images.digits),
        base=f"convolution, {SIZES[-1]}",
        rival="a linear model of the pixels, which the page trains beside these",
        arms=[
            Arm(f"{kind}, {n}", labels={"kind": kind, "n_images": n})
            for kind, n in product(RIVALS, SIZES)
        ],
        rates=(0.3, 1, 4),
        rate_seeds=(1, 2),
        lengths=(300, 900),
        run=name_digits,
    ),
]
