"""One sentence through the trained translator, every number on the way kept (§3)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

import torch
from jaxtyping import Float
from torch import Tensor

from phrasebook.codec import PhrasebookCodec
from transformer.config import BOS_ID, EOS_ID
from transformer.inference import greedy_decode
from transformer.inference.greedy import forbid_special
from transformer.layers import EncoderLayer
from transformer.model import AttentionMaps, Transformer

SENTENCE = "Jane visite l'Afrique en septembre."
START, END = "(start)", "(end)"


@dataclass(frozen=True)
class Asking:
    """One head of the first layer: what each word asks with, is found by, and hands over."""

    query: Float[Tensor, "source_len d_k"]
    key: Float[Tensor, "source_len d_k"]
    value: Float[Tensor, "source_len d_k"]
    products: Float[Tensor, "source_len source_len"]
    scores: Float[Tensor, "source_len source_len"]
    weights: Float[Tensor, "source_len source_len"]
    output: Float[Tensor, "source_len d_k"]


@dataclass(frozen=True)
class Journey:
    """What the model computed for one sentence and its translation.

    `stages` holds the words' vectors as they enter the encoder, then after each of its sub-layers;
    `added` is what the first attention adds to them, `hidden` the first feed-forward's inner units.
    `maps` and `logits` belong to the finished translation: row t has read the start and t words.
    """

    source: list[str]
    source_ids: list[int]
    target: list[str]
    target_ids: list[int]
    embedded: Float[Tensor, "source_len d_model"]
    positions: Float[Tensor, "source_len d_model"]
    stages: Float[Tensor, "stages source_len d_model"]
    added: Float[Tensor, "source_len d_model"]
    hidden: Float[Tensor, "source_len d_ff"]
    maps: AttentionMaps
    logits: Float[Tensor, "target_len vocab_size"]

    @property
    def ids(self) -> list[int]:
        """The translation's ids, without the end."""
        return [one for one in self.target_ids if one != EOS_ID]

    @property
    def probabilities(self) -> Float[Tensor, "target_len vocab_size"]:
        """The softmax of the logits: how likely each word is to be the next."""
        return self.logits.softmax(dim=-1)


@torch.no_grad()
def travel(
    model: Transformer, codec: PhrasebookCodec, text: str = SENTENCE, most: int | None = None
) -> Journey:
    """Send a sentence through the model and keep what it computes; greedy decoding writes.

    With `most` the translation is stopped there, and has no end where the model writes none.
    """
    words = codec.vocabulary
    source_ids = [*codec.encode(text), EOS_ID]
    source = torch.tensor([source_ids])
    (target_ids,) = greedy_decode(model, source, max_len=most)
    read = torch.tensor([[BOS_ID, *target_ids]])
    logits = model(source, read)[0]
    ends = int(forbid_special(logits[-1].clone()).argmax()) == EOS_ID
    if not ends:  # the search was stopped, and the last row is of a word that nobody asked for
        read, logits = read[:, :-1], logits[:-1]
    embedded, positions = model.source_embedding(source)[0], _positions(model, len(source_ids))
    x = (embedded + positions)[None]
    stages, hidden = encoder_stages(model, x)
    added, _ = cast("EncoderLayer", model.encoder.layers[0]).self_attention(x, x, x)
    return Journey(
        source=[*words.decode(source_ids[:-1]), END],
        source_ids=source_ids,
        target=[*words.decode(target_ids), *[END] * ends],
        target_ids=[*target_ids, *[EOS_ID] * ends],
        embedded=embedded,
        positions=positions,
        stages=stages[:, 0],
        added=added[0],
        hidden=hidden[0],
        maps=model.attention(source, read),
        logits=logits,
    )


def encoder_stages(
    model: Transformer, x: Float[Tensor, "batch length d_model"]
) -> tuple[Float[Tensor, "stages batch length d_model"], Float[Tensor, "batch length d_ff"]]:
    """Return the vectors before and after each sub-layer, and the first layer's hidden units."""
    stages, hidden = [x], []
    for layer in cast("list[EncoderLayer]", list(model.encoder.layers)):
        y, _ = layer.self_attention(x, x, x)
        x = layer.residuals[0](x, y)
        stages.append(x)
        hidden.append(layer.feed_forward.activation(layer.feed_forward.expand(x)))
        x = layer.residuals[1](x, layer.feed_forward(x))
        stages.append(x)
    return torch.stack(stages), hidden[0]


@torch.no_grad()
def ask(model: Transformer, journey: Journey, head: int) -> Asking:
    """Return one head of the encoder's first layer, step by step; heads count from 0."""
    attention = cast("EncoderLayer", model.encoder.layers[0]).self_attention
    x = journey.stages[:1]
    query, key, value = (
        attention.split_heads(project(x))[0, head]
        for project in (attention.query_proj, attention.key_proj, attention.value_proj)
    )
    products = query @ key.T
    scores = products * attention.scale
    weights = scores.softmax(dim=-1)
    return Asking(query, key, value, products, scores, weights, weights @ value)


@torch.no_grad()
def one_word_in(
    model: Transformer, codec: PhrasebookCodec, sentences: Sequence[str], place: int
) -> Float[Tensor, "sentences stages d_model"]:
    """Return what becomes of the word at `place` in each of these sentences of one length."""
    ids = torch.tensor([[*codec.encode(text), EOS_ID] for text in sentences])
    x = model.source_embedding(ids) + _positions(model, ids.shape[1])
    return encoder_stages(model, x)[0][:, :, place].transpose(0, 1)


@torch.no_grad()
def nearest_words(model: Transformer, codec: PhrasebookCodec, word: int, n: int = 3) -> list[str]:
    """Return the words whose vectors point most nearly the same way as that of the id `word`."""
    rows = torch.nn.functional.normalize(model.source_embedding.weight, dim=-1)
    order = (rows @ rows[word]).argsort(descending=True).tolist()
    return codec.vocabulary.decode([other for other in order if other != word][:n])


def plane(
    paths: Float[Tensor, "sentences stages d_model"],
) -> Float[Tensor, "sentences stages 2"]:
    """Return the paths in the plane in which their ends lie furthest apart (two components)."""
    ends = paths[:, -1]
    _, _, axes = torch.linalg.svd(ends - ends.mean(dim=0), full_matrices=False)
    return (paths - ends.mean(dim=0)) @ axes[:2].T


def _positions(model: Transformer, length: int) -> Tensor:
    if model.positions is None:
        raise ValueError("this chapter shows a model with positions; got one without")
    positions: Tensor = model.positions(length)
    return positions
