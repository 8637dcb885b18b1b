"""Experiment 16-penalty: is the length penalty that validation captions choose right for others?

Twelve runs older than the chapter's: three seeds, each at four stages. Every one chose its penalty
on the validation captions and was decoded on the captions of 2016 with it and with the paper's 0.6.
They were made one after another, and scored there in four ways, so nothing else rests on them. What
goes on from another run had a seed of its own; made again, it takes the seed of the run before it.
And each run chose for itself; made again, an arm chooses once.
"""

from walkthrough.lab import Arm, Experiment
from walkthrough.lab.hooks import Decoding, command_line, evaluated

TEST = "test_2016_flickr"
TRIED = [Decoding(5, alpha, 5) for alpha in (0.6, 1.0, 1.6)]
R_DROP = {"warmup": 200, "peak": 0.0015, "max_updates": 4000, "save_every": 400}
R_DROP |= {"r_drop": 2, "accumulate": 2}

EXPERIMENT = Experiment(
    name="16-penalty",
    question="Is the length penalty that validation captions choose right for other captions?",
    task=command_line("multi30k-tiny"),
    base="longer",
    rival="none: what is compared are penalties, on the same runs",
    arms=[
        Arm("longer", train={"max_updates": 10500}),
        Arm("R-Drop", train=R_DROP, starts_from="longer"),
        Arm("R-Drop twice", train=R_DROP, starts_from="R-Drop"),
        Arm("R-Drop three times", train=R_DROP, starts_from="R-Drop twice"),
    ],
    seeds=(2, 3, 4),
    measures=[evaluated("val", TRIED, scores=("bleu",))],
    tests=[
        evaluated(TEST, [Decoding(), Decoding(5), Decoding(5, 0.6, 5)], scores=("bleu",)),
        evaluated(TEST, TRIED, chosen_on="val/bleu", scores=("bleu",)),
    ],
)


def gains() -> str:
    """Return what the chosen penalty gained over 0.6, where it was chosen and where it was not."""
    frame, lines = EXPERIMENT.frame(), []
    chosen = {"val": frame.filter(like="val/").max(axis=1), TEST: frame[f"{TEST}/chosen/bleu"]}
    for name, (split, bleu) in zip(("validation", "test 2016"), chosen.items(), strict=True):
        gain = bleu - frame[f"{split}/beam5-a0.6-mean5/bleu"]
        won = f"a gain in {(gain > 0).sum()} of {len(gain)}"
        lines.append(f"{name:10}  {gain.mean():+.2f} BLEU, {won}")
    return "\n".join(lines)
