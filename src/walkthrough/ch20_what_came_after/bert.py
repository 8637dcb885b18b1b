"""Encoder only: words hidden and guessed, then a sentence task with few labels (BERT)."""

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn

from phrasebook import Example
from transformer.config import BOS_ID, PAD_ID, UNK_ID, TransformerConfig
from transformer.data.vocabulary import Vocabulary
from transformer.parsing.trees import Tree
from walkthrough.ch20_what_came_after.blocks import stack
from walkthrough.ch20_what_came_after.stream import Stack
from walkthrough.ch20_what_came_after.training import Recipe, train

CLASS_ID = BOS_ID
"""Stands in front of the sentence; its state is what a sentence task reads."""
MASK_ID = UNK_ID
"""The phrasebook has no unknown words, so their id is free to say "hidden"."""
OTHER_ARTICLE = {"le": "la", "la": "le", "un": "une", "une": "un"}
PRETRAINING = Recipe(updates=1000, peak=3e-3, warmup=100)
FINE_TUNING = Recipe(updates=300, peak=3e-3, warmup=20)
N_SENTENCES, N_LABELLED = 48, 32
"""Sentences a batch: hidden words, judgements."""


def new_bert(vocab_size: int, *, seed: int) -> Stack:
    """Return an untrained encoder that sees both ways."""
    torch.manual_seed(seed)
    sizes = {"d_model": 64, "n_heads": 4, "n_layers": 2, "d_ff": 128, "dropout": 0.0}
    return stack(TransformerConfig(vocab_size=vocab_size, **sizes), sight="both ways")  # type: ignore[arg-type]


class Hidden(NamedTuple):
    """A batch with hidden words: what the model reads; the words to guess, padding elsewhere."""

    tokens: Int[Tensor, "batch length"]
    labels: Int[Tensor, "batch length"]


def hide(
    tokens: Int[Tensor, "batch length"], vocab_size: int, generator: torch.Generator
) -> Hidden:
    """Choose 15 % of the words: 80 % of them become the mask, 10 % another word, 10 % stay."""
    drawn = torch.rand(tokens.shape, generator=generator)
    chosen = (drawn < 0.15) & (tokens > UNK_ID)
    others = torch.randint(UNK_ID + 1, vocab_size, tokens.shape, generator=generator)
    read = torch.where(chosen & (drawn < 0.12), MASK_ID, tokens)
    read = torch.where(chosen & (drawn >= 0.135), others, read)
    return Hidden(read, torch.where(chosen, tokens, PAD_ID))


def rows(sentences: Sequence[Sequence[int]]) -> Int[Tensor, "batch length"]:
    """Return sentences as rows: the class token, the words, padding."""
    longest = 1 + max(map(len, sentences))
    return torch.tensor(
        [[CLASS_ID, *words] + [PAD_ID] * (longest - 1 - len(words)) for words in sentences]
    )


def pretrain(
    model: Stack, sentences: Sequence[list[int]], recipe: Recipe = PRETRAINING, *, seed: int
) -> Stack:
    """Train the model to guess hidden words."""
    generator = torch.Generator().manual_seed(seed)
    by_length = sorted(range(len(sentences)), key=lambda place: len(sentences[place]))

    def losses() -> Iterator[Tensor]:
        while True:
            start = int(torch.randint(0, len(by_length) - N_SENTENCES, (), generator=generator))
            places = by_length[start : start + N_SENTENCES]  # of about one length
            tokens = rows([sentences[place] for place in places])
            batch = hide(tokens, model.config.vocab_size, generator)
            chosen = batch.labels != PAD_ID
            logits = model.project(model(batch.tokens)[chosen])
            yield F.cross_entropy(logits, batch.labels[chosen])

    train(model, losses(), recipe)
    return model


class Judgement(NamedTuple):
    """A French sentence, whether its articles agree with their nouns, and the noun phrase."""

    words: tuple[str, ...]
    agrees: bool
    place: int


