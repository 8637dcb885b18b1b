"""Captions that we wrote, so that the book may print them and what a model makes of them (§6.1)."""

from collections.abc import Sequence
from typing import Any

import torch

from transformer.config import BOS_ID, EOS_ID
from transformer.inference.beam import beam_search
from transformer.inference.translate import Codec
from transformer.model import Transformer

CAPTIONS = (
    "a woman in a yellow raincoat is feeding two ducks by a lake .",
    "three boys are carrying a canoe up the beach .",
    "a man repairs a bicycle in front of a small blue house .",
    "two dogs are sleeping under the kitchen table .",
    "a girl with a red balloon jumps over a puddle .",
    "an old man reads the newspaper while his granddaughter plays the violin .",
    "people wait in the rain for a bus that is already full .",
    "a cook throws a pancake into the air and does not catch it .",
)
"""As Multi30k has its own: lower case, a space before punctuation. None of them is in it."""

END = "⟨end⟩"


@torch.inference_mode()
def translated(
    model: Transformer,
    codec: Codec,
    captions: Sequence[str] = CAPTIONS,
    *,
    beam: int = 4,
    alpha: float = 0.6,
) -> list[dict[str, Any]]:
    """Return for each caption its translation, the pieces of both, and what the last layer saw.

    `attention` holds the weights between decoder and encoder of every head of the last layer. Row t
    is the position that predicts piece t; the last row and the last column are the end token's.
    """
    model.eval()
    found = []
    for caption in captions:
        ids = codec.encode(caption)
        source = torch.tensor([[*ids, EOS_ID]])
        [[best]] = beam_search(model, source, beam=beam, alpha=alpha)
        seen = model.attention(source, torch.tensor([[BOS_ID, *best.tokens]])).cross[-1, 0]
        found.append(
            {
                "english": caption,
                "german": codec.decode(best.tokens),
                "read": [*(codec.decode([token]) for token in ids), END],
                "written": [*(codec.decode([token]) for token in best.tokens), END],
                "attention": [
                    [[round(weight, 2) for weight in row] for row in head] for head in seen.tolist()
                ],
            }
        )
    return found
