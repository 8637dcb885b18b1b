"""Problem set 2: a model of your own. Then run: python course/check.py set_2.py"""

import torch  # noqa: F401


def log_probability(logits, target, pad):
    """Return the log probability of each target sentence.

    logits (batch, length, vocab_size) predict target (batch, length), ids; positions whose target
    is `pad` do not count. Returns (batch,).
    """
    raise NotImplementedError


def no_repeat(logits, written, n):
    """Return the logits of the next word with every word closed that would repeat n words.

    logits (vocab_size,), written a list of ids, n ≥ 1. A word is closed, with −∞, if the last
    n − 1 ids of `written` and the word stand in `written` already, side by side and in that order.
    The tensor that was given stays as it is.
    """
    raise NotImplementedError


def averaged(states):
    """Return the mean of several models' state dicts: name → tensor.

    Numbers with a fraction are averaged, in float64, and keep their type; whole numbers are those
    of the last state. The states stay as they are.

    Raises:
        ValueError: no states, or states with different names.
    """
    raise NotImplementedError
