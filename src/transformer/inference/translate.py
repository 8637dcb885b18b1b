"""From text to text: spell, batch by length, decode, and put the sentences back in order (§6.1)."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Protocol, runtime_checkable

import torch

from transformer.config import EOS_ID, PAD_ID
from transformer.fields import check_types
from transformer.files import UTF_16
from transformer.inference.beam import Hypothesis, beam_search
from transformer.inference.constraint import Constraint
from transformer.inference.greedy import EXTRA_TOKENS, greedy_decode
from transformer.inference.step import Step, step_decoder
from transformer.model import Transformer

CHARACTERS_A_TOKEN = 100
"""A line may have this many characters for each token of `max_source`; more is not even spelled."""

MAX_ALPHA = 10.0
"""At 1 the score is nearly the mean over tokens; far above 10 the penalty is no number any more."""

Refused = Callable[[int, ValueError], object]


@runtime_checkable
class Codec(Protocol):
    """Text to ids and back, without start and end tokens; `transformer.data.codec` has three.

    The length is that of the vocabulary. A codec whose target side has another one says its size as
    `target_size`; one whose outputs keep rules has a method `constraint`.
    """

    def encode(self, text: str) -> list[int]:
        """Return the ids of a source sentence."""

    def decode(self, ids: Sequence[int]) -> str:
        """Return the text of a target sentence."""

    def __len__(self) -> int: ...


@runtime_checkable
class ConstrainingCodec(Protocol):
    """A codec that knows what its outputs may look like (§6.3)."""

    def constraint(self, sources: Sequence[Sequence[int]]) -> Constraint:
        """Return the rules for the outputs of these source ids."""


@runtime_checkable
class Search(Protocol):
    """Another engine's search: the n best of each row of padded sources, best first."""

    def __call__(self, source: torch.Tensor, decoding: "Decoding") -> list[list[Hypothesis]]:
        """Search; with a beam of 1 the scores mean nothing."""


@dataclass(frozen=True)
class Translation:
    """One translation; beam search scores it, greedy decoding does not."""

    text: str
    score: float | None = None


@dataclass(frozen=True, kw_only=True)
class Decoding:
    """How to decode: `beam=1` is greedy; `max_source` and `batch_tokens` count source tokens.

    `alpha=None` ranks by the mean log probability of a token. An output may be `extra_tokens`
    longer than its input. `early_stopping` ends a search sooner, which may miss the best (see
    `beam_search`). `constrained` asks for outputs that keep the codec's rules.
    """

    beam: int = 4
    alpha: float | None = 0.6
    n_best: int = 1
    max_len: int | None = None
    extra_tokens: int = EXTRA_TOKENS
    early_stopping: bool = False
    constrained: bool = False
    max_source: int = 1000
    batch_tokens: int = 2000
    batch_sentences: int = 100

    def __post_init__(self) -> None:
        """Check every value."""
        check_types(self)
        for name in (
            "beam",
            "n_best",
            "extra_tokens",
            "max_source",
            "batch_tokens",
            "batch_sentences",
        ):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1, got {getattr(self, name)}")
        if self.alpha is not None and not 0 <= self.alpha <= MAX_ALPHA:
            raise ValueError(f"alpha must lie between 0 and {MAX_ALPHA:.0f}, got {self.alpha}")
        if self.n_best > self.beam:
            raise ValueError(f"n_best must be at most beam = {self.beam}, got {self.n_best}")


def translate(
    model: Transformer,
    codec: Codec,
    lines: Sequence[str],
    decoding: Decoding | None = None,
    *,
    search: Search | None = None,
) -> list[list[Translation]]:
    """Return the n best translations of each line, in the order of the lines.

    Every line gets exactly n: where the search finds fewer, and for an empty line, the rest are
    empty. A translation is one line: what would break it becomes a space.

    Raises:
        ValueError: naming the line, for a word that the vocabulary does not hold, for bytes that
            are not text, for more than `max_source` tokens; a vocabulary of another size than the
            model's; weights that are not finite numbers.
        FloatingPointError: the model's probabilities are not numbers.
    """
    decoding = decoding or Decoding()
    _check_model(model, codec)
    _check_constrained(codec, decoding)
    most = _most_tokens(model, decoding)
    sources = []
    for number, line in enumerate(lines, start=1):
        try:
            sources.append(_encode(codec, line, most))
        except ValueError as error:
            raise ValueError(f"line {number}: {error}") from error
    return _translate_ids(model, codec, sources, decoding, search)


def translate_stream(
    model: Transformer,
    codec: Codec,
    lines: Iterable[str],
    decoding: Decoding | None = None,
    *,
    window: int = 500,
    refused: Refused | None = None,
    search: Search | None = None,
) -> Iterator[list[Translation]]:
    """Translate as the lines come, `window` of them at a time, in flat memory.

    A line that cannot be translated ends the stream, after the lines before it. With `refused`, it
    keeps its place with empty translations, and `refused` gets its number and the reason.

    Raises:
        ValueError, FloatingPointError: as `translate`; window below 1.
    """
    if window < 1:
        raise ValueError(f"window must be at least 1, got {window}")
    decoding = decoding or Decoding()
    _check_model(model, codec)
    _check_constrained(codec, decoding)
    most = _most_tokens(model, decoding)
    numbered = enumerate(lines, start=1)
    while part := list(islice(numbered, window)):
        sources: list[list[int]] = []
        stopped = None
        for number, line in part:
            try:
                sources.append(_encode(codec, line, most))
            except ValueError as error:
                if refused is None:
                    stopped = ValueError(f"line {number}: {error}")
                    break
                refused(number, error)
                sources.append([])
        yield from _translate_ids(model, codec, sources, decoding, search)
        if stopped is not None:
            raise stopped


