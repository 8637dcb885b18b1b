"""Haiku: attention, and nothing of a stack."""

from typing import Any

import haiku as hk
import jax
import jax.numpy as jnp
from tools.verify.libraries import probe
from torch import Tensor

from transformer.attention import MultiHeadAttention


def carry(ours: MultiHeadAttention) -> dict[str, Any]:
    """Return its parameters."""
    names = {f"{name}_proj": name for name in ("query", "key", "value")}
    return {
        f"multi_head_attention/{theirs}": {
            "w": jnp.array(getattr(ours, own).weight.T),
            "b": jnp.array(getattr(ours, own).bias),
        }
        for own, theirs in {**names, "output_proj": "linear"}.items()
    }


def measure() -> dict[str, Any]:
    """Return the row."""

    def made(words: Any, mask: Any = None, **options: Any) -> Any:
        return hk.MultiHeadAttention(4, 8, **options)(words, words, words, mask)

    run = hk.without_apply_rng(hk.transform(lambda *x: made(*x, w_init=jnp.zeros)))
    word, params = jnp.ones((1, 1, 32)), carry(probe.ATTENTION)
    default = run.init(jax.random.PRNGKey(0), word)

    def attend(words: Tensor, mask: Tensor) -> Any:
        return run.apply(params, jnp.array(words.numpy()), jnp.array(mask.numpy())[:, None, None])

    row = probe.attention_alone(attend, "`MultiHeadAttention`")
    biases = all("b" in weights for weights in default.values())
    row["facts"] |= {
        "biases": f"q, k, v, o: {probe.YES[biases]}",
        "dropout": "none on attention weights",
    }
    try:
        hk.transform(made).init(jax.random.PRNGKey(0), word)
    except ValueError as error:
        row["notes"] = [f"Without `w_init` it is refused: “{error}”"]
    return row
