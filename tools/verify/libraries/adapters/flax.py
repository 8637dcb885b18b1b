"""Flax (linen): attention, and nothing of a stack."""

from typing import Any

import jax
import jax.numpy as jnp
from flax import linen
from tools.verify.libraries import probe
from torch import Tensor

from transformer.attention import MultiHeadAttention


def carry(ours: MultiHeadAttention) -> dict[str, Any]:
    """Return its parameters: heads are a dimension of their own."""
    names = {"query": "query_proj", "key": "key_proj", "value": "value_proj"}
    params = {
        name: {
            "kernel": jnp.array(getattr(ours, own).weight.T.reshape(-1, ours.n_heads, ours.d_k)),
            "bias": jnp.array(getattr(ours, own).bias.reshape(ours.n_heads, ours.d_k)),
        }
        for name, own in names.items()
    }
    out = ours.output_proj
    kernel = out.weight.T.reshape(ours.n_heads, ours.d_k, -1)
    return params | {"out": {"kernel": jnp.array(kernel), "bias": jnp.array(out.bias)}}


def measure() -> dict[str, Any]:
    """Return the row."""
    layer, word = linen.MultiHeadDotProductAttention(num_heads=4), jnp.ones((1, 1, 32))
    made = layer.init(jax.random.PRNGKey(0), word)["params"]
    params = {"params": carry(probe.ATTENTION)}

    def attend(words: Tensor, mask: Tensor) -> Any:
        x = jnp.array(words.numpy())
        return layer.apply(params, x, mask=jnp.array(mask.numpy())[:, None, None])

    row = probe.attention_alone(attend, "`MultiHeadDotProductAttention`")
    row["facts"] |= {
        "biases": f"q, k, v, o: {probe.YES['bias' in made['query'] and 'bias' in made['out']]}",
        "activation": probe.activation_like(lambda x: linen.gelu(jnp.array(x.numpy())))
        + " is what `gelu` computes",
        "dropout": f"attention weights {layer.dropout_rate:g}",
    }
    row["notes"] = [f"ε of `LayerNorm` is {linen.LayerNorm().epsilon:g}."]
    return row
