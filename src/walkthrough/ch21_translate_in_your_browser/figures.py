"""The picture before the click: one sentence, with every map, recorded when the page was built."""

import torch

from transformer.data.codec import PhrasebookCodec
from transformer.inference import greedy_decode
from transformer.model import Transformer
from walkthrough.ch21_translate_in_your_browser.translator import (
    EXAMPLES,
    source_ids,
    target_ids,
)
from walkthrough.drawing.grids import Grid, grids
from walkthrough.drawing.scene import Scene


def recorded(model: Transformer, codec: PhrasebookCodec) -> Scene:
    """Return the maps of all three attentions for the first example; buttons choose the head."""
    source = source_ids(codec, EXAMPLES[0])
    (tokens,) = greedy_decode(model, source)
    with torch.inference_mode():
        maps = model.attention(source, target_ids(tokens))
    french = [*codec.vocabulary.decode(codec.encode(EXAMPLES[0])), "</s>"]
    english = ["<s>", *codec.vocabulary.decode(tokens)]
    shown = [
        ("Encoder self-attention", french, french, maps.encoder),
        ("Decoder self-attention", english, english, maps.decoder),
        ("Encoder–decoder attention", english, french, maps.cross),
    ]
    heads = model.config.n_heads
    places = [(layer, head) for layer in range(model.config.n_layers) for head in range(heads)]
    return grids(
        "recorded",
        [
            Grid(title, rows, columns, [kind[layer, 0, head] for layer, head in places])
            for title, rows, columns, kind in shown
        ],
        words="weights above one half",
        question=f"{EXAMPLES[0]} → {codec.decode(tokens)}",
        choices=[f"layer {layer + 1}, head {head + 1}" for layer, head in places],
        first=heads,
    )
