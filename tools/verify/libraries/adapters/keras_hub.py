"""keras-hub's layers, on Keras's PyTorch backend: the parts of a stack, no model."""

import os
from typing import Any

os.environ["KERAS_BACKEND"] = "torch"

import keras_hub
import torch
from tools.verify.libraries import probe
from torch import Tensor

from transformer.config import PAD_ID
from transformer.model import Transformer


@torch.no_grad()
def carry(ours: Transformer) -> tuple[list[Any], list[Any]]:
    sizes = {"intermediate_dim": ours.config.d_ff, "num_heads": ours.config.n_heads}
    encoder = [keras_hub.layers.TransformerEncoder(**sizes) for _ in ours.encoder.layers]
    decoder = [keras_hub.layers.TransformerDecoder(**sizes) for _ in ours.decoder.layers]
    for layer, own in zip(encoder + decoder, [*ours.encoder.layers, *ours.decoder.layers]):
        norms, feed = [r.layer_norm for r in own.residuals], [*own.feed_forward.children()]
        word, first = torch.zeros(1, 1, ours.config.d_model), [*own.self_attention.children()]
        if own in [*ours.encoder.layers]:
            layer(word)  # makes the arrays
            order = [*first, *norms, *feed]
        else:
            layer(word, word)
            order = [*first, norms[0], *own.cross_attention.children(), norms[1], *feed, norms[2]]
        arrays = [array for module in order for array in (module.weight.t(), module.bias)]
        layer.set_weights([a.reshape(w.shape) for a, w in zip(arrays, layer.weights)])
    return encoder, decoder


def call(ours: Transformer, theirs: tuple[list[Any], list[Any]]) -> tuple[Tensor, Tensor]:
    """Return memory and logits; embeddings are ours, positions theirs."""
    places = keras_hub.layers.SinePositionEncoding()
    memory, y = ours.source_embedding(probe.SOURCE), ours.target_embedding(probe.TARGET)
    memory, y = memory + places(memory), y + places(y)
    real = probe.SOURCE != PAD_ID
    for layer in theirs[0]:
        memory = layer(memory, padding_mask=real)
    for layer in theirs[1]:
        y = layer(y, memory, encoder_padding_mask=real)
    return memory, ours.project(y)


def measure() -> dict[str, Any]:
    """Return the row."""
    ours = probe.paper_model()
    theirs = carry(ours)
    carried = probe.difference(ours, *call(ours, theirs))
    layer = theirs[0][0]
    table = keras_hub.layers.SinePositionEncoding()(torch.zeros(1, 50, ours.config.d_model))[0]
    embedding = keras_hub.layers.ReversibleEmbedding(40, 32)
    factor = float((embedding(torch.tensor([5])) / embedding.embeddings[5]).mean())
    rates = {layer.dropout, theirs[1][0].dropout}
    biases = {
        weight.path.split("/")[-2]: weight for weight in layer.weights if "bias" in weight.path
    }
    return {
        "facts": {
            **probe.norms_like(ours, *call(ours, theirs)),
            "scale": f"no: `ReversibleEmbedding` multiplies by {factor:g}",
            "positions": f"`SinePositionEncoding`: {probe.positions_like(table)}; not trained",
            "biases": probe.biases(biases.get("query"), biases.get("feedforward_output_dense")),
            "activation": probe.activation_like(layer.activation),
            "dropout": " or ".join(f"{rate:g}" for rate in sorted(rates)) + " everywhere",
            "tie": probe.YES[embedding.tie_weights] + ", in `ReversibleEmbedding`",
            "true": probe.true_like(lambda keys, mask: layer(keys, padding_mask=mask)),
            "search": _search(),
        },
        "carries": "yes",
        "with": "the defaults; embeddings are yours",
        "carried": carried,
        "default": carried,
        "notes": [],
    }


def _search() -> str:
    """Search where "stop" has 0.6, "a" and "stop" 0.4, and after "stop" all is equally probable."""
    start, stop, a = range(3)
    chances = torch.full((4, 4), 0.25)
    chances[start], chances[a] = torch.tensor([[0, 0.6, 0.4, 0], [0, 1, 0, 0]]).clamp(min=1e-30)

    def following(prompt: Tensor, cache: Any, index: Any) -> tuple[Tensor, None, Any]:
        return chances.log()[prompt[:, int(index) - 1].long()], None, cache

    sampler = keras_hub.samplers.BeamSampler(num_beams=2)
    prompt, given = torch.zeros(1, 3, dtype=torch.int32), torch.tensor([[True, False, False]])
    found = sampler(following, prompt, index=1, mask=given, stop_token_ids=[stop])[0].tolist()
    if found[1:] != [a, stop]:
        return "`BeamSampler` finds the most probable output; the rest not measured"
    return (
        "`BeamSampler` finds an output of 0.4 where another has 0.6: a finished beam goes on, and "
        "what it writes after its end counts (findings/keras-hub-beams-go-on-after-the-end.sh)"
    )
