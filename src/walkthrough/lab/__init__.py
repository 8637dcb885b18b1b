"""The laboratory: experiments declared, run, recorded and compared in one way.

    python -m walkthrough.lab list                       # every experiment
    python -m walkthrough.lab run 05-width --jobs 2      # what its record lacks
    python -m walkthrough.lab run 05-width --seeds 4 5 --lengths 2000 --arms none 256
    python -m walkthrough.lab run 05-width --share 0.01  # to see that it runs, into runs/lab
    python -m walkthrough.lab compare 05-width --figure test_combinations/exact
    python -m walkthrough.lab status | again | check 05-width | look 16-recipe

**Declare** an experiment in the room of its chapter, as `EXPERIMENT` (or `EXPERIMENTS`, a list) of
`chNN_slug/experiments/name.py` or `chNN_slug/experiments.py`:

    EXPERIMENT = Experiment(
        name="05-width",                       # the chapter's number, then words
        question="Does a wider network translate more new combinations?",
        task=phrasebook("model.n_layers=1", "training.warmup=50"),    # lab.tasks
        base="none", rival="256, no ReLU",     # what knows nothing and could look the same
        arms=[Arm("none", build=silent), Arm("256", model={"d_ff": 256})],
        seeds=range(1, 11),                    # ten pairs, if you say nothing: one start, one order
        rates=(0.5, 1, 2),                     # multiples of each arm's own peak
        rate_seeds=(1, 2, 3), choose="valid/perplexity",   # at each length, for each arm
        lengths=(600, 2400),                   # updates; the claim is made at the last
        measures=[perplexity("valid"), exact("test_combinations")],   # lab.measures
    )

A run is named by its `Key`: arm, rate, length, seed, and by nothing else. Whatever else differed
between two runs of an old record (size, data, decoding) is an arm, or a figure. An arm may have
`seeds` and `rates` of its own.

**What an arm changes**, from the least to the most: `model`, `train`, `data` (settings of the
task); `build(job)` returns the untrained model; `after(job, trained)` returns extras, nested as you
like, kept under `extra` and never compared; `run(job)` returns an `Outcome` of its own and stands
in place of training and measures: the way out for everything that settings cannot say. It may
stand on the experiment as well, for all arms. A `job` has `experiment`, `arm`, `key`, `data` (what
the task loaded), `seed`, `length`, `small`. Use `job.key.rate` times a peak and `job.length`
updates, or the grid of rates and `--lengths` mean nothing. Code that a declaration uses is a
function with a name, never a lambda: its name is part of the declaration's fingerprint.
Something loaded by a function of your own: `task=Loaded(load_corpus)`, or `Loaded()` where all is
drawn at random. Runs of hours that train with `python -m transformer`:
`task=command_line("multi30k-tiny")`, `measures=[evaluated("val")]`,
`tests=[evaluated("test_2016_flickr", grid, chosen_on="val/bleu")]` (lab.hooks).

**Figures** are named `split/decode/measure`, "-" where nothing is decoded: `valid/-/perplexity`,
`test/beam5-a0.6/bleu`. Give the parts that tell it apart: `valid/perplexity`. Which way a measure
is better stands in `lab.measures.SCALES`. A score that a test set decides also keeps `counts`, a
row a sentence, and gets an interval over sentences. Anything that is no number for comparing goes
into `extra`; anything that grows with the updates into `curve`, as (update, figure, value).

**Read** a record: `EXPERIMENT.frame()` is a pandas table of the declared arms, one row a run, one
column a figure, and the arms' `labels`; `frame(name)`, `scores(name)` (split, decode, measure,
value), `curves(name)` need no declaration. **Say** what it shows: `compare(name, ours, base,
figure=…)` has `.verdict`, `.phrase()`, `.mean`, `.low`, `.high`, `.wins`; `card(…)` is its picture
with its sentence. `live(name, arm, seeds=(1,), length=150)` runs a little of it beside the record.
"""

from typing import Any

from walkthrough.lab.comparison import Comparison, compare, holm
from walkthrough.lab.experiment import (
    Arm,
    Experiment,
    Job,
    Measure,
    Outcome,
    Trained,
)
from walkthrough.lab.keys import Key
from walkthrough.lab.live import run_live
from walkthrough.lab.runner import run
from walkthrough.lab.store import curves, frame, scores
from walkthrough.lab.tasks import Loaded

live = run_live

__all__ = [
    "Arm",
    "Comparison",
    "Experiment",
    "Job",
    "Key",
    "Loaded",
    "Measure",
    "Outcome",
    "Trained",
    "card",
    "compare",
    "curves",
    "frame",
    "holm",
    "live",
    "run",
    "scores",
]


def card(*what: Any, **how: Any) -> Any:
    """Return the evidence card of a comparison; see `lab.cards.card`."""
    from walkthrough.lab import cards  # matplotlib takes half a second

    return cards.card(*what, **how)
