"""PyTorch's `nn.Transformer`: two stacks, without embeddings and positions."""

import re
from typing import Any

import torch
from tools.verify.libraries import probe
from torch import Tensor, nn

from transformer.config import PAD_ID
from transformer.model import Transformer


def carry(ours: Transformer) -> nn.Transformer:
    c = ours.config
    sizes = (c.d_model, c.n_heads, c.n_layers, c.n_layers, c.d_ff)
    theirs = nn.Transformer(*sizes, dropout=0.0, batch_first=True)
    theirs.encoder.norm = theirs.decoder.norm = None  # the paper has no last norms
    names = {"self_attention": "self_attn", "cross_attention": "multihead_attn"}
    names |= {"output_proj": "out_proj", "feed_forward.expand": "linear1"}
    names |= {"feed_forward.contract": "linear2", "residuals.": "norm", ".layer_norm": ""}
    weights: dict[str, Tensor] = {}
    for name, value in ours.state_dict().items():
        for our, their in names.items():
            name = name.replace(our, their)
        name = re.sub(r"norm(\d)", lambda n: f"norm{int(n[1]) + 1}", name)
        name = re.sub("(query|key|value)_proj[.]", "in_proj_", name)  # one matrix for three
        weights[name] = torch.cat([weights[name], value]) if name in weights else value
    theirs.load_state_dict(weights, strict=False)  # it has no embeddings
    return theirs.eval()


def call(ours: Transformer, theirs: nn.Transformer) -> tuple[Tensor, Tensor]:
    """Return memory and logits: embeddings and positions are ours, masks are turned round."""
    x, y = ours.source_embedding(probe.SOURCE), ours.target_embedding(probe.TARGET)
    x, y = x + ours.positions(x.shape[1]), y + ours.positions(y.shape[1])
    padding = probe.SOURCE == PAD_ID
    memory = theirs.encoder(x, src_key_padding_mask=padding)
    future = torch.ones(y.shape[1], y.shape[1], dtype=torch.bool).triu(1)
    states = theirs.decoder(y, memory, tgt_mask=future, memory_key_padding_mask=padding)
    return memory, ours.project(states)


def measure() -> dict[str, Any]:
    """Return the row."""
    ours = probe.paper_model()
    theirs = carry(ours)
    theirs.encoder.use_nested_tensor = False
    carried = probe.difference(ours, *call(ours, theirs))
    c, base = ours.config, nn.Transformer()
    default = nn.Transformer(c.d_model, c.n_heads, c.n_layers, c.n_layers, c.d_ff)
    for side in ("encoder", "decoder"):
        getattr(theirs, side).norm = getattr(default, side).norm  # as PyTorch makes them
    by_default = probe.difference(ours, *call(ours, theirs))
    for side in ("encoder", "decoder"):
        getattr(theirs, side).norm.load_state_dict(probe.last_norm(side).state_dict())
    attention = nn.MultiheadAttention(c.d_model, 1, batch_first=True)
    layer, query = base.decoder.layers[0], torch.ones(1, 1, c.d_model)
    names = {type(module).__name__ for module in base.modules()}
    added = sum(p.numel() for s in (base.encoder, base.decoder) for p in s.norm.parameters())
    copies = all(
        torch.equal(stack.layers[0].linear1.bias, other.linear1.bias)
        for stack in (base.encoder, base.decoder)
        for other in stack.layers
    )
    return {
        "facts": {
            **probe.norms_like(ours, *call(ours, theirs)),
            "scale": "no embedding" if "Embedding" not in names else "has one",
            "positions": "none",
            "biases": probe.biases(layer.self_attn.in_proj_bias, layer.linear1.bias),
            "activation": probe.activation_like(layer.activation),
            "dropout": f"attention weights {layer.self_attn.dropout:g}, inner feed-forward "
            f"{layer.dropout.p:g}, before each sum {layer.dropout1.p:g}; no embedding",
            "tie": "no embedding, no output layer",
            "true": probe.true_like(
                lambda keys, mask: attention(query, keys, keys, key_padding_mask=mask)[0]
            ),
            "search": "none",
        },
        "carries": "yes",
        "with": "`norm = None` in both stacks; embeddings, positions and output are yours",
        "carried": carried,
        "default": by_default,
        "spread": float(ours(probe.SOURCE, probe.TARGET).std()),
        "notes": [
            f"The two last norms add {added} parameters to the base model.",
            f"In a new model the six layers of a stack start with {'equal' if copies else 'own'} "
            "biases of the feed-forward network.",
        ],
    }
