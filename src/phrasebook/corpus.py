"""The phrasebook's splits behind the interface of every corpus."""

from phrasebook.splits import phrasebook
from transformer.data.corpus import Corpus
from transformer.parsing.trees import brackets


def phrasebook_corpus(
    split: str,
    *,
    source_language: str = "fr",
    target_language: str = "en",
    seed: int = 0,
    **sizes: int,
) -> Corpus:
    """Generate a split, with gold alignments and trees, in either direction.

    Both are over the words of `phrasebook.tokenize(line, language)`. `sizes` are those of
    `phrasebook`: train, valid, test.

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
    return Corpus(
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
