"""From text to text: spell, batch by length, decode, and put the sentences back in order (§6.1)."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Protocol, runtime_checkable

import torch

from transformer.config import EOS_ID, PAD_ID
from transformer.inference.beam import beam_search
from transformer.inference.greedy import greedy_decode
from transformer.model import Transformer


@runtime_checkable
class Codec(Protocol):
    """Text to ids and back, without start and end tokens; `transformer.data.codec` has two."""

    def encode(self, text: str) -> list[int]:
        """Return the ids of a source sentence."""

    def decode(self, ids: Sequence[int]) -> str:
        """Return the text of a target sentence."""

    def __len__(self) -> int: ...


@dataclass(frozen=True)
class Translation:
    """One translation; beam search scores it, greedy decoding does not."""

    text: str
    score: float | None = None


@dataclass(frozen=True, kw_only=True)
class Decoding:
    """How to decode: `beam=1` is greedy; `max_source` and `batch_tokens` count source tokens."""

    beam: int = 4
    alpha: float = 0.6
    n_best: int = 1
    max_len: int | None = None
    max_source: int = 1000
    batch_tokens: int = 2000
    batch_sentences: int = 100

    def __post_init__(self) -> None:
        for name in ("beam", "n_best", "max_source", "batch_tokens", "batch_sentences"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1, got {getattr(self, name)}")
        if self.alpha < 0:
            raise ValueError(f"alpha must not be negative, got {self.alpha}")
        if self.n_best > self.beam:
            raise ValueError(f"n_best must be at most beam = {self.beam}, got {self.n_best}")


def translate(
    model: Transformer, codec: Codec, lines: Sequence[str], decoding: Decoding | None = None
) -> list[list[Translation]]:
    """Return the n best translations of each line, in the order of the lines.

    An empty line is translated into an empty line.

    Raises:
        ValueError: naming the line, for a word that the vocabulary does not hold or a line of more
            than `max_source` tokens; or a vocabulary of another size than the model's.
    """
    return list(translate_stream(model, codec, lines, decoding, window=max(1, len(lines))))


def translate_stream(
    model: Transformer,
    codec: Codec,
    lines: Iterable[str],
    decoding: Decoding | None = None,
    *,
    window: int = 500,
) -> Iterator[list[Translation]]:
    """Translate lines as they come, `window` at a time; the rest is as in `translate`."""
    check_vocabulary(model, codec)
    decoding = decoding or Decoding()
    numbered = enumerate(lines, start=1)
    while part := list(islice(numbered, window)):
        sources = [_encode(codec, number, line, decoding.max_source) for number, line in part]
        yield from _translate_ids(model, codec, sources, decoding)


def check_vocabulary(model: Transformer, codec: Codec) -> None:
    """Raise ValueError unless the model has one row of its matrix for each token."""
    if len(codec) != model.config.vocab_size:
        raise ValueError(
            f"the tokenizer has {len(codec)} tokens, the model {model.config.vocab_size}: "
            "they do not belong together"
        )


def _translate_ids(
    model: Transformer, codec: Codec, sources: Sequence[list[int]], decoding: Decoding
) -> list[list[Translation]]:
    results: list[list[Translation]] = [[Translation("")] for _ in sources]
    for indices in _batches(sources, decoding):
        rows = [torch.tensor([*sources[index], EOS_ID]) for index in indices]
        padded = torch.nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=PAD_ID)
        decoded = _decode(model, codec, padded.to(model.output_weight.device), decoding)
        for index, translations in zip(indices, decoded, strict=True):
            results[index] = translations
    return results


def _decode(
    model: Transformer, codec: Codec, source: torch.Tensor, decoding: Decoding
) -> list[list[Translation]]:
    if decoding.beam == 1:
        rows = greedy_decode(model, source, max_len=decoding.max_len)
        return [[Translation(codec.decode(ids))] for ids in rows]
    found = beam_search(
        model,
        source,
        beam=decoding.beam,
        alpha=decoding.alpha,
        n_best=decoding.n_best,
        max_len=decoding.max_len,
    )
    return [[Translation(codec.decode(h.tokens), h.score) for h in best] for best in found]


def _batches(sources: Sequence[list[int]], decoding: Decoding) -> list[list[int]]:
    by_length = sorted(
        (index for index, ids in enumerate(sources) if ids), key=lambda i: len(sources[i])
    )
    batches: list[list[int]] = []
    for index in by_length:
        width = len(sources[index]) + 1
        full = not batches or len(batches[-1]) >= decoding.batch_sentences
        if full or (len(batches[-1]) + 1) * width > decoding.batch_tokens:
            batches.append([])
        batches[-1].append(index)
    return batches


def _encode(codec: Codec, number: int, line: str, max_source: int) -> list[int]:
    if not line.strip():
        return []
    try:
        ids = codec.encode(line)
    except ValueError as error:
        raise ValueError(f"line {number}: {error}") from error
    if len(ids) > max_source:
        raise ValueError(f"line {number}: at most {max_source} tokens a line, got {len(ids)}")
    return ids
