"""Figure 1 to click on: each block's shapes, parameters and code. HTML and CSS, no script.

A block is a radio button, so that the keyboard reaches it with Tab and the arrow keys; the style
sheet shows the panel that belongs to it. Where there is no style sheet, all panels are in a row.
"""

import html
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from transformer.attention import MultiHeadAttention
from transformer.embedding import TokenEmbedding
from transformer.feed_forward import PositionwiseFeedForward
from transformer.layers import DecoderLayer, EncoderLayer, ResidualNorm
from transformer.masks import causal_mask
from transformer.model import Transformer
from transformer.positional import SinusoidalEncoding
from walkthrough.ch09_encoder_and_decoder.experiments.blocks import Parameters, Shapes, in_symbols
from walkthrough.drawing.style import PALETTE
from walkthrough.drawing.svg import Drawing
from walkthrough.page.architecture import BLOCKS, BOX_WIDTH, HEIGHT, WIDTH, architecture
from walkthrough.page.source import show, source_style

# What a click shows of the package.
CODE: Mapping[str, tuple[Any, ...]] = {
    "source-embedding": (TokenEmbedding.forward,),
    "source-positions": (Transformer._embed, SinusoidalEncoding.forward),
    "encoder-attention": (EncoderLayer.forward, MultiHeadAttention.forward),
    "encoder-attention-norm": (ResidualNorm.forward,),
    "encoder-feed-forward": (PositionwiseFeedForward.forward,),
    "encoder-feed-forward-norm": (ResidualNorm.forward,),
    "target-embedding": (TokenEmbedding.forward,),
    "target-positions": (Transformer._embed, SinusoidalEncoding.forward),
    "decoder-attention": (Transformer._target_mask, causal_mask, MultiHeadAttention.forward),
    "decoder-attention-norm": (ResidualNorm.forward,),
    "cross-attention": (DecoderLayer.forward,),
    "cross-attention-norm": (ResidualNorm.forward,),
    "decoder-feed-forward": (PositionwiseFeedForward.forward,),
    "decoder-feed-forward-norm": (ResidualNorm.forward,),
    "projection": (Transformer.project,),
}


@dataclass(frozen=True)
class Words:
    """Every word of the figure that is not code, so that it can be said in another language."""

    choose: str = "Choose a block of the model"
    title: str = "Click a block: its shapes, its parameters, its code"
    columns: tuple[str, str, str] = ("what", "shape", "here")
    code: str = "Its code"
    parameters: str = "Parameters"
    none: str = "none: nothing here is learned"
    shared: str = "none of its own: it uses the matrix of “{owner}”, {each:,} numbers"
    once: str = "{each:,}"
    copies: str = "{each:,} in one layer, {total:,} in all {copies}"
    rows: Mapping[str, str] = field(
        default_factory=lambda: {
            "in": "goes in",
            "memory": "and the memory",
            "queries": "queries, by head",
            "keys": "keys, by head",
            "values": "values, by head",
            "weights": "weights, by head",
            "hidden": "hidden layer",
            "logits": "logits",
            "out": "comes out",
        }
    )
    blocks: Mapping[str, tuple[str, str]] = field(
        default_factory=lambda: {
            "source-embedding": (
                "Source embedding",
                "Each token id picks a row of the embedding matrix. The row is multiplied by the "
                "square root of d_model.",
            ),
            "source-positions": (
                "Positional encoding, source",
                "A fixed vector for each position is added. In training, dropout follows.",
            ),
            "encoder-attention": (
                "Self-attention of the encoder",
                "Every source position looks at every source position. Padding is closed.",
            ),
            "encoder-attention-norm": (
                "Add and layer norm, after the self-attention",
                "The input of the attention is added to its output, and every position is "
                "normalised on its own.",
            ),
            "encoder-feed-forward": (
                "Feed-forward of the encoder",
                "The same two linear maps at every position, with a ReLU between. Positions do "
                "not see each other here.",
            ),
            "encoder-feed-forward-norm": (
                "Add and layer norm, end of an encoder layer",
                "What comes out has the shape of what went into the layer, so the next layer can "
                "take it. After the last layer it is the memory.",
            ),
            "target-embedding": (
                "Target embedding",
                "The target so far, shifted right by one: it begins with the start token. Same "
                "matrix, same factor.",
            ),
            "target-positions": (
                "Positional encoding, target",
                "The same fixed vectors as for the source, counted from 0 again.",
            ),
            "decoder-attention": (
                "Masked self-attention of the decoder",
                "Every target position looks at itself and at earlier ones. What comes later is "
                "closed.",
            ),
            "decoder-attention-norm": (
                "Add and layer norm, after the masked self-attention",
                "As in the encoder.",
            ),
            "cross-attention": (
                "Encoder–decoder attention",
                "The queries come from the decoder, the keys and values from the memory. The "
                "weights have a row for each target and a column for each source position.",
            ),
            "cross-attention-norm": (
                "Add and layer norm, after the encoder–decoder attention",
                "What is added is the input from the decoder, not the memory.",
            ),
            "decoder-feed-forward": (
                "Feed-forward of the decoder",
                "As in the encoder, with weights of its own.",
            ),
            "decoder-feed-forward-norm": (
                "Add and layer norm, end of a decoder layer",
                "After the last layer these are the states from which words are predicted.",
            ),
            "projection": (
                "Linear and softmax",
                "Each state is multiplied by the transposed embedding matrix: one logit for each "
                "token of the vocabulary. The softmax turns them into probabilities.",
            ),
        }
    )


