"""labml-nn: annotated implementations; time is the first dimension."""

from typing import Any

import torch
from labml import tracker
from labml_nn.transformers.feed_forward import FeedForward
from labml_nn.transformers.mha import MultiHeadAttention
from labml_nn.transformers.models import (
    Decoder,
    EmbeddingsWithPositionalEncoding,
    Encoder,
    Generator,
    TransformerLayer,
)
from tools.verify.libraries import probe
from torch import Tensor, nn

from transformer.config import PAD_ID
from transformer.masks import causal_mask
from transformer.model import Transformer


def carry(ours: Transformer) -> tuple[nn.Module, nn.Module, nn.Module]:
    """Return its embedding, encoder and decoder with our weights."""
    c, stacks = ours.config, []
    for kind, own in ((Encoder, ours.encoder), (Decoder, ours.decoder)):
        crosses = kind is Decoder
        layer = TransformerLayer(
            d_model=c.d_model,
            self_attn=MultiHeadAttention(c.n_heads, c.d_model),
            src_attn=MultiHeadAttention(c.n_heads, c.d_model) if crosses else None,
            feed_forward=FeedForward(c.d_model, c.d_ff),
            dropout_prob=0.0,
        )
        stack = kind(layer, c.n_layers)
        for their, our in zip(stack.layers, own.layers, strict=True):
            both = [their.self_attn, their.src_attn] if crosses else [their.self_attn]
            for a, b in zip(both, probe.attentions(our), strict=True):
                probe.copy([a.query.linear, a.key.linear, a.value.linear, a.output], b)
            feed = their.feed_forward
            probe.copy([feed.layer1, feed.layer2], our.feed_forward.children())
            norms = [
                their.norm_self_attn,
                *([their.norm_src_attn] if crosses else []),
                their.norm_ff,
            ]
            probe.copy(norms, (r.layer_norm for r in our.residuals))
        stacks.append(stack.eval())
    embedding = EmbeddingsWithPositionalEncoding(c.d_model, c.vocab_size)
    probe.copy([embedding.linear], [ours.source_embedding])
    return embedding, *stacks


def call(ours: Transformer, theirs: tuple[nn.Module, ...]) -> tuple[Tensor, Tensor]:
    """Return memory and logits."""
    embedding, encoder, decoder = theirs
    real = (probe.SOURCE != PAD_ID).T[None]
    future = causal_mask(probe.TARGET.shape[1]).reshape(*[probe.TARGET.shape[1]] * 2, 1)
    memory = encoder(embedding(probe.SOURCE.T), real)
    states = decoder(embedding(probe.TARGET.T), memory, real, future)
    return memory.transpose(0, 1), ours.project(states.transpose(0, 1))


def measure() -> dict[str, Any]:
    """Return the row."""
    ours = probe.paper_model()
    theirs = carry(ours)
    embedding, encoder, decoder = theirs
    layer = encoder.layers[0]
    try:
        call(ours, theirs)
        fails = ""
    except AttributeError as error:
        fails = f"Every call of attention fails: “{error}”; measured with an empty one put there."
        tracker.debug = lambda *values: None
    default = probe.difference(ours, *call(ours, theirs))
    for side, stack in (("encoder", encoder), ("decoder", decoder)):
        probe.copy([stack.norm], [probe.last_norm(side)])
    factor = (embedding(torch.tensor([[5]])) - embedding.positional_encodings[0]) / (
        embedding.linear.weight[5]
    )
    plain = MultiHeadAttention(4, 32)
    return {
        "facts": {
            **probe.norms_like(ours, *call(ours, theirs)),
            "scale": f"yes: multiplied by {float(factor.mean()):.4g} (d_model 32)",
            "positions": f"{probe.positions_like(embedding.positional_encodings[:50, 0])}; "
            "not trained",
            "biases": probe.biases(plain.query.linear.bias, layer.feed_forward.layer1.bias)
            + f"; output layer: {probe.YES[Generator(40, 32).projection.bias is not None]}",
            "activation": probe.activation_like(layer.feed_forward.activation),
            "dropout": f"attention weights {probe.rates(plain)}, inner feed-forward "
            f"{probe.rates(FeedForward(32, 64))}, before each sum: you say; no embedding",
            "tie": "no",
            "true": probe.true_like(
                lambda keys, mask: layer(x=keys.transpose(0, 1), mask=mask.T[None]).transpose(0, 1)
            ),
            "search": "none",
        },
        "carries": "no",
        "with": "it has no post-norm; with pre-norm and last norms it is ours",
        "carried": {},
        "default": default,
        "notes": [fails],
    }
