"""Slips that people make when they write the model down: lines of `somebodys.py`, exchanged."""

from pathlib import Path
from types import ModuleType

import torch
from torch import nn

from walkthrough.ch23_is_yours_right import somebodys

NO_SLIP = "none"
SLIPS: dict[str, tuple[tuple[str, str], ...]] = {
    NO_SLIP: (),
    "a merge without the exchange": (("heads.transpose(1, 2).reshape(", "heads.reshape("),),
    "a triangle one place too wide": ((".tril()", ".tril(1)"),),
    "a mask in training only": (("& no_future\n", "& (no_future if self.training else True)\n"),),
    "a look without its mask": (
        ("y, x, target_mask, source_mask)", "y, x, target_mask, torch.ones_like(source_mask))"),
    ),
    "one layer, twice": (
        (
            "[DecoderLayer(*sizes) for _ in range(n_layers)]",
            "[DecoderLayer(*sizes)] * n_layers",
        ),
    ),
    "a network thrown away": (
        (
            "return self.norm2(x + self.dropout(self.feed_forward(x)))",
            "self.norm2(x + self.dropout(self.feed_forward(x)))\n        return x",
        ),
    ),
    "doubled exponents": (
        ("math.sin(position / 10000 ** (pair / ", "math.sin(position / 10000 ** (2 * pair / "),
        (
            "math.cos(position / 10000 ** (pair / ",
            "math.cos(position / 10000 ** (2 * (pair + 1) / ",
        ),
    ),
}
"""By what the slip is: the pieces of text that it exchanges, right and wrong."""
FIVE = (
    "a merge without the exchange",
    "a triangle one place too wide",
    "a look without its mask",
    "one layer, twice",
    "doubled exponents",
)
"""Those of the exercise's file."""


def text_of(*slips: str) -> str:
    """Return the file with these slips in it.

    Raises:
        KeyError: no such slip.
    """
    text = Path(somebodys.__file__).read_text(encoding="utf-8")
    for slip in slips:
        for right, wrong in SLIPS[slip]:
            text = text.replace(right, wrong)
    return text


def build(text: str, *, seed: int = 0, **sizes: float) -> nn.Module:
    """Return the untrained model of a file's text; whatever the text raises is raised.

    Raises:
        NameError: the text defines no `Translator`.
    """
    module = ModuleType("somebodys_transformer")
    exec(compile(text, "somebodys_transformer.py", "exec"), vars(module))
    if not hasattr(module, "Translator"):
        raise NameError("the file defines no class `Translator`")
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model: nn.Module = module.Translator(**sizes)
    return model
