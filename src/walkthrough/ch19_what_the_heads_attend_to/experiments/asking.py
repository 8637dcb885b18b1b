"""Translators of the second corpus, and what they answer to questions with a known answer."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

import torch
from jaxtyping import Float
from torch import Tensor

from phrasebook import Example
from phrasebook.codec import PhrasebookCodec
from phrasebook.questions import RELATIONS, Question, Relation, comparative, questions
from phrasebook.second_corpus import distant_phrasebook, distant_sentences
from transformer.config import TransformerConfig
from transformer.data.batching import Batch, Pair, collate
from transformer.data.codec import codec_from_text
from transformer.data.vocabulary import Vocabulary
from transformer.model import AttentionMaps, Transformer
from transformer.training import TrainSettings, load_checkpoint, train
from walkthrough.page.results import FOLDER

SIZES = {"d_model": 96, "n_heads": 4, "n_layers": 2, "d_ff": 192, "dropout": 0.1}
SETTINGS = TrainSettings(
    max_updates=700, max_tokens=1280, schedule="linear", warmup=120, peak=3e-3, threads=1
)


@dataclass(frozen=True)
class Translator:
    """A trained model and its words."""

    model: Transformer
    codec: PhrasebookCodec

    @property
    def words(self) -> Vocabulary:
        """The words of both languages."""
        return self.codec.vocabulary

    def batch(self, pairs: Sequence[tuple[Sequence[str], Sequence[str]]]) -> Batch:
        """Return sentence pairs, as words, in one padded batch."""
        return collate([(self.words.encode(s), self.words.encode(t)) for s, t in pairs])

    def maps(self, source: Sequence[str], target: Sequence[str]) -> AttentionMaps:
        """Return all attention weights for one sentence pair."""
        batch = self.batch([(source, target)])
        return self.model.attention(batch.source, batch.target_in)


def checkpoint_name(source_language: str) -> str:
    """Return the file under results/ that holds the translator from this language."""
    target = "en" if source_language == "fr" else "fr"
    return f"phrasebook-heads-{source_language}-{target}.safetensors"


def load_translator(source_language: str) -> Translator:
    """Return the shipped translator, from "en" or from "fr".

    Raises:
        FileNotFoundError: the weights are not among the records.
        ValueError: there is no such language.
    """
    if source_language not in ("en", "fr"):
        raise ValueError(f"source_language must be 'en' or 'fr', got {source_language!r}")
    checkpoint = load_checkpoint(FOLDER / checkpoint_name(source_language))
    codec = codec_from_text(checkpoint.tokenizer or "{}")
    assert isinstance(codec, PhrasebookCodec)
    return Translator(checkpoint.model(), codec)


def words(*, small: bool = False) -> Vocabulary:
    """Return the words of both languages, as every translator knows them."""
    return distant_phrasebook(**({"train": 600} if small else {})).vocabulary()


def new_translator(source_language: str, words: Vocabulary, *, seed: int) -> Translator:
    """Return an untrained translator."""
    torch.manual_seed(seed)
    model = Transformer(TransformerConfig(vocab_size=len(words), **SIZES))  # type: ignore[arg-type]
    target = "en" if source_language == "fr" else "fr"
    return Translator(model.eval(), PhrasebookCodec(words, source_language, target))


def train_translator(
    source_language: str, settings: TrainSettings = SETTINGS, **sizes: int
) -> Translator:
    """Train a translator of the second corpus; its weights are rounded to 16 bits, as shipped.

    `sizes` are those of `distant_phrasebook`.
    """
    book = distant_phrasebook(**sizes)
    translator = new_translator(source_language, book.vocabulary(), seed=settings.seed)
    train(translator.model, encoded(translator, book.train), settings, progress=False)
    with torch.no_grad():
        for weight in translator.model.parameters():
            weight.copy_(weight.half())
    translator.model.eval()
    return translator


def sides(translator: Translator, example: Example) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return an example's words, what this translator reads first."""
    if translator.codec.source_language == "fr":
        return example.source, example.target
    return example.target, example.source


def encoded(translator: Translator, examples: Sequence[Example]) -> list[Pair]:
    """Return the ids of examples in the translator's direction."""
    words = translator.words
    return [
        (words.encode(source), words.encode(target))
        for source, target in (sides(translator, example) for example in examples)
    ]


def asked(relation: str, words: Vocabulary, *, n: int, split: str = "test") -> list[Question]:
    """Return about `n` questions of a relation about sentences of a split, with an answer.

    Each right word stands in as many of them as every other one, so that a model that always says
    the same is right in one of two, or of three. (All answers to *makes* say *rend*.)

    Raises:
        ValueError: there is no such relation.
    """
    if relation not in RELATIONS:
        raise ValueError(f"relation must be one of {', '.join(RELATIONS)}; got {relation!r}")
    kind = RELATIONS[relation]
    n_words = 1 if kind.structures == ("made",) else len(kind.choices[0])
    counts: Counter[int] = Counter()
    found = []
    for question in _questions(kind, words, split):
        word = next(c.index(question.right) for c in kind.choices if question.right in c)
        if question.answers and counts[word] < n // n_words:
            counts[word] += 1
            found.append(question)
        if len(found) == n // n_words * n_words:
            return found
    raise AssertionError("the grammar never ends")


def strangers(words: Vocabulary, *, n: int, split: str = "test") -> list[Question]:
    """Return `n` questions about *makes* in which *more …* belongs to something else.

    As in "Paul makes the cake but the pie is more beautiful": *fait*. The stranger stands as the
    answer, so that `looking.looks` counts who falls for it, and the same edge can be closed.
    """
    kind = RELATIONS["makes → fait, rend"]
    found = (
        replace(question, answers=place)
        for question in _questions(kind, words, split)
        if not question.answers and (place := comparative(question.source, question.query))
    )
    return list(islice(found, n))


def _questions(kind: Relation, words: Vocabulary, split: str) -> Iterator[Question]:
    for example in distant_sentences(split, structures=kind.structures):
        if all(word in words for word in example.source + example.target):
            yield from questions(example, kind)


@torch.no_grad()
def margins(translator: Translator, asked: Sequence[Question]) -> Float[Tensor, " questions"]:
    """Return log p(right word) − log p(best wrong word) where each question's word is predicted.

    The decoder reads the reference up to that word. Above 0 the right word is ahead.
    """
    words, batch = translator.words, translator.batch([(q.source, q.target) for q in asked])
    states = translator.model.states(batch.source, batch.target_in)
    rows = states[torch.arange(len(asked)), [question.predicted for question in asked]]
    logits = translator.model.project(rows)
    found = []
    for row, question in zip(logits, asked, strict=True):
        right, *wrong = row[words.encode([question.right, *question.wrong])].unbind()
        found.append(right - torch.stack(wrong).max())
    return torch.stack(found)


def share_right(translator: Translator, asked: Sequence[Question]) -> float:
    """Return how often the right word is ahead of the wrong ones."""
    return (margins(translator, asked) > 0).double().mean().item()
