"""Hidden words, and sentences whose articles agree or do not."""

import random

import torch

from phrasebook import jane, phrasebook
from transformer.config import PAD_ID, UNK_ID
from walkthrough.ch20_what_came_after import bert
from walkthrough.ch20_what_came_after.training import Recipe

BOOK = phrasebook(train=1500, valid=20, test=40)
WORDS = BOOK.vocabulary()


def test_fifteen_in_a_hundred_are_chosen_and_most_of_them_hidden():
    tokens = torch.randint(UNK_ID + 1, 200, (200, 100), generator=torch.Generator().manual_seed(1))
    hidden = bert.hide(tokens, 200, torch.Generator().manual_seed(2))
    chosen = hidden.labels != PAD_ID
    assert abs(chosen.float().mean() - 0.15) < 0.01
    assert torch.equal(hidden.labels[chosen], tokens[chosen])
    assert torch.equal(hidden.tokens[~chosen], tokens[~chosen])
    read = hidden.tokens[chosen]
    assert abs((read == bert.MASK_ID).float().mean() - 0.8) < 0.03
    assert abs((read == tokens[chosen]).float().mean() - 0.1) < 0.03


def test_marks_and_padding_are_never_chosen():
    tokens = bert.rows([[5, 6], [7]])
    for seed in range(30):
        hidden = bert.hide(tokens, 20, torch.Generator().manual_seed(seed))
        assert (hidden.labels[tokens <= UNK_ID] == PAD_ID).all()


def test_articles_of_noun_phrases_are_found_and_pronouns_are_not():
    for example in BOOK.train[:400]:
        for place in bert.article_places(example.source_tree):
            assert example.source[place] in bert.OTHER_ARTICLE
            assert place + 1 < len(example.source)
    tree = ("S", ("NP", "Jane"), ("VP", "la", "voit"))  # a pronoun, which has no noun
    assert bert.article_places(tree) == []


def test_a_sentence_without_an_article_is_left_out():
    assert bert.article_places(jane().source_tree) == []


def test_half_of_the_judgements_hold_one_wrong_article():
    judged = bert.judgements(BOOK.train, seed=0)
    assert judged == bert.judgements(BOOK.train, seed=0)
    share = sum(one.agrees for one in judged) / len(judged)
    assert 0.4 < share < 0.6
    sources = {example.source for example in BOOK.train}
    for one in judged:
        words = list(one.words)
        if not one.agrees:
            words[one.place] = bert.OTHER_ARTICLE[words[one.place]]
        assert tuple(words) in sources


def test_what_is_hidden_is_learned_and_few_labels_are_learned_by_heart():
    sentences = [WORDS.encode(example.source) for example in BOOK.train]
    body = bert.new_bert(len(WORDS), seed=1)
    judged = bert.judgements(BOOK.train, seed=0)
    random.Random(0).shuffle(judged)
    before = bert.asked(body, judged[:60], WORDS)
    bert.pretrain(body, sentences, Recipe(updates=150, peak=3e-3, warmup=20), seed=1)
    assert bert.asked(body, judged[:60], WORDS) > max(before, 0.6)
    judge = bert.fine_tune(body, judged[:30], WORDS, Recipe(updates=60, warmup=5), seed=1)
    assert bert.accuracy(judge, judged[:30], WORDS) > 0.9
