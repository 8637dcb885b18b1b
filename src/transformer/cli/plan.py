"""What to train, on what, and how: presets, a TOML file over them, options over both."""

import os
import tomllib
from collections.abc import Iterable, Mapping
from copy import deepcopy
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from transformer.analysis.bleu import TOKENIZERS
from transformer.config import TransformerConfig
from transformer.fields import check_names, check_types, read_values
from transformer.files import read_text
from transformer.parsing.codec import Leaf, check_leaf
from transformer.training.settings import TrainSettings

PRESETS: dict[str, dict[str, dict[str, Any]]] = {
    # French to English on the grammar of `phrasebook`: a minute or two on a laptop. With seed 1,
    # the line to 0 gives 99.8 % exact unseen sentences and 94.9 % unseen combinations; Eq. 3
    # through a peak of 2.5e-3 gives 98.1 % and 91.8 %, its last 5 checkpoints averaged 99.5 % and
    # 92.5 %. Eq. 3 with a warm-up of 400 and no other peak reaches 4.4e-3, where the loss rises.
    "phrasebook": {
        "data": {"corpus": "phrasebook", "source_language": "fr", "target_language": "en"},
        "model": {"d_model": 128, "n_heads": 4, "n_layers": 2, "d_ff": 256, "dropout": 0.1},
        "training": {
            "max_updates": 900,
            "max_tokens": 1280,
            "schedule": "linear",
            "warmup": 150,
            "peak": 3e-3,
            "valid_every": 300,
            "save_every": 300,
        },
    },
    # The text-only Transformer-Tiny of Wu et al. (2021), trained on the CPU. Four small batches an
    # update, because the sentences of one batch have one length: an update from a single batch of
    # 2048 tokens learns more slowly (validation perplexity 38 against 32 after 400 updates).
    "multi30k-tiny": {
        "data": {
            "corpus": "multi30k",
            "source_language": "en",
            "target_language": "de",
            "merges": 10_000,
        },
        "model": {"d_model": 128, "n_heads": 4, "n_layers": 4, "d_ff": 256, "dropout": 0.3},
        "training": {
            "max_updates": 6000,
            "max_tokens": 512,
            "accumulate": 4,
            "schedule": "linear",
            "warmup": 800,
            "peak": 3e-3,
            "valid_every": 200,
            "save_every": 200,
            "keep": 10,
        },
    },
    # Sentences to their trees (§6.3), on 18 000 sentences of biomedical articles. Two vocabularies,
    # so no matrix is shared. Chosen on the dev articles.
    "craft-trees": {
        "data": {
            "corpus": "craft",
            "source_language": "en",
            "target_language": "trees",
            "word_dropout": 0.1,
            "leaf": "number",
        },
        "model": {
            "d_model": 128,
            "n_heads": 4,
            "n_layers": 3,
            "d_ff": 256,
            "dropout": 0.2,
            "tie_embeddings": False,
        },
        "training": {
            "max_updates": 9000,
            "max_tokens": 1024,
            "accumulate": 2,
            "schedule": "linear",
            "warmup": 600,
            "peak": 2e-3,
            "valid_every": 500,
            "save_every": 500,
            "keep": 5,
        },
    },
    # The paper's (Table 3, first and last row); bring two text files of your own.
    "base": {
        "data": {"corpus": "files", "merges": 37_000},
        "model": {},
        "training": {"max_updates": 100_000},
    },
    "big": {
        "data": {"corpus": "files", "merges": 37_000},
        "model": {"d_model": 1024, "n_heads": 16, "d_ff": 4096, "dropout": 0.3},
        "training": {"max_updates": 300_000, "keep": 20},
    },
}


CORPORA_OF = {
    "merges": ("multi30k", "files"),
    "bpe_dropout": ("multi30k", "files"),
    "folder": ("multi30k", "craft"),
    "corpus_seed": ("phrasebook",),
    "tokenized": ("files",),
    "bleu_tokenizer": ("phrasebook", "multi30k", "files"),
    **dict.fromkeys(("gold_tags", "max_sentences", "word_dropout", "leaf"), ("craft",)),
}
"""The corpora that a setting is for; the others would ignore it."""


