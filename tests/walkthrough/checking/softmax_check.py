"""A small check to try checks on: softmax over the keys, and two mistakes."""

import torch

from walkthrough.checking import Case, Check, Mistake, arguments, drawn


def softmax_over_keys(scores):
    return scores.softmax(dim=-1)


def softmax_over_queries(scores):
    return scores.softmax(dim=-2)


def returns_nothing(scores):
    return None


def not_written(scores):
    raise NotImplementedError


def make_scores(generator):
    return arguments(torch.randn(3, 5, generator=generator))


def make_square_scores(generator):
    return arguments(torch.randn(4, 4, generator=generator))


OVER_QUERIES = Mistake(
    "wrong axis",
    softmax_over_queries,
    "these weights sum to 1 over queries: softmax ran over the wrong axis",
)
NOT_NORMALISED = Mistake("no sum", torch.exp, "these weights do not sum to 1")


def softmax_check(**changes):
    settings = {
        "name": "softmax over the keys",
        "reference": softmax_over_keys,
        "cases": [
            Case("3 queries, 5 keys", make_scores),
            Case("a square", make_square_scores),
            drawn("6 queries, 4 keys", (6, 4)),
        ],
        "mistakes": [OVER_QUERIES, NOT_NORMALISED],
    }
    return Check(**{**settings, **changes})
