"""What the decoder keeps between steps, so that a step computes one position only (§6.1)."""

from dataclasses import dataclass

from torch import Tensor

from transformer.attention import KeyValueCache


@dataclass(frozen=True)
class LayerCache:
    """Caches of one decoder layer: its own keys grow, those of the encoder's output are fixed."""

    self_attention: KeyValueCache
    cross_attention: KeyValueCache


class DecoderCache:
    """Keys and values of every decoder layer (§3.2.3: the second and third use of attention)."""

    def __init__(self, n_layers: int) -> None:
        self.layers = [
            LayerCache(KeyValueCache(growing=True), KeyValueCache(growing=False))
            for _ in range(n_layers)
        ]

    @property
    def length(self) -> int:
        """Number of target positions already decoded."""
        return self.layers[0].self_attention.length

    def layer(self, index: int) -> tuple[KeyValueCache, KeyValueCache]:
        """Return a layer's caches: of its self-attention, of its encoder–decoder attention."""
        layer = self.layers[index]
        return layer.self_attention, layer.cross_attention

    def select(self, rows: Tensor, *, sources: Tensor | None) -> None:
        """Keep, repeat or reorder rows of the batch, and keep these rows of its sources.

        None leaves the sources alone, as when beams of one sentence change places.
        """
        for layer in self.layers:
            layer.self_attention.select(rows)
            if sources is not None:
                layer.cross_attention.select(sources)
