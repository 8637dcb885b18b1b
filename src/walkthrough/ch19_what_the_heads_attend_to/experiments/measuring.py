"""What is measured of translators: answers with edges closed, where heads look, trees."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import torch
from torch import Tensor

from phrasebook import Example
from phrasebook.questions import RELATIONS, Question
from phrasebook.second_corpus import distant_sentences
from transformer.cli.corpora import exact_matches
from transformer.inference.translate import Decoding, translate
from transformer.parsing.trees import Tree
from walkthrough.ch19_what_the_heads_attend_to.experiments import surgery, trees
from walkthrough.ch19_what_the_heads_attend_to.experiments.asking import (
    Translator,
    asked,
    share_right,
    sides,
    strangers,
)
from walkthrough.ch19_what_the_heads_attend_to.experiments.looking import (
    best_head,
    best_offset,
    looks,
    offset_share,
)

N_QUESTIONS, N_FOR_SETS, N_SENTENCES = 200, 60, 200
MAKES, STRANGER = "makes → fait, rend", "a stranger's more"
SPLITS = {
    MAKES: "makes",
    STRANGER: "stranger",
    "it → il, elle": "it_subject",
    "it → le, la": "it_object",
    "he, she → il, elle": "he_she",
    "its, his, her → son, sa, ses": "its",
    "il, elle → it, he, she": "il_elle",
    "le, la, l' → it, him, her": "le_la",
    "son, sa, ses → its, his, her": "son_sa_ses",
}
"""Relation → what its figures are called in the record."""
BIASES = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 5.0)
FIXED = 1.5
"""The bias towards right-branching trees that is tried without a choice."""
RIVALS = {
    "other words closed": "encoder",
    "other words closed, decoder": "cross",
    "other words closed, written": "decoder",
}


@dataclass(frozen=True)
class Test:
    """A relation's questions; head and distance are chosen on other sentences."""

    name: str
    translator: Translator
    chosen_on: Sequence[Question]
    questions: Sequence[Question]

    @property
    def kinds(self) -> dict[str, tuple[list[int], list[Sequence[int]]]]:
        """By kind of attention: the row that looks in each sentence, and the answer's places."""
        rows = [question.predicted for question in self.questions]
        answers = [question.answers for question in self.questions]
        written = [sorted(surgery.written_places(question)) for question in self.questions]
        return {
            "encoder": ([question.query for question in self.questions], list(answers)),
            "cross": (rows, list(answers)),
            "decoder": (rows, list(written)),
        }

    def best(self, kind: str = "encoder") -> surgery.Head:
        """Return the head that finds most answers in the other sentences."""
        return (kind, *best_head(looks(self.translator, self.chosen_on, kind).mean(-1)))

    def mask(self, kind: str) -> Tensor:
        """Return the mask that closes the answer to the row that looks for it."""
        return self._mask(kind, *self.kinds[kind])

    def rival(self, kind: str) -> tuple[Tensor, list[float]]:
        """Return a mask that closes other words of as much weight, and both weights on average."""
        batch = self.translator.batch([(q.source, q.target) for q in self.questions])
        with torch.no_grad():
            maps = getattr(
                self.translator.model.attention(batch.source, batch.target_in), kind
            ).mean(dim=(0, 2))
        rows, answers = self.kinds[kind]
        kept = rows if kind == "decoder" else [question.query for question in self.questions]
        found = [
            surgery.as_much_weight(weights[row], closed, own)
            for weights, row, closed, own in zip(maps, rows, answers, kept, strict=True)
        ]
        weights = [sum(one[part] for one in found) / len(found) for part in (1, 2)]  # type: ignore[misc]
        return self._mask(kind, rows, [places for places, _, _ in found]), weights

    def _mask(self, kind: str, rows: Sequence[int], keys: Sequence[Sequence[int]]) -> Tensor:
        batch = self.translator.batch([(q.source, q.target) for q in self.questions])
        return surgery.without_edges(batch, rows, keys, kind=kind)

    def right(
        self, masks: dict[str, Tensor] | None = None, only: Sequence[surgery.Head] | None = None
    ) -> float:
        """Return how often the right word is ahead while edges are closed."""
        with surgery.hidden(self.translator.model, masks or {}, only=only):
            return share_right(self.translator, self.questions)


