"""What a Transformer costs: operations, parameters, training (Tables 1, 2 and 3).

A multiply and an add are two floating-point operations (FLOPs). Only matrix products are counted:
softmax, normalisation, activations and sums with biases are below one per cent at these sizes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Literal, get_args

from transformer.config import TransformerConfig


def matmul_flops(rows: int, inner: int, columns: int) -> int:
    """Return the FLOPs of a (rows × inner) times (inner × columns) product."""
    return 2 * rows * inner * columns


@dataclass(frozen=True, kw_only=True)
class AttentionFlops:
    """FLOPs of one multi-head attention, split as Section 4 thinks of them.

    `projections` (W^Q, W^K, W^V, W^O) grow with n·d²; `weights` (QKᵀ) and `values` (weights times
    V) grow with n²·d, and are what Table 1 counts.
    """

    projections: int
    weights: int
    values: int

    @property
    def total(self) -> int:
        """All of them."""
        return self.projections + self.weights + self.values


def attention_flops(
    config: TransformerConfig, *, query_len: int, key_len: int, batch: int = 1
) -> AttentionFlops:
    """Return the FLOPs of one multi-head attention (§3.2.2).

    Raises:
        ValueError: if a length or the batch is not positive.
    """
    _check_positive(query_len=query_len, key_len=key_len, batch=batch)
    d_k, d_v = _head_sizes(config)
    d, h = config.d_model, config.n_heads
    queries, keys = batch * query_len, batch * key_len
    return AttentionFlops(
        projections=matmul_flops(queries, d, h * d_k)
        + matmul_flops(keys, d, h * d_k)
        + matmul_flops(keys, d, h * d_v)
        + matmul_flops(queries, h * d_v, d),
        weights=batch * h * matmul_flops(query_len, d_k, key_len),
        values=batch * h * matmul_flops(query_len, key_len, d_v),
    )


def feed_forward_flops(config: TransformerConfig, *, length: int, batch: int = 1) -> int:
    """Return the FLOPs of one feed-forward network (§3.3)."""
    _check_positive(length=length, batch=batch)
    return 2 * matmul_flops(batch * length, config.d_model, config.d_ff)


@dataclass(frozen=True, kw_only=True)
class ForwardFlops:
    """FLOPs of one forward pass, by part, over all layers."""

    encoder_attention: int
    encoder_feed_forward: int
    decoder_attention: int
    cross_attention: int
    decoder_feed_forward: int
    projection: int

    @property
    def total(self) -> int:
        """All parts together; a training step costs about three times as much."""
        return sum(getattr(self, field.name) for field in fields(self))


def forward_flops(
    config: TransformerConfig, *, source_len: int, target_len: int, batch: int = 1
) -> ForwardFlops:
    """Return the FLOPs of `Transformer.forward` on padded sentences of these lengths.

    Masked scores are counted: they are computed, then thrown away.

    Raises:
        ValueError: if a length or the batch is not positive.
    """
    _check_positive(source_len=source_len, target_len=target_len, batch=batch)

    def attention(query_len: int, key_len: int) -> int:
        flops = attention_flops(config, query_len=query_len, key_len=key_len, batch=batch)
        return config.n_layers * flops.total

    def feed_forward(length: int) -> int:
        return config.n_layers * feed_forward_flops(config, length=length, batch=batch)

    return ForwardFlops(
        encoder_attention=attention(source_len, source_len),
        encoder_feed_forward=feed_forward(source_len),
        decoder_attention=attention(target_len, target_len),
        cross_attention=attention(target_len, source_len),
        decoder_feed_forward=feed_forward(target_len),
        projection=matmul_flops(batch * target_len, config.d_model, config.vocab_sizes[1]),
    )


Layer = Literal[
    "self-attention", "recurrent", "convolutional", "dilated", "separable", "restricted"
]


@dataclass(frozen=True, kw_only=True)
class LayerCost:
    """One row of Table 1 for given sizes; constant factors are left out, as in the paper.

    `operations` per layer; `sequential` operations that must wait for each other; `path`, the
    number of edges between the two most distant positions, see `path_length`.
    """

    layer: Layer
    operations: int
    sequential: int
    path: int


def layer_cost(layer: Layer, *, n: int, d: int, k: int = 3, r: int = 64) -> LayerCost:
    """Return the costs of one layer for n positions of d dimensions (§4, Table 1).

    `k` is the kernel width of a convolution, `r` the neighbourhood of restricted self-attention.

    Raises:
        ValueError: for an unknown layer, sizes below 1, or k or r below 2.
    """
    path = path_length(layer, n=n, k=k, r=r)
    _check_positive(d=d)
    operations = {
        "self-attention": n * n * d,
        "recurrent": n * d * d,
        "convolutional": k * n * d * d,
        "dilated": k * n * d * d,
        "separable": k * n * d + n * d * d,
        "restricted": min(r, n) * n * d,
    }
    return LayerCost(
        layer=layer,
        operations=operations[layer],
        sequential=n if layer == "recurrent" else 1,
        path=path,
    )


def path_length(layer: Layer, *, n: int, k: int = 3, r: int = 64) -> int:
    """Count the edges from input position 0 to output position n − 1 on the shortest way (§4).

    An edge leads through one layer or, in a recurrence, through one step: in at the first, then
    n − 1 steps on. A causal convolution reaches k − 1 positions further in each layer; a dilated
    one leaves gaps that grow k-fold, so its reach does too; restricted self-attention reaches r/2
    to each side.

    Raises:
        ValueError: as `layer_cost`.
    """
    if layer not in get_args(Layer):
        raise ValueError(f"layer must be one of {', '.join(get_args(Layer))}, got {layer!r}")
    _check_positive(n=n)
    if k < 2 or r < 2:
        raise ValueError(f"k and r must be at least 2, or nothing is connected; got {k} and {r}")
    if layer == "recurrent":
        return n
    reach = steps = 0
    while reach < n - 1:
        reach += {
            "self-attention": n - 1,
            "convolutional": k - 1,
            "separable": k - 1,
            "dilated": (k - 1) * k**steps,
            "restricted": r // 2,
        }[layer]
        steps += 1
    return max(steps, 1)


def parameter_count(config: TransformerConfig) -> int:
    """Return the number of trained values of `Transformer(config)`, counted on paper (Table 3)."""
    source_size, target_size = config.vocab_sizes
    rows = source_size if config.tie_embeddings else source_size + 2 * target_size
    bias = target_size if config.output_bias else 0
    return fixed_parameter_count(config) + rows * config.d_model + bias


def fixed_parameter_count(config: TransformerConfig) -> int:
    """Return the parameters that do not depend on the vocabulary."""
    d_k, d_v = _head_sizes(config)
    d, d_ff = config.d_model, config.d_ff
    bias = int(config.bias)
    heads = config.n_heads * (2 * d_k + d_v)  # columns of W^Q, W^K, W^V
    attention = heads * (d + bias) + (config.n_heads * d_v + bias) * d
    feed_forward = (d + bias) * d_ff + (d_ff + bias) * d
    norm = d * (1 + bias)
    encoder_layer = attention + feed_forward + 2 * norm
    decoder_layer = 2 * attention + feed_forward + 3 * norm
    final_norms = 2 * norm if config.norm == "pre" else 0
    positions = config.max_len * d if config.positions == "learned" else 0
    return config.n_layers * (encoder_layer + decoder_layer) + final_norms + positions


# Millions, as Table 3 prints them; the rows that it leaves empty are not here.
PAPER_PARAMETERS: Mapping[str, int] = {
    "base": 65,
    "B d_k=16": 58,
    "B d_k=32": 60,
    "C N=2": 36,
    "C N=4": 50,
    "C N=8": 80,
    "C d_model=256": 28,
    "C d_model=1024": 168,
    "C d_ff=1024": 53,
    "C d_ff=4096": 90,
    "big": 213,
}


# Sustained single-precision TFLOP/s that the paper assumes (footnote to Section 6.1).
SUSTAINED_TFLOPS: Mapping[str, float] = {"K80": 2.8, "K40": 3.7, "M40": 6.0, "P100": 9.5}


def training_cost(*, hours: float | int, n_gpus: int, gpu: str) -> float:
    """Return training cost in FLOPs as Table 2 estimates it: time × GPUs × sustained rate (§6.1).

    Raises:
        ValueError: for a GPU whose rate the paper does not give, or time or GPUs not positive.
    """
    if gpu not in SUSTAINED_TFLOPS:
        raise ValueError(f"gpu must be one of {', '.join(SUSTAINED_TFLOPS)}, got {gpu!r}")
    if hours <= 0 or n_gpus < 1:
        raise ValueError(f"hours and n_gpus must be positive, got {hours} and {n_gpus}")
    return hours * 3600 * n_gpus * SUSTAINED_TFLOPS[gpu] * 1e12


def _head_sizes(config: TransformerConfig) -> tuple[int, int]:
    if config.d_k is None or config.d_v is None:
        raise ValueError("a configuration derives d_k and d_v when it is made, got None")
    return config.d_k, config.d_v


def _check_positive(**sizes: int) -> None:
    for name, size in sizes.items():
        if size < 1:
            raise ValueError(f"{name} must be at least 1, got {size}")
