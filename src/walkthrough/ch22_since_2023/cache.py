"""What is kept of every token that was read: keys and values, or a latent vector."""

from dataclasses import dataclass

from jaxtyping import Bool, Float
from torch import Tensor, nn

from transformer.attention import scaled_dot_product_attention

BYTES = 2
"""Of a number that is kept in 16 bits."""


@dataclass(frozen=True)
class Published:
    """What a published model keeps: numbers a token in each layer, and where that is written."""

    name: str
    n_layers: int
    per_layer: int
    paper: str
    window: int | None = None

    @property
    def megabytes(self) -> float:
        """Of one token, in all layers."""
        return self.n_layers * self.per_layer * BYTES / 1e6

    def gigabytes(self, n_tokens: int) -> float:
        """Of a text of so many tokens; a window keeps the last ones only."""
        return self.megabytes * min(n_tokens, self.window or n_tokens) / 1000


def keys_and_values(n_heads: int, d_k: int) -> int:
    """Return the numbers of a token in a layer with so many heads of keys and values."""
    return 2 * n_heads * d_k


MODELS = (
    Published("GPT-3", 96, keys_and_values(96, 128), "arXiv 2005.14165, Table 2.1"),
    Published("Llama 3 405B", 126, keys_and_values(8, 128), "arXiv 2407.21783, Table 3"),
    Published("Mistral 7B", 32, keys_and_values(8, 128), "arXiv 2310.06825, Table 1", window=4096),
    Published("DeepSeek-V3", 61, 512 + 64, "arXiv 2412.19437, Section 4.2"),
)


class LatentAttention(nn.Module):
    """Attention that keeps one short vector a token; keys and values of all heads come from it."""

    def __init__(self, *, d_model: int, n_heads: int, d_latent: int) -> None:
        super().__init__()
        self.n_heads = n_heads
        self.query_proj = nn.Linear(d_model, d_model, bias=False)
        self.latent_proj = nn.Linear(d_model, d_latent, bias=False)
        self.key_up = nn.Linear(d_latent, d_model, bias=False)
        self.value_up = nn.Linear(d_latent, d_model, bias=False)

    def forward(
        self,
        x: Float[Tensor, "queries d_model"],
        latent: Float[Tensor, "words d_latent"],
        attend_mask: Bool[Tensor, "queries words"] | None = None,
    ) -> Float[Tensor, "queries d_model"]:
        """Make keys and values from what is kept, then attend as ever."""
        q, k, v = (
            y.unflatten(-1, (self.n_heads, -1)).transpose(0, 1)
            for y in (self.query_proj(x), self.key_up(latent), self.value_up(latent))
        )
        found, _ = scaled_dot_product_attention(q, k, v, attend_mask)
        return found.transpose(0, 1).flatten(-2)

    def absorbed(
        self,
        x: Float[Tensor, "queries d_model"],
        latent: Float[Tensor, "words d_latent"],
        attend_mask: Bool[Tensor, "queries words"] | None = None,
    ) -> Float[Tensor, "queries d_model"]:
        """The same without keys and values: each head's query moves to where the latents are."""
        up_key, up_value = (
            up.weight.unflatten(0, (self.n_heads, -1)) for up in (self.key_up, self.value_up)
        )
        q = self.query_proj(x).unflatten(-1, (self.n_heads, -1)).transpose(0, 1)
        kept = latent.expand(self.n_heads, -1, -1)
        found, _ = scaled_dot_product_attention(
            q @ up_key, kept, kept, attend_mask, scale=q.shape[-1] ** -0.5
        )
        return (found @ up_value.mT).transpose(0, 1).flatten(-2)