def check_vocabulary(model: Transformer, codec: Codec) -> None:
    """Raise ValueError unless the model has one row of its matrices for each token."""
    tokenizer, own = vocabulary_sizes(codec), model.config.vocab_sizes
    if tokenizer != own:
        raise ValueError(
            f"the tokenizer has {_told(tokenizer)} tokens, the model {_told(own)}: "
            "they do not belong together"
        )


def vocabulary_sizes(codec: Codec) -> tuple[int, int]:
    """Return the sizes of a codec's source and target vocabulary; equal when they are one."""
    size = len(codec)
    return size, getattr(codec, "target_size", None) or size


def _told(sizes: tuple[int, int]) -> str:
    source, target = sizes
    return str(source) if source == target else f"{source} source and {target} target"


def _check_model(model: Transformer, codec: Codec) -> None:
    check_vocabulary(model, codec)
    for name, parameter in model.named_parameters():
        # a sum that is finite has only finite terms, and takes a tenth of the time
        if not parameter.sum().isfinite() and not parameter.isfinite().all():
            raise ValueError(f"{name} holds weights that are not finite numbers")


def _check_constrained(codec: Codec, decoding: Decoding) -> None:
    if decoding.constrained and not isinstance(codec, ConstrainingCodec):
        raise ValueError("constrained decoding needs a model of trees; this one writes free text")


def _translate_ids(
    model: Transformer,
    codec: Codec,
    sources: Sequence[list[int]],
    decoding: Decoding,
    search: Search | None,
) -> list[list[Translation]]:
    results = [[Translation("")] * decoding.n_best for _ in sources]
    step = step_decoder(model) if search is None else None  # one for all batches
    for indices in _batches(sources, decoding):
        rows = [torch.tensor([*sources[index], EOS_ID]) for index in indices]
        padded = torch.nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=PAD_ID)
        decoded = _decode(
            model, codec, padded.to(model.output_weight.device), decoding, search, step
        )
        for index, translations in zip(indices, decoded, strict=True):
            if not translations and decoding.constrained:
                continue  # the limit came before the last bracket
            if not translations:  # no continuation was more probable than −∞
                raise FloatingPointError("the model's probabilities are not numbers")
            results[index][: len(translations)] = translations
    return results


def _decode(
    model: Transformer,
    codec: Codec,
    source: torch.Tensor,
    decoding: Decoding,
    search: Search | None,
    step: Step | None,
) -> list[list[Translation]]:
    constraint = None
    if decoding.constrained and isinstance(codec, ConstrainingCodec):
        lines = [[t for t in row if t not in (PAD_ID, EOS_ID)] for row in source.tolist()]
        constraint = codec.constraint(lines)
    options: dict[str, Any] = {
        "max_len": decoding.max_len,
        "extra_tokens": decoding.extra_tokens,
        "constraint": constraint,
        "step": step,
    }
    if search is not None:
        hypotheses = search(source, decoding)
    elif decoding.beam == 1:
        rows = greedy_decode(model, source, **options)
        hypotheses = [[Hypothesis(tokens=ids, log_prob=0.0, score=0.0)] for ids in rows]
    else:
        hypotheses = beam_search(
            model,
            source,
            beam=decoding.beam,
            alpha=decoding.alpha,
            n_best=decoding.n_best,
            early_stopping=decoding.early_stopping,
            **options,
        )
    scored = decoding.beam > 1
    return [
        [Translation(_one_line(codec.decode(h.tokens)), h.score if scored else None) for h in best]
        for best in hypotheses
    ]


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


def _most_tokens(model: Transformer, decoding: Decoding) -> int:
    has_end = model.config.positions == "learned"  # else positions go on without end
    return min(decoding.max_source, model.config.max_len - 1) if has_end else decoding.max_source


def _encode(codec: Codec, line: str, max_source: int) -> list[int]:
    if not line.strip():
        return []
    most = CHARACTERS_A_TOKEN * max_source
    if len(line) > most:  # spelling would take minutes before its tokens could be counted
        raise ValueError(f"at most {most} characters a line, this one has more")
    try:
        line.encode()
    except UnicodeEncodeError as error:
        code, column = ord(line[error.start]), error.start + 1
        byte = f"byte 0x{code - 0xDC00:02x}" if 0xDC80 <= code <= 0xDCFF else "a lone surrogate"
        hint = f": {UTF_16}" if byte.endswith(("0xfe", "0xff")) else ""
        raise ValueError(f"not UTF-8 ({byte} at column {column}){hint}") from None
    if "\0" in line:
        raise ValueError(f"a NUL byte at column {line.index(chr(0)) + 1}: {UTF_16}")
    ids = codec.encode(line)
    if len(ids) > max_source:
        raise ValueError(f"at most {max_source} tokens a line, got {len(ids)}")
    return ids


def _one_line(text: str) -> str:
    return " ".join(text.splitlines())