def block_explorer(
    shapes: Shapes,
    parameters: Mapping[str, Parameters],
    symbols: Mapping[int, str],
    *,
    words: Words | None = None,
    first: str = "cross-attention",
    name: str = "blocks",
) -> Drawing:
    """Return Figure 1 with a panel for every block; `name` tells two on one page apart.

    Raises:
        ValueError: a block has no shapes, parameters or words, or there is no block `first`.
    """
    words = words or Words()
    for what, given in (("shapes", shapes), ("parameters", parameters), ("words", words.blocks)):
        if set(given) != set(BLOCKS):
            raise ValueError(
                f"every block of Figure 1 needs {what}: {sorted(set(BLOCKS) ^ set(given))} differ"
            )
    if first not in BLOCKS:
        raise ValueError(f"the block shown first must be one of {', '.join(BLOCKS)}, got {first!r}")
    drawing = architecture(width=WIDTH + 40, title=words.title)
    picks = "".join(_pick(block, words, name, block == first) for block in BLOCKS)
    facts = "".join(
        _panel(block, _facts(block, shapes[block], parameters[block], symbols, words))
        for block in BLOCKS
    )
    code = "".join(_panel(block, show(*CODE[block]).unstyled_html()) for block in BLOCKS)
    page = (
        f'<style>{source_style()}{_style()}</style><div class="blocks"><div class="blocks-map" '
        f'role="radiogroup" aria-label="{html.escape(words.choose)}">{drawing.svg}{picks}</div>'
        f'<div class="blocks-facts" aria-live="polite">{facts}</div>'
        f'<details class="blocks-code"><summary>{html.escape(words.code)}</summary>{code}</details>'
        "</div>"
    )
    return Drawing(page, words.title)


def _pick(block: str, words: Words, name: str, chosen: bool) -> str:
    box = BLOCKS[block]
    place = ";".join(
        f"{side}:{100 * value / whole:.3f}%"
        for side, value, whole in (
            ("left", box.x, WIDTH),
            ("top", box.y, HEIGHT),
            ("width", BOX_WIDTH, WIDTH),
            ("height", box.height, HEIGHT),
        )
    )
    title, _ = words.blocks[block]
    return (
        f'<label class="blocks-pick" style="{place}" title="{html.escape(title)}"><input '
        f'type="radio" name="{html.escape(name)}" value="{block}"{" checked" if chosen else ""}>'
        f"<span>{html.escape(title)}</span></label>"
    )


def _panel(block: str, body: str) -> str:
    return f'<div class="blocks-panel" data-panel="{block}">{body}</div>'


def _facts(
    block: str,
    shapes: Mapping[str, tuple[int, ...]],
    parameters: Parameters,
    symbols: Mapping[int, str],
    words: Words,
) -> str:
    title, sentence = words.blocks[block]
    head = "".join(f'<th scope="col">{html.escape(column)}</th>' for column in words.columns)
    rows = "".join(
        f'<tr><th scope="row">{html.escape(words.rows[part])}</th>'
        f"<td>{html.escape(in_symbols(shapes[part], symbols))}</td>"
        f"<td>({', '.join(f'{size:,}' for size in shapes[part])})</td></tr>"
        for part in words.rows
        if part in shapes
    )
    return (
        f'<p class="blocks-title">{html.escape(title)}</p><p>{html.escape(sentence)}</p>'
        f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
        f"<p><strong>{html.escape(words.parameters)}</strong>: "
        f"{html.escape(_in_words(parameters, words))}</p>"
    )


def _in_words(parameters: Parameters, words: Words) -> str:
    if not parameters.each:
        return words.none
    if parameters.shared_with:
        owner, _ = words.blocks[parameters.shared_with]
        return words.shared.format(owner=owner, each=parameters.each)
    pattern = words.once if parameters.copies == 1 else words.copies
    return pattern.format(each=parameters.each, copies=parameters.copies, total=parameters.total)


def _style() -> str:
    chosen = ",".join(
        f'.blocks:has(input[value="{block}"]:checked) [data-panel="{block}"]' for block in BLOCKS
    )
    ring = PALETTE["sky"]
    return (
        ".blocks{display:grid;gap:.5rem 1.5rem;grid-template-columns:minmax(0,1fr);"
        "align-items:start;color:inherit}"
        f".blocks-map{{position:relative;width:100%;max-width:{WIDTH + 40}px}}"
        ".blocks-pick{position:absolute;margin:0;border-radius:6px;cursor:pointer;"
        "box-sizing:border-box}"
        ".blocks-pick input,.blocks-pick span{position:absolute;width:1px;height:1px;margin:0;"
        "overflow:hidden;clip-path:inset(50%);white-space:nowrap}"
        ".blocks-pick:hover{background:#8883}"
        f".blocks-pick:has(:checked){{box-shadow:0 0 0 3px {ring};background:{ring}33}}"
        ".blocks-pick:has(:focus-visible){outline:2px solid currentColor;outline-offset:4px}"
        # without :has nothing hides, and the panels stand one below the other
        "@supports selector(:has(*)){.blocks-panel{display:none}"
        f"{chosen}{{display:block}}}}"
        ".blocks-title.blocks-title{font-weight:650;font-size:1.1em;margin:.2em 0}"
        ".blocks-facts{min-height:17rem}.blocks-facts p{margin:.5em 0}"
        ".blocks-facts table{border-collapse:collapse;font-size:.9em;display:block;"
        "overflow-x:auto;color:inherit}"
        ".blocks-facts :is(th,td){text-align:left!important;padding:.2em .7em .2em 0!important;"
        "font-weight:400;white-space:nowrap;border-bottom:1px solid #8884;color:inherit;"
        "background:none!important}"
        ".blocks-facts thead th{font-weight:650}"
        "@media(min-width:700px){.blocks{grid-template-columns:minmax(0,10fr) minmax(0,11fr)}"
        ".blocks-code{grid-column:1/-1}}"
    )
