"""Train a translator whose weights ship, and write them to results/.

    python -m tools.book.weights half-trained     # chapters 13, 15, 16: stopped early, one minute
    python -m tools.book.weights heads            # chapter 19: the runs of `19-heads`, seed 1, two
    python -m tools.book.weights page             # chapters 00 and 21: chapter 14's recipe, two
    python -m tools.book.weights graphs           # what `page` computes, without its weights, one

One core each. The corpus is ours, so the weights may stand in the repository. Those of `heads` and
`page` are stored as 16-bit numbers, and what their notes say was measured after that rounding.
"""

import argparse
import copy
import time
from pathlib import Path
from typing import Any

import torch

from transformer.cli.surroundings import surroundings
from transformer.model import Transformer
from transformer.training import load_model, save_checkpoint, train
from walkthrough.ch15_decoding.experiments import averaging
from walkthrough.ch19_what_the_heads_attend_to.experiments import asking
from walkthrough.ch21_translate_in_your_browser import graphs
from walkthrough.lab import Arm, Key, half_trained, translator
from walkthrough.lab.tasks import settings_of
from walkthrough.page.results import FOLDER

SEED = 1
PAGE = FOLDER / "phrasebook-translator.safetensors"
SPLITS = ("valid", "test_sentences", "test_combinations")


def written(path: Path, model: Transformer, tokenizer: str, **notes: Any) -> Path:
    """Write a model and where it comes from."""
    save_checkpoint(path, model, tokenizer=tokenizer, **notes)
    print(f"{path}: {path.stat().st_size / 1e6:.2f} MB", flush=True)
    return path


def make_half_trained(origin: dict[str, Any]) -> None:
    """A small translator, stopped so early that searches disagree."""
    task = averaging.TASK.load(small=False)
    key = Key("half-trained", length=half_trained.UPDATES, seed=half_trained.SEED)
    settings = settings_of(task.plan.training, Arm(key.arm), key)
    model = averaging.train_small(task, settings)
    origin |= {"seed": key.seed, "pairs": averaging.N_PAIRS, "training": settings.to_dict()}
    written(half_trained.WEIGHTS, model, task.codec.to_text(), **origin)


def make_heads(origin: dict[str, Any]) -> None:
    """Two translators, one from each language."""
    for language in ("en", "fr"):
        made = asking.train_translator(language, asking.SETTINGS.replace(seed=SEED))
        path = asking.FOLDER / asking.checkpoint_name(language)
        written(path, made.model.half(), made.codec.to_text(), **origin, seed=SEED)


def make_page(origin: dict[str, Any]) -> None:
    """The translator that runs in the reader's browser; what it gets right is measured."""
    task, began = translator.load_task(), time.process_time()
    model = translator.new_model(task, seed=SEED)
    settings = task.plan.training.replace(seed=SEED, threads=1)
    records = train(model, task.pairs("train"), settings, progress=False).records
    origin |= {"seed": SEED, "cpu_seconds": time.process_time() - began}
    origin |= {"target_tokens": records[-1].tokens, "training": task.plan.training.to_dict()}
    half, splits = copy.deepcopy(model).half(), task.book.splits()
    rounded = load_model(written(PAGE, half, task.codec.to_text(), **origin))  # kept in any case
    exact = {name: translator.exact_match(rounded, task, splits[name][:1000]) for name in SPLITS}
    written(PAGE, half, task.codec.to_text(), **origin, exact=exact)


def make_graphs(_: dict[str, Any]) -> None:
    """The graphs into which a reader's weights are put; traced after a change of the model."""
    graphs.write(load_model(PAGE))
    print(f"{graphs.ARCHIVE}: {graphs.ARCHIVE.stat().st_size / 1e6:.2f} MB", flush=True)


MAKERS = {
    "half-trained": make_half_trained,
    "heads": make_heads,
    "page": make_page,
    "graphs": make_graphs,
}


def main() -> None:
    """Train, write."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("which", choices=MAKERS)
    which = parser.parse_args().which
    torch.set_num_threads(1)
    # before the run: the commit that it runs
    MAKERS[which]({**surroundings(), "command": f"python -m tools.book.weights {which}"})


if __name__ == "__main__":
    main()
