"""A small check to try checks on: softmax over the keys, and two mistakes."""

import torch

from walkthrough.checking import Check, Mistake, drawn


def softmax_over_keys(scores):
    return scores.softmax(dim=-1)


def softmax_over_queries(scores):
    return scores.softmax(dim=-2)


def not_written(scores):
    raise NotImplementedError


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
            drawn("3 queries, 5 keys", (3, 5)),
            drawn("a square", (4, 4)),
            drawn("6 queries, 4 keys", (6, 4)),
        ],
        "mistakes": [OVER_QUERIES, NOT_NORMALISED],
    }
    return Check(**{**settings, **changes})
