"""What the decoder keeps between steps, so that a step computes one position only (§6.1)."""

from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor


class KeyValueCache:
    """Projected keys and values of one attention, kept from one decoding step to the next.

    A growing cache (decoder self-attention) appends each step's keys and values; it holds room for
    `ROOM` positions to come, so that most steps copy only what is new. A fixed one
    (encoder–decoder attention) stores the first and returns them ever after. Positions come first
    in memory: what is filled lies together, whatever the room behind it.
    """

    ROOM = 16

    def __init__(self, *, growing: bool) -> None:
        self.growing = growing
        self.length = 0  # positions stored
        self._stored: tuple[Tensor, Tensor] | None = None  # both (length and room, batch, heads, d)
        self._before: tuple[Tensor, Tensor] | None = None  # memory for the next rows selected

    def fixed(self) -> tuple[Tensor, Tensor] | None:
        """Return what is stored if it stays as it is, so that nothing needs to be projected."""
        return None if self.growing or self._stored is None else self._filled(*self._stored)

    def append(
        self,
        key: Float[Tensor, "batch heads new_len d_k"],
        value: Float[Tensor, "batch heads new_len d_v"],
    ) -> tuple[Float[Tensor, "batch heads key_len d_k"], Float[Tensor, "batch heads key_len d_v"]]:
        """Store the keys and values of new positions behind the old; return all of them."""
        keys, values = self._stored or (None, None)
        self._stored = self._behind(keys, key), self._behind(values, value)
        self.length += key.shape[-2]
        return self._filled(*self._stored)

    @torch.no_grad()
    def select(self, rows: Tensor) -> None:
        """Keep, repeat or reorder rows of the batch, as beam search and finished sentences need."""
        if self._stored is not None:
            before = self._before or self._stored
            pairs = zip(self._stored, before, strict=True)
            keys, values = (self._taken(stored, rows, old) for stored, old in pairs)
            self._before = self._stored if self.growing else None
            self._stored = keys, values

    def _filled(self, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
        filled = slice(self.length)
        return keys[filled].permute(1, 2, 0, 3), values[filled].permute(1, 2, 0, 3)

    def _behind(self, stored: Tensor | None, new: Tensor) -> Tensor:
        new = new.permute(2, 0, 1, 3)
        end = self.length + len(new)
        if stored is None or end > len(stored):
            room = self.ROOM if self.growing else 0
            larger = new.new_empty(end + room, *new.shape[1:])
            if stored is not None:
                larger[: self.length] = stored[: self.length]
            stored = larger
        stored[self.length : end] = new
        return stored

    def _taken(self, stored: Tensor, rows: Tensor, before: Tensor) -> Tensor:
        shape = (len(stored), len(rows), *stored.shape[2:])
        is_free = before is not stored and before.shape == shape
        taken = before if is_free else stored.new_empty(shape)
        filled = slice(self.length)  # index_select is faster than [:, rows]
        torch.index_select(stored[filled], 1, rows, out=taken[filled])
        return taken


class LayerCache(NamedTuple):
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

    def select(self, rows: Tensor, *, sources: Tensor | None) -> None:
        """Keep, repeat or reorder rows of the batch, and keep these rows of its sources.

        None leaves the sources alone, as when beams of one sentence change places.
        """
        for layer in self.layers:
            layer.self_attention.select(rows)
            if sources is not None:
                layer.cross_attention.select(sources)
