"""Chapter 00's pictures of another model and another sentence: "Your model, your sentence" (§3)."""

import html
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from phrasebook.codec import PhrasebookCodec
from transformer.model import Transformer
from walkthrough.ch00_one_sentence import journey
from walkthrough.ch00_one_sentence.experiments import SENTENCES
from walkthrough.ch00_one_sentence.figures import attention, thinking, words, writing
from walkthrough.ch00_one_sentence.journey import Journey
from walkthrough.doctor.report import SITE
from walkthrough.drawing.scene import MOST, Scene

TITLE = "Your model, your sentence"
NAMES, THINGS = ("Afrique", "Europe", "Italie", "Espagne"), ("école", "île", "hôtel")
PLACE = "Jane visite l'{noun} en septembre."
RIGHT = ("Jane visits Africa in September.", "Jane looks for the black dog.")
"""Of `SENTENCES`."""
MARK = '<meta name="generator" content="python -m walkthrough.capstone see">'
_CSS = """
body{margin:0 auto;max-width:46rem;padding:1rem 1rem 4rem;line-height:1.5;color-scheme:light dark;
font-family:system-ui,sans-serif;background:Canvas;color:CanvasText}
p{overflow-wrap:anywhere}h1,h2{line-height:1.2}h2{margin-top:3rem}a{color:LinkText}
"""
# a long sentence is wider than a phone: the picture is moved, and not the page
_WIDE = "#scene-seen .stage{overflow-x:auto}#scene-seen span{white-space:nowrap}"


@dataclass(frozen=True)
class Pictures:
    """The pictures by step, as HTML in a notebook and as a page that needs no other file."""

    journey: Journey = field(repr=False)
    text: str
    translation: str
    of: str
    steps: dict[str, list[Scene]] = field(repr=False)

    def __str__(self) -> str:
        ended = self.journey.target[-1:] == [journey.END]
        return self.translation + ("" if ended else f" … (stopped after {MOST - 1} words)")

    def _repr_html_(self) -> str:
        """Return the pictures; a form, so that two of them keep their buttons apart."""
        parts = [
            f"<style>{_WIDE}</style><h1>{TITLE}</h1><p><i>{html.escape(self.text)}</i> → "
            f"<i>{html.escape(str(self))}</i></p><p>{html.escape(self.of)} What each picture "
            f'shows is told in <a href="{SITE}book/00-one-sentence.html">chapter 00</a>, on the '
            "book's model.</p>"
        ]
        for number, (heading, scenes) in enumerate(self.steps.items()):
            parts.append(f"<h2>{number} {heading}</h2>" if number else "")
            parts += [scene.markup for scene in scenes]
        return f"<form>{''.join(parts)}</form>"

    def page(self) -> str:
        """Return the page as HTML."""
        return (
            f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8">{MARK}\n'
            '<meta name="viewport" content="width=device-width,initial-scale=1">'
            f"<title>{TITLE}</title><style>{_CSS}</style></head>\n"
            f"<body><main>{self._repr_html_()}</main></body></html>\n"
        )


