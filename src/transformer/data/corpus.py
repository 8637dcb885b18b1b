"""One interface for every corpus: lines in two languages, and the gold annotation where known."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from transformer.data.multi30k import multi30k_lines
from transformer.data.text_files import MAX_WORDS, read_pair

Alignment = frozenset[tuple[int, int]]
"""Gold word alignment of a pair: (source position, target position), both from 0."""


@dataclass(frozen=True, kw_only=True)
class Corpus:
    """Sentence pairs of one split; index n is the same sentence in every field.

    `tokenized` says that spaces already separate all tokens, punctuation included: BLEU is then
    computed on these tokens (sacrebleu's `none`), else on sacrebleu's own (`13a`). Gold alignments
    and trees (in brackets) are over the corpus's own words: those that stand between the spaces of
    a line, unless whoever made it says otherwise.
    """

    name: str
    source_language: str
    target_language: str
    split: str
    source: tuple[str, ...]
    target: tuple[str, ...]
    tokenized: bool = False
    alignments: tuple[Alignment, ...] | None = None
    source_trees: tuple[str, ...] | None = None
    target_trees: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        for field in ("target", "alignments", "source_trees", "target_trees"):
            values: Sequence[object] | None = getattr(self, field)
            if values is not None and len(values) != len(self.source):
                raise ValueError(
                    f"{field} must have one entry for each of the {len(self.source)} source "
                    f"sentences, got {len(values)}"
                )

    def __len__(self) -> int:
        return len(self.source)

    def __iter__(self) -> Iterator[tuple[str, str]]:
        return iter(zip(self.source, self.target, strict=True))

    @property
    def bleu_tokenizer(self) -> str:
        """Sacrebleu's tokeniser that fits these lines."""
        return "none" if self.tokenized else "13a"

    @classmethod
    def from_multi30k(
        cls,
        split: str,
        *,
        source_language: str = "en",
        target_language: str = "de",
        variant: str = "lc.norm.tok",
        folder: str | Path | None = None,
        download: bool = True,
        progress: bool = True,
    ) -> Corpus:
        """Read Multi30k, downloading what is missing; see `multi30k_lines` for the arguments.

        Raises:
            ValueError: if both languages are the same, and whatever `multi30k_lines` raises.
        """
        if source_language == target_language:
            raise ValueError(
                f"source and target language must differ, got {source_language!r} twice"
            )
        source, target = (
            multi30k_lines(
                language,
                split,
                variant=variant,
                folder=folder,
                download=download,
                progress=progress,
            )
            for language in (source_language, target_language)
        )
        return cls(
            name="multi30k",
            source_language=source_language,
            target_language=target_language,
            split=split,
            source=source,
            target=target,
            tokenized=variant != "raw",
        )

    @classmethod
    def from_text_files(
        cls,
        source_path: str | Path,
        target_path: str | Path,
        *,
        source_language: str = "source",
        target_language: str = "target",
        split: str = "train",
        tokenized: bool = False,
        max_words: int = MAX_WORDS,
    ) -> Corpus:
        """Read your own two files of one sentence a line; line n of each is the same sentence.

        Raises:
            ValueError: naming file and line; see `read_lines` and `read_pair`.
        """
        source, target = read_pair(source_path, target_path, max_words=max_words)
        return cls(
            name=f"{Path(source_path).name}–{Path(target_path).name}",
            source_language=source_language,
            target_language=target_language,
            split=split,
            source=source,
            target=target,
            tokenized=tokenized,
        )
