"""JoeyNMT: a whole translator, built from a configuration."""

from importlib.metadata import requires
from types import SimpleNamespace
from typing import Any

import torch
from joeynmt.model import build_model
from joeynmt.vocabulary import Vocabulary
from tools.verify.libraries import probe
from torch import Tensor, nn

from transformer.config import PAD_ID
from transformer.model import Transformer

SPECIALS = SimpleNamespace(
    pad_token="<pad>",
    bos_token="<s>",
    eos_token="</s>",
    unk_token="<unk>",
    sep_token=None,
    unk_id=0,
    pad_id=1,
    bos_id=2,
    eos_id=3,
    sep_id=None,
    lang_tags=[],
)


def build(ours: Transformer, **choices: Any) -> nn.Module:
    """Return its model of our sizes; what `choices` leave out is its own default."""
    c, scale = ours.config, choices.pop("scale", {})
    side = {
        "type": "transformer",
        "hidden_size": c.d_model,
        "ff_size": c.d_ff,
        "num_layers": c.n_layers,
        "num_heads": c.n_heads,
        "dropout": 0.0,
        "embeddings": {"embedding_dim": c.d_model, **scale},
        **choices,
    }
    words = Vocabulary([f"w{number}" for number in range(c.vocab_size - 4)], SPECIALS)
    return build_model({"encoder": dict(side), "decoder": dict(side)}, words, words).eval()


def carry(ours: Transformer, **choices: Any) -> nn.Module:
    """Return its model with our weights."""
    theirs = build(ours, **choices)
    probe.copy(
        [theirs.src_embed.lut, theirs.trg_embed.lut, theirs.decoder.output_layer],
        [ours.source_embedding, ours.source_embedding, ours.source_embedding],
    )
    for stack, own in ((theirs.encoder, ours.encoder), (theirs.decoder, ours.decoder)):
        for their, our in zip(stack.layers, own.layers, strict=True):
            crosses = hasattr(our, "cross_attention")
            attentions = [their.trg_trg_att, their.src_trg_att] if crosses else [their.src_src_att]
            norms = [their.x_layer_norm, their.dec_layer_norm] if crosses else [their.layer_norm]
            for a, b in zip(attentions, probe.attentions(our), strict=True):
                probe.copy([a.q_layer, a.k_layer, a.v_layer, a.output_layer], b)
            feed = their.feed_forward
            probe.copy([feed.pwff_layer[0], feed.pwff_layer[3]], our.feed_forward.children())
            probe.copy([*norms, feed.layer_norm], (r.layer_norm for r in our.residuals))
    return theirs


def call(theirs: nn.Module) -> tuple[Tensor, Tensor]:
    """Return memory and logits."""
    real = (probe.SOURCE != PAD_ID)[:, None]
    open_ = (probe.TARGET != PAD_ID)[:, None]
    memory, _ = theirs.encoder(theirs.src_embed(probe.SOURCE), None, real)
    return memory, theirs.decoder(
        theirs.trg_embed(probe.TARGET), memory, None, real, 0, None, open_
    )[0]


def measure() -> dict[str, Any]:
    """Return the row."""
    ours = probe.paper_model()
    default = build(ours)
    layer = default.encoder.layers[0]
    scaled = carry(ours, scale={"scale": True})  # else no arrangement of norms is ours
    carried = carry(ours, layer_norm="post", scale={"scale": True})
    difference = probe.difference(ours, *call(carried))
    factor = default.src_embed(torch.tensor([5])) / default.src_embed.lut.weight[5]
    tied = default.decoder.output_layer.weight is default.trg_embed.lut.weight
    return {
        "facts": {
            **probe.norms_like(ours, *call(scaled)),
            "scale": f"no: multiplied by {float(factor.mean()):g}; `scale: True` does",
            "positions": f"{probe.positions_like(default.encoder.pe.pe[0, :50])}; not trained",
            "biases": probe.biases(
                layer.src_src_att.q_layer.bias, layer.feed_forward.pwff_layer[0].bias
            )
            + f"; output layer: {probe.YES[default.decoder.output_layer.bias is not None]}",
            "activation": probe.activation_like(layer.feed_forward.pwff_layer[1]),
            "dropout": "one rate, on attention weights, in the feed-forward network, before each "
            "sum",
            "tie": f"{probe.YES[tied]}; `tied_embeddings` and `tied_softmax` do",
            "true": probe.true_like(lambda keys, mask: layer(keys, mask[:, None])),
            "search": "not measured",
        },
        "carries": "yes",
        "with": "`layer_norm: post`, `scale: True`",
        "carried": difference,
        "default": probe.difference(ours, *call(carry(ours))),
        "notes": [
            ""
            if any("importlib" in one for one in requires("joeynmt") or ())
            else "It imports `importlib_metadata`, and does not ask for it: install that, too."
        ],
    }
