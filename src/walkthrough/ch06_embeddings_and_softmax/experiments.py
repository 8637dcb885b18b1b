"""Experiment 06-tying: what one shared matrix and the factor √d_model are worth (§3.4).

The models are small translators of the phrasebook with a layer a side, as in chapter 05. A kind
changes whether the matrix is one and whether the factor is there, and nothing else.
"""

from walkthrough.lab import Arm, Choose, Experiment
from walkthrough.lab.measures import next_word, perplexity
from walkthrough.lab.one_layer import RECIPE, SIZES
from walkthrough.lab.tasks import phrasebook

WIDTHS = {**SIZES, "d_ff": 256}

KINDS = {
    "tied, factor": {},
    "tied, no factor": {"scale_embeddings": False},
    "untied, factor": {"tie_embeddings": False},
    "untied, no factor": {"tie_embeddings": False, "scale_embeddings": False},
}
"""What each kind changes in the configuration; the first is the paper's."""

EXPERIMENT = Experiment(
    name="06-tying",
    question="How fast do small translators learn with one matrix or three, with or without √d?",
    task=phrasebook(*RECIPE),
    base="tied, factor",
    arms=[Arm(kind, model={**WIDTHS, **changes}) for kind, changes in KINDS.items()],
    seeds=(1, 2, 3, 4, 5),
    rates=(1, 2, 4),
    rate_seeds=(1,),
    choose=Choose("valid/-/perplexity"),
    lengths=(200, 800),
    measures=[perplexity("valid"), next_word("valid")],
)
