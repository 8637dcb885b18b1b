"""Batches of sentence pairs of similar length, bounded by a number of tokens (Section 5.1)."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import overload

import numpy as np
import torch
from jaxtyping import Int, Int64
from torch import Tensor

from transformer.config import BOS_ID, EOS_ID, PAD_ID, UNK_ID
from transformer.data.spelling import FlatLines

Pair = tuple[list[int], list[int]]
"""Source ids and target ids of one sentence pair, without begin and end symbols."""

_FIRST_WORD_ID = UNK_ID  # the unknown word is a word of the sentence; smaller ids are not


class PairArrays(Sequence[Pair]):
    """Sentence pairs as two flat arrays of ids, about a tenth of what lists take.

    A pair is made into lists when it is asked for. `benchmarks/pair_arrays.py` measures memory and
    the time of an epoch's batches.
    """

    def __init__(self, pairs: Iterable[Pair]) -> None:
        flat, ends = (array("i"), array("i")), (array("q", [0]), array("q", [0]))
        for pair in pairs:
            for ids, end, side in zip(flat, ends, pair, strict=True):
                ids.extend(side)
                end.append(len(ids))
        self._ids = [np.frombuffer(ids, np.int32) if ids else np.empty(0, np.int32) for ids in flat]
        self._ends = [np.frombuffer(end, np.int64) for end in ends]

    @classmethod
    def from_flat(cls, *sides: FlatLines) -> PairArrays:
        """Take each side as `SubwordTokenizer.encode_lines` returns it.

        Raises:
            ValueError: the sides have different numbers of sentences.
        """
        source, target = (len(ends) - 1 for _, ends in sides)
        if source != target:
            raise ValueError(f"every source needs a target, got {source} and {target}")
        pairs = cls(())
        pairs._ids, pairs._ends = [ids for ids, _ in sides], [ends for _, ends in sides]
        return pairs

    @property
    def flat(self) -> list[FlatLines]:
        """Both sides as `from_flat` takes them."""
        return list(zip(self._ids, self._ends, strict=True))

    def rows(self, *, at_a_time: int = 20_000) -> Iterator[Int64[np.ndarray, " numbers"]]:
        """Yield parts of one row: of each pair the length of the source, the source, the target."""
        for start in range(0, len(self), at_a_time):
            ends = [ends[start : start + at_a_time + 1] for ends in self._ends]
            source_len, target_len = (np.diff(end) for end in ends)
            after = np.cumsum(1 + source_len + target_len)
            row = np.empty(after[-1], np.int64)
            row[after - target_len - source_len - 1] = source_len
            for ids, end, first in zip(
                self._ids, ends, (after - target_len - source_len, after - target_len), strict=True
            ):
                length = np.diff(end)
                places = np.arange(end[0], end[-1]) + np.repeat(first - end[:-1], length)
                row[places] = ids[end[0] : end[-1]]
            yield row

    def __len__(self) -> int:
        return len(self._ends[0]) - 1

    @overload
    def __getitem__(self, index: int) -> Pair: ...

    @overload
    def __getitem__(self, index: slice) -> list[Pair]: ...

    def __getitem__(self, index: int | slice) -> Pair | list[Pair]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        place = range(len(self))[index]
        source, target = (
            ids[ends[place] : ends[place + 1]].tolist()
            for ids, ends in zip(self._ids, self._ends, strict=True)
        )
        return source, target

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]

    @property
    def lengths(self) -> Int[np.ndarray, "pairs 2"]:
        """Number of tokens of every source and target."""
        lengths = np.empty((len(self), 2), np.int32)
        for side, ends in enumerate(self._ends):
            np.subtract(ends[1:], ends[:-1], out=lengths[:, side], casting="unsafe")
        return lengths

    def may_be_unfit(self, vocab_size: int | None) -> bool:
        """Whether a sentence is empty, or an id is no word's or outside the vocabulary."""
        limit = np.iinfo(np.int32).max if vocab_size is None else vocab_size - 1
        return any(
            (ends[1:] == ends[:-1]).any() or ids.min() < _FIRST_WORD_ID or ids.max() > limit
            for ids, ends in zip(self._ids, self._ends, strict=True)
        )


@dataclass(frozen=True, kw_only=True)
class Batch:
    """One padded batch: `target_out` is what the decoder must predict from `target_in` (§3.1)."""

    source: Int64[Tensor, "batch source_len"]
    target_in: Int64[Tensor, "batch target_len"]
    target_out: Int64[Tensor, "batch target_len"]
    indices: tuple[int, ...]

    @property
    def n_target_tokens(self) -> int:
        """Target tokens to predict, the end symbols included: what a mean loss divides by."""
        return int((self.target_out != PAD_ID).sum())

    def to(self, device: torch.device | str) -> Batch:
        """Return the same batch on `device`."""
        return Batch(
            source=self.source.to(device),
            target_in=self.target_in.to(device),
            target_out=self.target_out.to(device),
            indices=self.indices,
        )


def collate(
    pairs: Sequence[Pair],
    indices: Sequence[int] | None = None,
    *,
    vocab_size: int | None = None,
) -> Batch:
    """Pad the pairs that `indices` names (all of them by default) into one batch.

    The target is offset by one position (§3.1): the decoder reads `bos a b` and predicts `a b eos`.

    Raises:
        ValueError: for an empty batch, an empty sentence, an id below 3 (padding, begin and end are
            added here) or one outside the vocabulary.
        TypeError: for ids that are not integers.
    """
    chosen = tuple(range(len(pairs))) if indices is None else tuple(int(i) for i in indices)
    if not chosen:
        raise ValueError("a batch needs at least 1 sentence pair, got 0")
    sources, targets = [], []
    for index in chosen:
        if not 0 <= index < len(pairs):
            raise ValueError(f"pair index must be between 0 and {len(pairs) - 1}, got {index}")
        pair = pairs[index]
        _check_pair(index, pair, vocab_size)
        sources.append(pair[0])
        targets.append(pair[1])
    return Batch(
        source=_pad([[*ids, EOS_ID] for ids in sources]),
        target_in=_pad([[BOS_ID, *ids] for ids in targets]),
        target_out=_pad([[*ids, EOS_ID] for ids in targets]),
        indices=chosen,
    )