def article_places(tree: Tree) -> list[int]:
    """Return where articles stand that show their noun's gender, as places in the sentence."""
    found: list[int] = []

    def walk(node: Tree, place: int) -> int:
        for number, child in enumerate(node[1:]):
            if isinstance(child, str):
                if number == 0 and node[0] == "NP" and len(node) > 2 and child in OTHER_ARTICLE:
                    found.append(place)
                place += 1
            else:
                place = walk(child, place)
        return place

    walk(tree, 0)
    return found


def judgements(examples: Sequence[Example], *, seed: int) -> list[Judgement]:
    """Return one sentence for each example with such an article; in half of them it is wrong."""
    rng = random.Random(seed)
    found = []
    for example in examples:
        places = article_places(example.source_tree)
        if not places:
            continue
        place, agrees = rng.choice(places), rng.random() < 0.5
        words = list(example.source)
        if not agrees:
            words[place] = OTHER_ARTICLE[words[place]]
        found.append(Judgement(tuple(words), agrees, place))
    return found


class Judge(nn.Module):
    """A stack and, on the state of the class token, one number: does the sentence agree?"""

    def __init__(self, body: Stack) -> None:
        super().__init__()
        self.body = body
        self.head = nn.Linear(body.config.d_model, 1)

    def forward(self, tokens: Int[Tensor, "batch length"]) -> Float[Tensor, " batch"]:
        """Return a number a sentence, above 0 for "it agrees"."""
        return self.head(self.body(tokens)[:, 0]).squeeze(-1)


def fine_tune(
    body: Stack,
    labelled: Sequence[Judgement],
    words: Vocabulary,
    recipe: Recipe = FINE_TUNING,
    *,
    seed: int,
) -> Judge:
    """Train a judge on labelled sentences; all weights move."""
    torch.manual_seed(seed)
    judge = Judge(body)
    tokens, labels = encoded(labelled, words)
    generator = torch.Generator().manual_seed(seed)

    def losses() -> Iterator[Tensor]:
        while True:
            chosen = torch.randperm(len(tokens), generator=generator)[:N_LABELLED]
            yield F.binary_cross_entropy_with_logits(judge(tokens[chosen]), labels[chosen])

    train(judge, losses(), recipe)
    return judge


def encoded(
    judged: Sequence[Judgement], words: Vocabulary
) -> tuple[Int[Tensor, "batch length"], Float[Tensor, " batch"]]:
    """Return rows of ids, and 1 for each sentence that agrees."""
    tokens = rows([words.encode(one.words) for one in judged])
    return tokens, torch.tensor([float(one.agrees) for one in judged])


@torch.no_grad()
def accuracy(judge: Judge, judged: Sequence[Judgement], words: Vocabulary) -> float:
    """Return the share of sentences judged rightly."""
    tokens, labels = encoded(judged, words)
    return float(((judge(tokens) > 0) == (labels > 0.5)).float().mean())


@torch.no_grad()
def counted(judged: Sequence[Judgement], sentences: Sequence[Sequence[str]]) -> float:
    """Return the share judged rightly by a table alone: how often does a word follow an article?"""
    table = Counter(pair for words in sentences for pair in pairwise(words))
    right = 0
    for one in judged:
        article, follows = one.words[one.place : one.place + 2]
        often = table[article, follows] > table[OTHER_ARTICLE[article], follows]
        right += often == one.agrees
    return right / len(judged)


def asked(body: Stack, judged: Sequence[Judgement], words: Vocabulary) -> float:
    """Return the share judged rightly with no label at all: by asking for the hidden article.

    The article is masked; it agrees if the model finds it likelier than that of the other gender.
    """
    right = 0
    for one in judged:
        tokens = rows([words.encode(one.words)])
        tokens[0, 1 + one.place] = MASK_ID
        logits = body.project(body(tokens)[0, 1 + one.place])
        article = one.words[one.place]
        this, other = words.encode([article, OTHER_ARTICLE[article]])
        right += bool(logits[this] > logits[other]) == one.agrees
    return right / len(judged)
