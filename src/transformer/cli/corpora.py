"""The corpora behind one interface: lines of a split, and the codec that spells them."""

import os
import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from itertools import chain, islice
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np

from transformer.analysis.bleu import score
from transformer.cli.plan import DataSettings, Plan
from transformer.config import TransformerConfig
from transformer.data.batching import Pair, PairArrays
from transformer.data.codec import KINDS, SubwordCodec, TextCodec
from transformer.data.corpus import Corpus
from transformer.data.plugins import load_plugin
from transformer.data.text_files import TextFile, TextPair
from transformer.parsing.brackets import score_brackets
from transformer.parsing.codec import TreeCodec
from transformer.parsing.craft import TAGS, craft_corpus
from transformer.parsing.trees import Tree, parse_brackets
from transformer.training.trainer import Pairs

VALID_SPLIT = {"phrasebook": "valid", "multi30k": "val", "craft": "dev", "files": "valid"}
TEST_SPLIT = {
    "phrasebook": "test_sentences",
    "multi30k": "test_2016_flickr",
    "craft": "test",
    "files": "test",
}

PHRASEBOOK = "phrasebook.corpus:phrasebook_corpus"


def check_corpus(data: DataSettings) -> None:
    """Raise ModuleNotFoundError for a corpus whose package is not installed."""
    if data.corpus == "phrasebook":
        load_plugin(PHRASEBOOK)


def load_corpus(data: DataSettings, split: str, *, progress: bool = True) -> Corpus:
    """Return one split of the corpus that `data` names.

    Raises:
        ValueError: the corpus has no such split, or its files are unfit.
        FileNotFoundError: its files are not there.
    """
    if data.corpus == "multi30k":
        return Corpus.from_multi30k(
            split,
            source_language=data.source_language,
            target_language=data.target_language,
            folder=data.folder,
            progress=progress,
        )
    if data.corpus == "craft":
        return craft_corpus(
            split,
            leaf=data.leaf,
            gold_tags=data.gold_tags,
            max_sentences=data.max_sentences if split == "train" else None,
            folder=data.folder,
            progress=progress,
        )
    if data.corpus == "files":
        return Corpus.from_text_files(
            *_files(data, split),
            source_language=data.source_language,
            target_language=data.target_language,
            split=split,
            tokenized=data.tokenized,
        )
    corpus: Corpus = load_plugin(PHRASEBOOK)(
        split,
        source_language=data.source_language,
        target_language=data.target_language,
        seed=data.corpus_seed,
    )
    return corpus


def lines_of(data: DataSettings, split: str, *, progress: bool = True) -> Corpus | TextPair:
    """Return the lines of one split; those of files are read when they are used, and not held.

    Raises:
        ValueError, FileNotFoundError: as `load_corpus`.
    """
    if data.corpus == "files" and not data.bpe_dropout:
        paths = _files(data, split)
        if all(Path(path).is_file() for path in paths):  # what is read twice must be no pipe
            return TextPair(*map(TextFile, paths))
    return load_corpus(data, split, progress=progress)


def origin(data: DataSettings) -> dict[str, Any]:
    """Return what decides which ids a run trains and validates on: settings, and of files a sum.

    Raises:
        FileNotFoundError: a file is not there.
    """
    names = [f"{split}_{side}" for split in ("train", "valid") for side in ("source", "target")]
    free = {"folder", "tokenized", "bleu_tokenizer", "test_source", "test_target", *names}
    told = {f"data.{name}": value for name, value in asdict(data).items() if name not in free}
    if data.corpus == "files":
        for name in names:
            path = getattr(data, name)
            if path is not None:
                _check_is_there(name, path)
                is_file = Path(path).is_file()  # a pipe is read once, and is never the same
                told[f"data.{name}"] = TextFile(path).fingerprint() if is_file else str(uuid4())
    return told