def token_batches(
    pairs: Sequence[Pair],
    *,
    max_tokens: int,
    seed: int,
    epoch: int = 0,
    shuffle: bool = True,
    vocab_size: int | None = None,
) -> list[Sequence[int]]:
    """Group all pairs by approximate length into batches of at most `max_tokens` (§5.1).

    A batch is an array of places in `pairs`, a tenth of what lists take. The limit holds for each
    side, padding and one begin or end symbol a sentence included. The same `seed` and `epoch` give
    the same batches; each epoch mixes pairs of one length anew and puts the batches in another
    order. Without `shuffle` they run from short to long.

    Raises:
        ValueError: for no pairs, a pair longer than `max_tokens`, or ids that `collate` refuses.
    """
    if not len(pairs):
        raise ValueError("batches need at least 1 sentence pair, got 0")
    if seed < 0 or epoch < 0:
        raise ValueError(f"seed and epoch must be at least 0, got seed {seed} and epoch {epoch}")
    arrays = pairs if isinstance(pairs, PairArrays) else PairArrays(pairs)
    lengths = arrays.lengths
    lengths += 1  # the begin or end symbol
    if arrays.may_be_unfit(vocab_size) or lengths.max() > max_tokens:
        _name_the_unfit(pairs, max_tokens, vocab_size)
    random = np.random.default_rng((seed, epoch))
    order = np.arange(len(pairs), dtype=np.int32)
    if shuffle:
        random.shuffle(order)
    lengths = lengths[order]
    batches = _fill(*_by_length(lengths, order), max_tokens)
    return [batches[i] for i in random.permutation(len(batches))] if shuffle else batches


def padding_waste(pairs: Sequence[Pair], batches: Sequence[Sequence[int]]) -> float:
    """Return the share of positions, both sides together, that hold padding instead of a token."""
    used = padded = 0
    for batch in batches:
        for side in (0, 1):
            lengths = [len(pairs[index][side]) + 1 for index in batch]
            used += sum(lengths)
            padded += max(lengths) * len(lengths)
    if padded == 0:
        raise ValueError("padding waste needs at least 1 batch, got 0")
    return 1 - used / padded


def _by_length(
    lengths: Int[np.ndarray, "pairs 2"], order: Int[np.ndarray, " pairs"]
) -> tuple[Int[np.ndarray, " pairs"], Int[np.ndarray, " pairs"]]:
    """Sort `order`, and return the longer length of each; the lengths, in that order, are lost."""
    source_len, target_len = lengths.T
    # Source lengths rise within one target length and fall within the next, so that a batch across
    # the border does not mix short sources with long ones: 4 % padding instead of 6 % on Multi30k.
    np.negative(source_len, out=source_len, where=target_len % 2 == 0)
    # Sorting is stable, so pairs of equal length keep their random order.
    places = np.lexsort((source_len, target_len))
    return order[places], np.abs(lengths).max(axis=1)[places]


def _fill(
    order: Int[np.ndarray, " pairs"], lengths: Int[np.ndarray, " pairs"], max_tokens: int
) -> list[Sequence[int]]:
    starts, longest, start = [0], 0, 0
    for place, length in enumerate(lengths.data):  # a list of a million takes 40 MB
        longest = max(longest, length)
        if longest * (place - start + 1) > max_tokens:
            start, longest = place, length
            starts.append(start)
    ends = pairwise([*starts, len(order)])
    return [array("i", order[start:end].tobytes()) for start, end in ends]


def _name_the_unfit(pairs: Sequence[Pair], max_tokens: int, vocab_size: int | None) -> None:
    for index, pair in enumerate(pairs):
        _check_pair(index, pair, vocab_size)
        longer = max(map(len, pair)) + 1
        if longer > max_tokens:
            raise ValueError(
                f"every sentence must fit into max_tokens = {max_tokens}, but pairs[{index}] has "
                f"{longer} tokens on its longer side, the end symbol included"
            )


def _check_pair(index: int, pair: Pair, vocab_size: int | None) -> None:
    for side, ids in zip(("source", "target"), pair, strict=True):
        if not ids:
            raise ValueError(
                f"a sentence needs at least 1 token, but the {side} of pairs[{index}] is empty"
            )
        if all(token == PAD_ID for token in ids):
            raise ValueError(f"the {side} of pairs[{index}] is only padding (id {PAD_ID})")
        low, high = min(ids), max(ids)
        if low < _FIRST_WORD_ID:
            raise ValueError(
                f"ids must be at least {_FIRST_WORD_ID} (padding, begin and end are added by "
                f"collate), but the {side} of pairs[{index}] holds {low}"
            )
        if vocab_size is not None and high >= vocab_size:
            raise ValueError(
                f"ids must be below vocab_size = {vocab_size}, but the {side} of pairs[{index}] "
                f"holds {high}"
            )


def _pad(rows: list[list[int]]) -> Int64[Tensor, "batch length"]:
    longest = max(map(len, rows))
    padded = torch.tensor([row + [PAD_ID] * (longest - len(row)) for row in rows])
    if padded.dtype != torch.int64:
        raise TypeError(f"ids must be integers, got {padded.dtype}")
    return padded