def pictures(
    model: Transformer,
    codec: PhrasebookCodec,
    text: str,
    *,
    of: str = "",
    said: Sequence[dict[str, Any]] = (),
) -> Pictures:
    """Draw a sentence's way through a model; `said` is what it wrote of `SENTENCES` in training.

    Heads and words to begin with are those with the most to see, whichever these are here.

    Raises:
        ValueError: a word is not known, or there are more words or heads than a picture holds.
    """
    way = journey.travel(model, codec, text, most=MOST)
    n_heads = way.maps.encoder.shape[0] * way.maps.encoder.shape[2]
    if len(way.source) > MOST:
        found = len(way.source) - 1
        raise ValueError(f"a picture holds {MOST - 1} words, got {found}: {' '.join(way.source)}")
    if n_heads > MOST:
        raise ValueError(f"a picture holds {MOST} heads of the encoder, got {n_heads}")
    layer, head = surest(way.maps.cross[:, 0, :, :, :-1].amax(dim=-2).mean(dim=-1))
    across = f"Head {layer + 1}.{head + 1} of the decoder's look at the source"
    other = journey.travel(model, codec, SENTENCES[1], most=MOST)
    now = [journey.travel(model, codec, one, most=MOST) for one in SENTENCES]
    story = [*said] or [{"update": "now", "translations": [codec.decode(j.ids) for j in now]}]
    signs = {"</s>": journey.END, "<s>": journey.START}
    listed = [signs.get(word, word) for word in codec.vocabulary.tokens]
    nearest = [journey.nearest_words(model, codec, word) for word in way.source_ids]
    last = len(way.target) - 1
    steps = {
        "": [
            _links("lead", way, layer, head, f"Figure 0.1. {across}, which reaches the most words.")
        ],
        "Words become vectors": [words.words_to_vectors(way, nearest)],
        "One word asks all the others": _one_asks(model, way),
        "Heads look for different things": [attention.all_heads(way, first=0)],
        "Then every word is worked on alone": [thinking.each_word_alone(way, first=0)],
        "Layer by layer, a word takes on its meaning": [_paths(model, codec)],
        "Whoever writes must not see the future": [_seen(way)],
        "It looks across": [
            _links("across", other, layer, head, "Figure 0.9. The same head, on another sentence.")
        ],
        "Every word of the list gets a probability": [
            writing.next_word(way, listed, first=min(3, last))
        ],
        "Write it down, read it, and again": [writing.the_loop(way)],
        "Training found every number": [
            words.what_it_said(story, RIGHT, sentences=SENTENCES, caption=_said(bool(said)))
        ],
    }
    return Pictures(way, text, codec.decode(way.ids), of, steps)


def surest(scores: Float[Tensor, "layers heads"]) -> tuple[int, int]:
    """Return layer and head of the highest score."""
    return divmod(int(scores.argmax()), scores.shape[1])


def _links(name: str, way: Journey, layer: int, head: int, caption: str) -> Scene:
    weights = way.maps.cross[layer, 0, head]
    return attention.links(
        name,
        weights,
        way.target,
        way.source,
        question="Choose an English word: where did the model look before it wrote it?",
        caption=f"{caption} The wider a curve, the more weight.",
        first=int(weights[:, :-1].amax(dim=-1).argmax()),
    )


def _one_asks(model: Transformer, way: Journey) -> list[Scene]:
    """Draw the strongest look of the first layer from one word to another."""
    some = max(2, len(way.source) - 1)  # without the end, unless there is but one word
    looks = way.maps.encoder[0, 0, :, :some, :some].masked_fill(torch.eye(some).bool(), 0)
    head, word = surest(looks.amax(dim=-1))
    asked = journey.ask(model, way, head)
    asks = f"Head 1.{head + 1}, the first layer's strongest look at another word."
    return [
        attention.one_word_asks(way, asked, word, asks=asks),
        attention.what_the_sum_does(way, word),
    ]


def _paths(model: Transformer, codec: PhrasebookCodec) -> Scene:
    sentences = [PLACE.format(noun=noun) for noun in NAMES + THINGS]
    inside = journey.one_word_in(model, codec, sentences, place=2)
    layers = range(1, model.config.n_layers + 1)
    return thinking.ways_through_the_layers(
        dict(zip(NAMES + THINGS, journey.plane(inside), strict=True)),
        dict.fromkeys(NAMES, "a name") | dict.fromkeys(THINGS, "a thing"),
        stages=("start", *(f"{n} {what}" for n in layers for what in ("asks", "alone"))),
        caption="Figure 0.7. Chapter 00's seven sentences in your model: the vector of <i>l'</i>, "
        "named by the word that follows it. Dots: a name follows; rings: a thing.",
    )


def _seen(way: Journey) -> Scene:
    own = way.maps.decoder[:, 0]
    layer, head = surest(own[..., 1:].amax(dim=-1).mean(dim=-1))
    return words.seen_so_far(
        way,
        layer=layer,
        head=head,
        caption="Figure 0.8. Each line is one moment of writing: what is read, the word that is "
        "written, framed, and what may not be seen, hatched. The bluer a word, the more weight "
        f"head {layer + 1}.{head + 1} of the decoder gives it.",
    )


def _said(is_known: bool) -> str:
    told = (
        "One training, asked again and again."
        if is_known
        else "What it says now; what it said on its way, <code>train</code> keeps with the weights."
    )
    return f"Figure 0.12. {told} Bold: words that stand in the right translation."
