"""Experiment 16-published: Multi30k by the published protocol, and past it.

Both rows, the decoding and a rule for a start that fails were settled and committed before a run of
either ended. Row "published" is the text-only Transformer-Tiny of Wu et al. (2021) as its authors'
files have it; nothing is chosen here. Row "ours" differs by two settings, each with its reason:

1. R-Drop with weight 2: in our older runs (`16-penalty`) the long ones with it reached more than
   those without, on the validation captions.
2. No early stop: all 8 000 updates, some 55 million target tokens.

Decoding is the published one in both rows: the mean of the last ten epochs' checkpoints, five
beams, log probability divided by length. It was fixed before any score, also on validation.

The rule: should a run of "published" with the published start, Xavier's, not begin to read its
source (a validation perplexity above 25 after 20 epochs), its residual branches start small, as
everywhere in this book (chapter 08). All three were above it, and began anew; their records say
where they stood (`extra`, "xavier").
"""

from collections.abc import Mapping
from itertools import product
from typing import Any

import pandas as pd

from transformer.training.run_folder import read_json
from walkthrough.ch16_translation.experiments.published import WU_2021
from walkthrough.lab import Arm, Experiment, Job, Trained
from walkthrough.lab.hooks import Decoding, command_line, evaluated

UPDATES = 8000
AN_EPOCH = 62  # updates of some 7 000 target tokens, as with two batches of at most 4 096 tokens
DECODING = Decoding(beam=5, alpha=None, average=10)
TESTS = {
    "test_2016_flickr": "2016",
    "test_2017_flickr": "2017",
    "test_2017_mscoco": "COCO",
    "test_2018_flickr": "2018",
}
SOURCE_WORDS = {
    "val": 13_308,
    "test_2016_flickr": 12_968,
    "test_2017_flickr": 11_376,
    "test_2017_mscoco": 5_239,
}
"""Tokens of the English captions, counted in the files whose checksums `multi30k` names."""
PROTOCOL = (
    "data.source_language=en",
    "data.target_language=de",
    "model.dropout=0.3",
    "training.precision=float32",
    "training.max_tokens=8192",
    "training.accumulate=1",
    "training.schedule=inverse_sqrt",
    "training.peak=0.005",
    "training.warmup=2000",
    "training.clip=25",
    f"training.valid_every={AN_EPOCH}",
    f"training.save_every={AN_EPOCH}",
    f"training.log_every={AN_EPOCH}",
    "training.keep=10",
)


def how_trained(job: Job, trained: Trained) -> Mapping[str, Any]:
    """Return what the run folder says of its own making: runs may be measured elsewhere."""
    told = read_json(trained.model / "settings.json")
    names = ("command", "commit", "date", "processor", "gpu", "cores", "python", "torch")
    found = {"trained": {name: told.get(name) for name in names}}
    return found | ({"xavier": told["xavier"]} if "xavier" in told else {})


EXPERIMENT = Experiment(
    name="16-published",
    question="What does the published protocol reach on Multi30k, and what does R-Drop add to it?",
    task=command_line("multi30k-tiny", *PROTOCOL),
    base="published",
    rival="none: the published protocol is what ours is held against",
    arms=[
        Arm("published", train={"patience": 10}, after=how_trained),
        Arm("ours", train={"r_drop": 2.0}, after=how_trained),
    ],
    seeds=(1, 2, 3),
    lengths=(UPDATES,),
    measures=[evaluated("val", [DECODING])],
    tests=[evaluated(split, [DECODING]) for split in TESTS],
)


def lengths(
    frame: pd.DataFrame, splits: Mapping[str, str] = TESTS, decode: str = DECODING.name
) -> dict[str, list[float]]:
    """Return how long each run's outputs are on each split, as a share of its references."""
    return {
        name: (frame[f"{split}/{decode}/hypothesis_len"] / reference_len(frame, split)).tolist()
        for split, name in splits.items()
    }


def reference_len(frame: pd.DataFrame, split: str) -> int:
    """Return the tokens of a split's references, as its runs recorded them."""
    (found,) = {int(n) for n in frame.filter(like=f"{split}/").filter(like="reference").stack()}
    return found


def precisions_alone(frame: pd.DataFrame, split: str) -> "pd.Series[float]":
    """Return BLEU of each run without its brevity penalty: how right what was written is."""
    figure = f"{split}/{DECODING.name}"
    return frame[f"{figure}/bleu"] / frame[f"{figure}/brevity_penalty"]


def score_table(frame: pd.DataFrame) -> str:
    """Return a line an arm and test set: BLEU of the seeds, and the mean length of the outputs.

    BLEU is the mean, with the lowest and the highest; beside it the mean of the precisions alone,
    without the brevity penalty. The last line is the published run.
    """
    rows = {}
    for (arm, runs), (split, name) in product(frame.groupby("arm", sort=False), TESTS.items()):
        bleu = runs[f"{split}/{DECODING.name}/bleu"]
        outputs = runs[f"{split}/{DECODING.name}/hypothesis_len"].mean()
        wanted = reference_len(runs, split)
        rows[arm, name] = {
            "BLEU": f"{bleu.mean():.2f} ({bleu.min():.2f}–{bleu.max():.2f})",
            "precisions": f"{precisions_alone(runs, split).mean():.2f}",
            "outputs": f"{outputs:.0f}",
            "references": str(wanted),
            "ratio": f"{outputs / wanted:.3f}",
        }
    rows["as printed", "2016"] = {
        "BLEU": f"{WU_2021.bleu}",
        "precisions": f"{WU_2021.precisions_alone:.2f}",
        "outputs": f"{WU_2021.hypothesis_len}",
        "references": f"{WU_2021.reference_len}",
        "ratio": f"{WU_2021.hypothesis_len / WU_2021.reference_len:.3f}",
    }
    return str(pd.DataFrame(rows).T.to_string())
