"""Equinox: attention for one sequence, and nothing of a stack."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from tools.verify.libraries import probe
from torch import Tensor

from transformer.attention import MultiHeadAttention

BIASES = {f"use_{name}_bias": True for name in ("query", "key", "value", "output")}


def carry(ours: MultiHeadAttention) -> eqx.nn.MultiheadAttention:
    """Return its module with our weights."""
    width = ours.output_proj.out_features
    theirs = eqx.nn.MultiheadAttention(ours.n_heads, width, **BIASES, key=jax.random.PRNGKey(0))
    for name in ("query", "key", "value", "output"):
        own = getattr(ours, f"{name}_proj")
        values = jnp.array(own.weight.numpy()), jnp.array(own.bias.numpy())

        def parts(module: Any, name: str = name) -> tuple[Any, Any]:
            linear = getattr(module, f"{name}_proj")
            return linear.weight, linear.bias

        theirs = eqx.tree_at(parts, theirs, values)
    return theirs


def measure() -> dict[str, Any]:
    """Return the row."""
    default = eqx.nn.MultiheadAttention(4, 32, key=jax.random.PRNGKey(0))
    theirs = carry(probe.ATTENTION)

    def attend(words: Tensor, mask: Tensor) -> Any:
        x, closed = jnp.array(words[0].numpy()), jnp.array(mask[0].numpy())
        return theirs(x, x, x, mask=jnp.broadcast_to(closed, (len(x), len(x))))[None]

    row = probe.attention_alone(attend, "`MultiheadAttention`")
    linears = (default.query_proj, default.key_proj, default.value_proj, default.output_proj)
    row["facts"] |= {
        "biases": f"q, k, v, o: {probe.YES[any(m.bias is not None for m in linears)]}",
        "dropout": f"attention weights {default.dropout.p:g}",
    }
    row["with"] += ", here with all four `use_…_bias`"
    return row
