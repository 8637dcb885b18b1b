"""The figures of chapter 21: the recorded maps, a list of operations, the four parts, the past."""

import onnx
import torch

from phrasebook.codec import PhrasebookCodec
from transformer.inference import greedy_decode
from transformer.model import Transformer
from walkthrough.ch21_translate_in_your_browser.translator import (
    EXAMPLES,
    source_ids,
    target_ids,
)
from walkthrough.drawing.grids import Grid, grids
from walkthrough.drawing.scene import Scene
from walkthrough.drawing.style import PALETTE
from walkthrough.drawing.svg import Drawing, arrow, box_at, drawing, words_at


def recorded(model: Transformer, codec: PhrasebookCodec) -> Scene:
    """Return the maps of all three attentions for the first example; buttons choose the head."""
    source = source_ids(codec, EXAMPLES[0])
    (tokens,) = greedy_decode(model, source)
    with torch.inference_mode():
        maps = model.attention(source, target_ids(tokens))
    french = [*codec.vocabulary.decode(codec.encode(EXAMPLES[0])), "</s>"]
    words = codec.vocabulary.decode(tokens)
    read, written = ["<s>", *words], [*words, "</s>"]  # a row is named after the word to be written
    shown = [
        ("Encoder self-attention", french, french, maps.encoder),
        ("Decoder self-attention", written, read, maps.decoder),
        ("Encoder–decoder attention", written, french, maps.cross),
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
        question="Which layer, which head?",
        choices=[f"{layer + 1} · {head + 1}" for layer, head in places],
        first=heads,
        css="#scene-recorded .scene-in{font-size:clamp(12.5px,1.66cqi,15px)}",
    )


def operations(graph: onnx.GraphProto) -> Drawing:
    """Return a list of operations, each of which takes the result of the one before it."""
    body, said, before = "", [], ""
    for n, node in enumerate(graph.node):
        top, others = 4 + 46 * n, [name for name in node.input if name != before]
        (before,) = node.output
        body += box_at(110, top, 110, 26, PALETTE["blue"]) + words_at(165, top + 18, node.op_type)
        body += words_at(82, top + 18, ", ".join(others), "end")
        body += arrow(f"M87 {top + 13}H108", "operations") * bool(others)
        body += arrow(f"M165 {top + 26}V{top + 44}", "operations")
        body += words_at(173, top + 40, before, "start")
        said.append(f"{node.op_type} of {' and '.join(node.input)} gives {before}")
    return drawing(
        body,
        kind="operations",
        label="operations",
        size=(340, 8 + 46 * len(graph.node)),
        width=440,
        title="Attention as a list of operations",
        description="; ".join(said) + ".",
    )


def four_parts() -> Drawing:
    """Return graphs and programs, and what goes from one to another."""
    graph, program = PALETTE["blue"], PALETTE["ochre"]
    boxes = [
        (4, 6, program, "tokenizer"),
        (196, 6, graph, "encoder"),
        (196, 92, graph, "decoder, one step"),
        (4, 92, program, "loop"),
    ]
    body = "".join(
        box_at(x, y, 118, 36, colour) + words_at(x + 59, y + 23, name)
        for x, y, colour, name in boxes
    )
    paths = [
        ("M122 24H194", 158, 18, "ids"),
        ("M255 42V90", 282, 71, "memory"),
        ("M196 102H124", 160, 97, "logits"),
        ("M122 118H194", 158, 133, "token"),
        ("M63 92V44", 87, 71, "tokens"),
        ("M280 128V152H232V130", 256, 168, "keys and values so far"),
    ]
    for path, x, y, name in paths:
        body += arrow(path, "parts") + words_at(x, y, name)
    return drawing(
        body,
        kind="parts",
        label="parts",
        size=(340, 176),
        width=560,
        title="Two programs around two graphs",
        description="The tokenizer, a program, gives ids to the encoder, a graph. Its memory goes "
        "to the decoder's step, a graph, which gives logits to the loop, a program. The loop gives "
        "back a token, and the keys and values so far. At the end the tokenizer writes the tokens.",
    )


def what_a_step_sees(words: list[str]) -> Scene:
    """Return which words the decoder's steps see, with the past handed back and without."""
    steps = [f"step {n + 1}" for n in range(len(words))]
    seen = torch.ones(len(words), len(words)).tril().bool()
    return grids(
        "past",
        [
            Grid("the past is handed back", steps, words, [seen]),
            Grid("the past is dropped", steps, words, [torch.eye(len(words)).bool()]),
        ],
        corner="",
        words="words that are seen",
        question="What does each step see?",
    )