def test_of(translator: Translator, name: str, n: int) -> Test:
    """Return the test of one relation."""
    words = translator.words
    valid, test = (
        strangers(words, n=n // 2, split=split)
        if name == STRANGER
        else asked(name, words, n=n, split=split)
        for split in ("valid", "test")
    )
    return Test(name, translator, valid, test)


def names_of(source_language: str) -> list[str]:
    """Return what is asked about sentences of this language."""
    english = source_language == "en"
    found = [name for name, one in RELATIONS.items() if one.source_language == source_language]
    return [*found[:1], STRANGER, *found[1:]] if english else found


# What is closed: each of these is an arm of the experiment ----------------------------------------


def _nothing(test: Test) -> float:
    return test.right()


def _in_best(test: Test) -> float:
    return test.right({"encoder": test.mask("encoder")}, [_best_of(test)])


def _in_all_but_best(test: Test) -> float:
    others = surgery.heads(test.translator.model, "encoder")
    others.remove(_best_of(test))
    return test.right({"encoder": test.mask("encoder")}, others)


def _best_of(test: Test) -> surgery.Head:
    """The head that looks best; for a stranger the one that finds answers, where there are any."""
    if test.name != STRANGER:
        return test.best()
    return test_of(test.translator, MAKES, 2 * len(test.chosen_on)).best()


def _looks(*kinds: str) -> Callable[[Test], float]:
    return lambda test: test.right({kind: test.mask(kind) for kind in kinds})


def _rival(kind: str) -> Callable[[Test], float]:
    return lambda test: test.right({kind: test.rival(kind)[0]})


def _from_everyone(test: Test, *, article: bool = False) -> float:
    questions = [surgery.with_word_before(q) if article else q for q in test.questions]
    batch = test.translator.batch([(q.source, q.target) for q in test.questions])
    return test.right(surgery.unseen(batch, questions))


CLOSED: dict[str, Callable[[Test], float]] = {
    "trained": _nothing,
    "best head closed": _in_best,
    "all others closed": _in_all_but_best,
    "encoder closed": _looks("encoder"),
    "decoder closed": _looks("cross"),
    "both closed": _looks("encoder", "cross"),
    "written closed": _looks("decoder"),
    "all three closed": _looks("encoder", "cross", "decoder"),
    "answer unseen": _from_everyone,
    "answer and article unseen": lambda test: _from_everyone(test, article=True),
    **{name: _rival(kind) for name, kind in RIVALS.items()},
}
"""Arm of the experiment → how it asks.

The look at the answer is closed in the encoder (from the word that is asked about), in the decoder
(from the row that predicts its translation), or at what is written of the answer; "other words" get
as much weight together as the answer does.
"""


# Where heads look, and which of them together decide ----------------------------------------------


def where(test: Test) -> dict[str, Any]:
    """Return how often each head finds the answer, its rival the distance, and the weights."""
    offset = best_offset(test.chosen_on)
    found: dict[str, Any] = {
        "questions": len(test.questions),
        "offset": offset,
        "offset_share": offset_share(test.questions, offset),
    }
    for kind in surgery.KINDS:
        shares = looks(test.translator, test.questions, kind).mean(-1)
        weights = [round(weight, 4) for weight in test.rival(kind)[1]]
        best = list(test.best(kind)[1:])
        found[kind] = {"shares": _rounded(shares), "best": best, "weights": weights}
    return found


def sets_of_heads(test: Test) -> dict[str, list[float]]:
    """Return the share of right words with the answer closed in each set of heads of one kind.

    Set number s holds head h of layer l where bit 4·l + h of s is 1 (for 4 heads a layer). Of the
    encoder's sets once more with the decoder's own look closed.
    """
    model, found = test.translator.model, {}
    masks = {kind: test.mask(kind) for kind in ("encoder", "cross")}
    for label, kind, also in (
        ("encoder", "encoder", []),
        ("cross", "cross", []),
        ("encoder, cross closed", "encoder", surgery.heads(model, "cross")),
    ):
        heads = surgery.heads(model, kind)
        found[label] = [
            round(test.right(masks, [*also, *members(number, heads)]), 4)
            for number in range(2 ** len(heads))
        ]
    return found


def members(number: int, heads: Sequence[surgery.Head]) -> list[surgery.Head]:
    """Return the heads of a set by its number."""
    return [head for bit, head in enumerate(heads) if number >> bit & 1]


def _rounded(values: Tensor) -> Any:
    return [[round(value, 4) for value in row] for row in values.tolist()]


# Whole sentences ----------------------------------------------------------------------------------


def known_sentences(translator: Translator, split: str, n: int) -> list[Example]:
    """Return sentences of a split whose words the translator knows."""
    known = (
        example
        for example in distant_sentences(split)
        if all(word in translator.words for word in example.source + example.target)
    )
    return list(islice(known, n))


def exact(translator: Translator, examples: Sequence[Example]) -> float:
    """Return the share of greedy translations that equal the reference."""
    texts = [(example.source_text, example.target_text) for example in examples]
    if translator.codec.source_language == "en":
        texts = [(target, source) for source, target in texts]
    best = translate(translator.model, translator.codec, [s for s, _ in texts], Decoding(beam=1))
    return exact_matches([found[0].text for found in best], [wanted for _, wanted in texts])


def tree_f1(translator: Translator, n: int) -> dict[str, float]:
    """Return the F1 of trees read out of the encoder head that is best on other sentences.

    Without a bias, with a fixed one, and with the one that is best on other sentences.
    """
    scores = {}
    for split in ("valid", "test"):
        examples = known_sentences(translator, split, n)
        distances = [
            trees.attention_distances(
                translator.maps(*sides(translator, e)).encoder[
                    :, 0, :, : len(sides(translator, e)[0])
                ]
            )
            for e in examples
        ]
        gold = [source_tree(translator, example) for example in examples]
        scores[split] = torch.stack([trees.head_f1(distances, gold, bias) for bias in BIASES])
    fixed = BIASES.index(FIXED)
    found = {}
    for name, chosen in {"plain": [0], "bias": [fixed], "best_bias": range(len(BIASES))}.items():
        place = scores["valid"][list(chosen)].flatten().argmax()
        found[name] = 100 * float(scores["test"][list(chosen)].flatten()[place])
    return found


def baseline_trees(translator: Translator, n: int) -> dict[str, float]:
    """Return the F1 of trees that look at nothing, for the sentences of `tree_f1`."""
    gold = [source_tree(translator, e) for e in known_sentences(translator, "test", n)]
    return {name: 100 * f1 for name, f1 in trees.baseline_f1(gold).items()}


def source_tree(translator: Translator, example: Example) -> Tree:
    """Return the gold tree of the side that the translator reads."""
    french = translator.codec.source_language == "fr"
    return example.source_tree if french else example.target_tree