@dataclass(frozen=True, kw_only=True)
class DataSettings:
    """Where the sentences come from; the file names are for `corpus = "files"`.

    `folder` is Multi30k's or CRAFT's; `merges` is how many byte-pair merges to learn (§5.1);
    `corpus_seed` draws the phrasebook. `bpe_dropout` is off at 0 (not in the paper).
    `bleu_tokenizer` is one of sacrebleu's, for languages that its "13a" does not split. Of CRAFT,
    `gold_tags` puts the tag behind every word, `max_sentences` takes a part of the training
    sentences, `word_dropout` is the share of words that training reads as their class, and `leaf`
    is what stands for a word in a tree: its "tag", its place ("number"), the "word", or "XX".

    Raises:
        ValueError: a value of another type or outside its range, or values that do not go together.
    """

    corpus: str = "phrasebook"
    source_language: str = "source"
    target_language: str = "target"
    merges: int = 10_000
    folder: str | None = None
    corpus_seed: int = 0
    train_source: str | None = None
    train_target: str | None = None
    valid_source: str | None = None
    valid_target: str | None = None
    test_source: str | None = None
    test_target: str | None = None
    tokenized: bool = False
    bleu_tokenizer: str | None = None
    bpe_dropout: float = 0.0
    gold_tags: bool = False
    max_sentences: int | None = None
    word_dropout: float = 0.0
    leaf: Leaf = "tag"

    def __post_init__(self) -> None:
        """Check every value."""
        check_types(self)
        for name in ("merges", "corpus_seed"):
            if getattr(self, name) < 0:
                raise ValueError(f"{name} must be at least 0, got {getattr(self, name)}")
        allowed = ("phrasebook", "multi30k", "craft", "files")
        if self.corpus not in allowed:
            raise ValueError(f"corpus must be one of {allowed}, got {self.corpus!r}")
        for name in ("bpe_dropout", "word_dropout"):
            if not 0 <= getattr(self, name) < 1:
                raise ValueError(f"{name} must lie in [0, 1), got {getattr(self, name)}")
        if self.bleu_tokenizer not in (None, *TOKENIZERS):
            known = ", ".join(TOKENIZERS)
            raise ValueError(f"bleu_tokenizer must be one of {known}, got {self.bleu_tokenizer!r}")
        for field in fields(self):
            value, corpora = getattr(self, field.name), CORPORA_OF.get(field.name, (self.corpus,))
            if value != field.default and self.corpus not in corpora:
                needed = " or ".join(f'"{corpus}"' for corpus in corpora)
                raise ValueError(
                    f"data.{field.name} needs corpus {needed}, got {value!r} and corpus "
                    f"{self.corpus!r}"
                )
        check_leaf(self.leaf, gold_tags=self.gold_tags)
        if self.max_sentences is not None and self.max_sentences < 1:
            raise ValueError(f"max_sentences must be at least 1, got {self.max_sentences}")
        for split in ("train", "valid", "test"):
            sides = getattr(self, f"{split}_source"), getattr(self, f"{split}_target")
            if self.corpus != "files" and any(sides):
                raise ValueError(
                    f'data.{split}_source and data.{split}_target need corpus "files", got corpus '
                    f"{self.corpus!r}"
                )
            if (sides[0] is None) != (sides[1] is None):
                raise ValueError(
                    f"data.{split}_source and data.{split}_target go together, got "
                    f"{sides[0]} and {sides[1]}"
                )
        if self.corpus == "files" and None in (self.train_source, self.train_target):
            raise ValueError(
                'corpus "files" needs data.train_source and data.train_target, got '
                f"{self.train_source} and {self.train_target}"
            )

    def recorded(self) -> dict[str, Any]:
        """Return plain values; a path is absolute, so that it means the same file everywhere."""
        paths = [name for name in asdict(self) if name.endswith(("folder", "_source", "_target"))]
        typed = ((name, getattr(self, name)) for name in paths)
        return asdict(self) | {name: os.path.abspath(path) for name, path in typed if path}


