"""The half-trained translator that chapters 13, 15 and 16 ask (§5.4, §6.1).

A translator that has learnt all of the phrasebook is nearly always sure, and all searches agree.
This one is small and stopped early, so that there is something to find and something to miss. Its
weights are in `results/`; `python -m tools.book.weights half-trained` makes them.
"""

from pathlib import Path

from phrasebook.codec import PhrasebookCodec
from transformer.data.codec import codec_from_text
from transformer.model import Transformer
from transformer.training import load_checkpoint
from walkthrough.page.results import FOLDER

WEIGHTS = FOLDER / "phrasebook-half-trained.safetensors"
SEED, UPDATES = 1, 300


def load_translator(weights: Path = WEIGHTS) -> tuple[Transformer, PhrasebookCodec]:
    """Return a stored translator of the phrasebook, in evaluation mode, and its vocabulary.

    Raises:
        FileNotFoundError: the weights are not there.
        ValueError: the file holds another kind of vocabulary.
    """
    checkpoint = load_checkpoint(weights)
    codec = codec_from_text(checkpoint.tokenizer or "{}")
    if not isinstance(codec, PhrasebookCodec):
        raise ValueError(f"{weights} should hold the words of the phrasebook, got {type(codec)}")
    return checkpoint.model(), codec
