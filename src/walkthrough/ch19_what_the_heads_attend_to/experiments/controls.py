"""Controls that the page counts for itself, with the translators that ship."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace

from transformer.data.phrasebook.questions import Question
from transformer.data.vocabulary import Vocabulary
from walkthrough.ch19_what_the_heads_attend_to.experiments import surgery
from walkthrough.ch19_what_the_heads_attend_to.experiments.asking import (
    Translator,
    asked,
    share_right,
)


def strangers(relation: str, words: Vocabulary, *, n: int, word: str = "more") -> list[Question]:
    """Return those of n questions that have no answer and hold a word that looks like one.

    The word stands as their answer, so that `looking.looks` counts who falls for it.
    """
    everything = asked(relation, words, n=n, answered=False)
    return [
        replace(question, answers=(question.source.index(word),))
        for question in everything
        if not question.answers and word in question.source
    ]


def with_word_before(questions: Sequence[Question]) -> list[Question]:
    """Return questions whose answer takes the word before it along, mostly its article."""
    return [
        replace(
            question,
            answers=tuple(sorted({max(min(question.answers) - 1, 0), *question.answers})),
            written=tuple(sorted({p for j in question.written for p in (max(j - 1, 0), j)})),
        )
        for question in questions
    ]


def right_without_neighbours(
    translator: Translator, questions: Sequence[Question]
) -> dict[str, float]:
    """Return how often the right word is ahead without words beside the answer, by kind of look.

    "cross" and "decoder" are hidden from the row that predicts the word, as many places as
    `measuring.hidden_shares` hides of the answer: what that costs by itself.
    """
    batch = translator.batch([(question.source, question.target) for question in questions])
    rows = [question.predicted for question in questions]
    keys = {
        "cross": [surgery.neighbours(question) for question in questions],
        "decoder": [_written_neighbours(question) for question in questions],
    }
    found = {}
    for kind, places in keys.items():
        mask = surgery.without_edges(batch, rows, places, kind=kind)
        with surgery.hidden(translator.model, kind, mask):
            found[kind] = share_right(translator, questions)
    return found


def _written_neighbours(question: Question) -> list[int]:
    """Return places that the predicting row reads, beside those of the answer's translation.

    The place of the row itself stays open.
    """
    closed = surgery.written_places(question)
    middle = sum(closed) / max(len(closed), 1)
    free = [place for place in range(question.predicted) if place not in closed]
    return sorted(free, key=lambda place: abs(place - middle))[: len(closed)]


def most_frequent(words: Iterable[str]) -> tuple[str, float]:
    """Return the word that stands most often, and its share: what saying nothing else would get.

    Raises:
        ValueError: there is no word.
    """
    counts = Counter(words)
    if not counts:
        raise ValueError("the most frequent of no words: at least one is needed")
    word, n = counts.most_common(1)[0]
    return word, n / counts.total()