def learn_codec(data: DataSettings, train: Corpus | TextPair) -> TextCodec:
    """Learn one vocabulary for both languages from the training split (§5.1); of trees, two."""
    if data.corpus == "phrasebook":
        languages = data.source_language, data.target_language
        words: TextCodec = load_plugin(KINDS["words"]).learn(data.corpus_seed, *languages)
        return words
    if isinstance(train, Corpus) and data.corpus == "craft":
        return TreeCodec.learn(
            train.source,
            train.target,
            leaf=data.leaf,
            gold_tags=data.gold_tags,
            tags=TAGS,
        )
    try:
        return SubwordCodec.train(chain(train.source, train.target), n_merges=data.merges)
    except ValueError as error:
        raise ValueError(f"data.merges: {error}") from None


def encode_pairs(codec: TextCodec, corpus: Corpus | TextPair) -> PairArrays:
    """Return the ids of every sentence pair."""
    if isinstance(codec, SubwordCodec):
        return PairArrays.from_flat(
            *(codec.tokenizer.encode_lines(side) for side in (corpus.source, corpus.target))
        )
    return PairArrays(
        (codec.encode(source), codec.encode_target(target))
        for source, target in zip(corpus.source, corpus.target, strict=True)
    )


def training_pairs(plan: Plan, codec: TextCodec, corpus: Corpus | TextPair) -> Pairs:
    """Return the pairs' ids; with BPE or word dropout, a function that spells each epoch's."""
    data, seed = plan.data, plan.training.seed
    if isinstance(corpus, TextPair):
        return encode_pairs(codec, corpus)
    if data.bpe_dropout and isinstance(codec, SubwordCodec):
        return spell_with_dropout(codec, corpus, dropout=data.bpe_dropout, seed=seed)
    if data.word_dropout and isinstance(codec, TreeCodec):
        return spell_with_classes(codec, corpus, dropout=data.word_dropout, seed=seed)
    return encode_pairs(codec, corpus)


def spell_with_dropout(
    codec: SubwordCodec, corpus: Corpus, *, dropout: float, seed: int
) -> Callable[[int], PairArrays]:
    """Return a function that spells the corpus for an epoch, another way each time.

    BPE dropout (Provilkov, Emelianenko and Voita 2020; not in the paper).
    """

    def spell(epoch: int) -> PairArrays:
        sides = (
            codec.tokenizer.encode_batch(
                lines, dropout=dropout, seed=2 * (1_000_000 * seed + epoch) + side
            )
            for side, lines in enumerate((corpus.source, corpus.target))
        )
        return PairArrays(zip(*sides, strict=True))

    return spell


def spell_with_classes(
    codec: TreeCodec, corpus: Corpus, *, dropout: float, seed: int
) -> Callable[[int], PairArrays]:
    """Return a function that spells the sentences for an epoch, some words as their classes."""
    targets = [codec.encode_target(target) for target in corpus.target]

    def spell(epoch: int) -> PairArrays:
        generator = random.Random(1_000_000 * seed + epoch)
        sources = (codec.encode_with_dropout(line, dropout, generator) for line in corpus.source)
        return PairArrays(zip(sources, targets, strict=True))

    return spell


def check_lengths(
    plan: Plan, config: TransformerConfig, pairs: Pairs, valid: Sequence[Pair] | None
) -> None:
    """Raise ValueError, naming file and line, for a sentence that is too long.

    One to train on must fit into a batch, and each, where they are learned, among the positions.
    """
    for split, part in (("train", pairs(0) if callable(pairs) else pairs), ("valid", valid or ())):
        limits = {"training.max_tokens": plan.training.max_tokens} if split == "train" else {}
        if config.positions == "learned":
            limits["model.max_len"] = config.max_len
        lengths = (part if isinstance(part, PairArrays) else PairArrays(part)).lengths
        for name, most in limits.items():
            if lengths.max(initial=0) >= most:
                line, side = np.argwhere(lengths >= most)[0]
                told = "source" if side == 0 else "target"
                file = getattr(plan.data, f"{split}_{told}") or f"the {told} of the {split} split"
                raise ValueError(
                    f"{file}, line {line + 1}: a sentence of {lengths[line, side] + 1} tokens, its "
                    f"end included, and {name} is {most}"
                )


