"""Experiments 08-captions: norm and start on a real corpus, and whether a longer run helps (§3.1).

Nothing but the validation captions is looked at. The warm-up of the short runs is the preset's
share of them. The small start of the long run is the preset as it is.
"""

from walkthrough.lab import Arm, Experiment, Job, Measure, Outcome, Trained
from walkthrough.lab.hooks import command_line

PERPLEXITY = "valid/-/perplexity"


def last_perplexity(job: Job, trained: Trained) -> Outcome:
    """Return where the curve ends: the last update is validated."""
    del job
    return Outcome(
        figures={PERPLEXITY: [y for _, name, y in trained.curve if name == PERPLEXITY][-1]}
    )


MEASURES = [Measure((PERPLEXITY,), last_perplexity)]
POST_SMALL, POST_FULL = "post-norm, small start", "post-norm, full-size start"
PRE_SMALL, PRE_FULL = "pre-norm, small start", "pre-norm, full-size start"

SHORT = Experiment(
    name="08-captions",
    question="Do norm and start matter on real sentences as they do on the copying task?",
    task=command_line("multi30k-tiny", "training.warmup=200", "training.valid_every=250"),
    base=PRE_FULL,
    rival="none: the arms are one model, its norm and its start moved; all weights are as many",
    arms=[
        Arm(POST_SMALL, model={"norm": "post", "residual_init": "scaled"}),
        Arm(POST_FULL, model={"norm": "post", "residual_init": "xavier"}),
        Arm(PRE_SMALL, model={"norm": "pre", "residual_init": "scaled"}),
        Arm(PRE_FULL, model={"norm": "pre", "residual_init": "xavier"}),
    ],
    seeds=(1, 2, 3),
    lengths=(1500,),
    measures=MEASURES,
)
LONG = Experiment(
    name="08-captions-long",
    question="Does a run of four times as many updates close the gap of the full-size start?",
    task=command_line("multi30k-tiny"),
    base=POST_SMALL,
    rival="none: two starts of one model",
    arms=[
        Arm(POST_SMALL),
        Arm(POST_FULL, model={"residual_init": "xavier"}, train={"valid_every": 500}),
    ],
    seeds=(1,),
    lengths=(6000,),
    measures=MEASURES,
)
EXPERIMENTS = [SHORT, LONG]