SECTIONS: dict[str, type] = {
    "data": DataSettings,
    "model": TransformerConfig,
    "training": TrainSettings,
}


@dataclass(frozen=True, kw_only=True)
class Plan:
    """Everything a run depends on. `model` lacks the vocabularies' sizes: the data decides."""

    data: DataSettings
    model: dict[str, Any]
    training: TrainSettings

    def config(self, vocab_size: int, target_vocab_size: int | None = None) -> TransformerConfig:
        """Return the model's configuration for a vocabulary of that size, or two of them."""
        return TransformerConfig(
            vocab_size=vocab_size, target_vocab_size=target_vocab_size, **self.model
        )


def make_plan(
    preset: str | None, toml_path: str | Path | None, options: Iterable[str] = ()
) -> Plan:
    """Put preset, TOML file and `section.name=value` options together; later ones win.

    The file may name its preset itself, and has the sections `data`, `model` and `training`.

    Raises:
        ValueError: an unknown preset, section or name, or a value that is not allowed.
        FileNotFoundError: no such TOML file.
    """
    content = _read_toml(toml_path) if toml_path else {}
    preset = preset or content.pop("preset", None)
    content.pop("preset", None)
    if preset is not None and preset not in PRESETS:
        raise ValueError(f"preset must be one of {', '.join(PRESETS)}, got {preset!r}")
    if preset is None and not content:
        raise ValueError(f"name a preset ({', '.join(PRESETS)}) or a settings file")
    plan = deepcopy(PRESETS[preset]) if preset else {}
    _merge(plan, content)
    for option in options:
        _merge(plan, _parse_option(option))
    for section, cls in SECTIONS.items():  # a misspelt name is told before what it may lead to
        check_names(section, plan.get(section, {}), (field.name for field in fields(cls)))
    model = plan.get("model", {})
    if "vocab_size" in model:
        raise ValueError("model.vocab_size follows from the data: set data.merges")
    if "target_vocab_size" in model:
        raise ValueError("model.target_vocab_size follows from the data: trees have one, text none")
    model = read_values("model", TransformerConfig, model)
    config = TransformerConfig(vocab_size=1000, **model)  # refuse bad sizes before anything is read
    data = read_data(plan.get("data", {}))
    if data.corpus == "craft" and config.tie_embeddings:
        raise ValueError("model.tie_embeddings must be off for trees: words and brackets are two")
    training = TrainSettings(**read_values("training", TrainSettings, plan.get("training", {})))
    if training.patience and data.corpus == "files" and data.valid_source is None:
        raise ValueError(
            "training.patience needs a split to validate on: set data.valid_source and "
            "data.valid_target"
        )
    return Plan(data=data, model=model, training=training)


def read_data(values: Mapping[str, Any], options: Iterable[str] = ()) -> DataSettings:
    """Return the settings of the corpus from plain values and options over them.

    Raises:
        ValueError: an unknown name, or a value that is not allowed.
    """
    plan = {"data": dict(values)}
    for option in options:
        _merge(plan, _parse_option(option))
    return DataSettings(**read_values("data", DataSettings, plan["data"]))


def _read_toml(path: str | Path) -> dict[str, Any]:
    try:
        return tomllib.loads(read_text(path))
    except ValueError as error:
        hint = r": write a path with / or in '…'" if "\\" in str(error) else ""
        raise ValueError(f"{path} is not a TOML file: {error}{hint}") from None


def _merge(plan: dict[str, Any], changes: Mapping[str, Any]) -> None:
    check_names("settings", changes, SECTIONS)
    for section, values in changes.items():
        if not isinstance(values, dict):
            raise ValueError(f"{section} must be a section of names and values, got {values!r}")
        plan[section] = {**plan.get(section, {}), **values}


def _parse_option(option: str) -> dict[str, Any]:
    path, equals, value = option.partition("=")
    section, dot, name = path.strip().partition(".")
    if not (equals and dot and name):
        raise ValueError(f"expected section.name=value, as in training.seed=2, got {option!r}")
    return {section: {name: value}}
