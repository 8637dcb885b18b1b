"""Everything that is recorded of one translator: relations, heads, trees."""

from collections.abc import Collection, Sequence
from functools import partial
from itertools import islice
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from transformer.cli.corpora import exact_matches
from transformer.data.phrasebook import Example
from transformer.data.phrasebook.questions import RELATIONS, Question
from transformer.data.phrasebook.second_corpus import distant_sentences
from transformer.inference.translate import Decoding, translate
from transformer.model import Transformer
from walkthrough.ch19_what_the_heads_attend_to.experiments import surgery, trees
from walkthrough.ch19_what_the_heads_attend_to.experiments.asking import (
    Translator,
    asked,
    new_translator,
    share_right,
    sides,
)
from walkthrough.ch19_what_the_heads_attend_to.experiments.looking import (
    best_head,
    best_offset,
    looks,
    offset_share,
)

N_QUESTIONS = 200
N_SENTENCES = 200


def relations_of(source_language: str) -> list[str]:
    """Return the relations that are asked about sentences of this language."""
    return [name for name, one in RELATIONS.items() if one.source_language == source_language]


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


def measure(
    translator: Translator, *, n: int = N_QUESTIONS, n_sentences: int = N_SENTENCES
) -> dict[str, Any]:
    """Return what is recorded of one translator, by so many questions a relation, and sentences."""
    language = translator.codec.source_language
    sentences = known_sentences(translator, "test", n_sentences)
    return {
        "exact": exact(translator, sentences),
        "relations": {name: relation(translator, name, n=n) for name in relations_of(language)},
        "trees": tree_scores(translator, n_sentences),
    }


def relation(translator: Translator, name: str, *, n: int = N_QUESTIONS) -> dict[str, Any]:
    """Return everything about one relation; head and distance are chosen on other sentences."""
    words = translator.words
    chosen_on, questions = (asked(name, words, n=n, split=split) for split in ("valid", "test"))
    right = partial(share_right, translator, questions)
    offset = best_offset(chosen_on)
    found: dict[str, Any] = {
        "questions": len(questions),
        "offset": offset,
        "offset_share": offset_share(questions, offset),
        "right": right(),
        "hidden": hidden_shares(translator, questions),
        "without": ablated(translator.model, right),
    }
    if name.startswith("makes"):
        unanswered = [q for q in asked(name, words, n=2 * n, answered=False) if not q.answers]
        found["right_where_no_answer"] = share_right(translator, unanswered)
    for kind in surgery.KINDS:
        layer, head = best_head(looks(translator, chosen_on, kind).mean(-1))
        shares = looks(translator, questions, kind).mean(-1)
        found[kind] = {"shares": shares.tolist(), "best": [layer, head]}
    return found


def hidden_shares(translator: Translator, questions: Sequence[Question]) -> dict[str, Any]:
    """Return how often the right word is ahead when edges are hidden.

    "edge": from the word that is asked about to the answer, in every encoder layer and head;
    "neighbour": as many words beside it. Where the word is predicted: "cross", the answer; and
    "decoder", the answer's translation and the word before that, mostly its article. Then two and
    three of them together. "by head": the edge in one encoder head alone.
    """
    model, right = translator.model, partial(share_right, translator, questions)
    batch = translator.batch([(question.source, question.target) for question in questions])
    queries, rows = ([q.query for q in questions], [q.predicted for q in questions])
    answers = [question.answers for question in questions]
    written = [surgery.written_places(question) for question in questions]
    edge = surgery.without_edges(batch, queries, answers)
    beside = surgery.without_edges(batch, queries, [surgery.neighbours(q) for q in questions])
    masks = {
        "encoder": edge,
        "cross": surgery.without_edges(batch, rows, answers, kind="cross"),
        "decoder": surgery.without_edges(batch, rows, written, kind="decoder"),
    }
    found: dict[str, Any] = {}
    for label, closed in {
        "edge": {"encoder": edge},
        "neighbour": {"encoder": beside},
        "cross": {"cross": masks["cross"]},
        "decoder": {"decoder": masks["decoder"]},
        "edge and cross": {kind: masks[kind] for kind in ("encoder", "cross")},
        "cross and decoder": {kind: masks[kind] for kind in ("cross", "decoder")},
        "all three": masks,
    }.items():
        with surgery.all_hidden(model, closed):
            found[label] = right()
    found["by head"] = []
    for layer, attention in enumerate(surgery.attentions(model, "encoder")):
        found["by head"].append([])
        for head in range(attention.n_heads):
            mask = torch.ones_like(edge).repeat(1, attention.n_heads, 1, 1)
            mask[:, head] = edge[:, 0]
            with surgery.hidden(model, "encoder", mask, layers=[layer]):
                found["by head"][layer].append(right())
    return found


def ablated(
    model: Transformer, score: Any, *, alone: Collection[str] = ("encoder", "cross")
) -> dict[str, Any]:
    """Return a score whole, without each head, and with one head alone in its layer.

    The latter for the kinds of attention in `alone`.
    """
    found: dict[str, Any] = {"nothing": score(), "one": {}, "all but one": {}}
    for kind, layer, head in surgery.heads(model):
        one = (kind, layer, head)
        for name, removed in (("one", [one]), ("all but one", surgery.all_but(model, one))):
            if name == "all but one" and kind not in alone:
                continue
            rows = found[name].setdefault(kind, [])
            if len(rows) == layer:
                rows.append([])
            with surgery.without(model, removed):
                rows[layer].append(score())
    return found


def tree_scores(translator: Translator, n: int) -> dict[str, Any]:
    """Return F1 of trees from each encoder head, trained and untrained, and of the baselines.

    The best head is chosen on other sentences than those it is scored on.
    """
    fresh = new_translator(translator.codec.source_language, translator.words, seed=0)
    found: dict[str, Any] = {}
    for name, one in (("trained", translator), ("untrained", fresh)):
        chosen_on, scores = (head_scores(one, split, n) for split in ("valid", "test"))
        found[name] = {"f1": scores.tolist(), "best": list(best_head(chosen_on))}
    examples = known_sentences(translator, "test", n)
    return {**found, **trees.baseline_f1([source_tree(translator, e) for e in examples])}


def head_scores(translator: Translator, split: str, n: int) -> Float[Tensor, "layers heads"]:
    """Return the F1 of trees read out of each encoder head on one split."""
    examples = known_sentences(translator, split, n)
    maps = [translator.maps(*sides(translator, e)).encoder[:, 0] for e in examples]
    return trees.head_f1(maps, [source_tree(translator, example) for example in examples])


def source_tree(translator: Translator, example: Example) -> Any:
    """Return the gold tree of the side that the translator reads."""
    french = translator.codec.source_language == "fr"
    return example.source_tree if french else example.target_tree
