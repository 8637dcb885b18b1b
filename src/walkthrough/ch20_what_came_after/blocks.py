"""From the block of 2017 to today's: each change a few lines on the package's own parts."""

from collections.abc import Iterable

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from transformer.attention import MultiHeadAttention, scaled_dot_product_attention
from transformer.cache import KeyValueCache
from transformer.config import TransformerConfig
from transformer.feed_forward import PositionwiseFeedForward
from transformer.layers import EncoderLayer, ResidualNorm
from walkthrough.ch20_what_came_after.stream import Stack

CHANGES = (
    *("pre-norm", "RMSNorm", "RoPE", "SwiGLU", "no biases", "QK-norm", "2 groups", "1 group"),
    *("no positions", "gate per head", "gate per number"),
)


class SwiGLU(PositionwiseFeedForward):
    """W2 (SiLU(x W1) ⊙ x V): a second matrix that opens and closes what the first computes.

    Its width is two thirds of `d_ff`, so that three matrices have the parameters of two.
    """

    def __init__(self, *, d_model: int, d_ff: int, bias: bool = True) -> None:
        width = round(2 * d_ff / 3)
        super().__init__(d_model=d_model, d_ff=width, bias=bias)
        self.gate = nn.Linear(d_model, width, bias=bias)

    def forward(self, x: Float[Tensor, "*batch d_model"]) -> Float[Tensor, "*batch d_model"]:
        """Transform each position on its own."""
        return self.contract(F.silu(self.gate(x)) * self.expand(x))


def turned(
    x: Float[Tensor, "*batch length d_k"], *, start: int = 0, base: float = 10000.0
) -> Float[Tensor, "*batch length d_k"]:
    """Turn pair i of the vector at position t by t / base^(2i/d_k) (RoPE)."""
    length, d_k = x.shape[-2:]
    frequency = base ** (-torch.arange(0, d_k, 2) / d_k)
    angle = torch.arange(start, start + length)[:, None] * frequency
    a, b = x[..., 0::2], x[..., 1::2]
    pairs = (a * angle.cos() - b * angle.sin(), a * angle.sin() + b * angle.cos())
    return torch.stack(pairs, dim=-1).flatten(-2)


class TodaysAttention(MultiHeadAttention):
    """Multi-head attention with four changes, each off unless asked for.

    `rotary` turns queries and keys by their positions. `n_groups` is the number of heads that keys
    and values have; `n_heads / n_groups` query heads share each. `qk_norm` gives each query and key
    a root mean square of 1 before they meet. `n_gates` sigmoids of the word that asks let through
    what its heads found, before W^O: one a head, or one a number.

    Raises:
        ValueError: the heads do not divide into groups.
    """

    def __init__(
        self,
        config: TransformerConfig,
        *,
        rotary: bool = False,
        n_groups: int | None = None,
        qk_norm: bool = False,
        n_gates: int = 0,
    ) -> None:
        d_model, h = config.d_model, config.n_heads
        super().__init__(d_model=d_model, n_heads=h, bias=config.bias)
        self.rotary, self.n_groups = rotary, h if n_groups is None else n_groups
        if self.n_groups < 1 or h % self.n_groups:
            raise ValueError(f"{h} heads do not divide into {self.n_groups} groups")
        if self.n_groups != h:
            self.key_proj = nn.Linear(d_model, self.n_groups * self.d_k, bias=config.bias)
            self.value_proj = nn.Linear(d_model, self.n_groups * self.d_v, bias=config.bias)
        # ε is PyTorch's default here, the precision of a number (1.2e-7); other norms have 1e-5.
        self.query_norm = nn.RMSNorm(self.d_k) if qk_norm else nn.Identity()
        self.key_norm = nn.RMSNorm(self.d_k) if qk_norm else nn.Identity()
        self.gate = nn.Linear(d_model, n_gates, bias=config.bias) if n_gates else None

    def forward(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        attend_mask: Tensor | None = None,
        *,
        cache: KeyValueCache | None = None,
        need_weights: bool = False,
    ) -> tuple[Tensor, Tensor | None]:
        """As `MultiHeadAttention.forward`; the cache keeps one key and value a *group*."""
        q, k = self.heads(query, key, start=0 if cache is None else cache.length)
        v = self.value_proj(value).unflatten(-1, (self.n_groups, -1)).transpose(1, 2)
        if cache is not None:
            k, v = cache.append(k, v)
        shared = self.n_heads // self.n_groups
        if shared > 1:  # each group serves neighbouring heads
            k, v = k.repeat_interleave(shared, dim=1), v.repeat_interleave(shared, dim=1)
        output, weights = scaled_dot_product_attention(
            q, k, v, attend_mask, scale=self.scale, need_weights=need_weights
        )
        found = self.merge_heads(output)
        if self.gate is not None:
            opened = self.gate(query).sigmoid()[..., None]
            found = (found.unflatten(-1, (opened.shape[-2], -1)) * opened).flatten(-2)
        return self.output_proj(found), weights

    def heads(self, query: Tensor, key: Tensor, *, start: int = 0) -> tuple[Tensor, Tensor]:
        """Return the queries of all heads and the keys of all groups, as they meet."""
        q = self.query_norm(self.query_proj(query).unflatten(-1, (self.n_heads, -1)))
        k = self.key_norm(self.key_proj(key).unflatten(-1, (self.n_groups, -1)))
        q, k = q.transpose(1, 2), k.transpose(1, 2)
        return (turned(q, start=start), turned(k, start=start)) if self.rotary else (q, k)


def stack(
    config: TransformerConfig, changes: Iterable[str] = (), *, sight: str = "backwards"
) -> Stack:
    """Return the decoder-only model of 2017's blocks with these changes made to every block.

    Raises:
        ValueError: there is no such change.
    """
    changes = set(changes)
    if unknown := changes - set(CHANGES):
        raise ValueError(f"changes must be among {CHANGES}, got {sorted(unknown)}")
    if "pre-norm" in changes:
        config = config.replace(norm="pre")
    if "no biases" in changes:
        config = config.replace(bias=False)
    model = Stack(config, sight)
    if changes & {"RoPE", "no positions"}:
        model.positions = None
    gates = {"gate per head": config.n_heads, "gate per number": config.d_model}
    n_gates = max((gates[one] for one in changes & set(gates)), default=0)
    groups = 1 if "1 group" in changes else 2 if "2 groups" in changes else None
    for layer in model.encoder.layers:
        assert isinstance(layer, EncoderLayer)
        if n_gates or changes & {"RoPE", "QK-norm", "2 groups", "1 group"}:
            layer.self_attention = TodaysAttention(
                config,
                rotary="RoPE" in changes,
                n_groups=groups,
                qk_norm="QK-norm" in changes,
                n_gates=n_gates,
            )
        if "SwiGLU" in changes:
            layer.feed_forward = SwiGLU(d_model=config.d_model, d_ff=config.d_ff, bias=config.bias)
    if "RMSNorm" in changes:
        _replace_norms(model, config)
    model.reset_parameters()
    return model


def _replace_norms(model: Stack, config: TransformerConfig) -> None:
    for module in model.modules():
        if isinstance(module, ResidualNorm):
            module.layer_norm = nn.RMSNorm(config.d_model, eps=config.layer_norm_eps)  # type: ignore[assignment]
    if config.norm == "pre":
        model.encoder.final_norm = nn.RMSNorm(config.d_model, eps=config.layer_norm_eps)
