"""The smallest translator of the phrasebook: one layer a side, several runs a page (§3.3, §3.4)."""

from walkthrough.lab import translator

SIZES = {"d_model": 64, "n_heads": 4, "n_layers": 1}
RECIPE = ("training.warmup=50", "training.max_tokens=1280", "training.accumulate=1")


def load_task(**sizes: int) -> translator.Task:
    """Return the phrasebook with this experiment's recipe; see `translator.load_task`."""
    return translator.load_task(RECIPE, **sizes)
