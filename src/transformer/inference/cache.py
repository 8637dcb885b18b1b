"""The decoder's key–value cache: what each step leaves for the next (§6.1)."""

from torch import Tensor

from transformer.attention import KeyValueCache


class DecoderCache:
    """Keys and values of every decoder layer: self-attention grows, encoder–decoder is fixed."""

    def __init__(self, n_layers: int) -> None:
        self._layers = [
            (KeyValueCache(growing=True), KeyValueCache(growing=False)) for _ in range(n_layers)
        ]

    @property
    def length(self) -> int:
        """Number of target positions already decoded."""
        return self._layers[0][0].length

    def layer(self, index: int) -> tuple[KeyValueCache, KeyValueCache]:
        """Return a layer's caches: of its self-attention, of its encoder–decoder attention."""
        return self._layers[index]

    def select(self, rows: Tensor) -> None:
        """Keep, repeat or reorder rows of the batch in every layer."""
        for self_cache, cross_cache in self._layers:
            self_cache.select(rows)
            cross_cache.select(rows)
