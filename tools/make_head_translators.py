"""Train the two translators whose heads chapter 19 looks at, and write their weights.

    python tools/make_head_translators.py       # → results/phrasebook-heads-*.safetensors

They are the runs of `19-heads` with seed 1: two minutes. The weights have 16 bits, as measured.
"""

import json

import torch

from transformer.cli.surroundings import surroundings
from transformer.training.checkpoint import unique_weights, write_tensors
from walkthrough.ch19_what_the_heads_attend_to.experiments import asking

SEED = 1


def main() -> int:
    """Train, write."""
    torch.set_num_threads(1)
    for language in ("en", "fr"):
        translator = asking.train_translator(language, asking.SETTINGS.replace(seed=SEED))
        metadata = {
            "config": json.dumps(translator.model.config.to_dict()),
            "notes": json.dumps({**surroundings(), "seed": SEED}),
            "tokenizer": translator.codec.to_text(),
        }
        weights = {name: value.half() for name, value in unique_weights(translator.model).items()}
        write_tensors(asking.FOLDER / asking.checkpoint_name(language), weights, metadata)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