def oddities(data: DataSettings, made_of: Mapping[str, Any]) -> Iterator[str]:
    """Tell what is allowed in files to train on, and rarely meant; `made_of` is their `origin`."""
    if data.corpus != "files" or data.train_source is None or data.train_target is None:
        return
    names = {
        "data.train_source": ("data.train_target", "data.valid_source"),
        "data.train_target": ("data.valid_target",),
    }
    for name, others in names.items():
        for other in others:
            if made_of[name] == made_of.get(other):
                yield f"{name} and {other} hold the same lines"
    for path in filter(os.path.isfile, (data.train_source, data.train_target)):
        lines = list(islice(TextFile(path), 1000))
        if all("\t" in line for line in lines):
            yield f"{path} has a tab in every line: is it a table? each file holds one side"
        if all(line[0] == line[-1] == '"' for line in lines):
            yield f"{path} has quotes around every line: they are trained on as they are"
        for number, line in enumerate(lines, start=1):
            if entity := re.search(r"&(amp|lt|gt|quot|apos|nbsp|#\d+);", line):
                yield f"{path}, line {number}: {entity[0]} is trained on as it is"
                break


def split_to_measure(data: DataSettings) -> str:
    """Return the split to measure on: of your own files, the test pair if you named one."""
    has_own = data.corpus != "files" or data.test_source is not None
    return (TEST_SPLIT if has_own else VALID_SPLIT)[data.corpus]


def measured(
    codec: TextCodec, corpus: Corpus, hypotheses: Sequence[str], tokenizer: str | None = None
) -> dict[str, Any]:
    """Return what a split is measured by: brackets for trees (Table 4), else BLEU (Table 2)."""
    if isinstance(codec, TreeCodec) and corpus.source_trees is not None:
        trees = trees_of(codec, corpus.source, hypotheses)
        result = score_brackets(trees, [parse_brackets(tree) for tree in corpus.source_trees])
        return {
            "f1": 100 * result.f1,
            "precision": 100 * result.precision,
            "recall": 100 * result.recall,
            "well_formed": sum(tree is not None for tree in trees) / len(trees),
            "exact": result.exact,
        }
    return {
        **asdict(score(hypotheses, corpus.target, tokenize=tokenizer or corpus.bleu_tokenizer)),
        "exact": exact_matches(hypotheses, corpus.target),
    }


def trees_of(codec: TreeCodec, sources: Sequence[str], lines: Sequence[str]) -> list[Tree | None]:
    """Return the tree that each line of symbols writes, None for a line that writes none."""
    trees: list[Tree | None] = []
    for line, source in zip(lines, sources, strict=True):
        try:
            trees.append(codec.tree(line, source))
        except ValueError:
            trees.append(None)
    return trees


def has_valid(data: DataSettings) -> bool:
    """Whether there is a split to validate on."""
    return data.corpus != "files" or data.valid_source is not None


def exact_matches(hypotheses: Sequence[str], references: Sequence[str]) -> float:
    """Share of hypotheses that equal their reference."""
    return sum(h == r for h, r in zip(hypotheses, references, strict=True)) / len(references)


def _files(data: DataSettings, split: str) -> tuple[str, str]:
    files = {
        "train": (data.train_source, data.train_target),
        "valid": (data.valid_source, data.valid_target),
        "test": (data.test_source, data.test_target),
    }
    if split not in files:
        raise ValueError(f"the splits of text files are {', '.join(files)}, got {split!r}")
    source, target = files[split]
    if source is None or target is None:
        raise ValueError(
            f"data.{split}_source and data.{split}_target must name text files, "
            f"got {source} and {target}"
        )
    for side, path in (("source", source), ("target", target)):
        _check_is_there(f"{split}_{side}", path)
    return source, target


def _check_is_there(name: str, path: str) -> None:
    if not Path(path).exists():
        place = "" if Path(path).is_absolute() else f" in {Path.cwd()}"
        place += " (~ stands for itself here)" if path.startswith("~") else ""
        raise FileNotFoundError(
            f"data.{name} names {path}, and there is no such file{place}: name it by "
            f"--set data.{name}=…"
        )
