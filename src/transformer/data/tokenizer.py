"""One subword vocabulary for both languages, on the `tokenizers` library (Section 5.1).

Byte-pair encoding inside words, over bytes: any string has a spelling and comes back exactly.
The idea is written out in `bpe.py`.
"""

from __future__ import annotations

import hashlib
import json
import random
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from pathlib import Path

from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

from transformer.config import BOS_ID, EOS_ID, PAD_ID, UNK_ID
from transformer.data.bpe import Merge, merge_ranks, segment
from transformer.data.spelling import FlatLines, count_words, spell_lines
from transformer.files import read_text, write_atomically

# These brackets stand for no byte, so no text can spell a special symbol.
_SPECIAL = {PAD_ID: "⟨pad⟩", BOS_ID: "⟨bos⟩", EOS_ID: "⟨eos⟩", UNK_ID: "⟨unk⟩"}
_N_FIXED = len(_SPECIAL) + 256  # the special symbols, then the bytes
# The library writes a printable byte as its own letter, the others as letters from code 256 on.
_PRINTABLE = [*range(33, 127), *range(161, 173), *range(174, 256)]
_OTHER = sorted(set(range(256)) - set(_PRINTABLE))
_BYTE_OF_LETTER = {
    **{chr(byte): byte for byte in _PRINTABLE},
    **{chr(256 + number): byte for number, byte in enumerate(_OTHER)},
}
_MIN_COUNT = 2  # a pair seen once says nothing
_REPEATS = 1000  # of a word in one text that is learned from


class SubwordTokenizer:
    """Text to ids and back; ids 0–3 are padding, begin, end and unknown, as in every vocabulary."""

    def __init__(self, backend: Tokenizer):
        vocabulary = backend.get_vocab()
        for number, name in _SPECIAL.items():
            if vocabulary.get(name) != number:
                raise ValueError(f"{name} must have id {number}, got {vocabulary.get(name)}")
        self._backend = backend

    @classmethod
    def train(
        cls,
        lines: Iterable[str],
        *,
        n_merges: int | None = None,
        vocab_size: int | None = None,
    ) -> SubwordTokenizer:
        """Learn merges from lines of both languages; the same lines always give the same merges.

        Say how many merges, or how large the vocabulary: 4 special symbols, 256 bytes, merges.

        Raises:
            ValueError: if not exactly one of the two is given, or it is too small, or larger than
                the lines allow (a merge needs a pair that occurs at least twice).
        """
        if (n_merges is None) == (vocab_size is None):
            raise ValueError(f"give either n_merges or vocab_size, got {n_merges} and {vocab_size}")
        if n_merges is not None:
            name, asked, least = "n_merges", n_merges, 0
        else:
            name, asked, least = "vocab_size", vocab_size or 0, _N_FIXED
        if asked < least:
            raise ValueError(f"{name} must be at least {least}, got {asked}")
        merges = _learn(lines, asked + _N_FIXED - least)[:n_merges]
        backend = _backend(merges)
        most = len(merges) if name == "n_merges" else backend.get_vocab_size()
        if most < asked:
            told = "merges" if name == "n_merges" else "tokens"
            raise ValueError(f"the corpus allows {most} {told} at most, got {asked}")
        return cls(backend)

    def encode(self, text: str) -> list[int]:
        """Return the ids of a text, without begin and end symbols."""
        return self._backend.encode(text).ids

    def encode_batch(
        self, texts: Sequence[str], *, dropout: float = 0.0, seed: int = 0
    ) -> list[list[int]]:
        """Return the ids of many texts; with `dropout`, spelled in ways drawn with `seed`.

        BPE dropout (Provilkov, Emelianenko and Voita 2020) is for training only, with another
        seed each epoch.

        Raises:
            ValueError: unless 0 ≤ dropout < 1.
        """
        if not 0 <= dropout < 1:
            raise ValueError(f"dropout must be at least 0 and below 1, got {dropout}")
        if not dropout:
            return [encoding.ids for encoding in self._backend.encode_batch(list(texts))]
        generator = random.Random(seed)
        return [self._encode_with_dropout(text, dropout, generator) for text in texts]

    def encode_lines(self, lines: Iterable[str]) -> FlatLines:
        """Return the ids of many lines: those of `encode`, at a fraction of its cost."""
        return spell_lines(lines, self._encode_words, largest=len(self) - 1)

    def decode(self, ids: Sequence[int]) -> str:
        """Return the text that the ids spell; special symbols are left out.

        Raises:
            ValueError: for an id outside the vocabulary.
        """
        for number in ids:
            if not 0 <= number < len(self):
                raise ValueError(f"ids must be between 0 and {len(self) - 1}, got {number}")
        return self._backend.decode([number for number in ids if number not in _SPECIAL])

    def decode_batch(self, rows: Iterable[Sequence[int]]) -> list[str]:
        """Return the text of each row of ids."""
        return [self.decode(row) for row in rows]

    def pieces(self, ids: Sequence[int]) -> list[str]:
        """Return each id as readable text, for figures: "▁" begins a word, bytes are in hex."""
        return [_readable(self.tokens[number]) for number in ids]

    def __len__(self) -> int:
        return self._backend.get_vocab_size()

    @cached_property
    def merges(self) -> list[Merge]:
        """The merges in the order in which they were learned, in the library's byte letters."""
        return [tuple(merge) for merge in json.loads(self._backend.to_str())["model"]["merges"]]

    @cached_property
    def fingerprint(self) -> str:
        """A checksum of the vocabulary and the merges: equal for tokenizers that agree."""
        model = json.loads(self._backend.to_str())["model"]
        content = json.dumps([model["vocab"], model["merges"]])
        return hashlib.sha256(content.encode()).hexdigest()

    def to_json(self) -> str:
        """Return the tokenizer in the JSON of the `tokenizers` library."""
        return self._backend.to_str(pretty=True)

    @classmethod
    def from_json(cls, text: str) -> SubwordTokenizer:
        """Rebuild a tokenizer from `to_json`.

        Raises:
            ValueError: if the text is damaged or is not a tokenizer of this package.
        """
        try:
            return cls(Tokenizer.from_str(text))
        except Exception as error:  # the library raises nothing more special
            raise ValueError(f"not a tokenizer of this package: {error}") from error

    def save(self, path: str | Path) -> None:
        """Write the tokenizer as JSON, whole or not at all."""
        write_atomically(path, self.to_json().encode())

    @classmethod
    def load(cls, path: str | Path) -> SubwordTokenizer:
        """Read what `save` wrote.

        Raises:
            FileNotFoundError: if there is no such file.
            ValueError: naming the file, if `from_json` refuses its content.
        """
        try:
            return cls.from_json(read_text(path))
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from error

    @cached_property
    def tokens(self) -> list[str]:
        """All tokens in the order of their ids, as the library writes them."""
        vocabulary = self._backend.get_vocab()
        return sorted(vocabulary, key=vocabulary.__getitem__)

    @cached_property
    def _ids(self) -> dict[str, int]:
        return self._backend.get_vocab()

    @cached_property
    def _ranks(self) -> dict[Merge, int]:
        return merge_ranks(self.merges)

    def _encode_words(self, words: Sequence[str]) -> list[list[int]]:
        space = self._backend.encode(" ").ids[:1]  # before another space stands no word
        return [encoding.ids or space for encoding in self._backend.encode_batch(list(words))]

    def _encode_with_dropout(
        self, text: str, dropout: float, generator: random.Random
    ) -> list[int]:
        normalized = self._backend.normalizer.normalize_str(text)
        return [
            self._ids[part]
            for word, _ in self._backend.pre_tokenizer.pre_tokenize_str(normalized)
            for part in segment(word, self._ranks, dropout=dropout, generator=generator)
        ]


