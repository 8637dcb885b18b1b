"""The corpora behind one interface: lines of a split, and the codec that spells them."""

from collections.abc import Callable, Sequence

from transformer.cli.plan import DataSettings
from transformer.data.batching import Pair
from transformer.data.codec import PhrasebookCodec, SubwordCodec, TextCodec
from transformer.data.corpus import Corpus
from transformer.data.phrasebook import phrasebook

VALID_SPLIT = {"phrasebook": "valid", "multi30k": "val", "files": "valid"}
TEST_SPLIT = {"phrasebook": "test_sentences", "multi30k": "test_2016_flickr", "files": "valid"}


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
    if data.corpus == "files":
        return _from_files(data, split)
    return Corpus.from_phrasebook(
        split,
        source_language=data.source_language,
        target_language=data.target_language,
        seed=data.corpus_seed,
    )


def learn_codec(data: DataSettings, train: Corpus) -> TextCodec:
    """Learn one vocabulary for both languages from the training split (§5.1)."""
    if data.corpus == "phrasebook":
        vocabulary = phrasebook(data.corpus_seed).vocabulary()
        return PhrasebookCodec(vocabulary, data.source_language, data.target_language)
    return SubwordCodec.train([*train.source, *train.target], n_merges=data.merges)


def encode_pairs(codec: TextCodec, corpus: Corpus) -> list[Pair]:
    """Return the ids of every sentence pair."""
    return [(codec.encode(source), codec.encode_target(target)) for source, target in corpus]


def spell_with_dropout(
    codec: SubwordCodec, corpus: Corpus, *, dropout: float, seed: int
) -> Callable[[int], list[Pair]]:
    """Return a function that spells the corpus for an epoch, another way each time.

    BPE dropout (Provilkov, Emelianenko and Voita 2020; not in the paper).
    """

    def spell(epoch: int) -> list[Pair]:
        sides = (
            codec.tokenizer.encode_batch(
                lines, dropout=dropout, seed=2 * (1_000_000 * seed + epoch) + side
            )
            for side, lines in enumerate((corpus.source, corpus.target))
        )
        return list(zip(*sides, strict=True))

    return spell


def has_valid(data: DataSettings) -> bool:
    """Whether there is a split to validate on."""
    return data.corpus != "files" or data.valid_source is not None


def exact_matches(hypotheses: Sequence[str], references: Sequence[str]) -> float:
    """Share of hypotheses that equal their reference."""
    return sum(h == r for h, r in zip(hypotheses, references, strict=True)) / len(references)


def _from_files(data: DataSettings, split: str) -> Corpus:
    files = {
        "train": (data.train_source, data.train_target),
        "valid": (data.valid_source, data.valid_target),
    }
    source, target = files.get(split, (None, None))
    if source is None or target is None:
        raise ValueError(
            f"data.{split}_source and data.{split}_target must name text files, "
            f"got {source} and {target}"
        )
    return Corpus.from_text_files(
        source,
        target,
        source_language=data.source_language,
        target_language=data.target_language,
        split=split,
        tokenized=data.tokenized,
    )
