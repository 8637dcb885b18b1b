"""Experiment 08-norms: each norm with each start on the copying task, in five schedules (§3.1)."""

from itertools import product

from walkthrough.lab import Arm, Experiment
from walkthrough.lab.copying import WARMUP
from walkthrough.lab.measures import copied
from walkthrough.lab.tasks import copying

KINDS = {
    ("post", "scaled"): "post-norm, small start",
    ("post", "xavier"): "post-norm, full-size start",
    ("pre", "scaled"): "pre-norm, small start",
    ("pre", "xavier"): "pre-norm, full-size start",
}
"""Names of the four kinds of model, by `norm` and `residual_init`, in the order of the legend."""
ONE_STACK = {
    ("post", "encoder"): "post-norm, small start in the encoder only",
    ("post", "decoder"): "post-norm, small start in the decoder only",
}
"""The two kinds that start small in one stack."""
WARMUPS = {200: "warm-up 200", 1: "no warm-up"}
FEW = (0, 1, 2)


def arm(
    key: tuple[str, str],
    warmup: int = WARMUP,
    *,
    seeds: tuple[int, ...] = (),
    rates: tuple[int, ...] = (),
) -> Arm:
    """Return the arm of a norm and a start."""
    norm, start = key
    kind = {**KINDS, **ONE_STACK}[key]
    return Arm(
        kind if warmup == WARMUP else f"{kind}, {WARMUPS[warmup]}",
        model={"norm": norm, "residual_init": start},
        train={"warmup": warmup},
        labels={"kind": kind, "warmup": WARMUPS.get(warmup, f"warm-up {warmup}")},
        seeds=seeds,
        rates=rates,
    )


EXPERIMENT = Experiment(
    name="08-norms",
    question="Which norm learns to copy sooner, with branches that start small or at full size?",
    task=copying(),
    base=KINDS["post", "scaled"],
    rival="guessing, a loss of ln 16: who has not come down to .5 counts as not having learned",
    arms=[
        *(arm(key) for key in KINDS),
        *(arm(key, rates=(1,)) for key in ONE_STACK),
        *(arm(key, n, seeds=FEW, rates=(1,)) for n, key in product(WARMUPS, KINDS)),
    ],
    seeds=range(10),
    rates=(0.5, 1, 2),
    rate_seeds=FEW,
    lengths=(800,),
    measures=[copied()],
)
