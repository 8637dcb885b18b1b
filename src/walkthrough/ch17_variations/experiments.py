"""Table 3 in small: its rows on the phrasebook and on captions, paired by seed (§6.2).

On the phrasebook a row and base of the same seed see the same batches in the same order, and every
matrix that has one shape in both starts from the same numbers. On captions, where the command line
trains, they share the batches. Of captions nothing but the validation split is looked at.
"""

from math import sqrt
from typing import Any

import torch

from transformer.model import Transformer
from walkthrough.ch17_variations.rows import BASE, CONTROL, ROWS, TRAINED, Row, in_small
from walkthrough.lab import Arm, Experiment, Job, translator
from walkthrough.lab.hooks import command_line, evaluated
from walkthrough.lab.measures import exact, perplexity
from walkthrough.lab.tasks import phrasebook

WIDTH, DEPTH = 8, 2
"""Widths are an eighth of the paper's, stacks half as high: d_model 64, N 3."""
MAX_LEN = 128
"""Positions to learn: the longest source and the 50 tokens that decoding may add fit."""
EARLY, UPDATES = 200, 600
PEAK = 3e-3
OTHER_RATES = {
    "C N=2": (1, 2, 4, 8),
    "C N=8": (0.5, 1, 2),
    "C d_model=1024": (0.5, 1, 2),
    "C d_ff=4096": (0.5, 1, 2),
    CONTROL: (0.5, 1, 2, 4),
}
"""Multiples of the planned rate for rows whose best one lies elsewhere than base's."""
SPLITS = ("test_sentences", "test_combinations")
ON_CAPTIONS = ("A h=1", "B d_k=16", "C N=2", "D dropout=0.0", "E learned positions")
_LAST_OF_BRANCH = ("output_proj.weight", "contract.weight")
_SIZES = ("d_model", "d_ff", "n_heads", "n_layers", "d_k", "d_v", "dropout", "positions")


def settings_of_row(row: Row, *, width: int = WIDTH, max_len: int = MAX_LEN) -> dict[str, Any]:
    """Return the settings of a row's model in small, by name."""
    config = in_small(row, width=width, depth=DEPTH, max_len=max_len)
    return {name: getattr(config, name) for name in _SIZES}


def new_model(task: translator.Task, row: Row, *, seed: int) -> Transformer:
    """Return an untrained model of a row that starts, where shapes agree, where base starts."""
    base, model = (_fresh(task, one, seed) for one in (ROWS[BASE], row))
    # the last matrix of a branch starts smaller in a deeper stack (chapter 08)
    branch = sqrt(base.config.n_layers / model.config.n_layers)
    start = dict(base.named_parameters())
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if name in start and start[name].shape == parameter.shape:
                scale = branch if name.endswith(_LAST_OF_BRANCH) else 1.0
                parameter.copy_(scale * start[name])
    return model


def _fresh(task: translator.Task, row: Row, seed: int) -> Transformer:
    config = in_small(row, width=WIDTH, depth=DEPTH, max_len=MAX_LEN)
    torch.manual_seed(seed)
    return Transformer(config.replace(vocab_size=len(task.codec)))


def as_base(job: Job) -> Transformer:
    """Build the model of an arm."""
    return new_model(job.data, TRAINED[job.arm.name], seed=job.seed)


def _arm(row: Row, **how: Any) -> Arm:
    """Return the arm of a row. As in Equation 3, the rate falls with √d_model."""
    peak = PEAK * sqrt(ROWS[BASE].config.d_model / row.config.d_model)
    return Arm(row.name, train={"smoothing": row.smoothing, "peak": peak}, **how)


TABLE_3 = Experiment(
    name="17-table-3",
    question="Which rows of Table 3 differ from base in small, and which way?",
    task=phrasebook("training.max_tokens=320", "training.warmup=100"),
    base=BASE,
    rival="B d_k=16, wider",  # for the rows that lose weights: fewer keys, and base's weights
    arms=[
        _arm(row, model=settings_of_row(row), build=as_base, rates=OTHER_RATES.get(row.name, ()))
        for row in TRAINED.values()
    ],
    rates=(1, 2, 4),
    choose="valid/-/perplexity",
    lengths=(EARLY, UPDATES),
    measures=[perplexity("valid", *SPLITS), exact("test_sentences", first=300)],
)
"""Base, A h=1 and E were run at the planned rate as well, with `--rates 1 --lengths 600`."""
CAPTIONS = Experiment(
    name="17-captions",
    question="Do a row of each letter of Table 3 and base differ on real captions?",
    task=command_line("multi30k-tiny", "training.warmup=200", "training.valid_every=250"),
    base=BASE,
    rival="none: the rows lose or win weights, and at 1 500 updates none was matched",
    arms=[
        _arm(ROWS[name], model=settings_of_row(ROWS[name], width=4, max_len=256) | {"max_len": 256})
        for name in (BASE, *ON_CAPTIONS)
    ],
    seeds=(1, 2, 3),
    lengths=(1500,),
    measures=[evaluated("val", scores=("bleu", "chrf", "exact", "perplexity"))],
)
EXPERIMENTS = [TABLE_3, CAPTIONS]
