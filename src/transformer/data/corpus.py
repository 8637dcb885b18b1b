"""One interface for every corpus: lines in two languages, and the gold annotation where known."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from transformer.data.craft import craft_trees
from transformer.data.multi30k import multi30k_lines
from transformer.data.phrasebook import brackets, leaves, phrasebook
from transformer.data.text_files import MAX_WORDS, read_pair
from transformer.data.tree_codec import Leaf, symbols_of_leaves, tagged_line
from transformer.data.trees import linearize

Alignment = frozenset[tuple[int, int]]
"""Gold word alignment of a pair: (source position, target position), both from 0."""


@dataclass(frozen=True, kw_only=True)
class Corpus:
    """Sentence pairs of one split; index n is the same sentence in every field.

    `tokenized` says that spaces already separate all tokens, punctuation included: BLEU is then
    computed on these tokens (sacrebleu's `none`), else on sacrebleu's own (`13a`). Gold alignments
    and trees (in brackets) are over the phrasebook's words: `phrasebook.tokenize(line, language)`.
    CRAFT's trees are over the words that stand between the spaces of a line.
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
    def from_phrasebook(
        cls,
        split: str,
        *,
        source_language: str = "fr",
        target_language: str = "en",
        seed: int = 0,
        **sizes: int,
    ) -> Corpus:
        """Generate the phrasebook's split, with gold alignments and trees, in either direction.

        `sizes` are those of `phrasebook`: train, valid, test.

        Raises:
            ValueError: for an unknown split, or languages other than French and English.
        """
        if {source_language, target_language} != {"fr", "en"}:
            raise ValueError(
                "the phrasebook is French–English ('fr', 'en'), "
                f"got {source_language!r} to {target_language!r}"
            )
        splits = phrasebook(seed, **sizes).splits()
        if split not in splits:
            raise ValueError(f"phrasebook split must be one of {', '.join(splits)}, got {split!r}")
        examples = splits[split]
        texts = {
            "fr": tuple(example.source_text for example in examples),
            "en": tuple(example.target_text for example in examples),
        }
        trees = {
            "fr": tuple(brackets(example.source_tree) for example in examples),
            "en": tuple(brackets(example.target_tree) for example in examples),
        }
        forward = source_language == "fr"
        return cls(
            name="phrasebook",
            source_language=source_language,
            target_language=target_language,
            split=split,
            source=texts[source_language],
            target=texts[target_language],
            alignments=tuple(
                frozenset((s, t) if forward else (t, s) for s, t in example.alignment)
                for example in examples
            ),
            source_trees=trees[source_language],
            target_trees=trees[target_language],
        )

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
    def from_craft(
        cls,
        split: str,
        *,
        leaf: Leaf = "tag",
        gold_tags: bool = False,
        max_sentences: int | None = None,
        folder: str | Path | None = None,
        download: bool = True,
        progress: bool = True,
    ) -> Corpus:
        """Read CRAFT: sentences, and their trees as symbols with such leaves (§6.3).

        With `gold_tags` the sentences are `word/TAG word/TAG …`. `max_sentences` draws that many
        sentences, always the same ones; fewer are a part of more. The gold trees stand in
        `source_trees`, in brackets. See `craft_trees` for the other arguments.

        Raises:
            ValueError: for an unknown split or kind of leaf, max_sentences below 1, and whatever
                `craft_trees` raises.
        """
        if max_sentences is not None and max_sentences < 1:
            raise ValueError(f"max_sentences must be at least 1, got {max_sentences}")
        splits = craft_trees(folder=folder, download=download, progress=progress)
        if split not in splits:
            raise ValueError(f"CRAFT split must be one of {', '.join(splits)}, got {split!r}")
        trees = list(splits[split])
        if max_sentences is not None:
            random.Random(0).shuffle(trees)
            trees = trees[:max_sentences]
        words = [tuple(leaves(tree)) for tree, _ in trees]
        return cls(
            name="craft",
            source_language="en",
            target_language="trees",
            split=split,
            source=tuple(
                tagged_line(line, tags) if gold_tags else " ".join(line)
                for line, (_, tags) in zip(words, trees, strict=True)
            ),
            target=tuple(
                " ".join(linearize(gold.tree, symbols_of_leaves(leaf, gold))) for gold in trees
            ),
            tokenized=True,
            source_trees=tuple(brackets(tree) for tree, _ in trees),
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