def _backend(merges: list[Merge]) -> Tokenizer:
    tokens = [*_SPECIAL.values(), *_BYTE_OF_LETTER]
    tokens += [left + right for left, right in merges]
    vocabulary = {token: number for number, token in enumerate(dict.fromkeys(tokens))}
    # No token is registered as special: the library would look for its name in the text.
    backend = Tokenizer(models.BPE(vocab=vocabulary, merges=merges))
    backend.normalizer = normalizers.Prepend(" ")
    backend.pre_tokenizer = pre_tokenizers.Sequence(
        [
            # A word is one white-space character with all that follows up to the next.
            pre_tokenizers.Split(Regex(r"\s\S*"), behavior="isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    backend.decoder = decoders.Sequence([decoders.ByteLevel(), decoders.Strip(left=1)])
    return backend


def _learn(lines: Iterable[str], size: int) -> list[Merge]:
    backend = _backend([])
    pieces: Counter[str] = Counter()
    for word, count in count_words(lines).items():
        for piece, _ in backend.pre_tokenizer.pre_tokenize_str(f" {word}"):
            pieces[piece] += count
    trainer = trainers.BpeTrainer(
        vocab_size=size,
        min_frequency=_MIN_COUNT,
        show_progress=False,
        special_tokens=list(_SPECIAL.values()),
        initial_alphabet=list(_BYTE_OF_LETTER),
    )
    # the pieces are in the library's letters, none of which is a space
    backend.normalizer, backend.pre_tokenizer = None, pre_tokenizers.WhitespaceSplit()
    _interruptibly(lambda stop: backend.train_from_iterator(_texts(pieces, stop), trainer))
    return [tuple(merge) for merge in json.loads(backend.to_str())["model"]["merges"]]


def _texts(pieces: Counter[str], stop: threading.Event) -> Iterator[str]:
    for piece, count in pieces.items():
        for done in range(0, count, _REPEATS):
            if stop.is_set():
                raise InterruptedError
            yield " ".join([piece] * min(_REPEATS, count - done))


def _interruptibly(work: Callable[[threading.Event], object]) -> None:
    """Do what Ctrl-C must end although the library holds the signal back: in another thread."""
    stop, failed = threading.Event(), list[BaseException]()

    def run() -> None:
        try:
            work(stop)
        except BaseException as error:
            failed.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    try:
        while thread.is_alive():
            thread.join(0.1)
    finally:
        stop.set()
    if failed:
        raise failed[0]


def _readable(token: str) -> str:
    if token in _SPECIAL.values():
        return token
    raw = bytes(_BYTE_OF_LETTER[letter] for letter in token)
    try:
        return raw.decode("utf-8").replace(" ", "▁")
    except UnicodeDecodeError:
        return "".join(f"<{byte:02x}>" for byte in raw)
